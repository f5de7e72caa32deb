"""Frames, integers, texts and ClassAds; what is malformed or too large raises one exception."""

from __future__ import annotations

import base64
import contextlib
import struct
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from condor_pydagman.adapters import cedar
from condor_pydagman.adapters.cedar import CedarError, Channel, MessageReader
from tests.unit.adapters.cedar_keys import SAMPLES, key_pair_of

KEY = bytes(range(32))
PLAIN = st.one_of(
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=40),
    st.integers(min_value=-(2**63), max_value=2**63 - 1),
    st.booleans(),
)
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,20}", fullmatch=True)


def frame(data: bytes, last: int = 1) -> bytes:
    return struct.pack(">BI", last, len(data)) + data


def pair() -> tuple[Channel, Channel]:
    """Two ends that have agreed on a key, after a message each way in the clear."""
    one, other = Channel(), Channel()
    for sender, receiver in ((one, other), (other, one)):
        sender.send(cedar.encode_integer(1))
        passed(sender, receiver)
    one.encrypt(KEY)
    other.encrypt(KEY)
    return one, other


def passed(sender: Channel, receiver: Channel) -> MessageReader:
    receiver.feed(bytes(sender.out))
    sender.out.clear()
    message = receiver.message()
    assert message is not None
    return message


@pytest.mark.parametrize("counted", [False, True])
@given(st.dictionaries(NAMES.map(str.lower), PLAIN, max_size=8))
@example({"reason": 'a "quoted" \\ text\\', "tab": "a\tb\nc", "empty": ""})
def test_an_ad_comes_back(counted: bool, attributes: dict[str, cedar.Value]) -> None:
    message = MessageReader(cedar.encode_ad(attributes, counted), counted)
    found = message.ad()
    message.end()
    assert {name: cedar.value(found, name) for name in found} == attributes


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ('"text"', "text"),
        ('"with \\"quotes\\" and \\ one"', 'with "quotes" and \\ one'),
        ('"ends in \\"', "ends in \\"),
        ('"two" + "texts"', None),
        ('""', ""),
        ("-3", -3),
        ("1.5", 1.5),
        ("1E+300", 1e300),
        ("TRUE", True),
        ("false", False),
        ("undefined", None),
        ("1 + foo", None),
        ("{ 1,2 }", None),
        ("(" * 5000, None),
        ("1e9999", None),
        ("9" * 30, None),
        ("", None),
    ],
)
def test_values(expression: str, value: cedar.Value) -> None:
    assert cedar.value({"x": expression}, "X") == value


def test_names_in_any_case() -> None:
    message = MessageReader(
        cedar.encode_integer(1) + b'HaltReason = "x"\0' + b"Job\0" + b"Machine\0"
    )
    assert cedar.value(message.ad(), "haltREASON") == "x"
    message.end()


def test_a_text_with_bytes_that_are_no_utf_8() -> None:
    assert MessageReader(b"\xff\0").string() == "\udcff"
    assert cedar.encode_string("\udcff") == b"\xff\0"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\0\0",
        cedar.encode_integer(1) + b"no equals sign\0\0\0",
        cedar.encode_integer(1) + b"= 1\0\0\0",
        cedar.encode_integer(1) + b"a b = 1\0\0\0",
        cedar.encode_integer(1) + b"A = 1",
        cedar.encode_integer(2) + b"A = 1\0\0\0",
        cedar.encode_integer(-1) + b"\0\0",
        cedar.encode_integer(101) + b"A = 1\0" * 101 + b"\0\0",
        cedar.encode_integer(2**62),
    ],
)
def test_no_ad(data: bytes) -> None:
    with pytest.raises(CedarError):
        MessageReader(data).ad()


@pytest.mark.parametrize("size", [-1, 0, 1, 3, 100, 2**62])
def test_a_wrong_length(size: int) -> None:
    with pytest.raises(CedarError):
        MessageReader(cedar.encode_integer(size) + b"a\0", length_prefixed=True).string()


def test_something_behind() -> None:
    message = MessageReader(cedar.encode_ad({}) + b"x")
    message.ad()
    with pytest.raises(CedarError):
        message.end()


def test_a_message_in_pieces() -> None:
    channel = Channel()
    data = frame(b"ab", 0) + frame(b"", 0) + frame(b"c\0", 1) + frame(b"next\0")
    for byte in data[:-1]:
        channel.feed(bytes([byte]))
    message = channel.message()
    assert message is not None
    assert message.string() == "abc"
    assert channel.message() is None
    channel.feed(data[-1:])
    message = channel.message()
    assert message is not None
    assert message.string() == "next"


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\n",
        b"\1\xff\xff\xff\xff",
        frame(b"x" * 9000, 0) * 2,
        frame(b"", 0) * 65,
        b"\2\0\0\0\0",
    ],
)
def test_no_message(data: bytes) -> None:
    channel = Channel()
    with pytest.raises(CedarError):
        channel.feed(data)
        channel.message()


def test_more_bytes_than_a_message_has() -> None:
    channel = Channel()
    with pytest.raises(CedarError):
        for _ in range(100):
            channel.feed(bytes(8192))


@given(st.binary(max_size=300))
def test_garbage_raises_nothing_else(data: bytes) -> None:
    for counted in (False, True):
        for start in (b"", cedar.encode_integer(2)):
            with contextlib.suppress(CedarError):
                MessageReader(start + data, counted).ad()
    channel = Channel()
    with contextlib.suppress(CedarError):
        channel.feed(data)
        channel.message()


def test_encrypted_both_ways() -> None:
    one, other = pair()
    for number in range(3):
        for sender, receiver in ((one, other), (other, one)):
            sender.send(cedar.encode_string(f"secret {number}", length_prefixed=True))
            assert b"secret" not in sender.out
            assert passed(sender, receiver).string() == f"secret {number}"


def test_a_frame_twice_or_changed() -> None:
    one, other = pair()
    for _ in range(2):
        one.send(b"again\0")
        frame_sent = bytes(one.out)
        passed(one, other)
    other.feed(frame_sent)
    with pytest.raises(CedarError):
        other.message()


def test_what_went_before_in_the_clear_is_vouched_for() -> None:
    one, other = Channel(), Channel()
    one.send(cedar.encode_integer(1))
    other.feed(frame(cedar.encode_integer(2)))  # somebody has changed it on the way
    other.message()
    one.out.clear()
    one.encrypt(KEY)
    other.encrypt(KEY)
    one.send(b"x")
    other.feed(bytes(one.out))
    with pytest.raises(CedarError):
        other.message()


@given(st.binary(max_size=100))
def test_garbage_where_an_encrypted_frame_should_be(data: bytes) -> None:
    other = pair()[1]
    other.feed(frame(data))
    with pytest.raises(CedarError):
        other.message()


def test_what_stock_sends() -> None:
    """A stock DAGMan's side of a conversation, our Channel in the client's place."""
    sample = SAMPLES["stock server"]
    asked, policy, answer = (bytes.fromhex(data) for _, data in sample["exchange"])
    client = Channel()
    client.send(asked[5:])
    assert bytes(client.out) == asked
    client.feed(policy)
    message = client.message()
    assert message is not None
    agreed = message.ad()
    message.end()
    assert cedar.value(agreed, "Encryption") == "NO"  # but it does, with AES
    theirs = base64.b64decode(str(cedar.value(agreed, "ECDHPublicKey")))
    ours = key_pair_of(int(sample["private"], 16))
    shared = cedar.shared_secret(ours.private, theirs)
    client.encrypt(cedar.hkdf(shared, b"htcondor", b"keygen"))
    message = client.message()
    assert message is not None
    assert cedar.value(message.ad(), "ReturnCode") == "AUTHORIZED"
    client.feed(answer)
    message = client.message()
    assert message is not None
    reply = message.ad()
    message.end()
    assert cedar.value(reply, "ErrorString") == "Invalid secret provided"
    assert cedar.value(reply, "Trusted") is False


def test_a_message_of_as_many_frames_as_may_be() -> None:
    channel = Channel()
    channel.feed(frame(b"x", last=0) * (cedar.MAX_FRAMES - 1) + frame(b"x"))
    assert channel.message() is not None


def test_the_largest_message_takes_little_time() -> None:
    """The DAG waits meanwhile.  Its bytes are copied and deciphered whole, not one by one."""
    ours, theirs = pair()
    theirs.send(bytes(cedar.MAX_MESSAGE_BYTES))
    ours.feed(bytes(theirs.out))
    calls: list[str] = []
    sys.setprofile(lambda frame, event, what: calls.append(event))
    try:
        message = ours.message()
    finally:
        sys.setprofile(None)
    assert message is not None
    assert len(calls) < 100 < cedar.MAX_MESSAGE_BYTES
