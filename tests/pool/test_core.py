"""The core alone (`tests/core/parts.py`) runs DAGs on a pool as the whole package does."""

from __future__ import annotations

import copy
from collections import Counter
from pathlib import Path

import pytest

from tests import recordings
from tests.core import parts
from tests.pool import dags, test_compare
from tests.pool.access_point import STOCK, AccessPoint, new_directory
from tests.pool.scenes import FIRST, Scene, Stage
from tests.pool.stock import Stock, plain

STAGE = Stage()
DAG = f"""\
JOB A first.sub
JOB B told.sub
JOB C first.sub
JOB D job.sub
FINAL F job.sub
PARENT A CHILD B
PARENT B CHILD C
PARENT C CHILD D
RETRY A 1
VARS A code="3"
VARS C code="3"
SCRIPT PRE A script.sh 0 pre A $RETRY
SCRIPT POST B script.sh 0 post B $RETURN
SCRIPT POST F script.sh 0 post F $DAG_STATUS
{FIRST}"""
WHEN = "2026-11-21 12:08:04"
COMPARED = ["final/restarted", "rescue/an-older-one", "scripts/every-macro", "service/restarted"]


@STAGE.scene
def a_crash_a_hold_and_a_rescue_file(s: Scene) -> None:
    tree = new_directory(s.work / "core")
    parts.copy(tree)
    dagman, submit = (str(tree / "bin" / name) for name in parts.COMMANDS)
    s.write(DAG)
    s.cluster = int(s.run(submit, "-dagman", dagman, "t.dag").split("cluster ")[1].split(".")[0])
    s.started("B 0")
    s.applied("EXECUTE", "B")
    s.restart()
    is_held_for_a_record(s)
    s.touch("go.B")
    assert s.ends() == 0  # F's
    assert dags.starts(s.work) == Counter(["A 0", "A 1", "B 0", "C 0", "F 0"])
    assert dags.scripts(s.work) == ["post B 0", "post F 2", "pre A 0", "pre A 1"]
    assert s.rescue() == ["A", "B"]
    s.submit_again("-dagman", dagman)
    assert s.ends() == 0
    assert dags.starts(s.work)["A 1"] == dags.starts(s.work)["B 0"] == 1
    assert {"C 0", "D 0"} <= set(dags.runs(s.work))
    assert "post F 0" in dags.scripts(s.work)


def is_held_for_a_record(s: Scene) -> None:
    """While the log has a record of a feature; what jobs write there is none."""
    s.hold()
    log, head = s.work / "t.dag.nodes.log", f"008 ({s.job('B'):03d}.000.000) {WHEN} "
    log.write_text(text := f"{log.read_text()}{head}GROWN\n...\n{head}{note('GROWN')}\n...\n")
    with log.open("a") as file:
        file.write(f"008 (-01.-01.-01) {WHEN} {note('SITE_LEFT')}\n...\n")
    s.run("condor_release", str(s.cluster))
    s.says("ERROR: .* has a record SITE_LEFT, which the feature sites of condor_pydagman")
    s.until(lambda: not s.pid() and s.ad().get("JobStatus") == 5, "DAGMan to be on hold")
    assert "a record SITE_LEFT, which the feature sites" in s.ad()["HoldReason"]
    log.write_text(text)
    s.release()


def note(record: str) -> str:
    return f'[ DAGManNote = "{record}"; Node = "B"; DAGManNodeRetry = 0; Value = 0; Text = "" ]'


test_core = STAGE.tests()


@pytest.fixture(scope="module")
def runs(access_point: AccessPoint, place: Path) -> test_compare.Runs:
    """The runs of recorded cases by the core."""
    tree = new_directory(place / "core" / "tree")
    parts.copy(tree)
    core = copy.copy(access_point)
    core.our_dagman = str(tree / "bin" / "condor_dagman")
    return test_compare.Runs(core, place / "core", COMPARED)


@pytest.mark.parametrize("name", COMPARED)
def test_it_does_what_stock_does(runs: test_compare.Runs, name: str) -> None:
    topic, _, short = name.partition("/")
    expected = Stock("compare").part(topic)(short, lambda: runs.records(name, STOCK))
    ours = plain(runs.records(name))
    test_compare.explain(runs, name, recordings.difference(expected, ours, ("stock", "ours")))
