"""The same DAGs under stock condor_dagman and ours: what they share must be the same.

All DAGs are submitted at once, to both, when the first of these tests asks for them.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.pool import dags
from tests.pool.access_point import OURS, STOCK, AccessPoint, Ended

pytestmark = pytest.mark.pool

FILES = "NODE_STATUS_FILE t.status 1\nJOBSTATE_LOG t.jobstate\n"

CASES = {
    "diamond": """\
JOB A job.sub
JOB B job.sub
JOB C job.sub
JOB D job.sub
PARENT A CHILD B C
PARENT B C CHILD D
""",
    "join-node-and-noop": """\
JOB A job.sub
JOB B job.sub NOOP
JOB C job.sub
JOB D nosuch.sub NOOP
SCRIPT POST B script.sh 0 post $NODE $RETURN $JOBID $SUCCESS
PARENT A B CHILD C D
""",
    "failure": """\
JOB A job.sub
JOB B job.sub
JOB C job.sub
JOB D job.sub
PARENT A CHILD B
PARENT B CHILD C
VARS B code="7"
""",
    "retries": """\
JOB A job.sub
JOB B job.sub
JOB C job.sub
RETRY A 2
RETRY B 3 UNLESS-EXIT 5
PARENT A B CHILD C
VARS A code="$(RETRY)"
VARS B code="5"
SCRIPT PRE A script.sh 0 pre $NODE $RETRY $MAX_RETRIES
""",
    "retried-until-it-works": """\
JOB A job.sub
JOB B job.sub
PARENT A CHILD B
RETRY A 3
SCRIPT POST A script.sh $RETURN post $RETRY
VARS A code="$CHOICE(RETRY,4,4,0)"
""",
    "pre-fails": """\
JOB A job.sub
JOB B job.sub
PARENT A CHILD B
SCRIPT PRE A script.sh 3 pre $NODE
SCRIPT POST A script.sh 0 post $NODE
""",
    "pre-skip": """\
JOB A job.sub
JOB B job.sub
PARENT A CHILD B
SCRIPT PRE A script.sh 3 pre $NODE
SCRIPT POST A script.sh 1 post $NODE
PRE_SKIP A 3
""",
    "post-saves-a-failed-job": """\
JOB A job.sub
JOB B job.sub
PARENT A CHILD B
VARS A code="9" APPENDED="x"
SCRIPT POST A script.sh 0 post $NODE $RETURN $SUCCESS $EXIT_CODES $JOB_COUNT $PRE_SCRIPT_RETURN
""",
    "post-fails": """\
JOB A job.sub
JOB B job.sub
PARENT A CHILD B
SCRIPT POST A script.sh 2 post $NODE $RETRY
RETRY A 1
""",
    "a-script-that-is-not-there": """\
JOB A job.sub
SCRIPT PRE A nosuch.sh
""",
    "a-macro-that-is-not-there": """\
JOB A job.sub
JOB B job.sub
SCRIPT POST A script.sh 0 $NOSUCH
""",
    "abort": """\
JOB A job.sub
JOB B job.sub
JOB C job.sub
ABORT-DAG-ON A 4 RETURN 1
RETRY A 5
VARS A code="4"
VARS B seconds="30"
PARENT A CHILD C
""",
    "abort-as-success": """\
JOB A job.sub
JOB B job.sub
ABORT-DAG-ON A 4 RETURN 0
VARS A code="4"
PARENT A CHILD B
""",
    "missing-submit-file": """\
JOB A nosuch.sub
JOB B job.sub
PARENT B CHILD A
RETRY A 2
SCRIPT POST A script.sh 1 post $RETURN $JOBID $SUCCESS
""",
    "several-procs": """\
JOB A job.sub
JOB B job.sub
PARENT A CHILD B
VARS A procs="3"
SCRIPT POST A script.sh 0 post $JOB_COUNT $EXIT_CODES $EXIT_CODE_COUNTS $EXIT_CODE_LIST
""",
    "one-proc-of-several-fails": """\
JOB A job.sub
JOB B job.sub
PARENT A CHILD B
VARS A procs="2" code="$(Process)" seconds="$(Process)"
""",
    "done-beforehand": """\
JOB A job.sub DONE
JOB B job.sub
JOB C job.sub DONE
PARENT A CHILD B
PARENT B CHILD C
""",
    "categories": """\
JOB A job.sub
JOB B job.sub
JOB C job.sub
CATEGORY A heavy
CATEGORY B heavy
CATEGORY C heavy
MAXJOBS heavy 1
PRIORITY C 10
""",
    "inline": """\
SUBMIT-DESCRIPTION shared {
universe = scheduler
executable = job.sh
arguments = "$(JOB) $(RETRY) 0 0"
}
JOB A shared
JOB B {
universe = scheduler
executable = job.sh
arguments = "$(JOB) $(DAG_PARENT_NAMES) 0 $(FAILED_COUNT)"
}
PARENT A CHILD B
""",
    "directory": """\
JOB A job.sub DIR sub
SCRIPT PRE A script.sh 0 pre $NODE
""",
    "cycle-below-a-root": """\
JOB A job.sub
JOB B job.sub
JOB C job.sub
PARENT A CHILD B
PARENT B CHILD C
PARENT C CHILD B
""",
    "weak": """\
JOB A job.sub
JOB B job.sub
JOB C job.sub
JOB D job.sub
JOB E job.sub
JOB F job.sub
JOB G job.sub
JOB H job.sub
WEAK PARENT A CHILD B
PARENT C CHILD D
WEAK PARENT C CHILD E
WEAK PARENT D CHILD F
WEAK PARENT A C CHILD G H
RETRY A 1
VARS A code="1"
VARS C code="2"
SCRIPT POST B script.sh 0 post $NODE $FAILED_COUNT $FUTILE_COUNT
""",
    "tolerance": """\
JOB A job.sub
JOB B job.sub
JOB C job.sub
JOB D job.sub
VARS ALL_NODES procs="3" code="$(Process)" seconds="$(Process)"
TOLERANCE A 2
TOLERANCE B 70% WAIT
TOLERANCE C 1 FAIL-FAST
VARS C seconds="$INT(15*$(Process))"
TOLERANCE D 1 WAIT
SCRIPT POST A script.sh 0 post $NODE $SUCCESS $RETURN $EXIT_CODES
SCRIPT POST D script.sh 0 post $NODE $SUCCESS $RETURN $EXIT_CODES
""",
    "splices": """\
JOB A job.sub
SPLICE T part.dag
SPLICE S part.dag
JOB Z job.sub
PARENT A CHILD S T
PARENT S T CHILD Z
CATEGORY A heavy
MAXJOBS S+own 1
#== part.dag
JOB X job.sub
JOB Y job.sub
SPLICE inner leaf.dag
PARENT X Y CHILD inner
VARS X seconds="1"
RETRY Y 1
CATEGORY X own
CATEGORY Y own
SCRIPT POST Y script.sh 0 post $NODE $RETURN $SUCCESS
#== leaf.dag
JOB L job.sub
JOB M job.sub
VARS ALL_NODES seconds="0"
""",
    "failure-in-a-splice": """\
SPLICE S part.dag
JOB Z job.sub
PARENT S CHILD Z
#== part.dag
JOB X job.sub
JOB Y job.sub
JOB W job.sub
PARENT X CHILD Y
VARS X code="3"
RETRY X 1
""",
    "splice-in-a-directory": """\
SPLICE S part.dag DIR sub
JOB Z job.sub
PARENT S CHILD Z
#== sub/part.dag
JOB X job.sub
SCRIPT PRE X script.sh 0 pre $NODE
""",
    "connected-splices": """\
SPLICE S part.dag
SPLICE T part.dag
CONNECT S T
#== part.dag
JOB X job.sub
JOB Y job.sub
PIN_IN X 1
PIN_IN Y 2
PIN_OUT X 1
PIN_OUT Y 2
""",
    "include": """\
JOB A job.sub
SPLICE S part.dag
INCLUDE more.dag
PARENT B CHILD S+X
#== more.dag
JOB B job.sub
PARENT A CHILD B
PARENT B CHILD S
#== part.dag
JOB X job.sub
JOB Y job.sub
""",
    "node-twice": "JOB A job.sub\nJOB A job.sub\n",
    "unknown-child": "JOB A job.sub\nPARENT A CHILD Z\n",
    "empty": "# nothing\n",
}


@dataclass
class Result:
    """What one run of a DAG left behind."""

    directory: Path
    ended: Ended

    def text(self, name: str) -> str:
        path = self.directory / name
        return path.read_text() if path.exists() else ""

    @property
    def dagman_out(self) -> list[str]:
        """Lines of `.dagman.out` without their times."""
        return [line[18:] for line in self.text("t.dag.dagman.out").splitlines()]


@pytest.fixture(scope="module")
def results(access_point: AccessPoint, place: Path) -> dict[tuple[str, str], Result]:
    """Every case under both programs."""
    directories = {
        (case, flavour): place / "compare" / flavour / case
        for case in CASES
        for flavour in (STOCK, OURS)
    }
    for (case, flavour), directory in directories.items():
        directory.mkdir(parents=True)
        directory.chmod(0o777)
        (directory / "sub").mkdir(mode=0o777)
        dags.write(directory / "sub", "")
        dags.write(directory, CASES[case] + FILES)
        dagman = access_point.stock_dagman if flavour == STOCK else access_point.our_dagman
        access_point.submit(directory, "-dagman", dagman, "t.dag", stock=flavour == STOCK)
    return {
        key: Result(directory, access_point.wait(directory / "t.dag", timeout=180))
        for key, directory in directories.items()
    }


Results = dict[tuple[str, str], Result]


def both(results: Results, case: str) -> tuple[Result, Result]:
    return results[case, STOCK], results[case, OURS]


@pytest.mark.parametrize("case", CASES)
def test_exit_code(results: Results, case: str) -> None:
    stock, ours = both(results, case)
    assert ours.ended == stock.ended


@pytest.mark.parametrize("case", CASES)
def test_every_job_and_script_ran_as_often(results: Results, case: str) -> None:
    stock, ours = both(results, case)
    assert dags.starts(ours.directory) == dags.starts(stock.directory)
    hidden = [_without_job_ids(line) for line in dags.scripts(ours.directory)]
    assert hidden == [_without_job_ids(line) for line in dags.scripts(stock.directory)]


def _without_job_ids(line: str) -> str:
    return re.sub(r"\b(?!0\.)\d+\.(\d+)\b", r"ID.\1", line)


@pytest.mark.parametrize("case", CASES)
def test_rescue_file(results: Results, case: str) -> None:
    stock, ours = both(results, case)
    assert _rescue(ours) == _rescue(stock)


def _rescue(result: Result) -> list[str]:
    lines = result.text("t.dag.rescue001").splitlines()
    return [line for line in lines if not line.startswith("# Created")]


@pytest.mark.parametrize("case", CASES)
def test_metrics(results: Results, case: str) -> None:
    stock, ours = both(results, case)
    assert _metrics(ours) == _metrics(stock)


def _metrics(result: Result) -> dict[str, Any]:
    text = result.text("t.dag.metrics")
    found: dict[str, Any] = json.loads(text) if text else {}
    for changing in ("start_time", "end_time", "duration", "dagman_id", "version"):
        found.pop(changing, None)
    return found


# Stock DAGMan leaves the file as it was when a script line is wrong; ours says how it ended.
@pytest.mark.parametrize("case", [case for case in CASES if case != "a-macro-that-is-not-there"])
def test_node_status_file(results: Results, case: str) -> None:
    stock, ours = both(results, case)
    assert _status(ours) == _status(stock)


def _status(result: Result) -> list[str]:
    changing = ("Timestamp", "EndTime", "NextUpdate", "StatusDetails")  # words of ours may differ
    lines = result.text("t.status").splitlines()
    return [line for line in lines if not line.strip().startswith(changing)]


@pytest.mark.parametrize("case", CASES)
def test_jobstate_log(results: Results, case: str) -> None:
    stock, ours = both(results, case)
    assert _jobstate(ours) == _jobstate(stock)


def _jobstate(result: Result) -> list[str]:
    """Events by node: the order between nodes, times and ids are each run's own."""
    lines = [line.split() for line in result.text("t.jobstate").splitlines()]
    kept = [(w[1], w[2]) for w in lines if w[1] != "INTERNAL" and w[2] not in _CHANGING]
    return [f"{node} {event}" for node, event in sorted(kept, key=lambda pair: pair[0])]


_CHANGING = {"IMAGE_SIZE", "EXECUTE"}


@pytest.mark.parametrize("case", CASES)
def test_last_status_table(results: Results, case: str) -> None:
    stock, ours = both(results, case)
    assert _table(ours) == _table(stock)


def _table(result: Result) -> list[str]:
    lines = result.dagman_out
    heads = [n for n, line in enumerate(lines) if line.strip().startswith("Done     Pre")]
    return lines[heads[-1] - 2 : heads[-1] + 4] if heads else []


@pytest.mark.parametrize("case", ["node-twice", "unknown-child"])
def test_first_line_of_an_error(results: Results, case: str) -> None:
    stock, ours = both(results, case)
    assert _errors(ours) == _errors(stock)


def _errors(result: Result) -> list[str]:
    kinds = ("ERROR:", "Processing error", "Failed to parse")
    lines = [line.strip() for line in result.dagman_out if line.strip().startswith(kinds)]
    return [line for line in lines if not line.endswith("not found!")]  # stock says it twice
