"""The cryptography gives what the standards' own examples say, and refuses what is no key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.adapters import cedar_crypto
from condor_pydagman.adapters.cedar_crypto import AesGcm, CryptoError

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
    assert cedar_crypto.shared_secret(private, theirs).hex().upper() == shared


def test_both_sides_agree() -> None:
    one, other = cedar_crypto.key_pair(), cedar_crypto.key_pair()
    assert one != other
    mine = cedar_crypto.shared_secret(one.private, other.public)
    assert mine == cedar_crypto.shared_secret(other.private, one.public)


@pytest.mark.parametrize(
    "public",
    [
        b"",
        b"\4" + bytes(64),
        b"\2" + cedar_crypto.key_pair().public[1:33],
        b"\3" + cedar_crypto.key_pair().public[1:],
        cedar_crypto.key_pair().public + b"x",
        b"\4" + b"\xff" * 64,
        cedar_crypto.key_pair().public[:-1] + b"\0",
    ],
)
def test_no_public_key(public: bytes) -> None:
    with pytest.raises(CryptoError):
        cedar_crypto.shared_secret(5, public)


def test_a_key_from_a_secret() -> None:
    """RFC 5869, test case 1, as far as our length goes."""
    key = cedar_crypto.hkdf(b"\x0b" * 22, bytes(range(13)), bytes(range(0xF0, 0xFA)))
    assert key.hex() == "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"


@given(st.binary(min_size=32, max_size=32), st.lists(st.binary(min_size=16, max_size=16)))
def test_many_blocks_are_as_each_for_itself(key: bytes, blocks: list[bytes]) -> None:
    cipher = AesGcm(key)
    alone = [cipher._blocks(block) for block in blocks]
    assert cipher._blocks(b"".join(blocks)) == b"".join(alone)
