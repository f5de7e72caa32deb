"""Claims of DAGMan jobs in a shared directory, of both kinds: what counts, and who disturbs it."""

from __future__ import annotations

import errno
import fcntl
import os
import select
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.adapters.shared_directory import LiveFile, SharedDirectory, open_safe
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.features.common.adapters import job_claims
from condor_pydagman.features.common.adapters.job_claims import (
    BY_HAND,
    FileKind,
    JobClaims,
    Line,
    Waker,
    usual_name,
)
from condor_pydagman.features.common.adapters.queued_dagmans import Queued
from condor_pydagman.features.shared_limits import directory as limits
from condor_pydagman.features.sites.adapters import claims_directory as sites
from tests.descriptors import descriptors
from tests.locks import is_proven, prove_life
from tests.waiting import LIMIT_S

HERE = "fcec91509759ad99"  # what names of files say for the queue "here"
# As the version before this mechanism wrote them.
OLD = {
    "limits": b'{"version": 1, "dag": "/a.dag", "address": "0123456789abcdef", "limits":'
    b' {"a": {"places": {"0": [6, 6, 6, 0.0, 6]}, "starts": [], "wanted": 0, "since": 0.0}}}\n'
    + b" "
    * 3937,
    "claims": b'{"version": 1, "dag": "/a.dag", "claims": [["g", "north"]]}\n',
}


class Place:
    """A directory of claims of a kind, and the queue."""

    def __init__(self, path: Path, kind: FileKind) -> None:
        self.path = path
        self.kind = kind
        self.queue = {1, 2, 3}
        self.asked: list[list[int]] = []
        self.opened: list[SharedDirectory] = []

    def directory(self) -> SharedDirectory:
        self.opened.append(open_safe(str(self.path), 0o1777, print))
        return self.opened[-1]

    def seen(self, queue: str = "here") -> JobClaims:
        """By one who looks for the first time."""
        return JobClaims(self.directory(), self.kind, queue, self.ask)

    def ask(self, clusters: list[int]) -> dict[int, Queued]:
        self.asked.append(clusters)
        return {one: Queued(False, 1, 1) for one in self.queue & set(clusters)}

    def put(self, cluster: int, queue: str = HERE, user: int | None = None) -> Path:
        """A file of a DAGMan of the version before; nobody holds its lock."""
        user = os.geteuid() if user is None else user
        path = self.path / f"{self.kind.prefix}.{user}.{queue}.{cluster}"
        path.write_bytes(OLD[self.kind.prefix])
        path.chmod(0o644)
        return path

    def counting(self, queue: str = "here") -> list[int]:
        return [one.cluster for one in self.seen(queue).counting_now()]


@pytest.fixture(params=[limits.FILES, sites.FILES], ids=lambda kind: str(kind.prefix))
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    path = tmp_path / "claims"
    path.mkdir()
    path.chmod(0o1777)
    found = Place(path, request.param)
    yield found
    for one in found.opened:
        one.close()


def test_a_file_of_the_version_before_counts_while_its_job_is_in_the_queue(place: Place) -> None:
    path = place.put(1)
    assert place.seen().read(path.name).dag == "/a.dag"
    assert place.counting() == [1]
    place.queue.discard(1)
    assert place.counting() == []
    assert not path.exists()


def test_one_that_the_version_before_has_locked_counts_without_a_question(place: Place) -> None:
    fd = os.open(place.put(9), os.O_RDWR)
    prove_life(fd)
    assert place.counting() == [9]
    assert place.asked == []
    os.close(fd)
    assert place.counting() == []


def test_the_version_before_sees_who_lives_and_what_he_claims(place: Place) -> None:
    directory = place.directory()
    name = usual_name(place.kind, "here", 9)
    assert name == f"{place.kind.prefix}.{os.geteuid()}.{HERE}.9"
    file = LiveFile(directory, name, b" " * 4096, again=True)
    directory.overwrite(name, OLD[place.kind.prefix])
    fd = os.open(place.path / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    assert is_proven(fd)
    assert os.read(fd, 5000) == OLD[place.kind.prefix].ljust(4096)
    assert os.fstat(fd).st_mode & 0o777 == 0o644
    file.close()
    assert not is_proven(fd)
    os.close(fd)


def test_a_lock_that_somebody_keeps(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    fd = os.open(place.path, os.O_RDONLY)
    with place.seen().locked(), pytest.raises(BlockingIOError):  # as of the version before
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(fd, fcntl.LOCK_EX)
    monkeypatch.setattr(job_claims, "CLAIMS_LOCK_TIMEOUT_S", 0.05)
    told = pytest.raises(FileError, match=f"^{place.path} has been locked by another process")
    with told as error, place.seen().locked():
        pass
    assert error.value.transient
    monkeypatch.setattr(job_claims, "CLAIMS_LOCK_TIMEOUT_S", LIMIT_S)
    timer = threading.Timer(0.1, os.close, [fd])
    timer.start()
    with place.seen().locked():
        timer.join()


def test_the_queue_is_not_asked_again_at_once(place: Place) -> None:
    place.put(1)
    place.put(2)
    seen = place.seen()
    for _ in range(3):
        assert len(seen.counting_now()) == 2
    assert place.asked == [[1, 2]]


def test_a_queue_that_can_not_be_asked_frees_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hangs(clusters: list[int]) -> dict[int, Queued]:
        raise PoolError("no answer", transient=True)

    place.put(9)
    monkeypatch.setattr(place, "ask", hangs)
    seen = place.seen()
    assert [one.cluster for one in seen.counting()] == [9]
    with pytest.raises(PoolError):
        seen.counting_now()


def test_of_other_queues_nothing_is_known(place: Place) -> None:
    """Shared limits forget a DAGMan that has said nothing for long, and does not live."""
    path = place.put(9, "0" * 16)
    assert place.counting() == [9]
    os.utime(path, (0, 0))
    fd = os.open(path, os.O_RDWR)
    prove_life(fd)
    assert place.counting() == [9]
    os.close(fd)
    assert place.counting() == ([] if place.kind.forget_s else [9])
    assert not place.asked


def test_a_dagman_by_hand_counts_while_its_process_is_there(place: Place) -> None:
    """No queue has its number, and the queue may have a job with that number."""
    by_hand = usual_name(place.kind, BY_HAND, 1).split(".")[2]
    place.put(os.getpid(), by_hand)
    process = subprocess.Popen(["true"])
    place.queue.add(process.pid)
    place.put(process.pid, by_hand)
    process.wait()
    assert place.counting() == [os.getpid()]
    assert place.counting(BY_HAND) == [os.getpid()]
    assert len(os.listdir(place.path)) == 1
    assert not place.asked


@pytest.mark.parametrize("kind", ["a named pipe", "a pipe with a writer", "a directory", "a link"])
def test_what_strangers_plant_does_not_count(place: Place, kind: str) -> None:
    """A pipe whose other end is open gives neither bytes nor its end."""
    place.put(1)
    place.put(2, user=os.geteuid() + 1)
    place.put(3).write_bytes(b"nonsense")
    place.put(4).write_bytes(b"[" * 100_000)
    place.put(5).write_bytes(b" " * (place.kind.max_bytes + 1))
    (place.path / f"{place.kind.prefix}.x.y.z").write_bytes(OLD[place.kind.prefix])
    path, writer = place.path / f"{place.kind.prefix}.{os.geteuid()}.{HERE}.6", None
    if kind == "a directory":
        path.mkdir()
    elif kind == "a link":
        path.symlink_to(place.put(1))
    else:
        os.mkfifo(path)
        writer = os.open(path, os.O_RDWR) if "writer" in kind else None
    place.queue |= {3, 4, 5, 6}
    before = descriptors()
    assert place.counting() == [1]
    place.opened.pop().close()
    assert not descriptors() - before
    if writer is not None:
        os.close(writer)


def test_what_can_not_be_read_now_does_not_count_as_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = place.put(1)
    seen, opens = place.seen(), os.open
    for code, counts in ((errno.EMFILE, True), (errno.EWOULDBLOCK, False)):

        def fails(name: str, *words: Any, code: int = code, **more: Any) -> int:
            if name == ".":  # the directory itself
                return opens(name, *words, **more)
            raise OSError(code, "it is so")

        with monkeypatch.context() as patched:
            patched.setattr(os, "open", fails)
            if not counts:  # its owner holds a lease on it
                assert seen.counting_now() == []
                continue
            with pytest.raises(FileError, match=f"^{path}: it is so$"):
                seen.counting_now()


def test_a_user_who_has_very_large_files(place: Place) -> None:
    """One file may have many names; those that have another user's number are nobody's."""
    path, user = place.put(1), os.geteuid()
    place.kind = place.kind._replace(max_bytes_of_user=3 * path.stat().st_size)
    for number in range(9):
        os.link(path, place.path / f"{place.kind.prefix}.{user + 1}.{'0' * 16}.{number}")
    assert place.counting() == [1]
    for number in range(3):
        os.link(path, place.path / f"{place.kind.prefix}.{user}.{'0' * 16}.{number}")
    with pytest.raises(FileError, match=f"files of user {user} have more than"):
        place.counting()


def test_a_file_that_is_replaced_or_grows_is_seen_at_once(place: Place) -> None:
    path, seen = place.put(1), place.seen()
    assert seen.counting_now()[0].says.dag == "/a.dag"
    path.rename(place.path / "old")
    place.put(1).write_bytes(OLD[place.kind.prefix].replace(b"/a.dag", b"/b.dag"))
    assert seen.counting_now()[0].says.dag == "/b.dag"
    with path.open("r+b") as file:
        file.write(OLD[place.kind.prefix].replace(b"/a.dag", b"/c.dag".ljust(5000, b"c")))
    assert seen.counting_now()[0].says.dag.endswith("cccc")


def test_a_dagman_that_has_just_locked_its_file_lives(place: Place) -> None:
    """It was looked at a moment before."""
    path, seen = place.put(1), place.seen()
    assert not seen.counting_now()[0].lives
    fd = os.open(path, os.O_RDWR)
    prove_life(fd)
    assert seen.counting_now()[0].lives
    os.close(fd)


@pytest.mark.parametrize("taken", ["a link", "a directory", "a file of another user"])
def test_who_takes_the_usual_name_keeps_nobody_from_claiming(place: Place, taken: str) -> None:
    """Numbers of coming DAGMan jobs can be foreseen, so the file gets another name, which can't."""
    name = usual_name(place.kind, "here", 1)
    path = place.path / name
    if taken == "a link":
        path.symlink_to("/etc/passwd")
    elif taken == "a directory":
        path.mkdir()
    elif os.geteuid():
        pytest.skip("needs a second user")
    else:
        path.write_bytes(b" " * 4096)
        os.chown(path, 65534, -1)
    directory = place.directory()
    other = directory.name_of_ours(name)
    assert other.startswith(f"{name}.") and len(other) == len(name) + 17
    directory.replace(other, OLD[place.kind.prefix])
    assert directory.name_of_ours(name) == other
    assert place.counting() == [1]
    place.queue.discard(1)
    assert place.counting() == []
    assert os.listdir(place.path) == [name]


OPEN = {
    "limits": (limits, lambda path: limits.open_directory(path, print)),
    "sites": (sites, lambda path: sites.ClaimsDirectory(path, "here", 1, set, print)),
}


@pytest.mark.parametrize("which", OPEN)
@pytest.mark.parametrize("wrong", ["a file", "open to all", "of another user"])
def test_a_directory_that_can_not_be_used_is_replaced_by_none(
    tmp_path: Path, which: str, wrong: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a directory of the user's own the claims of other users would not be seen; and who owns
    the directory could remove those of others, so an administrator takes it over."""
    module, opened = OPEN[which]
    path = tmp_path / "claims"
    reason = ""
    if wrong == "a file":
        path.touch()
    else:
        path.mkdir()
        path.chmod(0o777)
    if wrong == "of another user":
        if os.geteuid():
            pytest.skip("needs a second user")
        path.chmod(0o1777)
        os.chown(path, 65534, -1)
        reason = f"with: chown root {path}"
    monkeypatch.setattr(module, "DEFAULT", str(path))
    for setting in ("", str(path)):
        told = f"^the directory of .*, {path}: .*{reason}; {module.KNOB} may name another$"
        with pytest.raises(FileError, match=told):
            opened(setting)
    if reason:
        os.chown(path, 0, -1)
        opened("").close()


HOLD = """
import sys
from condor_pydagman.adapters.shared_directory import LiveFile, open_safe
file = LiveFile(open_safe(sys.argv[1], 0o1777, print), sys.argv[2], b" " * 4096)
file.directory.overwrite(file.name, sys.stdin.buffer.read())
print("there", flush=True)
import time
time.sleep(600)
"""


def test_a_killed_dagman_lives_no_more_and_goes_on_with_its_file(place: Place) -> None:
    name = usual_name(place.kind, "here", 1)
    words = [sys.executable, "-c", HOLD, str(place.path), name]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as dagman:
        assert dagman.stdin is not None and dagman.stdout is not None
        dagman.stdin.write(OLD[place.kind.prefix])
        dagman.stdin.close()
        assert dagman.stdout.readline() == b"there\n"
        assert [one.lives for one in place.seen().counting_now()] == [True]
        dagman.kill()
        dagman.wait()
    assert [one.lives for one in place.seen().counting_now()] == [False]
    directory = place.directory()
    (place.path / name).chmod(0o600)
    again = LiveFile(directory, name, b" " * 4096, again=True)
    assert (place.path / name).stat().st_mode & 0o777 == 0o644
    (claim,) = place.seen().counting_now()
    assert claim.lives and claim.says.dag == "/a.dag"
    again.remove()
    assert place.counting() == []


LINE = Line("test")


@pytest.fixture
def waker() -> Iterator[Waker]:
    found = Waker(LINE)
    yield found
    found.close()


def test_who_is_woken_knows_once(waker: Waker) -> None:
    with select.epoll() as epoll:
        waker.begin(epoll)
        assert not epoll.poll(0)
        LINE.wake([waker.address, waker.address, "ffffffffffffffff"])
        assert epoll.poll(0)
        assert waker.was_woken()
        assert not waker.was_woken()
        waker.end(epoll)
        waker.end(epoll)


def test_other_lines_are_others(waker: Waker) -> None:
    Line("other").wake([waker.address])
    assert not waker.was_woken()
    assert not Line("other").is_heard(waker.address)


def test_to_ask_who_is_there_wakes_nobody(waker: Waker) -> None:
    assert LINE.is_heard(waker.address)
    assert not waker.was_woken()
    with select.epoll() as epoll:
        waker.begin(epoll)
        waker.end(epoll)
    assert not LINE.is_heard(waker.address)


@pytest.mark.parametrize("address", ["", "\0\0", "x" * 999, "\ud800", "ä/../é"])
def test_addresses_that_anybody_may_have_written(address: str) -> None:
    LINE.wake([address])
    assert not LINE.is_heard(address)


def test_who_has_been_told_too_often_is_there_still(waker: Waker) -> None:
    LINE.wake([waker.address] * 5000)
    assert LINE.is_heard(waker.address)
    assert waker.was_woken()
