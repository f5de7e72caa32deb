"""The command socket against those who mean harm: changed and repeated conversations of stock
clients, floods, drips, and keys and start values that must never come twice."""

from __future__ import annotations

import contextlib
import hmac
import socket
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from condor_pydagman.adapters import cedar, control_socket
from condor_pydagman.adapters.cedar import Ad, CedarError, Channel
from condor_pydagman.adapters.control_socket import ControlSocket, Conversation, Settings
from condor_pydagman.daemon import clients
from tests.unit.adapters.cedar_keys import sent, talk
from tests.waiting import LIMIT_S, until

CLIENTS = ("default", "oldcrypto", "plain", "required")
ENCRYPTED = ("default", "required")
CHANGES = ("flip", "cut", "twice", "insert", "swap")
Change = tuple[str, int, int]


def heard(conversation: Conversation, turns: list[bytes]) -> Ad | None:
    """The request that comes out of it, None if none does."""
    with contextlib.suppress(CedarError):
        for data in turns:
            request = conversation.feed(data)
            if request is not None:
                return request
    return None


def changed(data: bytes, change: Change) -> bytes:
    kind, at, number = change
    at %= len(data)
    end = at + 1 + number % 40
    if kind == "flip":
        return data[:at] + bytes([data[at] ^ (1 << number % 8)]) + data[at + 1 :]
    if kind == "cut":
        return data[:at] + data[end:]
    if kind == "twice":
        return data[:end] + data[at:]
    if kind == "insert":
        return data[:at] + number.to_bytes(8, "big") + data[at:]
    middle = (at + end) // 2
    return data[:at] + data[middle:end] + data[at:middle] + data[end:]


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(CLIENTS),
    st.lists(
        st.tuples(st.sampled_from(CHANGES), st.integers(0, 5000), st.integers(0, 2**60)),
        min_size=1,
        max_size=3,
    ),
    st.integers(0, 10),
)
def test_a_changed_conversation(how: str, changes: list[Change], turn: int) -> None:
    """Nothing but a CedarError comes of it; of an encrypted one no request, whatever was changed
    and wherever: the parts in the clear are vouched for as well."""
    turns = sent(how)
    turn %= len(turns)
    for change in changes:
        turns[turn] = changed(turns[turn], change) or b"\0"
    request = heard(talk(how), turns)
    if how in ENCRYPTED and not b"".join(turns).startswith(b"".join(sent(how))):
        assert request is None


@pytest.mark.parametrize("how", CLIENTS)
def test_what_was_overheard_is_of_no_use_again(how: str) -> None:
    assert heard(talk(how), sent(how)) is not None
    again = heard(talk(how, new_key=cedar.key_pair), sent(how))
    assert (again is None) == (how in ENCRYPTED)  # the others send in the clear, of their own will


@pytest.mark.parametrize("more", [{"port": 1}, {"port": 999999}, {"hosts": frozenset()}])
def test_who_has_connected_to_another_address_is_not_heard(more: dict[str, Any]) -> None:
    assert heard(talk("required", **more), sent("required")) is None


def test_keys_and_start_values_never_come_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[tuple[bytes, bytes]] = []
    encrypt = cedar.AesGcm.encrypt
    key = b""

    def noted(self: cedar.AesGcm, iv: bytes, text: bytes, also: bytes) -> bytes:
        used.append((key, iv))
        return encrypt(self, iv, text, also)

    monkeypatch.setattr(cedar.AesGcm, "encrypt", noted)
    for number in range(3):
        key = bytes([number]) * 32
        ends = Channel(), Channel()
        for end in ends:
            end.encrypt(key)
        for _ in range(20):
            for end in ends:
                end.send(b"x")
    assert len(used) == len(set(used)) == 120
    assert len({cedar.key_pair().public for _ in range(20)}) == 20


def test_secrets_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[Any, Any]] = []

    def compare(one: Any, other: Any) -> bool:
        compared.append((one, other))
        return False

    monkeypatch.setattr(hmac, "compare_digest", compare)
    answer = clients.refused({"secret": '"right"', "dagcommand": "1"}, "right")
    assert answer is not None
    assert answer["ErrorString"] == "Invalid secret provided"
    assert compared == [(b"right", b"right")]


def test_nobody_authenticates_for_ever() -> None:
    conversation = talk("required", is_proof=lambda path: False)
    assert conversation.feed(sent("required")[0]) is None
    failed = cedar.encode_integer(0) + cedar.encode_string("127.0.0.1:9618")
    with pytest.raises(CedarError, match="again and again"):
        for _ in range(control_socket.MAX_TRIES + 1):
            for message in (cedar.encode_integer(4), failed):
                channel = Channel()
                channel.send(message)
                conversation.feed(bytes(channel.out))
    assert len(conversation.out) < 4096


@pytest.fixture
def control_server() -> Iterator[ControlSocket]:
    server = ControlSocket(Settings(hosts=("127.0.0.1",)))
    yield server
    server.close()


def connect(server: ControlSocket) -> socket.socket:
    port = int(server.address.partition("?")[0].rpartition(":")[2])
    return socket.create_connection(("127.0.0.1", port), timeout=LIMIT_S)


def test_thousands_of_connections(
    control_server: ControlSocket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more are kept than there is room for, and one that means it is served among them."""
    monkeypatch.setattr(control_socket, "BUSY_CLIENT_TIMEOUT_S", 0.0)
    lines: list[str] = []
    for number in range(2000):
        with connect(control_server) as client:
            if number % 50:
                client.sendall((b"", b"\xff" * 50)[number % 2])
            else:
                client.sendall(sent("default")[0])
            control_server.work(lines.append)
        assert len(control_server._clients) <= control_socket.MAX_CLIENTS
    assert len(lines) <= 2
    with connect(control_server) as client:
        client.sendall(sent("plain")[0])
        until(lambda: control_server.work(lines.append), "a request that is served")


def test_a_client_that_sends_a_byte_now_and_then(
    control_server: ControlSocket, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    clock = SimpleNamespace(monotonic=lambda: now)
    monkeypatch.setattr(control_socket, "time", clock)
    begun, pause_s = now, control_socket.CLIENT_TIMEOUT_S / 10
    with connect(control_server) as client:
        until(lambda: control_server.work() or control_server._clients, "the client is let in")
        for byte in sent("default")[0][:-1]:
            if not control_server._clients:
                break
            client.sendall(bytes([byte]))
            control_server.work()
            now += pause_s
    assert not control_server._clients
    assert now - begun <= control_socket.CLIENT_TIMEOUT_S + 2 * pause_s


def test_a_client_that_does_not_listen(control_server: ControlSocket) -> None:
    """What it is sent is bounded by what it may send."""
    conversation = talk("plain")
    channel = Channel()
    with contextlib.suppress(CedarError):
        for _ in range(10000):
            channel.send(cedar.encode_integer(4))
            conversation.feed(bytes(channel.out))
    assert len(conversation.out) < 100_000
