"""What is wrong with a DAG or with the world around it: stock's exit code, a message that names the
culprit and says what to do, nothing half written left behind, and nothing lost.

condor_dagman is mostly run by hand here, without a job of its own: that is quick.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.pool.processes import running
from tests.pool import dags
from tests.pool.access_point import OURS, STOCK, AccessPoint, new_directory
from tests.pool.scenes import Scene
from tests.pool.stock import Stock
from tests.waiting import LIMIT_S

ONE = "JOB A job.sub\n"
NOWHERE = {
    "_CONDOR_SCHEDD_ADDRESS_FILE": "/nonexistent",
    "_CONDOR_SCHEDD_DAEMON_AD_FILE": "/nonexistent",
    "_CONDOR_COLLECTOR_HOST": "127.0.0.1:1",
}
# What stays after a run that began, and after one that could not.
BEGUN = {"t.dag.metrics", "t.dag.nodes.log", "t.dag.rescue001"}


def nothing(work: Path) -> None:
    """Leave everything as it is."""


def directory_instead(work: Path) -> None:
    (work / "t.dag").unlink()
    (work / "t.dag").mkdir()


def fifo_instead(work: Path) -> None:
    (work / "t.dag").unlink()
    os.mkfifo(work / "t.dag")


def unreadable(work: Path) -> None:
    (work / "t.dag").chmod(0)


def read_only_directory(work: Path) -> None:
    (work / "t.dag").rename(work / "sub.dag")
    (work / "sub").mkdir()
    (work / "sub.dag").rename(work / "sub" / "t.dag")
    (work / "sub").chmod(0o555)


def nodes_log_is_a_directory(work: Path) -> None:
    (work / "t.dag.nodes.log").mkdir()


@dataclass(frozen=True)
class Case:
    """A DAG that can't be run, what `.dagman.out` must say, and which files stay."""

    dag: str
    says: list[str]
    file: str = "t.dag"
    spoil: Callable[[Path], None] = nothing
    stays: set[str] = field(default_factory=set)
    environment: dict[str, str] = field(default_factory=dict)
    unlike_stock: str = ""  # why stock is not asked


CASES = {
    "missing": Case(ONE, [r"nosuch\.dag: Provided file path does not exist"], file="nosuch.dag"),
    "directory": Case(ONE, [r"t\.dag: Provided file path is not a file"], spoil=directory_instead),
    "fifo": Case(ONE, [r"t\.dag .*not a regular file"], spoil=fifo_instead,
        unlike_stock="it waits for somebody to write"),
    "unreadable": Case(ONE, [r"open t\.dag: .*Permission denied"], spoil=unreadable),
    "unknown-word": Case(ONE + "FOO bar\n", [r"ERROR: t\.dag:2 'FOO' is not a valid", "FOO bar"]),
    "node-twice": Case(
        ONE + ONE, ["Node A already exists in DAG", r"t\.dag:2", "another name"]
    ),
    "a-child-that-is-not-there": Case(ONE + "PARENT A CHILD Z\n", [r"t\.dag:2", "Z"]),
    "cycle": Case(
        ONE + "JOB B job.sub\nPARENT A CHILD B\nPARENT B CHILD A\n",
        [r"[Cc]ycle", r"DAG_STATUS_CYCLE"],
        stays=BEGUN,
    ),
    "cycle-looked-for": Case(
        ONE + "JOB B job.sub\nPARENT A CHILD B\nPARENT B CHILD A\n",
        ["ERROR: a cycle exists in the dag", "A.*B.*A|B.*A.*B"],
        environment={"_CONDOR_DAGMAN_STARTUP_CYCLE_DETECT": "True"},
    ),
    "missing-submit-file": Case(
        "JOB A nosuch.sub\n", [r"nosuch\.sub", r"No such file", r"t\.dag:1"], stays=BEGUN
    ),
    "submit-file-that-is-wrong": Case(
        "JOB A wrong.sub\n", [r"Requirements", r"wrong\.sub", r"t\.dag:1"], stays=BEGUN
    ),
    "submit-file-without-executable": Case(
        "JOB A empty.sub\n", [r"[Ee]xecutable", r"empty\.sub", r"t\.dag:1"], stays=BEGUN
    ),
    "no-schedd": Case(
        ONE, [r"can't locate the schedd|[Cc]an't find", r"t\.dag:1"], stays=BEGUN,
        environment=NOWHERE,
    ),
    "directory-that-can't-be-written": Case(
        ONE, [r"sub/t\.dag\.lock", "Permission denied"], file="sub/t.dag",
        spoil=read_only_directory,
    ),
    "nodes-log-that-can't-be-written": Case(
        ONE, [r"nodes log .*t\.dag\.nodes\.log: Is a directory"], spoil=nodes_log_is_a_directory,
        unlike_stock="it ends with 4, so the schedd starts it again and again",
    ),
    "config-file-that-is-not-there": Case(
        ONE, [], environment={"_CONDOR_DAGMAN_CONFIG_FILE": "nosuch.config"}
    ),
}  # fmt: skip


def by_hand(
    access_point: AccessPoint,
    work: Path,
    file: str = "t.dag",
    *,
    flavour: str = OURS,
    environment: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run condor_dagman in a terminal, as it were; its log is `out.txt`."""
    dagman = access_point.our_dagman if flavour == OURS else access_point.stock_dagman
    words = ["-f", "-l", ".", "-Lockfile", f"{file}.lock", "-Dag", file]
    knobs = {"_CONDOR_DAGMAN_LOG": "out.txt", "_CONDOR_DAGMAN_MAX_SUBMIT_ATTEMPTS": "1"}
    return access_point.run(
        *(dagman, *words),
        cwd=work,
        check=False,
        environment={**knobs, **(environment or {})},
        loaded=flavour == OURS,
    )


def prepare(work: Path, case: Case) -> set[str]:
    """Make the files of a case; returns their names."""
    dags.write(work, case.dag)
    (work / "wrong.sub").write_text("executable = job.sh\nrequirements = (\nqueue\n")
    (work / "empty.sub").write_text("universe = scheduler\nqueue\n")
    case.spoil(work)
    return names(work)


def names(work: Path) -> set[str]:
    return {str(path.relative_to(work)) for path in work.rglob("*")}


@pytest.fixture
def twin(place: Path, work: Path) -> Iterator[Path]:
    """A second directory for the test; what was made read-only is made writable at the end."""
    directory = new_directory(work.with_name(work.name + ".twin"))
    yield directory
    for path in (*work.rglob("sub"), *directory.rglob("sub")):
        path.chmod(0o755)


@pytest.mark.parametrize("name", CASES)
def test_a_dag_that_cannot_be_run(
    access_point: AccessPoint, work: Path, twin: Path, stock: Stock, name: str
) -> None:
    case = CASES[name]
    before = prepare(work, case)
    done = by_hand(access_point, work, case.file, environment=case.environment)
    log = work / "out.txt"
    said = (log.read_text() if log.exists() else "") + done.stderr
    for pattern in case.says:
        assert re.search(pattern, said), (pattern, said)
    assert "Traceback" not in said
    assert "this is a bug" not in said
    assert done.returncode == 1
    assert names(work) - before - {"out.txt"} == case.stays
    assert not left_running(access_point, work)
    if not case.unlike_stock:
        assert stock(name, lambda: stock_s_code(access_point, twin, case)) == 1


def stock_s_code(access_point: AccessPoint, work: Path, case: Case) -> int:
    """The exit code of stock."""
    prepare(work, case)
    environment = case.environment
    return by_hand(access_point, work, case.file, flavour=STOCK, environment=environment).returncode


def left_running(access_point: AccessPoint, work: Path) -> list[int]:
    """The pool's processes that run in a directory."""
    found = []
    for pid in running(str(access_point.pool.directory)):
        with contextlib.suppress(OSError):
            if Path(os.readlink(f"/proc/{pid}/cwd")).is_relative_to(work):
                found.append(pid)
    return found


def test_condor_submit_dag_without_a_schedd_says_how_to_go_on(
    access_point: AccessPoint, work: Path
) -> None:
    dags.write(work, ONE)
    done = access_point.run(
        "condor_submit_dag", "t.dag", cwd=work, check=False, environment=NOWHERE
    )
    assert done.returncode == 1
    assert "Can't find address of local schedd" in done.stderr
    assert "Nothing has been changed" in done.stderr
    assert not list(work.glob("t.dag.*"))
    access_point.submit(work, "t.dag")
    assert access_point.wait(work / "t.dag").code == 0


def test_a_dag_whose_dagman_has_not_begun_is_not_submitted_again(
    access_point: AccessPoint, work: Path
) -> None:
    s = Scene(access_point, work)
    s.submit(ONE, "-append", "hold = true")
    before = s.text("t.dag.condor.sub")
    again = s.answer("condor_submit_dag", "t.dag")
    assert again.returncode == 1
    assert f"ERROR: Job {s.cluster}, which runs t.dag, is on hold." in again.stderr
    assert s.text("t.dag.condor.sub") == before
    s.run("condor_release", str(s.cluster))
    assert s.ends() == 0
    assert dags.starts(work) == {"A 0": 1}


def test_a_nodes_log_under_tmp_is_refused(access_point: AccessPoint, stock: Stock) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        work = Path(directory)
        before = under_tmp(work)
        code, said = refused_under_tmp(access_point, work, OURS)
        assert (code, "/tmp" in said) == (1, True)
        assert "Move the DAG elsewhere" in said
        assert names(work) - before == {"out.txt"}

    def produce() -> Any:
        with tempfile.TemporaryDirectory(dir="/tmp") as directory:
            under_tmp(Path(directory))
            code, said = refused_under_tmp(access_point, Path(directory), STOCK)
            return code, "/tmp" in said

    assert stock("a nodes log under /tmp", produce) == [1, True]


def under_tmp(work: Path) -> set[str]:
    work.chmod(0o777)
    return prepare(work, Case(ONE, []))


def refused_under_tmp(access_point: AccessPoint, work: Path, flavour: str) -> tuple[int, str]:
    """The exit code where a nodes log may not be under /tmp, and what is said."""
    strict = {"_CONDOR_DAGMAN_AVOID_SLASH_TMP": "True"}
    done = by_hand(access_point, work, flavour=flavour, environment=strict)
    return done.returncode, (work / "out.txt").read_text()


# Old logs that DAGMan finds when it starts again.

OLD_SUBMIT = """\
000 (999999.000.000) 2026-11-21 11:56:29 Job submitted from host: <127.0.0.1:1>
    [ DAGNodeName = "A" ]
...
"""
OLD_END = """\
005 (999999.000.000) 2026-11-21 11:56:31 Job terminated.
\t(1) Normal termination (return value 0)
\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Remote Usage
\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Run Local Usage
\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Total Remote Usage
\t\tUsr 0 00:00:00, Sys 0 00:00:00  -  Total Local Usage
...
"""
LOGS = {
    "garbage": (OLD_SUBMIT + "garbage\n" * 5 + "...\n" + OLD_END, {"B 0": 1}),
    "half-an-event": (OLD_SUBMIT + OLD_END + OLD_SUBMIT[:40], {"B 0": 1}),
    "nothing-but-half-an-event": (OLD_SUBMIT[:60], {"A 0": 1, "B 0": 1}),
}


def test_recovery_from_a_damaged_log_loses_and_repeats_nothing(
    access_point: AccessPoint, work: Path
) -> None:
    text = "JOB A job.sub\nJOB B job.sub\nPARENT A CHILD B\nSCRIPT POST B script.sh 0 post\n"
    for name, (log, _) in LOGS.items():
        new_directory(work / name)
        dags.write(work / name, text)
        (work / name / "t.dag.nodes.log").write_text(log)
        (work / name / "t.dag.nodes.log").chmod(0o666)
        (work / name / "t.dag.lock").write_text("1\n")
        access_point.submit(work / name, "t.dag")
    for name, (_, expected) in LOGS.items():
        assert access_point.wait(work / name / "t.dag").code == 0, name
        assert dags.runs(work / name) == expected, name
        assert dags.scripts(work / name) == ["post"], name


# Full disks.


def small(access_point: AccessPoint, work: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a shell script that has a small disk at `disk`; it gets the names of our programs."""
    (work / "disk").mkdir()
    head = "mount -t tmpfs -o size=64k none disk && cp *.dag *.sub *.sh disk && cd disk\n"
    return subprocess.run(
        ["unshare", "-Urm", "sh", "-c", head + script],
        cwd=work,
        env={**access_point.environment, "DAGMAN": access_point.our_dagman},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


@pytest.fixture
def small_disks() -> None:
    """Skip where an ordinary user may not mount."""
    mount = ["unshare", "-Urm", "mount", "-t", "tmpfs", "none", "/mnt"]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody mount a small disk")


FILL = "dd if=/dev/zero of=ballast bs=4k count=100 2>/dev/null\n"


@pytest.mark.usefixtures("small_disks")
def test_a_full_disk_leaves_no_half_submit_file(access_point: AccessPoint, work: Path) -> None:
    dags.write(work, ONE)
    done = small(access_point, work, FILL + "condor_submit_dag -no_submit t.dag\necho $?; ls")
    assert done.stdout.splitlines()[0] == "1"
    assert "Unable to create submit file t.dag.condor.sub" in done.stderr
    assert "No space left" in done.stderr
    assert "condor.sub" not in done.stdout


@pytest.mark.usefixtures("small_disks")
def test_a_full_disk_keeps_the_old_submit_file(access_point: AccessPoint, work: Path) -> None:
    dags.write(work, ONE)
    script = "condor_submit_dag -no_submit t.dag >/dev/null; cp t.dag.condor.sub ..\n" + FILL
    script += "condor_submit_dag -no_submit -update_submit -maxjobs 3 t.dag >/dev/null\n"
    script += "cmp t.dag.condor.sub ../t.dag.condor.sub && ls"
    done = small(access_point, work, script)
    assert done.returncode == 0
    assert "t.dag.condor.sub.tmp" not in done.stdout


@pytest.mark.usefixtures("small_disks")
def test_a_run_waits_for_space_and_goes_on(access_point: AccessPoint, work: Path) -> None:
    """NOOP nodes need no schedd; their events are DAGMan's own."""
    lines = [f"JOB N{number} job.sub NOOP\n" for number in range(40)]
    dags.write(work, "".join(lines))
    script = """\
export _CONDOR_DAGMAN_LOG=../out.txt
dd if=/dev/zero of=ballast bs=4k count=8 2>/dev/null
$DAGMAN -f -l . -Lockfile t.dag.lock -Dag t.dag &
tries=0
until grep -q "free some space" ../out.txt || test $tries -gt 6000; do
    sleep 0.1; tries=$((tries + 1))
done
rm ballast
wait $!
echo code $?
ls
grep -c 'Normal termination' t.dag.nodes.log
"""
    done = small(access_point, work, script)
    said = (work / "out.txt").read_text()
    assert "No space left" in said
    assert "code 0" in done.stdout, said[-2000:]
    assert done.stdout.splitlines()[-1] == "40"
    assert "t.dag.lock\n" not in done.stdout
    assert ".tmp\n" not in done.stdout


@pytest.mark.usefixtures("small_disks")
def test_commands_are_obeyed_while_the_nodes_log_can_not_be_written(
    access_point: AccessPoint, work: Path
) -> None:
    """Long before DAGMan gives the log up; `unit/daemon/test_nodes_log_writer.py` shows that no try
    to write keeps it from listening."""
    lines = [f"JOB N{number} job.sub NOOP\n" for number in range(40)]
    dags.write(work, "".join(lines))
    script = """\
export _CONDOR_DAGMAN_LOG=../out.txt
until_said() {
    tries=0
    until test "$(grep -c "$1" ../out.txt)" -ge "$2" || test $tries -gt 6000; do
        sleep 0.1; tries=$((tries + 1))
    done
}
dd if=/dev/zero of=ballast bs=4k count=8 2>/dev/null
$DAGMAN -f -l . -Lockfile t.dag.lock -Dag t.dag &
until_said "free some space" 4
touch t.dag.halt
until_said "Halting DAGMan progess" 1
kill -TERM $!
wait $!
echo code $?
"""
    done = small(access_point, work, script)
    said = (work / "out.txt").read_text()
    assert "code 3" in done.stdout, said[-2000:]
    told = re.findall("free some space|Halting DAGMan progess|EXITING WITH STATUS 3", said)
    first = told.index("Halting DAGMan progess")
    assert told[:first] == ["free some space"] * first
    assert told[-1] == "EXITING WITH STATUS 3"
