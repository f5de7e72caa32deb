"""What is wrong with a DAG or with the world around it: stock's exit code, a message that names the
culprit and says what to do, nothing half written left behind, and nothing lost.

condor_dagman is mostly run by hand here, without a job of its own: that is quick.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.pool import dags
from tests.pool.access_point import OURS, STOCK, AccessPoint, new_directory
from tests.pool.dagmans import processes_in
from tests.pool.stock import Stock
from tests.waiting import until

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
    until(lambda: not processes_in(work), "the end of its processes")
    if not case.unlike_stock:
        assert stock(name, lambda: stock_s_code(access_point, twin, case)) == 1


def stock_s_code(access_point: AccessPoint, work: Path, case: Case) -> int:
    """The exit code of stock."""
    prepare(work, case)
    environment = case.environment
    return by_hand(access_point, work, case.file, flavour=STOCK, environment=environment).returncode


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
