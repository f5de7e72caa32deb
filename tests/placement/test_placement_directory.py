"""The shared directory is checked before it is used; two placements of one file take turns."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from condor_pydagman.adapters import shared_directory
from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import SKIP, Transfer
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement import placement_directory
from condor_pydagman.placement.direct_way import DirectWay
from condor_pydagman.placement.placement_directory import (
    DestinationLocks,
    open_shared,
    private_directory,
)
from condor_pydagman.placement.way import Outcome, Progress, Surroundings
from tests.placement.helpers import transfer
from tests.servers.faulty_http import FaultyServer
from tests.waiting import LIMIT_S


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(placement_directory, "DEFAULT", str(tmp_path / "default"))
    monkeypatch.setattr(shared_directory, "DIRECTORY_MAKING_S", 0.05)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def opened(path: Path | str) -> tuple[str, list[str]]:
    said: list[str] = []
    directory = open_shared(str(path), said.append)
    directory.close()
    return directory.path, said


def test_the_first_worker_makes_the_default(home: Path) -> None:
    old = os.umask(0o077)
    try:
        assert opened("") == (str(home / "default"), [])
    finally:
        os.umask(old)
    assert (home / "default").stat().st_mode & 0o7777 == 0o1777


def test_one_whose_maker_was_killed_is_completed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # By oneself it is not waited for.
    monkeypatch.setattr(shared_directory, "DIRECTORY_MAKING_S", 3600.0)
    (home / "default").mkdir(mode=0o700)
    assert opened("") == (str(home / "default"), [])
    assert (home / "default").stat().st_mode & 0o7777 == 0o1777


@pytest.mark.parametrize("kind", ["link", "file", "fifo", "open to all", "open to the group"])
def test_an_unsafe_one_is_not_used(home: Path, kind: str) -> None:
    path = home / "it"
    if kind == "link":
        (home / "real").mkdir()
        path.symlink_to(home / "real")
    elif kind == "file":
        path.touch()
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        path.mkdir()
        path.chmod(0o777 if kind == "open to all" else 0o770)
    used, said = opened(path)
    assert used == f"{home}/default.{os.geteuid()}"
    assert "hold only for this user" in said[0]
    assert os.stat(used).st_mode & 0o077 == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_that_of_another_user_is_used_only_by_default(home: Path) -> None:
    for name in ("default", "configured"):
        (home / name).mkdir()
        os.chown(home / name, 65534, -1)
        (home / name).chmod(0o1777)
    used, said = opened("")
    assert used == str(home / "default")
    assert "could remove files of others in it" in said[0]
    assert opened(home / "configured")[0] == f"{home}/default.0"


def test_without_any_place_it_is_a_fault(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home / "none"))
    monkeypatch.setattr(placement_directory, "DEFAULT", str(home / "none" / "default"))
    with pytest.raises(Fault, match="no directory to keep limits in"):
        opened("")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a second user")
def test_the_usual_private_name_may_be_taken(home: Path) -> None:
    shared = open_shared("", [].append)
    taken = Path(shared.path) / "own.0"
    taken.mkdir()
    os.chown(taken, 65534, -1)
    first, again = private_directory(shared), private_directory(shared)
    assert first.path == again.path
    assert first.path.startswith(f"{shared.path}/own.0.")


A, B = parse_url("http://h/a"), parse_url("http://h/b")
HOLD = """
import sys, threading
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.placement_directory import DestinationLocks
from condor_pydagman.placement.way import Progress, Surroundings

around = Surroundings(Settings(directory=sys.argv[1]), {}, "/", print)
with DestinationLocks().held(parse_url("http://h/a"), around, Progress(threading.Event())):
    print("held", flush=True)
    sys.stdin.read()
"""


def perform(wish: Transfer, around: Surroundings, progress: Progress) -> Outcome:
    way = DirectWay()
    try:
        return way.perform(wish, around, progress)
    finally:
        way.thread_ends()


class Second(threading.Thread):
    """Another placement; `waits` is set when it has said so."""

    def __init__(self, around: Surroundings, source: str, destination: str) -> None:
        super().__init__()
        self.waits = threading.Event()
        self.around = around._replace(say=lambda line: self.waits.set())
        self.wish = transfer(source, destination, if_exists=SKIP)
        self.skipped = False

    def run(self) -> None:
        self.skipped = perform(self.wish, self.around, Progress(threading.Event())).skipped


class Pausing(Progress):
    """Runs a function before the first bytes are counted."""

    def __init__(self, act: object) -> None:
        super().__init__(threading.Event())
        self.act = act

    def add(self, count: int) -> None:
        act, self.act = self.act, None
        if callable(act):
            act()
        super().add(count)


def test_the_second_waits_and_sees_what_the_first_has_made(
    server: FaultyServer, surroundings: Surroundings, tmp_path: Path
) -> None:
    source, data = tmp_path / "source", os.urandom(200_000)
    source.write_bytes(data)
    second = Second(surroundings, str(source), server.url("/a", "dav"))

    def start_second() -> None:
        second.start()
        assert second.waits.wait(LIMIT_S)
        assert second.is_alive()

    wish = transfer(str(source), server.url("/a", "dav"))
    assert perform(wish, surroundings, Pausing(start_second)).moved == len(data)
    second.join(LIMIT_S)
    assert second.skipped
    assert server.files == {"/a": data}


def test_a_killed_holder_has_no_lock(surroundings: Surroundings, progress: Progress) -> None:
    words = [sys.executable, "-c", HOLD, surroundings.settings.directory]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        stopped = Progress(threading.Event())
        said: list[str] = []
        around = surroundings._replace(say=lambda line: (said.append(line), stopped._stop.set()))
        with pytest.raises(Fault) as fault, DestinationLocks().held(A, around, stopped):
            pass
        assert fault.value.kind is FaultKind.STOPPED
        assert said == [
            "waits for another placement of the same file",
            "has waited 0 s for another placement of the same file",
        ]
        holder.kill()
        holder.wait()
    with DestinationLocks().held(A, surroundings, progress):
        pass
    assert not list(Path(surroundings.settings.directory).glob("own.*/*"))


def test_what_killed_workers_have_left_is_removed(
    surroundings: Surroundings, progress: Progress
) -> None:
    with DestinationLocks().held(A, surroundings, progress):
        (own,) = Path(surroundings.settings.directory).glob("own.*")
        (own / "write.left").touch()
        with DestinationLocks().held(B, surroundings, progress):
            assert len(list(own.iterdir())) == 2
    assert not list(own.iterdir())


def test_a_lock_of_the_version_before_holds(surroundings: Surroundings, progress: Progress) -> None:
    with DestinationLocks().held(A, surroundings, progress):
        (path,) = Path(surroundings.settings.directory).glob("own.*/*")
    assert path.name == "write.e256179201e3c66e"
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def say(line: str) -> None:
        if not line.startswith("waits for "):
            return
        path.unlink()
        os.close(fd)

    with DestinationLocks().held(A, surroundings._replace(say=say), progress):
        held = os.open(path, os.O_RDWR)
        with pytest.raises(BlockingIOError):
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(held)
