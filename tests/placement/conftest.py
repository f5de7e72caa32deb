"""A server that fails, and the surroundings of attempts."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.placement import waits
from condor_pydagman.placement.way import Progress, Surroundings
from tests.placement.helpers import Moves
from tests.servers.faulty_http import STALL_S, FaultyServer, faulty_http
from tests.waiting import LIMIT_S


@pytest.fixture(scope="module")
def one_server() -> Iterator[FaultyServer]:
    with faulty_http() as server:
        yield server


@pytest.fixture
def server(one_server: FaultyServer) -> FaultyServer:
    """A server without files, which fails as it is told."""
    one_server.files.clear()
    one_server.requests.clear()
    one_server._wrong.clear()
    one_server.resumed.clear()
    one_server.stall_s = STALL_S
    one_server.is_dav, one_server.password = True, ""
    one_server.move_status, one_server.cuts_names = 0, False
    return one_server


@pytest.fixture
def surroundings(tmp_path: Path) -> Surroundings:
    settings = Settings(
        stall_timeout_s=LIMIT_S,
        connect_timeout_s=LIMIT_S,
        directory=str(tmp_path / "shared"),
        cache_directory=str(tmp_path / "cache"),
        first_delay_s=0.01,
        host_rest_s=0.01,
        max_retries=3,
    )
    return Surroundings(settings, {}, str(tmp_path), lambda text: None)


@pytest.fixture
def progress() -> Progress:
    return Progress(threading.Event())


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port at which nobody answers."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield int(taken.getsockname()[1])


@pytest.fixture
def move(surroundings: Surroundings) -> Iterator[Moves]:
    moves = Moves(surroundings)
    yield moves
    moves.way.thread_ends()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a server shows is taken as it is."""
    monkeypatch.setattr(waits, "LATE_S", 0.0)
