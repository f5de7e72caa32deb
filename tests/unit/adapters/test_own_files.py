"""What somebody else has planted at names that DAGMan writes to, in a directory open to all.

As root the victim is a real user and the planter another; otherwise our own files are taken for
another's, by a wrong idea of who we are.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from condor_pydagman.adapters import files
from condor_pydagman.adapters.files import LockFile
from condor_pydagman.adapters.joblog import NodesLog
from condor_pydagman.adapters.jobstate_log import JobstateLog
from condor_pydagman.adapters.outlog import OutLog
from condor_pydagman.config import Config
from condor_pydagman.daemon.dag_input import CannotStart, read_dag
from condor_pydagman.daemon.submit import Submitter
from condor_pydagman.dagman_job import prepare_job
from condor_pydagman.dagman_job.options import parse_dagman, parse_submit
from condor_pydagman.dagman_job.prepare_job import Output
from condor_pydagman.errors import FileError
from condor_pydagman.pool import step_down
from condor_pydagman.records.jobstate import History
from tests.waiting import ending

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
        if ROOT and (path.is_dir() or path.lstat().st_nlink == 1):
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
    before = os.umask(0o022)  # others read what is made there
    try:
        yield Shared(top, monkeypatch)
    finally:
        os.umask(before)
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


def link_into_proc(shared: Shared) -> Callable[[Path], object]:
    """To a file that root owns, with text of the planter's choice."""
    return lambda path: path.symlink_to("/proc/self/comm")


def hard_link_of_a_link(shared: Shared) -> Callable[[Path], object]:
    """The link is the victim's own; only its second name is the planter's."""

    def make(path: Path) -> None:
        own = shared.private / "own"
        own.symlink_to(shared.precious)
        if ROOT:
            os.chown(own, VICTIM, VICTIM, follow_symlinks=False)
        os.link(own, path, follow_symlinks=False)

    return make


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
    assert taken.acquire() is None
    taken.write(7)


def read_back(path: str) -> str:
    return files.read_text(path, own=True)


@pytest.mark.parametrize("trap", TRAPS)
@pytest.mark.parametrize("write", [add, log, nodes_log, nodes_log_of_old, lock])
def test_a_trap_is_refused_and_nothing_is_changed(
    shared: Shared, trap: Callable[..., Callable[[Path], object]], write: Callable[[str], None]
) -> None:
    path = shared.plant("x.dag.file", trap(shared))
    with ending("a write"), shared.victim(), pytest.raises((FileError, OSError)):
        write(str(path))
    assert shared.precious.read_text() == PRECIOUS
    if trap is open_file:
        assert path.read_text() == "forged\n"


@pytest.mark.parametrize("trap", [*TRAPS, link_into_proc, hard_link_of_a_link])
def test_what_is_planted_is_not_read_back(
    shared: Shared, trap: Callable[..., Callable[[Path], object]]
) -> None:
    path = shared.plant("x.dag.rescue001", trap(shared))
    with shared.victim(), pytest.raises((FileError, OSError)):
        read_back(str(path))
    with shared.victim():
        assert JobstateLog(str(path)).history == History()


def test_a_link_s_message_says_whose_it_is(shared: Shared) -> None:
    path = shared.plant("x.dag.rescue001", link(shared))
    with shared.victim(), pytest.raises(OSError, match=r"link that belongs to user \d+.*move it"):
        read_back(str(path))


def test_nothing_is_read_back_from_proc(shared: Shared) -> None:
    """Root owns the files there, and anybody can be the author of `/proc/PID/comm`."""
    with shared.victim(owns_all=True):
        path = shared.scratch / "x.dag.rescue001"
        path.symlink_to("/proc/self/comm")
        with pytest.raises(OSError, match="/proc"):
            read_back(str(path))


def test_the_user_s_own_link_is_read_through(shared: Shared) -> None:
    with shared.victim(owns_all=True):
        path = shared.scratch / "x.dag.rescue001"
        path.symlink_to("../private/precious")
        assert read_back(str(path)) == PRECIOUS


def test_a_colleague_s_link_in_a_closed_directory_is_read_through(shared: Shared) -> None:
    path = shared.plant("x.dag.rescue001", link(shared))
    shared.scratch.chmod(0o775)
    with shared.victim():
        assert read_back(str(path)) == PRECIOUS


def test_what_is_mounted_at_a_name_is_refused(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system of the planter's own can say that its files are the victim's."""
    with shared.victim(owns_all=True):
        path = shared.scratch / "x.dag.rescue001"
        path.write_text("DONE A\n")
        assert read_back(str(path)) == "DONE A\n"
        monkeypatch.setattr(files, "_mount", lambda fd: b"%d" % os.fstat(fd).st_ino)
        with pytest.raises(OSError, match="mounted there"):
            read_back(str(path))
        shared_with_nobody = shared.private / "x.dag.rescue001"
        shared_with_nobody.write_text("DONE A\n")
        assert read_back(str(shared_with_nobody)) == "DONE A\n"


READ = """\
import os, sys
from condor_pydagman.adapters import files
for name in sys.argv[1:]:
    try:
        said = files.read_text(name, own=True)
    except OSError as error:
        said = error.strerror
    print(os.geteuid(), os.stat(name).st_uid, said)
"""


@pytest.mark.skipif(not ROOT, reason="only root's pool runs in a user namespace")
def test_users_that_a_namespace_does_not_know_are_others(shared: Shared) -> None:
    """There the planter's files have the victim's number."""
    shared.plant("planted", open_file(shared))
    shared.plant("link", link(shared))
    (shared.scratch / "own").write_text("own")
    (shared.scratch / "to-own").symlink_to("own")
    changed = (shared.scratch / "to-own").lstat().st_mtime_ns
    done = subprocess.run(
        [sys.executable, "-I", "-S", step_down.__file__, "namespace", "65534", "65534",
         sys.executable, "-c", READ, "planted", "link", "own", "to-own"],
        cwd=shared.scratch, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )  # fmt: skip
    if done.returncode == 125:
        return  # the machine forbids namespaces, and no pool runs in one
    planted, linked, own, through = done.stdout.splitlines()
    assert planted.startswith("65534 65534 it belongs to user 65534, in a directory")
    assert linked.startswith("65534 65534 it is a symbolic link that belongs to user 65534, in")
    assert own == through == "65534 65534 own"
    assert (shared.scratch / "to-own").lstat().st_mtime_ns == changed


LOOK = """
import sys
from condor_pydagman.adapters.config_file import refuse_foreign
from condor_pydagman.errors import ConfigError
for name in sys.argv[1:]:
    try:
        refuse_foreign(name)
        print(name)
    except ConfigError:
        print("refused")
"""


@pytest.mark.skipif(not ROOT, reason="only root's pool runs in a user namespace")
def test_nothing_is_run_of_users_that_a_namespace_does_not_know(tmp_path: Path) -> None:
    """There a CONFIG file of anybody's seems to be one's own."""
    for name, user in (("theirs", 1234), ("own", 0)):
        (tmp_path / name).write_text("include command : /bin/true\n")
        os.chown(tmp_path / name, user, user)
    done = subprocess.run(
        [sys.executable, "-I", "-S", step_down.__file__, "namespace", "65534", "65534",
         sys.executable, "-c", LOOK, "theirs", "own", "missing"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
    )  # fmt: skip
    if done.returncode != 125:  # the machine forbids namespaces, and no pool runs in one
        assert done.stdout.split() == ["refused", "own", "missing"], done.stderr


def test_mounts_are_told_apart() -> None:
    numbers = []
    for path in ("/proc/self/stat", "/proc/self/comm", __file__):
        with open(path, "rb") as file:
            numbers.append(files._mount(file.fileno()))
    assert numbers[0] == numbers[1] != numbers[2]
    assert all(number.startswith(b"mnt_id:") for number in numbers)


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


def test_a_save_file_in_a_planted_directory_is_not_read(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(path: Path) -> None:
        path.mkdir()
        (path / "mark").write_text("DONE A\n")

    (shared.scratch / "x.dag").write_text("JOB A x\n")
    shared.plant("save_files", make)
    monkeypatch.chdir(shared.scratch)
    options = parse_dagman(["-Dag", "x.dag", "-load_save", "mark"])
    with shared.victim(), pytest.raises(CannotStart, match="everybody may write to"):
        read_dag(options, Config(), options.paths(), OutLog(str(shared.private / "out"), 3))


@pytest.mark.parametrize("trap", [link, hard_link, open_file, fifo, directory])
def test_a_planted_submit_file_is_not_updated(
    shared: Shared, trap: Callable[..., Callable[[Path], object]], monkeypatch: pytest.MonkeyPatch
) -> None:
    shared.plant("x.dag.condor.sub", trap(shared))
    (shared.scratch / "x.dag").write_text("JOB A x\n")
    monkeypatch.chdir(shared.scratch)
    options = parse_submit(["-update_submit", "-dagman", "/bin/true", "x.dag"])
    output = Output(out=lambda _: None, err=lambda _: None)
    with shared.victim(), pytest.raises(FileError, match="-update_submit can't read it"):
        prepare_job.write(options, output, {})
    assert shared.precious.read_text() == PRECIOUS


def test_a_planted_submit_file_of_a_sub_dag_is_not_submitted(
    shared: Shared, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DAGMAN_GENERATE_SUBDAG_SUBMITS = False takes the file that is there."""
    for name in ("y.dag.condor.sub", "b.sub"):
        shared.plant(name, open_file(shared))
    monkeypatch.chdir(shared.scratch)
    (shared.scratch / "x.dag").write_text("SUBDAG EXTERNAL A y.dag\nJOB B b.sub\n")
    options = parse_dagman(["-Dag", "x.dag"])
    out = OutLog(str(shared.private / "out"), 3)
    with shared.victim():
        dag, _ = read_dag(options, Config(), options.paths(), out)
        submitter = Submitter(cast(Any, SimpleNamespace(dag=dag, out=out)))
        with pytest.raises(OSError, match="belongs to user"):
            submitter.template_of(0)
        assert "forged" in submitter.template_of(1)[0][0]  # which a line of the DAG names


def test_the_message_says_whose_and_what_to_do(shared: Shared) -> None:
    path = shared.plant("x.dag.lock", open_file(shared))
    with shared.victim(), pytest.raises(FileError, match=r"belongs to user \d+.*move it away"):
        LockFile(str(path)).acquire()


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
