"""Two placements of one remote destination take turns."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from condor_pydagman.data_requests.requests import SKIP, Transfer
from condor_pydagman.placement.faults import Fault, FaultKind
from condor_pydagman.transfer.direct_way import DirectWay
from condor_pydagman.transfer.placement_directory import DestinationLocks
from condor_pydagman.transfer.way import Outcome, Progress, Surroundings
from tests.servers.faulty_http import FaultyServer
from tests.unit.transfer.helpers import transfer
from tests.waiting import LIMIT_S

HOLD = """
import sys, threading
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.transfer.placement_directory import DestinationLocks
from condor_pydagman.transfer.way import Progress, Surroundings

around = Surroundings(Settings(directory=sys.argv[1]), {}, "/", print)
with DestinationLocks().held("a", around, Progress(threading.Event())):
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
        with pytest.raises(Fault) as fault, DestinationLocks().held("a", around, stopped):
            pass
        assert fault.value.kind is FaultKind.STOPPED
        assert said == ["waits for another placement of the same file"]
        holder.kill()
        holder.wait()
    with DestinationLocks().held("a", surroundings, progress):
        pass
    assert not list(Path(surroundings.settings.directory).glob("own.*/*"))


def test_what_killed_workers_have_left_is_removed(
    surroundings: Surroundings, progress: Progress
) -> None:
    with DestinationLocks().held("a", surroundings, progress):
        (own,) = Path(surroundings.settings.directory).glob("own.*")
        (own / "write.left").touch()
        with DestinationLocks().held("b", surroundings, progress):
            assert len(list(own.iterdir())) == 2
    assert not list(own.iterdir())
