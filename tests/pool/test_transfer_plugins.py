"""HTCondor's own curl_plugin as a way of data placement, against a server of this machine."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.plugin_way import PluginWay
from condor_pydagman.placement.way import Outcome, Progress, Surroundings
from tests.pool.access_point import AccessPoint
from tests.servers.faulty_http import FaultyServer, Wrong, faulty_http

DATA = bytes(range(256)) * 1000


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with faulty_http() as running:
        running.files.update({"/a": DATA, "/lie": DATA})
        running.fail("/lie", Wrong(times=9, after=1000))
        for status in (403, 503):
            running.fail(f"/{status}", Wrong(times=9, status=status))
        yield running


def url(server: FaultyServer, name: str) -> str:
    return f"http://bob:hidden@{server.place}/{name}"


@pytest.fixture
def surroundings(access_point: AccessPoint, work: Path) -> Surroundings:
    names = access_point.run("condor_config_val", "FILETRANSFER_PLUGINS").stdout
    plugins = tuple(path.strip() for path in names.split(",") if path.strip())
    settings = Settings(plugins=plugins)
    return Surroundings(settings, access_point.environment, str(work), lambda line: None)


def perform(source: str | Path, destination: str | Path, surroundings: Surroundings) -> Outcome:
    transfer = Transfer(parse_url(str(source)), parse_url(str(destination)))
    way = PluginWay()
    assert not way.obstacle(transfer, surroundings)
    return way.perform(transfer, surroundings, Progress(threading.Event()))


def test_there_and_back(server: FaultyServer, surroundings: Surroundings, work: Path) -> None:
    done = perform(url(server, "a"), work / 'odd "name" \\', surroundings)
    assert done == Outcome("plugin curl_plugin", len(DATA), len(DATA))
    assert (work / 'odd "name" \\').read_bytes() == DATA
    perform(work / 'odd "name" \\', url(server, "back"), surroundings)
    assert server.files["/back"] == DATA
    assert [path.name for path in work.iterdir()] == ['odd "name" \\']


@pytest.mark.parametrize(
    ("name", "kind", "transient"),
    [
        ("none", FaultKind.MISSING, False),
        ("403", FaultKind.DENIED, False),
        ("503", FaultKind.SERVER, True),
        ("lie", FaultKind.SERVER, True),
    ],
)
def test_failures(
    server: FaultyServer,
    surroundings: Surroundings,
    work: Path,
    name: str,
    kind: FaultKind,
    transient: bool,
) -> None:
    with pytest.raises(Fault) as caught:
        perform(url(server, name), work / "got", surroundings)
    assert (caught.value.kind, caught.value.transient) == (kind, transient)
    assert "hidden" not in caught.value.reason
    assert list(work.iterdir()) == []


def test_a_server_that_is_not_there(surroundings: Surroundings, work: Path) -> None:
    with contextlib.closing(socket.socket()) as taken:
        taken.bind(("127.0.0.1", 0))
        server = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(Fault, match="curl_plugin: Failed to connect") as caught:
            perform(f"http://{server}/a", work / "got", surroundings)
    assert (caught.value.kind, caught.value.host) == (FaultKind.SERVER, server)
