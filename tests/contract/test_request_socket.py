"""The local socket: who is let in, and that no client holds up the others."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.adapters.request_client import steer
from condor_pydagman.errors import FileError, UsageError
from condor_pydagman.features.common.adapters import request_socket
from condor_pydagman.features.common.adapters.request_socket import (
    MAX_CLIENTS,
    MAX_LINE_BYTES,
    MAX_NAMES,
    RequestSocket,
    addresses,
    connected,
)
from condor_pydagman.pool import step_down
from tests.installation import CHECKOUT
from tests.waiting import LIMIT_S, readable


@pytest.fixture
def dag(tmp_path: Path) -> str:
    return str(tmp_path / "t.dag")


@pytest.fixture
def server(dag: str) -> Iterator[RequestSocket]:
    made = RequestSocket(dag)
    yield made
    made.close()


def client(dag: str) -> socket.socket:
    made = connected(dag, LIMIT_S)
    assert made is not None
    return made


def served(server: RequestSocket, count: int = 1) -> list[bytes]:
    """Let it work until so many lines have come; each is answered by itself."""
    found: list[bytes] = []
    while len(found) < count:
        for one, line in wait_for_lines(server):
            found.append(line)
            server.answer(one, line + b"!\n")
    return found


def test_lines_and_answers(server: RequestSocket, dag: str) -> None:
    with client(dag) as one, client(dag) as two:
        one.sendall(b'{"a": 1}\n\n{"b"')
        two.sendall(b"x\n")
        assert sorted(served(server, 2)) == [b"x", b'{"a": 1}']
        one.sendall(b": 2}\n")
        assert served(server) == [b'{"b": 2}']
        assert one.recv(100) == b'{"a": 1}!\n{"b": 2}!\n'


def test_a_dag_that_is_not_running(dag: str) -> None:
    assert connected(dag, 1.0) is None
    with pytest.raises(FileError, match="no DAGMan of yours runs"):
        steer(dag, "info")


def test_a_name_is_not_taken_for_a_list_of_names(dag: str) -> None:
    with pytest.raises(UsageError, match=r"names is a list of names: \['ab'\]"):
        steer(dag, "cancel", "ab")


def test_another_dag_has_another_socket(server: RequestSocket, tmp_path: Path) -> None:
    assert connected(str(tmp_path / "other.dag"), 1.0) is None


def test_a_link_to_the_dag_leads_to_it(server: RequestSocket, dag: str, tmp_path: Path) -> None:
    Path(dag).write_text("")
    (tmp_path / "link.dag").symlink_to(dag)
    client(str(tmp_path / "link.dag")).close()


def test_the_name_is_taken(dag: str) -> None:
    """By somebody's program: the next name serves."""
    names = list(addresses(dag, os.geteuid()))
    with socket.socket(socket.AF_UNIX) as squatter:
        squatter.bind(names[0])
        server = RequestSocket(dag)
        with client(dag):
            pass
        server.close()


@pytest.mark.parametrize("listens", [False, True])
def test_all_names_are_taken(dag: str, listens: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a program of another user's, which may listen: one serves that it could not foresee."""
    real, squatters = request_socket.peer_uid, []
    with contextlib.ExitStack() as stack:
        for name in addresses(dag, os.geteuid()):
            squatters.append(stack.enter_context(socket.socket(socket.AF_UNIX)))
            squatters[-1].bind(name)
            if listens:
                squatters[-1].listen(1)
        assert len(squatters) == MAX_NAMES
        strange = set(addresses(dag, os.geteuid()))
        monkeypatch.setattr(
            request_socket,
            "peer_uid",
            lambda made: -1 if made.getpeername() in strange else real(made),
        )
        with pytest.raises(FileError, match=r"; somebody else's program holds names"):
            steer(dag, "info")
        server = RequestSocket(dag)
        stack.callback(server.close)
        with client(dag) as connection:
            connection.sendall(b"hello\n")
            assert served(server) == [b"hello"]
    with pytest.raises(FileError, match=r"ls lists your DAGs$"):
        steer(dag, "info")


_OTHER = """\
import os, socket, sys
os.setuid(65534)
made = socket.socket(socket.AF_UNIX)
name = bytes.fromhex(sys.argv[2])
if sys.argv[1] == "connect":
    made.connect(name)
    print(made.recv(10))
else:
    made.bind(name)
    made.listen(1)
    print("listens", flush=True)
    sys.stdin.read()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_another_user_is_sent_away(server: RequestSocket, dag: str) -> None:
    name = next(addresses(dag, 0)).hex()
    other = subprocess.Popen(
        [sys.executable, "-c", _OTHER, "connect", name], stdout=subprocess.PIPE, cwd="/"
    )
    while other.poll() is None:
        assert not served_once(server)
    assert other.communicate()[0] == b"b''\n"


def served_once(server: RequestSocket) -> list[tuple[object, bytes]]:
    ready = select.select([server], [], [], 0.05)[0]
    if ready:
        server.work()
    return list(server.lines())


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_a_server_of_another_user_is_not_talked_to(dag: str) -> None:
    name = next(addresses(dag, 0)).hex()
    other = subprocess.Popen(
        [sys.executable, "-c", _OTHER, "listen", name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd="/",
    )
    assert other.stdout is not None
    other.stdout.readline()
    assert connected(dag, LIMIT_S) is None
    other.communicate()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
@pytest.mark.parametrize("owner", [65534, 0, 65533])
def test_root_talks_to_the_dagman_of_the_dag_s_user(tmp_path: Path, owner: int) -> None:
    dag = tmp_path / "t.dag"
    out = tmp_path / "t.dag.dagman.out"
    out.touch()
    os.chown(out, owner, owner)
    kept: dict[str, Any] = {"stdout": subprocess.PIPE, "text": True, "cwd": CHECKOUT}
    program = _SERVED.replace("server = ", "os.setgid(65534); os.setuid(65534)\nserver = ", 1)
    words = [sys.executable, "-c", program, str(dag), str(os.getpid())]
    with subprocess.Popen(words, **kept) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "listens\n"
        made = connected(str(dag), LIMIT_S)
        if owner == 65534:
            assert made is not None
            with made:
                made.sendall(b"hello\n")
                assert made.recv(10) == b"hello"
        else:
            assert made is None
        server.kill()


_SERVED = """\
import os, sys
from condor_pydagman.features.common.adapters.request_socket import RequestSocket
server = RequestSocket(sys.argv[1])
print("listens", flush=True)
while os.getppid() == int(sys.argv[2]):
    server.work()
    for client, line in server.lines():
        server.answer(client, line)
"""

_ASKS = """\
import sys
from condor_pydagman.features.common.adapters.request_socket import connected
made = connected(sys.argv[1], 1.0)
made and made.sendall(b"hello\\n")
print(made and made.recv(10))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
@pytest.mark.parametrize("number, answer", [("1", "b'hello'"), ("65534", "None")])
def test_where_strangers_have_no_number(dag: str, number: str, answer: str) -> None:
    """In the user namespace of root's pool all have that of `nobody`; only root is let in there.
    A process that has this number itself can't tell who is who, and lets nobody in."""
    start = [sys.executable, step_down.__file__, "namespace", number, number, sys.executable, "-c"]
    kept: dict[str, Any] = {"stdout": subprocess.PIPE, "text": True, "cwd": CHECKOUT}
    with subprocess.Popen([*start, _SERVED, dag, str(os.getpid())], **kept) as server:
        assert server.stdout is not None
        if not server.stdout.readline():
            assert server.wait() == 125, "only what forbids namespaces may keep it from listening"
            return
        stranger = [
            sys.executable,
            "-c",
            _OTHER,
            "connect",
            next(addresses(dag, int(number))).hex(),
        ]
        assert subprocess.run(stranger, **kept).stdout == "b''\n"
        assert subprocess.run([*start, _ASKS, dag], **kept).stdout.strip() == answer
        server.kill()


def test_a_line_that_is_too_long_ends_the_connection(server: RequestSocket, dag: str) -> None:
    with client(dag) as one:
        one.settimeout(0.01)
        sent = 0
        with pytest.raises(OSError):  # whichever: it is closed
            while sent < 4 * MAX_LINE_BYTES:
                served_once(server)
                try:
                    sent += one.send(b"x" * 65536)
                except socket.timeout:
                    continue
        assert sent <= 2 * MAX_LINE_BYTES


def test_a_client_that_reads_nothing_is_dropped(
    server: RequestSocket, dag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_socket, "MAX_UNREAD_BYTES", 1 << 20)
    with client(dag) as silent, client(dag) as other:
        silent.sendall(b"x\n")
        ((one, _),) = wait_for_lines(server)
        for _ in range(100):
            server.answer(one, b"y" * 65536)
        assert one.closed
        other.sendall(b"z\n")
        assert served(server) == [b"z"]


def wait_for_lines(server: RequestSocket) -> list[tuple[request_socket.Client, bytes]]:
    while True:
        readable(server, "a line of a client")
        server.work()
        found = list(server.lines())
        if found:
            return found


def test_silent_clients_do_not_keep_others_out(server: RequestSocket, dag: str) -> None:
    silent = [client(dag) for _ in range(MAX_CLIENTS - 1)]
    with client(dag) as one:
        one.sendall(b"x\n")
        assert served(server) == [b"x"]
    for other in silent:
        other.close()
    with client(dag) as one:
        one.sendall(b"y\n")
        assert served(server) == [b"y"]


def test_each_client_has_its_turn(
    server: RequestSocket, dag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many requests another one sends at once, and however long each of them takes."""
    monkeypatch.setattr(request_socket, "SERVE_SLICE_S", -1.0)
    with client(dag) as many, client(dag) as other:
        many.sendall(b"x\n" * 10_000)
        other.sendall(b"y\n")
        lines: list[bytes] = []
        while b"y" not in lines:
            server.work()
            found = [line for _, line in server.lines()]
            assert len(found) <= 1
            lines += found
        assert len(lines) < 100
        assert server.ready


def test_so_many_clients_at_once_that_one_has_to_wait(server: RequestSocket, dag: str) -> None:
    name = next(addresses(dag, os.geteuid()))
    with contextlib.ExitStack() as others, ThreadPoolExecutor() as threads:
        with contextlib.suppress(BlockingIOError):
            while True:
                other = others.enter_context(socket.socket(socket.AF_UNIX))
                other.setblocking(False)
                other.connect(name)
        waits = threads.submit(connected, dag, LIMIT_S)
        while not waits.done():
            served_once(server)
    found = waits.result()
    assert found is not None
    found.close()


def test_a_client_in_another_process(server: RequestSocket, dag: str) -> None:
    words = (
        "import sys; from condor_pydagman import steer; print(steer(sys.argv[1], 'info').fields)"
    )
    asked = subprocess.Popen(
        [sys.executable, "-c", words, dag], stdout=subprocess.PIPE, cwd=CHECKOUT
    )
    ((one, line),) = wait_for_lines(server)
    assert json.loads(line)["command"] == "info"
    server.answer(one, b'{"version": 1, "id": 1, "done": 1}\n')
    assert b"'done': 1" in asked.communicate(timeout=LIMIT_S)[0]
