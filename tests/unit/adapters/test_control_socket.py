"""The listener: many clients, silent ones, slow ones, garbage; and the addresses it tells."""

from __future__ import annotations

import ast
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from condor_pydagman.adapters import cedar, control_socket
from condor_pydagman.adapters.control_socket import (
    DAGMAN_GENERIC,
    ControlSocket,
    Request,
    Settings,
    sinful,
)
from tests.unit.adapters.cedar_keys import SAMPLES
from tests.waiting import LIMIT_S, until

HERE = Settings(hosts=("127.0.0.1",))


@pytest.fixture
def control() -> Iterator[ControlSocket]:
    opened = ControlSocket(HERE)
    yield opened
    opened.close()


def port(control: ControlSocket) -> int:
    return int(control.address.partition("?")[0].rpartition(":")[2])


def connect(control: ControlSocket) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port(control)), timeout=LIMIT_S)


def halt(reason: str = "tea") -> bytes:
    """A request of a client that does not negotiate."""
    message = cedar.encode_integer(DAGMAN_GENERIC) + cedar.encode_ad(
        {"DagCommand": 1, "HaltReason": reason}
    )
    channel = cedar.Channel()
    channel.send(message)
    return bytes(channel.out)


def readable(control: ControlSocket, seconds: float = 0) -> bool:
    poll = select.poll()
    poll.register(control.fileno(), select.POLLIN)
    return bool(poll.poll(int(seconds * 1000)))


def served(control: ControlSocket, lines: list[str] | None = None) -> list[Request]:
    """Serve until nobody wants anything; answer everybody."""
    requests: list[Request] = []
    lines = [] if lines is None else lines
    while readable(control, 0.02):
        for request in control.work(lines.append):
            request.reply({"Result": True})
            requests.append(request)
    return requests


def rest(client: socket.socket) -> bytes:
    """All that comes until the other side hangs up."""
    data = b""
    while True:
        try:
            piece = client.recv(4096)
        except ConnectionResetError:
            return data
        if not piece:
            return data
        data += piece


def test_a_recorded_client_in_single_bytes(control: ControlSocket) -> None:
    data = bytes.fromhex(SAMPLES["plain"]["exchange"][0][1])
    with connect(control) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in data[:-1]:
            client.sendall(bytes([byte]))
            assert not served(control)
        client.sendall(data[-1:])
        assert len(served(control)) == 1
        assert rest(client)


def test_an_answer_that_comes_later(control: ControlSocket) -> None:
    with connect(control) as client:
        client.sendall(halt())
        assert readable(control, 5)
        control.work()
        (request,) = control.work()
        assert not readable(control)  # nothing to do until we answer
        client.sendall(b"more than was asked for")
        assert not readable(control)
        request.reply({"Result": False})
        assert b"false" in client.recv(100)


def test_a_client_that_does_not_wait_for_its_answer(control: ControlSocket) -> None:
    with connect(control) as client:
        client.sendall(halt())
        assert readable(control, 5)
        control.work()
        (request,) = control.work()
    served(control)
    request.reply({"Result": True})
    assert control.next_deadline() is None


def test_a_silent_client_is_dropped(
    control: ControlSocket, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    monkeypatch.setattr(control_socket, "time", SimpleNamespace(monotonic=lambda: now))
    with connect(control) as client:
        client.sendall(halt()[:20])
        until(lambda: control.work() or control._clients, "the client is let in")
        served(control)
        assert control.next_deadline() == now + control_socket.CLIENT_TIMEOUT_S
        assert not readable(control)
        now += control_socket.CLIENT_TIMEOUT_S
        control.work()
        assert control.next_deadline() is None
        assert not rest(client)


@pytest.mark.parametrize(
    "data",
    [b"GET / HTTP/1.1\r\n\r\n", b"\1\0\0\0\10" + cedar.encode_integer(60011), b"\xff" * 100000],
)
def test_garbage_is_refused_and_said_once(control: ControlSocket, data: bytes) -> None:
    lines: list[str] = []
    for _ in range(5):
        with connect(control) as client:
            client.sendall(data)
            served(control, lines)
            rest(client)
    assert len(lines) == 1
    assert lines[0].startswith("Warning: the command socket refused a client at 127.0.0.1: ")
    assert "GET" not in lines[0]
    assert "other times" not in lines[0]
    control._next_report_at = 0.0
    with connect(control) as client:
        client.sendall(data)
        served(control, lines)
    assert lines[1].endswith(" (and 4 other times)")


def test_a_stranger_writes_no_lines_of_his_own_into_the_log(control: ControlSocket) -> None:
    lines: list[str] = []
    words = "x\n11/21/26 10:00:00 **** EXITING WITH STATUS 0\x1b[2J" + "y" * 5000
    message = cedar.encode_integer(60010) + cedar.encode_ad({"Command": words})
    with connect(control) as client:
        client.sendall(b"\1" + len(message).to_bytes(4, "big") + message)
        served(control, lines)
    assert len(lines) == 1
    assert lines[0].isprintable()
    assert len(lines[0]) < 2000


def test_who_connects_and_leaves_is_not_worth_a_word(control: ControlSocket) -> None:
    lines: list[str] = []
    for _ in range(3):
        connect(control).close()
    served(control, lines)
    assert not lines
    assert control.next_deadline() is None


def test_hundreds_at_once(control: ControlSocket) -> None:
    clients = [connect(control) for _ in range(120)]
    asked = 0
    for client in clients:
        client.sendall(halt())
    asked += len(served(control))
    assert asked == len(clients)
    for client in clients:
        assert b"Result" in rest(client)
        client.close()


def test_silent_ones_do_not_keep_others_out(
    control: ControlSocket, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = time.monotonic()
    monkeypatch.setattr(control_socket, "time", SimpleNamespace(monotonic=lambda: now))
    silent = [connect(control) for _ in range(control_socket.MAX_CLIENTS + 10)]
    served(control)
    with connect(control) as client:
        client.sendall(halt())

        def requests() -> list[Request]:
            nonlocal now
            deadline = control.next_deadline()
            if not readable(control) and deadline is not None:
                now = max(now, deadline)
            return control.work()

        (request,) = until(requests, "a request that is served")
        request.reply({"Result": True})
        assert b"Result" in rest(client)
    for other in silent:
        other.close()


def test_one_that_waits_for_its_reply_is_not_dropped_for_others(
    control: ControlSocket, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The schedd may take seconds before DAGMan replies."""
    now = time.monotonic()
    monkeypatch.setattr(control_socket, "time", SimpleNamespace(monotonic=lambda: now))
    with connect(control) as client:
        client.sendall(halt())
        (request,) = until(control.work, "a request that is served")
        silent = [connect(control) for _ in range(control_socket.MAX_CLIENTS)]
        served(control)
        now += control_socket.BUSY_CLIENT_TIMEOUT_S
        control.work()
        request.reply({"Result": True})
        assert b"Result" in rest(client)
    for other in silent:
        other.close()


def test_full_house_is_no_busy_loop(control: ControlSocket) -> None:
    silent = [connect(control) for _ in range(control_socket.MAX_CLIENTS + 10)]
    served(control)
    assert not readable(control)
    assert control.next_deadline() is not None
    for client in silent:
        client.close()


@pytest.mark.parametrize(
    ("knobs", "says"),
    [
        ({"NETWORK_INTERFACE": "127.0.0.1"}, {"hosts": ("127.0.0.1",), "everywhere": True}),
        ({"NETWORK_INTERFACE": "127.0.0.1", "ENABLE_IPV4": "false"}, {"hosts": ()}),
        ({"BIND_ALL_INTERFACES": "false"}, {"everywhere": False}),
        ({"LOWPORT": "9700", "HIGHPORT": "9710"}, {"ports": (9700, 9710)}),
        (
            {
                "LOWPORT": "9700",
                "HIGHPORT": "9710",
                "IN_LOWPORT": "9800",
                "IN_HIGHPORT": "9801",
            },
            {"ports": (9800, 9801)},
        ),
        ({"LOWPORT": "9700"}, {"ports": (0, 0)}),
        ({"LOWPORT": "x", "HIGHPORT": "y"}, {"ports": (0, 0)}),
        ({"LOWPORT": "9710", "HIGHPORT": "9700"}, {"ports": (0, 0)}),
        ({"TCP_FORWARDING_HOST": "198.51.100.7"}, {"forwarding": "198.51.100.7"}),
        ({"NETWORK_HOSTNAME": "ap.example.org"}, {"alias": "ap.example.org"}),
        ({"FS_LOCAL_DIR": "/scratch"}, {"directory": "/scratch"}),
    ],
)
def test_settings(knobs: dict[str, str], says: dict[str, object]) -> None:
    """The bindings keep the configuration for a whole process, so each case has one."""
    code = (
        "from condor_pydagman.adapters.control_socket import settings; print(settings()._asdict())"
    )
    clean = {k: v for k, v in os.environ.items() if not k.startswith("_CONDOR_")}
    variables = {f"_CONDOR_{name}": value for name, value in knobs.items()}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**clean, "CONDOR_CONFIG": os.devnull, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    found = ast.literal_eval(done.stdout)
    assert {name: found[name] for name in says} == says


@pytest.mark.parametrize(
    ("where", "address"),
    [
        (HERE, "<127.0.0.1:7?addrs=127.0.0.1-7&noUDP>"),
        (
            Settings(("192.0.2.1", "fd00::2"), alias="ap.example.org"),
            "<192.0.2.1:7?addrs=192.0.2.1-7+[fd00--2]-7&alias=ap.example.org&noUDP>",
        ),
        (Settings(("fd00::2",)), "<[fd00::2]:7?addrs=[fd00--2]-7&noUDP>"),
        (
            Settings(("192.0.2.1",), forwarding="198.51.100.9", alias='no "name"'),
            "<198.51.100.9:7?addrs=198.51.100.9-7&noUDP>",
        ),
    ],
)
def test_addresses(where: Settings, address: str) -> None:
    assert sinful(where, 7) == address


def test_both_families_share_a_port() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("no IPv6 here")
    both = ControlSocket(Settings(("127.0.0.1", "::1")))
    try:
        for host in ("127.0.0.1", "::1"):
            with socket.create_connection((host, port(both)), timeout=LIMIT_S) as client:
                client.sendall(halt())
                assert len(served(both)) == 1
                assert rest(client)
    finally:
        both.close()


def test_a_range_of_ports() -> None:
    first = ControlSocket(HERE)
    taken = port(first)
    try:
        with pytest.raises(OSError, match="in use"):
            ControlSocket(Settings(("127.0.0.1",), ports=(taken, taken)))
        second = ControlSocket(Settings(("127.0.0.1",), ports=(taken - 20, taken)))
        assert taken - 20 <= port(second) < taken
        second.close()
    finally:
        first.close()


def test_no_address() -> None:
    with pytest.raises(OSError, match="no address"):
        ControlSocket(Settings(()))


def test_proof_is_a_directory_for_its_owner_alone(tmp_path: Path) -> None:
    made = tmp_path / "made"
    assert not control_socket._is_proof(str(made))
    made.mkdir()
    made.chmod(0o755)
    assert not control_socket._is_proof(str(made))
    made.chmod(0o700)
    assert control_socket._is_proof(str(made))
    link, file = tmp_path / "link", tmp_path / "file"
    link.symlink_to(made)
    file.touch(0o700)
    assert not control_socket._is_proof(str(link))
    assert not control_socket._is_proof(str(file))
