"""The cryptography gives what the standards' own examples say, and refuses what is no key."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.adapters import cedar
from condor_pydagman.adapters.cedar import AesGcm, CryptoError
from tests.unit.adapters.cedar_keys import key_pair_of

# McGrew and Viega, "The Galois/Counter Mode of Operation", test cases 13 to 18.
KEY = bytes.fromhex("feffe9928665731c6d6a8f9467308308" * 2)
TEXT = bytes.fromhex(
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
    "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255"
)
ALSO = bytes.fromhex("feedfacedeadbeeffeedfacedeadbeefabaddad2")
LONG_IV = bytes.fromhex(
    "9313225df88406e555909c5aff5269aa6a7a9538534f7da1e4c303d2a318a728"
    "c3c0c95156809539fcf0e2429a6b525416aedbf5a0de6a57a637b39b"
)


@pytest.mark.parametrize(
    ("key", "iv", "text", "also", "ends"),
    [
        (bytes(32), bytes(12), b"", b"", "530f8afbc74536b9a963b4f1c4cb738b"),
        (
            bytes(32),
            bytes(12),
            bytes(16),
            b"",
            "cea7403d4d606b6e074ec5d3baf39d18d0d1c8a799996bf0265b98b5d48ab919",
        ),
        (
            KEY,
            bytes.fromhex("cafebabefacedbaddecaf888"),
            TEXT,
            b"",
            "b094dac5d93471bdec1a502270e3cc6c",
        ),
        (
            KEY,
            bytes.fromhex("cafebabefacedbaddecaf888"),
            TEXT[:60],
            ALSO,
            "76fc6ece0f4e1768cddf8853bb2d551b",
        ),
        (
            KEY,
            bytes.fromhex("cafebabefacedbad"),
            TEXT[:60],
            ALSO,
            "3a337dbf46a792c45e454913fe2ea8f2",
        ),
        (KEY, LONG_IV, TEXT[:60], ALSO, "a44a8266ee1c8eb0c8b5d4cf5ae9f19a"),
    ],
)
def test_aes_gcm(key: bytes, iv: bytes, text: bytes, also: bytes, ends: str) -> None:
    hidden = AesGcm(key).encrypt(iv, text, also)
    assert hidden.hex().endswith(ends)
    assert AesGcm(key).decrypt(iv, hidden, also) == text


@given(st.binary(max_size=100), st.binary(max_size=40), st.integers(min_value=0))
def test_a_changed_bit_is_found(text: bytes, also: bytes, which: int) -> None:
    cipher, iv = AesGcm(KEY), bytes(16)
    hidden = bytearray(cipher.encrypt(iv, text, also))
    assert cipher.decrypt(iv, bytes(hidden), also) == text
    hidden[which // 8 % len(hidden)] ^= 1 << which % 8
    with pytest.raises(CryptoError):
        cipher.decrypt(iv, bytes(hidden), also)


def test_too_short_for_a_tag() -> None:
    with pytest.raises(CryptoError):
        AesGcm(KEY).decrypt(bytes(16), b"short", b"")


def test_a_key_of_another_length() -> None:
    with pytest.raises(CryptoError):
        AesGcm(bytes(16))


def test_key_exchange() -> None:
    """RFC 5903, section 8.1."""
    private = 0xC88F01F510D9AC3F70A292DAA2316DE544E9AAB8AFE84049C62A9C57862D1433
    theirs = bytes.fromhex(
        "04D12DFB5289C8D4F81208B70270398C342296970A0BCCB74C736FC7554494BF63"
        "56FBF3CA366CC23E8157854C13C58D6AAC23F046ADA30F8353E74F33039872AB"
    )
    shared = "D6840F6B42F6EDAFD13116E0E12565202FEF8E9ECE7DCE03812464D04B9442DE"
    ours = key_pair_of(private)
    assert cedar.shared_secret(ours.private, theirs).hex().upper() == shared


def test_both_sides_agree() -> None:
    one, other = cedar.key_pair(), cedar.key_pair()
    assert one != other
    mine = cedar.shared_secret(one.private, other.public)
    assert mine == cedar.shared_secret(other.private, one.public)


PUBLIC = cedar.key_pair().public
NO_PUBLIC_KEYS = {
    "nothing": b"",
    "infinity": b"\4" + bytes(64),
    "compressed": b"\2" + PUBLIC[1:33],
    "of another form": b"\3" + PUBLIC[1:],
    "too long": PUBLIC + b"x",
    "too large": b"\4" + b"\xff" * 64,
    "not on the curve": PUBLIC[:-1] + bytes([PUBLIC[-1] ^ 1]),
}


@pytest.mark.parametrize("public", NO_PUBLIC_KEYS.values(), ids=NO_PUBLIC_KEYS)
def test_no_public_key(public: bytes) -> None:
    with pytest.raises(CryptoError):
        cedar.shared_secret(key_pair_of(5).private, public)


def test_a_key_from_a_secret() -> None:
    """RFC 5869, test case 1, as far as our length goes."""
    key = cedar.hkdf(b"\x0b" * 22, bytes(range(13)), bytes(range(0xF0, 0xFA)))
    assert key.hex() == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"


def test_it_is_found_where_it_is_installed() -> None:
    assert cedar.is_installed()


def test_it_is_missed_where_it_is_not(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A directory of that name is no package."""
    for name in [name for name in sys.modules if name.partition(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert not cedar.is_installed()
    (tmp_path / "cryptography").mkdir()
    importlib.invalidate_caches()
    assert not cedar.is_installed()
    assert f"{sys.executable} -m pip install cryptography" in cedar.missing_library_message()


def test_the_first_client_loads_all_that_later_ones_need() -> None:
    """The files of the library may be replaced while DAGMan runs."""
    code = (
        "import sys; from condor_pydagman.adapters import cedar as c; "
        "assert 'cryptography' not in sys.modules; c.load(); before = set(sys.modules); "
        "one, other = c.key_pair(), c.key_pair(); "
        "key = c.hkdf(c.shared_secret(one.private, other.public), b'salt', b'info'); "
        "cipher = c.AesGcm(key); iv = bytes(16); "
        "assert cipher.decrypt(iv, cipher.encrypt(iv, b'x', b''), b'') == b'x'; "
        "print(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not done.stdout.strip()


BROKEN = {
    "ImportError": "raise ImportError('libssl.so.9: no such file')",
    "OSError": "raise OSError(5, 'Input/output error')",
    "PanicException": "class PanicException(BaseException): pass\nraise PanicException('_cffi')",
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_library_refuses_the_client_and_says_why(how: str, tmp_path: Path) -> None:
    """Clients that offer encryption are refused, each of them; one that speaks in the clear is
    served as before."""
    (tmp_path / "cryptography").mkdir()
    (tmp_path / "cryptography" / "__init__.py").write_text(BROKEN[how])
    client = f"""
import json, sys
sys.path.insert(0, {str(tmp_path)!r})
from condor_pydagman.adapters import cedar
from condor_pydagman.adapters.cedar import CedarError
from condor_pydagman.adapters.control_socket import Conversation, Server
samples = json.load(open({str(Path(__file__).parent / "cedar_samples.json")!r}))
server = Server("", "vm", ["127.0.0.1"], 1, str, bool)
assert cedar.is_installed()
for how in ("default", "plain", "default"):
    conversation = Conversation(server)
    try:
        asked = conversation.feed(bytes.fromhex(samples[how]["exchange"][0][1]))
        print("served", conversation.out == b"", asked["dagcommand"])
    except CedarError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", client], capture_output=True, text=True, check=True
    )
    first, second, third = done.stdout.splitlines()
    assert first == third
    assert first.startswith(
        f"no encryption, since the Python package cryptography can't be loaded: {how}: "
    )
    assert second == "served True 1"
