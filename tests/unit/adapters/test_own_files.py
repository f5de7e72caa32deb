"""What somebody else has planted at names that DAGMan writes to, in a directory open to all.

As root the victim is a real user and the planter another; otherwise our own files are taken for
another's, by a wrong idea of who we are.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from condor_pydagman.adapters import files
from condor_pydagman.adapters.files import LockFile
from condor_pydagman.adapters.joblog import NodesLog
from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.errors import FileError

ROOT = os.geteuid() == 0
VICTIM, PLANTER = 41001, 41002
PRECIOUS = "precious\n"


class Shared:
    """A directory that everybody may write to; `private` is the victim's own beside it."""

    def __init__(self, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.scratch, self.private = top / "scratch", top / "private"
        self._patch = monkeypatch
        for directory in (self.scratch, self.private):
            directory.mkdir()
        self.scratch.chmod(0o1777)
        self.precious = self.private / "precious"
        self.precious.write_text(PRECIOUS)
        if ROOT:
            os.chown(self.private, VICTIM, VICTIM)
            os.chown(self.precious, VICTIM, VICTIM)

    def plant(self, name: str, make: Callable[[Path], object]) -> Path:
        """Something of the planter's."""
        path = self.scratch / name
        make(path)
        if ROOT and not (path.is_file() and path.stat().st_nlink > 1 and not path.is_symlink()):
            os.chown(path, PLANTER, PLANTER, follow_symlinks=False)
        return path

    @contextlib.contextmanager
    def victim(self, *, owns_all: bool = False) -> Iterator[None]:
        """Work as the victim."""
        if ROOT:
            os.setegid(VICTIM)
            os.seteuid(VICTIM)
            try:
                yield
            finally:
                os.seteuid(0)
                os.setegid(0)
            return
        with self._patch.context() as patch:
            if not owns_all:
                patch.setattr(os, "geteuid", lambda: VICTIM)
            yield


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shared]:
    # not tmp_path, which the victim can't reach
    top = Path(tempfile.mkdtemp(prefix="pydagman-test-", dir="/var/tmp"))
    top.chmod(0o755)
    try:
        yield Shared(top, monkeypatch)
    finally:
        shutil.rmtree(top)


def link(shared: Shared) -> Callable[[Path], object]:
    return lambda path: path.symlink_to(shared.precious)


def hard_link(shared: Shared) -> Callable[[Path], object]:
    return lambda path: os.link(shared.precious, path)


def open_file(shared: Shared) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        path.write_text("forged\n")
        path.chmod(0o666)

    return make


def fifo(shared: Shared) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        os.mkfifo(path)
        path.chmod(0o666)

    return make


def fifo_with_a_reader(shared: Shared) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        fifo(shared)(path)
        shared.reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # type: ignore[attr-defined]

    return make


def server(shared: Shared) -> Callable[[Path], object]:
    def make(path: Path) -> None:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
        path.chmod(0o777)

    return make


def directory(shared: Shared) -> Callable[[Path], object]:
    return lambda path: path.mkdir(mode=0o777)


TRAPS = [link, hard_link, open_file, fifo, fifo_with_a_reader, server, directory]


def add(path: str) -> None:
    files.append_lines(path, ["ours\n"])


def log(path: str) -> None:
    out = OutLog(path)
    out.say("ours")
    out.flush()


def nodes_log(path: str) -> None:
    NodesLog(path).open(truncate=True)


def nodes_log_of_old(path: str) -> None:
    NodesLog(path).open(truncate=False)


def lock(path: str) -> None:
    taken = LockFile(path)
    assert taken.take() is None
    taken.write(7)


def rescue(path: str) -> None:
    files.read_text(path, own=True)


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize("write", [add, log, nodes_log, nodes_log_of_old, lock])
def test_a_trap_is_refused_and_nothing_is_changed(
    shared: Shared, trap: Callable[..., Callable[[Path], object]], write: Callable[[str], None]
) -> None:
    path = shared.plant("x.dag.file", trap(shared))
    begun = time.monotonic()
    with shared.victim(), pytest.raises((FileError, OSError)):
        write(str(path))
    assert time.monotonic() - begun < 30
    assert shared.precious.read_text() == PRECIOUS
    if trap is open_file:
        assert path.read_text() == "forged\n"


@pytest.mark.parametrize("trap", [open_file, fifo])
def test_a_planted_rescue_file_is_not_read(
    shared: Shared, trap: Callable[..., Callable[[Path], object]]
) -> None:
    path = shared.plant("x.dag.rescue001", trap(shared))
    with shared.victim(), pytest.raises((FileError, OSError)):
        rescue(str(path))


@pytest.mark.parametrize("trap", [link, hard_link, open_file, fifo, directory])
@pytest.mark.parametrize("name", ["x.dag.rescue001", "x.dag.rescue001.tmp"])
def test_what_is_replaced_is_never_written_through_a_trap(
    shared: Shared, trap: Callable[..., Callable[[Path], object]], name: str
) -> None:
    """At the name itself, in a sticky directory, the kernel refuses; elsewhere the trap goes."""
    trapped = shared.plant(name, trap(shared))
    target = shared.scratch / "x.dag.rescue001"
    with shared.victim(), contextlib.suppress(FileError):
        files.replace(str(target), ["ours\n"], keep_mode=True)
    assert shared.precious.read_text() == PRECIOUS
    if trapped != target:
        assert target.read_text() == "ours\n"
        assert target.stat().st_mode & 0o777 == 0o644
        assert os.listdir(shared.scratch).count("x.dag.rescue001") == 1


def test_the_mode_of_a_planted_file_is_not_taken(shared: Shared) -> None:
    shared.scratch.chmod(0o777)  # where anybody's file can be renamed over
    path = shared.plant("x.dag.condor.sub", open_file(shared))
    with shared.victim():
        files.replace(str(path), ["ours\n"], keep_mode=True)
    assert path.stat().st_mode & 0o777 == 0o644


def test_a_planted_link_in_place_of_save_files(shared: Shared) -> None:
    path = shared.plant("save_files", lambda path: path.symlink_to(shared.private))
    with shared.victim(), pytest.raises(FileError, match="everybody may write to"):
        files.make_directory(str(path))


def test_the_message_says_whose_and_what_to_do(shared: Shared) -> None:
    path = shared.plant("x.dag.lock", open_file(shared))
    with shared.victim(), pytest.raises(FileError, match=r"belongs to user \d+.*move it away"):
        LockFile(str(path)).take()


@pytest.mark.parametrize("write", [add, log, nodes_log])
def test_the_user_s_own_link_is_followed(shared: Shared, write: Callable[[str], None]) -> None:
    with shared.victim(owns_all=True):
        first, second = shared.scratch / "first", shared.private / "second"
        first.symlink_to("../private/second")  # one after the other, and relative
        second.symlink_to("precious")
        write(str(first))
    assert shared.precious.read_text() != PRECIOUS
    assert first.is_symlink()


def test_links_in_a_ring(shared: Shared) -> None:
    with shared.victim(owns_all=True):
        (shared.scratch / "a").symlink_to("b")
        (shared.scratch / "b").symlink_to("a")
        with pytest.raises(FileError, match="Too many levels of symbolic links"):
            add(str(shared.scratch / "a"))


def test_standard_output_and_null_are_logs_too(shared: Shared) -> None:
    add("/dev/null")
    with (shared.private / "own").open("w") as file:
        (shared.private / "link").symlink_to(f"/proc/self/fd/{file.fileno()}")
        add(str(shared.private / "link"))
    assert (shared.private / "own").read_text() == "ours\n"
    reader, writer = os.pipe()
    (shared.private / "pipe").symlink_to(f"/proc/self/fd/{writer}")
    add(str(shared.private / "pipe"))
    os.close(writer)
    with os.fdopen(reader) as end:
        assert end.read() == "ours\n"


def test_a_colleague_s_file_in_a_group_s_directory_is_used(shared: Shared) -> None:
    shared.scratch.chmod(0o2775 if not ROOT else 0o777)
    path = shared.plant("x.dag.dagman.out", open_file(shared))
    shared.scratch.chmod(0o775)
    with shared.victim():
        add(str(path))
    assert path.read_text() == "forged\nours\n"


def test_anybody_s_file_is_used_where_anybody_could_replace_the_dag(shared: Shared) -> None:
    shared.scratch.chmod(0o777)
    path = shared.plant("x.dag.dagman.out", open_file(shared))
    with shared.victim():
        add(str(path))
    assert path.read_text() == "forged\nours\n"


def test_an_ordinary_file_is_made_where_all_may_write(shared: Shared) -> None:
    path = shared.scratch / "x.dag.nodes.log"
    with shared.victim(owns_all=True):
        nodes_log(str(path))
        add(str(path))
        assert path.read_text() == "ours\n"
        nodes_log(str(path))
        assert path.read_text() == ""
