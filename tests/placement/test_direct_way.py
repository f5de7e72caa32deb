"""Transfers between disks and http servers, while everything breaks."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.direct_way import DirectWay
from condor_pydagman.placement.way import Outcome, Progress, Surroundings
from tests.servers.faulty_http import FaultyServer, Wrong
from tests.waiting import LIMIT_S

DATA = os.urandom(3_000_000)
MD5 = f"md5:{hashlib.md5(DATA, usedforsecurity=False).hexdigest()}"


class Mover:
    """Transfers in a directory."""

    def __init__(self, directory: Path, surroundings: Surroundings) -> None:
        self.directory = directory
        self.surroundings = surroundings
        self.way = DirectWay()

    def transfer(self, source: str, destination: str, **more: Any) -> Transfer:
        base = str(self.directory)
        return Transfer(parse_url(source, base), parse_url(destination, base), **more)

    def move(self, source: str, destination: str, **more: Any) -> Outcome:
        room = more.pop("room", None)
        progress = Progress(threading.Event(), room)
        transfer = self.transfer(source, destination, **more)
        return self.way.perform(transfer, self.surroundings, progress)

    def fault(self, source: str, destination: str, **more: Any) -> Fault:
        with pytest.raises(Fault) as error:
            self.move(source, destination, **more)
        assert not (self.directory / destination).is_file() or more.get("if_exists")
        return error.value

    def be_patient(self, seconds: float) -> None:
        settings = self.surroundings.settings._replace(stall_timeout_s=seconds)
        self.surroundings = self.surroundings._replace(settings=settings)

    def read(self, name: str) -> bytes:
        return (self.directory / name).read_bytes()

    def names(self) -> list[str]:
        return sorted(os.listdir(self.directory))


@pytest.fixture
def mover(tmp_path: Path, surroundings: Surroundings) -> Iterator[Mover]:
    (tmp_path / "work").mkdir()
    mover = Mover(tmp_path / "work", surroundings)
    yield mover
    mover.way.thread_ends()


def test_from_server_to_disk(mover: Mover, server: FaultyServer) -> None:
    server.files["/a b#%?"] = DATA
    outcome = mover.move(server.url("/a b#%25%3F"), "new/b", checksum=MD5)
    assert outcome == Outcome("direct http-file", len(DATA), len(DATA))
    assert mover.read("new/b") == DATA
    assert os.listdir(mover.directory / "new") == ["b"]


def test_from_disk_to_server(mover: Mover, server: FaultyServer) -> None:
    (mover.directory / "a").write_bytes(DATA)
    for scheme in ("http", "dav"):
        assert mover.move("a", server.url(f"/{scheme}/b", scheme)).size == len(DATA)
        assert server.files == {f"/{scheme}/b": DATA}
        server.files.clear()
    server.is_dav = False
    mover.way.thread_ends()
    mover.move("a", server.url("/plain"))
    assert server.files == {"/plain": DATA}


def test_from_disk_to_disk(mover: Mover) -> None:
    (mover.directory / "a").write_bytes(DATA)
    (mover.directory / "a").chmod(0o755)
    mover.move("a", "b")
    mover.move("a", "c", checksum=MD5)
    assert mover.read("b") == mover.read("c") == DATA
    assert os.stat(mover.directory / "b").st_mode & 0o777 == 0o755
    assert mover.names() == ["a", "b", "c"]


def test_a_copy_within_a_service_does_not_pass_through(mover: Mover, server: FaultyServer) -> None:
    server.files["/a"] = DATA
    outcome = mover.move(server.url("/a", "dav"), server.url("/d/b", "dav"))
    assert outcome.way == "direct dav-dav (copied by the service)"
    assert server.files == {"/a": DATA, "/d/b": DATA}
    assert "GET" not in [method for method, _, _ in server.requests]


def test_what_was_broken_off_goes_on(mover: Mover, server: FaultyServer) -> None:
    server.files["/a"] = DATA
    server.fail("/a", Wrong(after=2_000_000))
    fault = mover.fault(server.url("/a"), "b", checksum=MD5)
    assert (fault.kind, fault.transient, fault.host) == (FaultKind.SERVER, True, "")
    outcome = mover.move(server.url("/a"), "b", checksum=MD5)
    assert mover.read("b") == DATA
    assert outcome.moved < len(DATA) - 1_000_000
    assert mover.names() == ["b"]


def test_a_part_of_an_earlier_boot_is_not_trusted(mover: Mover, server: FaultyServer) -> None:
    """Unless a checksum tells: a power cut may have left blocks that were never written."""
    server.files["/a"] = DATA
    for checksum in (MD5, ""):
        server.fail("/a", Wrong(after=2_000_000))
        mover.fault(server.url("/a"), "b", checksum=checksum)
        (part,) = (name for name in mover.names() if name.endswith(".part"))
        os.utime(mover.directory / part, (1, 1))
        moved = mover.move(server.url("/a"), "b", checksum=checksum).moved
        assert (moved < len(DATA)) == bool(checksum)
        assert mover.read("b") == DATA
        os.unlink(mover.directory / "b")


def test_a_source_without_a_version(mover: Mover, server: FaultyServer) -> None:
    """It can be another one by now; only a checksum tells."""
    server.files["/a"] = DATA
    for checksum in (MD5, ""):
        server.fail("/a", Wrong(after=2_000_000, no_version=True), Wrong(2, no_version=True))
        mover.fault(server.url("/a"), "b", checksum=checksum)
        moved = mover.move(server.url("/a"), "b", checksum=checksum).moved
        assert (moved < len(DATA)) == bool(checksum)
        assert mover.read("b") == DATA
        os.unlink(mover.directory / "b")
        server._wrong.clear()


def test_another_version_of_the_source_is_begun_anew(mover: Mover, server: FaultyServer) -> None:
    server.files["/a"] = DATA
    server.fail("/a", Wrong(after=2_000_000))
    mover.fault(server.url("/a"), "b")
    server.files["/a"] = DATA[::-1]
    mover.move(server.url("/a"), "b")
    assert mover.read("b") == DATA[::-1]
    assert mover.names() == ["b"]


def test_a_server_without_ranges(mover: Mover, server: FaultyServer) -> None:
    server.files["/a"] = DATA
    server.fail("/a", Wrong(after=2_000_000), Wrong(), Wrong(no_ranges=True))
    mover.fault(server.url("/a"), "b")
    assert mover.move(server.url("/a"), "b").moved == len(DATA)
    assert mover.read("b") == DATA


@pytest.mark.parametrize(
    ("wrong", "kind", "transient", "words"),
    [
        (Wrong(status=503, headers=(("Retry-After", "7"),)), FaultKind.SERVER, True, "overloaded"),
        (Wrong(status=500), FaultKind.SERVER, True, "answers 500"),
        (Wrong(status=404), FaultKind.MISSING, False, "no such file"),
        (Wrong(status=403), FaultKind.DENIED, False, "forbids"),
        (Wrong(status=401), FaultKind.DENIED, False, "wants credentials"),
        (Wrong(status=418), FaultKind.REFUSED, False, "answers 418"),
        (Wrong(after=100, stalls=True), FaultKind.SERVER, True, "hardly any data"),
        (Wrong(drips=True), FaultKind.SERVER, True, "hardly any data"),
        (Wrong(after=100), FaultKind.SERVER, True, "2999900 bytes"),
        (Wrong(length=4_000_000, after=3_000_000), FaultKind.SERVER, True, "1000000 bytes"),
        (Wrong(headers=(("Content-Encoding", "gzip"),)), FaultKind.REFUSED, False, "only as gzip"),
        (
            Wrong(status=302, times=9, headers=(("Location", "/a"),)),
            *(FaultKind.REFUSED, False, "too often"),
        ),
        (
            Wrong(status=302, headers=(("Location", "file:///etc/passwd"),)),
            *(FaultKind.REFUSED, False, "redirects to"),
        ),
    ],
)
def test_faults_of_servers(
    mover: Mover, server: FaultyServer, wrong: Wrong, kind: FaultKind, transient: bool, words: str
) -> None:
    server.files["/a"] = DATA
    server.fail("/a", wrong)
    if words == "hardly any data":
        mover.be_patient(1)
    fault = mover.fault(server.url("/a"), "b")
    assert (fault.kind, fault.transient) == (kind, transient)
    assert words in fault.reason
    assert fault.retry_after_s == (7 if wrong.status == 503 else 0)
    server._wrong.clear()
    mover.be_patient(LIMIT_S)
    mover.move(server.url("/a"), "b")
    assert mover.read("b") == DATA


def test_a_wrong_range_is_not_used(mover: Mover, server: FaultyServer) -> None:
    server.files["/a"] = DATA
    server.fail("/a", Wrong(after=2_000_000), Wrong(), Wrong(wrong_range=True))
    mover.fault(server.url("/a"), "b")
    assert mover.move(server.url("/a"), "b").moved == len(DATA)
    assert mover.read("b") == DATA


def test_a_wrong_checksum(mover: Mover, server: FaultyServer) -> None:
    server.files["/a"] = DATA[:-1] + bytes([DATA[-1] ^ 1])
    fault = mover.fault(server.url("/a"), "b", checksum=MD5)
    assert (fault.kind, fault.transient) == (FaultKind.MISMATCH, True)
    assert mover.names() == []


def test_nobody_listens(mover: Mover) -> None:
    fault = mover.fault("http://127.0.0.1:9/a", "b")
    assert (fault.kind, fault.transient, fault.host) == (FaultKind.SERVER, True, "127.0.0.1:9")


@pytest.mark.parametrize("wrong", [Wrong(status=507), Wrong(status=503), Wrong(after=100)])
def test_faults_of_servers_that_are_written_to(
    mover: Mover, server: FaultyServer, wrong: Wrong
) -> None:
    (mover.directory / "a").write_bytes(DATA)
    server.is_dav = False
    server.fail("/b", wrong)
    with pytest.raises(Fault) as error:
        mover.move("a", server.url("/b"))
    assert error.value.transient == (wrong.status != 507)
    assert server.files == {}
    mover.move("a", server.url("/b"))
    assert server.files == {"/b": DATA}


def test_credentials(mover: Mover, server: FaultyServer) -> None:
    server.files["/a"] = DATA
    server.password = "Basic bWU6Z2VoZWlt"
    place = server.place
    mover.move(f"http://me:geheim@{place}/a", "b")
    fault = mover.fault(f"http://me:falsch@{place}/a", "c")
    assert fault.kind is FaultKind.DENIED
    assert "falsch" not in fault.reason


def test_files_of_a_directory(mover: Mover, server: FaultyServer) -> None:
    server.files.update({"/t/a b": b"1", "/t/s/ü%#": b"2", "/t/s/t/c": b"3", "/other": b"4"})
    for scheme in ("http", "dav"):
        transfer = mover.transfer(server.url("/t/", scheme), f"{scheme}/")
        for one in mover.way.expand(transfer, mover.surroundings):
            mover.way.perform(one, mover.surroundings, Progress(threading.Event()))
        found = {
            str(path.relative_to(mover.directory / scheme)): path.read_bytes()
            for path in (mover.directory / scheme).rglob("*")
            if path.is_file()
        }
        assert found == {"a b": b"1", "s/ü%#": b"2", "s/t/c": b"3"}


def test_patterns(mover: Mover) -> None:
    for name in ("a.x", "b.x", "c.y", ".hidden.x", "what?.x"):
        (mover.directory / name).write_text(name)

    def names(source: str) -> list[str]:
        transfer = mover.transfer(source, "to/")
        return sorted(one.source.name for one in mover.way.expand(transfer, mover.surroundings))

    assert names("*.x") == ["a.x", "b.x", "what?.x"]
    assert names("what?.x") == ["what?.x"]
    assert names("[ab].x") == ["a.x", "b.x"]
    with pytest.raises(Fault, match="no file matches"):
        names("*.z")


def test_what_is_left_out_of_a_directory_is_told(mover: Mover) -> None:
    directory = mover.directory / "d"
    (directory / "empty\n").mkdir(parents=True)
    (directory / "a.x").symlink_to(mover.directory / "file")
    (mover.directory / "file").write_text("x")
    (directory / "b.x").symlink_to("empty\n")
    (directory / "c.y").symlink_to("none")
    said: list[str] = []
    around = mover.surroundings._replace(say=said.append)
    for source, left_out in (("d/", ["b.x", "c.y", "empty\\x0a"]), ("d/*.x", ["b.x"])):
        said.clear()
        (found,) = mover.way.expand(mover.transfer(source, "to/"), around)
        assert found.source.name == "a.x"
        assert sorted(line.partition(": ")[0] for line in said) == [
            f"leaves out {directory}/{name}" for name in left_out
        ]


def test_a_pattern_is_of_one_directory(mover: Mover, server: FaultyServer) -> None:
    """The directories in it may be many, and closed to us."""
    server.files.update({"/t/a.x": b"1", "/t/b.y": b"2", "/t/s/c.x": b"3"})
    for scheme in ("http", "dav"):
        transfer = mover.transfer(server.url("/t/*.x", scheme), "to/")
        found = [one.source.path for one in mover.way.expand(transfer, mover.surroundings)]
        assert found == ["/t/a.x"]
    assert "/t/s/" not in [path for _, path, _ in server.requests]


def test_what_is_there(mover: Mover, server: FaultyServer) -> None:
    server.files["/a"] = b"new"
    (mover.directory / "b").write_bytes(b"old")
    assert mover.move(server.url("/a"), "b", if_exists="skip").skipped
    assert mover.fault(server.url("/a"), "b", if_exists="fail").kind is FaultKind.DESTINATION
    md5 = f"md5:{hashlib.md5(b'new', usedforsecurity=False).hexdigest()}"
    assert not mover.move(server.url("/a"), "b", if_exists="skip", checksum=md5).skipped
    assert mover.read("b") == b"new"
    assert mover.move(server.url("/a"), "b", if_exists="skip", checksum=md5).skipped
    mover.move(server.url("/a"), "b")


def test_what_can_not_be_written(mover: Mover, server: FaultyServer, tmp_path: Path) -> None:
    server.files["/a"] = b"new"
    (mover.directory / "dir").mkdir()
    assert "is a directory" in mover.fault(server.url("/a"), "dir").reason
    assert mover.fault(server.url("/a"), "/proc/x").kind in (
        FaultKind.DESTINATION, FaultKind.DENIED
    )  # fmt: skip
    assert "/proc/x: " in mover.fault(server.url("/a"), "/proc/x").reason  # no temporary name
    (mover.directory / "f").write_text("")
    assert mover.fault(server.url("/a"), "f/b").kind is FaultKind.DESTINATION
    (mover.directory / "b").symlink_to(tmp_path / "elsewhere")
    said: list[str] = []
    mover.surroundings = mover.surroundings._replace(say=said.append)
    mover.move(server.url("/a"), "b")
    assert not (tmp_path / "elsewhere").exists()
    assert said == [f"{mover.directory}/b is a link, which the file replaces"]


def test_what_can_not_be_read(mover: Mover) -> None:
    os.mkfifo(mover.directory / "fifo")
    (mover.directory / "dir").mkdir()
    assert mover.fault("fifo", "b").kind is FaultKind.REQUEST
    assert "end it in /" in mover.fault("dir", "b").reason
    assert mover.fault("nothing", "b").kind is FaultKind.MISSING
    (mover.directory / "a").write_text("x")
    os.link(mover.directory / "a", mover.directory / "same")
    with pytest.raises(Fault, match="is the source"):
        mover.move("a", "same")


def test_a_full_disk(mover: Mover) -> None:
    (mover.directory / "a").write_bytes(DATA)
    with pytest.raises(Fault) as error:
        mover.move("a", "/dev/full/x")
    assert error.value.kind is FaultKind.DESTINATION


def test_no_more_than_there_is_room_for(mover: Mover, server: FaultyServer) -> None:
    server.files["/a"] = DATA
    assert mover.fault(server.url("/a"), "b", room=1000).kind is FaultKind.ALLOCATION
    mover.move(server.url("/a"), "b", room=len(DATA))


def test_somebody_elses_part_is_not_written_to(mover: Mover, server: FaultyServer) -> None:
    server.files["/a"] = DATA
    server.fail("/a", Wrong(after=2_000_000))
    mover.fault(server.url("/a"), "b")
    (part,) = mover.directory.iterdir()
    target = mover.directory / "target"
    target.write_text("mine")
    part.unlink()
    part.symlink_to(target)
    with pytest.raises(Fault):
        mover.move(server.url("/a"), "b")
    assert target.read_text() == "mine"
