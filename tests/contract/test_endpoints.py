"""Every service that holds files does what `Endpoint` says, on real servers."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import Url, parse_url
from condor_pydagman.errors import PoolError
from condor_pydagman.placement.direct_way import DirectWay
from condor_pydagman.placement.endpoints.choose import endpoint_for
from condor_pydagman.placement.endpoints.endpoint import EMPTY, NO_FILE, Endpoint
from condor_pydagman.placement.endpoints.fsspec_files import NO_PATH
from condor_pydagman.placement.way import Progress, Surroundings
from tests.servers.real import SERVERS, Server
from tests.waiting import LIMIT_S

DATA = os.urandom(1_500_000)
# Of a link to an empty directory and one to nothing; WsgiDAV shows no links at all.
LEFT_OUT: dict[str, dict[str, str]] = {
    "file": {"to-empty": NO_FILE, "to-none": NO_FILE},
    "sftp": {"to-empty": NO_FILE, "to-none": NO_FILE},
    "ftp": {"to-empty": EMPTY},
    "root": {"to-empty": EMPTY},
    "dav": {},
    "s3": {"inner//x": NO_PATH},
}
NAMES = ["a b", "ü%20#", "deep/er/x", "s/y"]


class Service(NamedTuple):
    """An endpoint of a running server."""

    name: str
    server: Server | None
    surroundings: Surroundings
    root: Url

    def endpoint(self, surroundings: Surroundings | None = None) -> Endpoint:
        credential = self.server.credential if self.server is not None else ""
        return endpoint_for(self.root, surroundings or self.surroundings, credential)


@pytest.fixture(scope="module", params=["file", *SERVERS])
def service(request: pytest.FixtureRequest, notices: list[str]) -> Iterator[Service]:
    name = request.param
    directory = Path(tempfile.mkdtemp(dir="/var/tmp"))  # others must reach it
    directory.chmod(0o755)
    settings = Settings(connect_timeout_s=LIMIT_S, stall_timeout_s=LIMIT_S)
    before = os.umask(0o022)  # servers of another user read what is made there
    try:
        if name == "file":
            around = Surroundings(settings, {}, "/", lambda text: None)
            yield Service(name, None, around, parse_url(f"{directory}/"))
            return
        try:
            context = SERVERS[name](directory)
            with context as server:
                around = Surroundings(settings, server.environment, "/", lambda text: None)
                yield Service(name, server, around, parse_url(server.url))
        except PoolError as error:
            notices.append(f"*** NO {name} SERVER: {error} ***")
            pytest.skip(f"no {name} server: {error}")
    finally:
        os.umask(before)
        shutil.rmtree(directory, ignore_errors=True)


@pytest.fixture
def endpoint(service: Service) -> Iterator[Endpoint]:
    with service.endpoint() as endpoint:
        yield endpoint


def put(endpoint: Endpoint, url: Url, data: bytes) -> None:
    writer = endpoint.write(url, 0, len(data))
    writer.write(memoryview(data))
    writer.commit()


def get(endpoint: Endpoint, url: Url, offset: int = 0) -> bytes:
    reader = endpoint.read(url, offset)
    found = bytearray()
    buffer = memoryview(bytearray(100_000))
    try:
        assert reader.offset in (0, offset)
        while count := reader.readinto(buffer):
            found += buffer[:count]
    finally:
        reader.close()
    return bytes(found[offset - reader.offset :])


def test_what_is_written_is_read(service: Service, endpoint: Endpoint) -> None:
    for name in NAMES:
        url = service.root.child(f"rw/{name}")
        put(endpoint, url, DATA)
        found = endpoint.look(url)
        assert found is not None
        assert (found.size, found.is_directory, found.path) == (len(DATA), False, "")
        assert get(endpoint, url) == DATA
        assert get(endpoint, url, 1_000_000) == DATA[1_000_000:]
    listed = {entry.path: entry.size for entry in endpoint.files_below(service.root.child("rw/"))}
    assert listed == dict.fromkeys(NAMES, len(DATA))
    flat = endpoint.files_below(service.root.child("rw/"), deep=False)
    assert sorted(entry.path for entry in flat) == sorted(n for n in NAMES if "/" not in n)


def test_what_is_no_file_is_told(service: Service, endpoint: Endpoint) -> None:
    """As far as a server tells: some show a link as what it leads to."""
    url = service.root.child("told/")
    put(endpoint, url.child("file"), b"x")
    if service.name == "s3":
        for key in ("inner//x", "empty/"):
            endpoint._fs.pipe_file(endpoint._path(url) + key, b"")  # type: ignore[attr-defined]
    else:
        place = Path(service.root.path) if service.server is None else service.server.directory
        assert place is not None
        (place / "told/empty").mkdir()
        for link, target in (("to-file", "file"), ("to-none", "none"), ("to-empty", "empty")):
            (place / "told" / link).symlink_to(target)
    left_out = {}
    endpoint.leaves_out = lambda path, why: left_out.update({path.rstrip("/"): why})
    files = sorted(entry.path for entry in endpoint.files_below(url))
    assert files == ["file", "to-file"][: 1 if service.name in ("dav", "s3") else 2]
    assert left_out == {"empty": EMPTY, **LEFT_OUT[service.name]}


def test_a_file_is_replaced(service: Service, endpoint: Endpoint) -> None:
    url = service.root.child("replaced")
    put(endpoint, url, b"old and longer")
    put(endpoint, url, b"new")
    assert get(endpoint, url) == b"new"
    put(endpoint, url, b"")
    assert get(endpoint, url) == b""


def test_appending(service: Service, endpoint: Endpoint) -> None:
    if not endpoint.can_append:
        return
    url = service.root.child("appended")
    put(endpoint, url, b"begin")
    writer = endpoint.write(url, 5, 8)
    writer.write(memoryview(b"end"))
    writer.commit()
    assert get(endpoint, url) == b"beginend"


def test_renaming_replaces(service: Service, endpoint: Endpoint) -> None:
    if not endpoint.can_rename:
        assert endpoint.appears_whole
        return
    old, new = service.root.child("old name"), service.root.child("new name")
    put(endpoint, new, b"was there")
    put(endpoint, old, b"new")
    endpoint.rename(old, new)
    assert get(endpoint, new) == b"new"
    assert endpoint.look(old) is None


def test_what_is_given_up_is_not_seen(service: Service, endpoint: Endpoint) -> None:
    url = service.root.child("given up")
    writer = endpoint.write(url, 0, len(DATA))
    writer.write(memoryview(DATA)[:700_000])
    writer.abort()
    with service.endpoint() as another:
        found = another.look(url)
        if endpoint.appears_whole:
            assert found is None
        elif found is not None:
            assert (found.size or 0) < len(DATA)


def test_removing(service: Service, endpoint: Endpoint) -> None:
    url = service.root.child("removed")
    put(endpoint, url, b"x")
    endpoint.remove(url)
    assert endpoint.look(url) is None
    endpoint.remove(url)


def test_copies_by_the_service(service: Service, endpoint: Endpoint) -> None:
    url, to = service.root.child("copied"), service.root.child("copy")
    put(endpoint, url, DATA)
    if endpoint.copy(url, to):
        assert get(endpoint, to) == DATA


def test_what_is_missing(service: Service, endpoint: Endpoint) -> None:
    url = service.root.child("not/there")
    assert endpoint.look(url) is None
    with pytest.raises(Fault) as error:
        endpoint.read(url, 0)
    assert (error.value.kind, error.value.transient) == (FaultKind.MISSING, False)


def test_a_bucket_that_is_missing_is_not_a_source_that_is_missing(
    service: Service, tmp_path: Path
) -> None:
    if service.name != "s3":
        return
    (tmp_path / "a").write_bytes(b"x")
    url = service.root._replace(host="nobody-has-it").child("a")
    way = DirectWay()
    transfer = Transfer(parse_url(str(tmp_path / "a")), url)
    with pytest.raises(Fault) as error:
        way.perform(transfer, service.surroundings, Progress(threading.Event()))
    way.thread_ends()
    assert (error.value.kind, error.value.transient) == (FaultKind.DESTINATION, False)


def test_who_is_refused(service: Service) -> None:
    if service.name not in ("ftp", "dav", "sftp"):
        return
    wrong = service.root._replace(user="me", password="falsch")
    around = service.surroundings
    with pytest.raises(Fault) as error, endpoint_for(wrong, around, "") as endpoint:
        endpoint.look(wrong.child("x"))
    assert (error.value.kind, error.value.transient) == (FaultKind.DENIED, False)
    assert "falsch" not in error.value.reason


def test_a_host_that_nobody_knows(service: Service) -> None:
    if service.name != "sftp":
        return
    around = service.surroundings._replace(environment={"HOME": "/nonexistent"})
    with pytest.raises(Fault, match="its key is not known"):
        endpoint_for(service.root, around, "").look(service.root)


def test_nobody_listens(service: Service) -> None:
    if service.name in ("file", "root"):  # XRootD's client takes its time
        return
    root, environment = service.root._replace(port=9), service.surroundings.environment
    if service.name == "s3":
        root, environment = service.root, {**environment, "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}
    around = service.surroundings._replace(environment=environment)
    with pytest.raises(Fault) as error, endpoint_for(root, around, "") as endpoint:
        endpoint.look(root.child("x"))
    assert (error.value.kind, error.value.transient) == (FaultKind.SERVER, True)


def test_a_server_that_stalls(service: Service, endpoint: Endpoint) -> None:
    """Last: some clients need long to forget it."""
    if service.server is None or service.name == "root":
        return
    url = service.root.child("stalls")
    put(endpoint, url, DATA)
    settings = service.surroundings.settings._replace(connect_timeout_s=2, stall_timeout_s=1)
    around = service.surroundings._replace(settings=settings)
    os.kill(service.server.process.pid, signal.SIGSTOP)
    try:
        with pytest.raises(Fault) as error, service.endpoint(around) as another:
            get(another, url)
    finally:
        os.kill(service.server.process.pid, signal.SIGCONT)
    assert (error.value.kind, error.value.transient) == (FaultKind.SERVER, True)
