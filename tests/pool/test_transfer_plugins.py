"""HTCondor's own curl_plugin as a way of data placement, against a server of this machine."""

from __future__ import annotations

import contextlib
import http.server
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

DATA = bytes(range(256)) * 1000


class Handler(http.server.BaseHTTPRequestHandler):
    """Files in memory, by their names; `lie` ends early, a name that is a number is that status."""

    protocol_version = "HTTP/1.1"
    stored: dict[str, bytes]

    def do_GET(self) -> None:
        name = self.path.strip("/")
        status = int(name) if name.isdigit() else 200 if name in self.stored else 404
        data = self.stored.get(name, b"")
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: 1000 if name == "lie" else None])
        self.close_connection = name == "lie"

    do_HEAD = do_GET

    def do_PUT(self) -> None:
        self.stored[self.path.strip("/")] = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def stored() -> dict[str, bytes]:
    return {"a": DATA, "lie": DATA}


@pytest.fixture
def server(stored: dict[str, bytes]) -> Iterator[str]:
    """The beginning of the URLs of a server."""
    handler = type("Handler", (Handler,), {"stored": stored})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://bob:hidden@127.0.0.1:{running.server_port}/"
        running.shutdown()
        thread.join()


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


def test_there_and_back(
    server: str, stored: dict[str, bytes], surroundings: Surroundings, work: Path
) -> None:
    done = perform(server + "a", work / 'odd "name" \\', surroundings)
    assert done == Outcome("plugin curl_plugin", len(DATA), len(DATA))
    assert (work / 'odd "name" \\').read_bytes() == DATA
    perform(work / 'odd "name" \\', server + "back", surroundings)
    assert stored["back"] == DATA
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
    server: str,
    surroundings: Surroundings,
    work: Path,
    name: str,
    kind: FaultKind,
    transient: bool,
) -> None:
    with pytest.raises(Fault) as caught:
        perform(server + name, work / "got", surroundings)
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
