"""Files of this machine: locks, links in the way, modes, and what the disk says."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.direct_way import DirectWay
from condor_pydagman.placement.endpoints.disk_faults import reading, writing
from condor_pydagman.placement.endpoints.local_files import BusyFault, LocalFiles
from condor_pydagman.placement.stream_copy import partial_name
from condor_pydagman.placement.way import Outcome, Progress, Surroundings
from tests.placement.helpers import transfer
from tests.waiting import LIMIT_S

DATA = os.urandom(100_000)


class Waits(Progress):
    """Tells that it waits."""

    def __init__(self, stop: threading.Event) -> None:
        super().__init__(stop)
        self.begun = threading.Event()

    def wait(self, seconds: float) -> None:
        self.begun.set()
        super().wait(seconds)


def part_of(source: Path, destination: Path) -> Path:
    """The temporary file of a copy."""
    url = parse_url(str(source))
    found = LocalFiles().look(url)
    assert found is not None
    return destination.parent / partial_name(url, found.version, destination.name)


def copy(source: Path, destination: Path, around: Surroundings, **more: str) -> Outcome:
    wish = transfer(str(source), str(destination), **more)
    return DirectWay().perform(wish, around, Progress(threading.Event()))


def test_who_waits_for_a_lock_does_not_write_to_the_file_that_has_its_name(tmp_path: Path) -> None:
    """The holder gives it its final name, and then ends the lock."""
    files, part, final = LocalFiles(), tmp_path / "part", tmp_path / "final"
    holder = files.write(parse_url(str(part)), 0, None)
    holder.write(memoryview(DATA))
    waiting = os.open(part, os.O_RDWR)
    with pytest.raises(BusyFault):
        files.write(parse_url(str(part)), 10, None)
    os.rename(part, final)
    holder.commit()
    os.close(waiting)
    assert final.read_bytes() == DATA


def test_a_second_placement_takes_what_the_first_has_brought(
    tmp_path: Path, surroundings: Surroundings
) -> None:
    source, destination = tmp_path / "a", tmp_path / "b"
    source.write_bytes(DATA)
    part = part_of(source, destination)
    writer = LocalFiles().write(parse_url(str(part)), 0, None)
    writer.write(memoryview(DATA))
    outcomes: list[Outcome] = []
    waits = Waits(threading.Event())
    wish = transfer(str(source), str(destination))
    thread = threading.Thread(
        target=lambda: outcomes.append(DirectWay().perform(wish, surroundings, waits))
    )
    thread.start()
    assert waits.begun.wait(LIMIT_S)
    writer.finish()
    os.rename(part, destination)
    inode = destination.stat().st_ino
    writer.commit()
    thread.join()
    assert [(one.size, one.moved) for one in outcomes] == [(len(DATA), 0)]
    assert destination.stat().st_ino == inode


def test_a_placement_that_does_not_move_is_not_waited_for(
    tmp_path: Path, surroundings: Surroundings
) -> None:
    source, destination = tmp_path / "a", tmp_path / "b"
    source.write_bytes(DATA)
    writer = LocalFiles().write(parse_url(str(part_of(source, destination))), 0, None)
    hasty = surroundings._replace(settings=surroundings.settings._replace(stall_timeout_s=0.4))
    with pytest.raises(Fault, match="another placement") as error:
        copy(source, destination, hasty)
    assert error.value.transient
    writer.abort()
    assert copy(source, destination, surroundings).moved == len(DATA)


def test_what_a_killed_placement_leaves_is_taken_over(
    tmp_path: Path, surroundings: Surroundings
) -> None:
    source, destination = tmp_path / "a", tmp_path / "b"
    source.write_bytes(DATA)
    part = part_of(source, destination)
    part.write_bytes(DATA[:60_000])
    assert copy(source, destination, surroundings).moved == 40_000
    assert destination.read_bytes() == DATA
    destination.unlink()
    part.write_bytes(DATA)
    assert copy(source, destination, surroundings).moved == 0
    part.write_bytes(DATA + b"x")
    assert copy(source, destination, surroundings).moved == len(DATA)
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_a_part_with_a_second_name_is_not_written_to(
    tmp_path: Path, surroundings: Surroundings
) -> None:
    """A kill between the link and the removal leaves one; so does somebody who plants it."""
    source, destination, other = tmp_path / "a", tmp_path / "b", tmp_path / "other"
    source.write_bytes(DATA)
    other.write_bytes(b"mine")
    os.link(other, part_of(source, destination))
    copy(source, destination, surroundings, if_exists="fail")
    assert (other.read_bytes(), destination.read_bytes()) == (b"mine", DATA)
    with pytest.raises(Fault, match="is there already"):
        copy(source, destination, surroundings, if_exists="fail")
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "other"]


def test_a_copy_of_a_file_that_nobody_may_write_to_goes_on(tmp_path: Path) -> None:
    """Root may do all, so a process without privileges looks."""
    source = tmp_path / "a"
    source.write_bytes(DATA)
    source.chmod(0o444)
    writer = LocalFiles().write(parse_url(str(tmp_path / "b")), 0, None, 0o444)
    writer.write(memoryview(DATA))
    mode = (tmp_path / "b").stat().st_mode & 0o777
    assert mode & 0o600 == 0o600
    assert not mode & 0o033
    writer.finish()
    writer.commit()
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o444


def test_the_umask_counts(tmp_path: Path) -> None:
    code = (
        "import os, sys; from condor_pydagman.placement.endpoints.local_files import LocalFiles;"
        "from condor_pydagman.data_requests.urls import parse_url; os.umask(0o027);"
        "w = LocalFiles().write(parse_url(sys.argv[1]), 0, None, 0o755); w.finish(); w.commit();"
        "print(oct(os.stat(sys.argv[1]).st_mode & 0o777))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "b")],
        capture_output=True, text=True, check=True,
        env={"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert done.stdout == "0o750\n"


def test_an_empty_file_that_was_given_up_is_removed(tmp_path: Path) -> None:
    writer = LocalFiles().write(parse_url(str(tmp_path / "b")), 0, None)
    writer.abort()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("what", ["removed", "replaced"])
def test_what_has_lost_its_name_while_it_was_written_is_written_again(
    tmp_path: Path, what: str
) -> None:
    """Something else would get the final name."""
    part = tmp_path / "part"
    writer = LocalFiles().write(parse_url(str(part)), 0, None)
    writer.write(memoryview(DATA))
    part.unlink()
    if what == "replaced":
        part.write_text("other")
    with pytest.raises(Fault, match="was removed or replaced while it was written") as caught:
        writer.finish()
    assert caught.value.transient
    writer.abort()


def test_what_is_locked_by_a_reader_is_busy(tmp_path: Path) -> None:
    path = tmp_path / "part"
    path.write_bytes(DATA)
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        with pytest.raises(BusyFault) as error:
            LocalFiles().write(parse_url(str(path)), 0, None)
    assert error.value.is_over()
    assert path.read_bytes() == DATA


@pytest.mark.parametrize(
    ("code", "of_source", "of_destination", "transient"),
    [
        (errno.ENOSPC, FaultKind.NO_SPACE, FaultKind.NO_SPACE, False),
        (errno.EDQUOT, FaultKind.NO_SPACE, FaultKind.NO_SPACE, False),
        (errno.EACCES, FaultKind.DENIED, FaultKind.DENIED, False),
        (errno.ENOENT, FaultKind.MISSING, FaultKind.DESTINATION, False),
        (errno.ENAMETOOLONG, FaultKind.MISSING, FaultKind.DESTINATION, False),
        (errno.EROFS, FaultKind.MISSING, FaultKind.DESTINATION, False),
        (errno.EIO, FaultKind.MISSING, FaultKind.DESTINATION, True),
        (errno.ESTALE, FaultKind.MISSING, FaultKind.DESTINATION, True),
    ],
)
def test_what_disks_say(
    code: int, of_source: FaultKind, of_destination: FaultKind, transient: bool
) -> None:
    for context, kind in ((reading, of_source), (writing, of_destination)):
        with pytest.raises(Fault) as error, context("x"):
            raise OSError(code, os.strerror(code))
        assert (error.value.kind, error.value.transient) == (kind, transient)


@pytest.mark.parametrize("checksum", ["", "md5:00"])
def test_a_full_disk(tmp_path: Path, checksum: str) -> None:
    """A limit of a file's size stands for it: so nobody needs to be root."""
    (tmp_path / "a").write_bytes(DATA)
    code = (
        "import resource, sys; from tests.placement import helpers as h;"
        "from condor_pydagman.placement.direct_way import DirectWay; from pathlib import Path;"
        "from condor_pydagman.data_requests.faults import Fault;"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
        "try: DirectWay().perform(h.transfer(sys.argv[1], sys.argv[2], checksum=sys.argv[3]),"
        " h.surroundings(Path('/')), h.progress())\n"
        "except Fault as fault: print(fault.kind.name, fault.transient)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a"), str(tmp_path / "b"), checksum],
        capture_output=True, text=True, check=True,
        env={"PYTHONPATH": os.pathsep.join(sys.path), "PATH": os.environ["PATH"]},
    )  # fmt: skip
    assert done.stdout == "NO_SPACE False\n"
    assert not (tmp_path / "b").exists()


def test_closing_twice_closes_nothing_else(tmp_path: Path) -> None:
    """Other threads open files all the time, and get the numbers that are free."""
    (tmp_path / "a").write_bytes(DATA)
    reader = LocalFiles().read(parse_url(str(tmp_path / "a")), 0)
    writer = LocalFiles().write(parse_url(str(tmp_path / "b")), 0, None)
    reader.close()
    writer.abort()
    others = [os.open(tmp_path / "a", os.O_RDONLY) for _ in range(3)]
    reader.close()
    writer.abort()
    for fd in others:
        os.close(fd)


def test_a_temporary_name_cuts_no_character() -> None:
    for name in ("ü" * 127, "a" + "ü" * 127, "a" * 255, "\U0001f600" * 60, "\udcff" * 255):
        made = partial_name(parse_url("/s"), "1", name)
        assert 200 < len(os.fsencode(made)) <= 255
        assert made.isprintable() == name.isprintable()


def test_a_file_that_says_wrongly_that_it_is_empty(tmp_path: Path) -> None:
    way, around = DirectWay(), Surroundings(Settings(), {}, "/", lambda text: None)
    progress = Progress(threading.Event())
    with pytest.raises(Fault, match="should have 0"):
        way.perform(transfer("/proc/self/status", tmp_path / "a"), around, progress)
    (tmp_path / "empty").touch()
    empty = transfer(str(tmp_path / "empty"), tmp_path / "b")
    assert way.perform(empty, around, progress).size == 0
    assert sorted(os.listdir(tmp_path)) == ["b", "empty"]
