"""A worker that is to stop waits for no server, however silent that is."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import Url, parse_url
from condor_pydagman.placement.endpoints import libcurl
from condor_pydagman.placement.endpoints.choose import endpoint_for
from condor_pydagman.placement.endpoints.endpoint import Endpoint
from condor_pydagman.placement.endpoints.sftp_files import _Channel
from condor_pydagman.placement.make_worker import make_worker
from condor_pydagman.placement.way import Surroundings
from tests.placement.helpers import transfer
from tests.placement.test_ftp_files import client
from tests.servers.faulty_http import FaultyServer, Wrong
from tests.waiting import LIMIT_S, until


class SilentServer:
    """Takes connections and says nothing.

    Attributes:
        asked: set when somebody has connected.
    """

    def __init__(self) -> None:
        self.asked = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._made: list[socket.socket] = []
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self._made.append(self._listener.accept()[0])
                self.asked.set()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        for one in (self._listener, *self._made):
            one.close()


@pytest.fixture
def silent() -> Iterator[SilentServer]:
    with contextlib.closing(SilentServer()) as server:
        yield server


def write(endpoint: Endpoint, url: Url) -> None:
    writer = endpoint.write(url, 0, 5)
    writer.write(memoryview(b"12345"))
    writer.commit()


DOINGS: dict[str, Callable[[Endpoint, Url], object]] = {
    "look": lambda endpoint, url: endpoint.look(url),
    "list": lambda endpoint, url: list(endpoint.files_below(url.sibling(""))),
    "read": lambda endpoint, url: endpoint.read(url, 0),
    "write": write,
    "rename": lambda endpoint, url: endpoint.rename(url, url.sibling("b")),
    "remove": lambda endpoint, url: endpoint.remove(url),
}


@pytest.mark.parametrize("doing", DOINGS)
@pytest.mark.parametrize("scheme", ["http", "https", "dav", "davs", "ftp", "ftps"])
def test_a_server_that_says_nothing(
    surroundings: Surroundings,
    silent: SilentServer,
    monkeypatch: pytest.MonkeyPatch,
    scheme: str,
    doing: str,
) -> None:
    monkeypatch.setattr(libcurl, "WAIT_S", 0.02)
    around = surroundings._replace(must_stop=silent.asked.is_set)
    url = parse_url(f"{scheme}://{silent.place}/d/a")
    with pytest.raises(Fault) as error, endpoint_for(url, around) as endpoint:
        DOINGS[doing](endpoint, url)
    assert error.value.kind is FaultKind.STOPPED


def test_an_ftp_server_that_falls_silent(surroundings: Surroundings) -> None:
    """What it has refused before is not why the transfer ends."""
    answers = {"SIZE": b"550 no\r\n", "CWD": b""}
    with client(surroundings, answers) as ftp:
        ftp.files._session._surroundings = surroundings._replace(
            must_stop=lambda: any(line.startswith(b"CWD") for line in ftp.asked)
        )
        with pytest.raises(Fault) as error:
            ftp.files.look(ftp.url.child("a"))
    assert error.value.kind is FaultKind.STOPPED


@pytest.mark.parametrize("upload", [False, True], ids=["download", "upload"])
def test_a_transfer_that_stalls(
    server: FaultyServer, surroundings: Surroundings, tmp_path: Path, upload: bool
) -> None:
    server.stall_s = LIMIT_S
    server.is_dav = False
    server.files["/a"] = os.urandom(2_000_000)
    server.fail("/a", Wrong(after=1_000_000, stalls=True))
    (tmp_path / "a").write_bytes(server.files["/a"])
    pair = (str(tmp_path / "a"), server.url("/a")) if upload else (server.url("/a"), "b")
    stop = threading.Event()
    worker = make_worker([transfer(*pair)], surroundings, _Nobody(), stop)
    worker.start()
    until(lambda: any(one.progress.moved >= 1_000_000 for one in worker.running), "data come")
    stop.set()
    assert worker.join(LIMIT_S)
    assert worker.result() == {FaultKind.STOPPED}


class _Nobody:
    def attempt_ended(self, end: object) -> None:
        """Nothing."""


PROGRAM = """
import sys, threading, signal
from condor_pydagman.placement.make_worker import make_worker
from tests.placement.helpers import *
from tests.placement.test_stop import _Nobody
stop = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stop.set())
d, url = sys.argv[1:]
around = surroundings(d, stall_timeout_s=600, connect_timeout_s=600)
around = around._replace(settings=around.settings._replace(directory=d + "/shared"))
worker = make_worker([transfer(url, d + "/to/")], around, _Nobody(), stop, may_fork=True)
worker.start()
while not worker.join(1):
    pass
print(type(worker).__name__, *(kind.name for kind in worker.result()))
"""


def test_all_processes_of_a_worker_stop(silent: SilentServer, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, str(tmp_path), f"http://{silent.place}/d/"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        until(lambda: silent.asked.is_set() or worker.poll() is not None, "it asks")
        worker.send_signal(signal.SIGTERM)
        said, _ = worker.communicate()
    assert said.split() == ["WorkerProcesses", "STOPPED"]


class _SilentChannel:
    def settimeout(self, seconds: float) -> None:
        self.seconds = seconds

    def recv(self, size: int) -> bytes:
        raise socket.timeout

    send: Any = recv


@pytest.mark.parametrize("way", ["recv", "send"])
def test_an_ssh_server_that_says_nothing(surroundings: Surroundings, way: str) -> None:
    asked: list[int] = []
    around = surroundings._replace(must_stop=lambda: asked.append(1) or len(asked) > 3)  # type: ignore[func-returns-value]
    channel = _Channel(_SilentChannel(), around)
    assert channel.seconds <= 1
    with pytest.raises(Fault) as error:
        getattr(channel, way)(5)
    assert error.value.kind is FaultKind.STOPPED
    impatient = around.settings._replace(stall_timeout_s=0)
    with pytest.raises(socket.timeout):
        _Channel(_SilentChannel(), surroundings._replace(settings=impatient)).recv(5)
