"""What notices are told of a DAG that is looked at again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.monitor.found_dag import FoundDag, find_dag
from condor_pydagman.monitor.known_run import known_run
from condor_pydagman.notices.collect import notices_of
from condor_pydagman.notices.known import Known
from condor_pydagman.trace.notice import Notice, Weight
from condor_pydagman.trace.overview import Overview
from condor_pydagman.trace.run_history import DagState
from condor_pydagman.trace.tally import Tally
from tests.unit.trace.test_overview import DAG, READY, a_run, seen


@pytest.fixture(autouse=True)
def found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FoundDag:
    monkeypatch.chdir(tmp_path)
    Path("t.dag").write_text(DAG)
    Path("t.dag.dagman.out").write_text("")
    return find_dag("t.dag", ask=False)


def known(tally: Tally, state: DagState = DagState.RUNNING, **how: Any) -> Known:
    look = seen(tally, **how)
    return known_run(find_dag("t.dag", ask=False), state, look, tally, {})


def noticed(tally: Tally, cause: str, **how: Any) -> list[Notice]:
    return [one for one in notices_of(known(tally, **how)) if one.cause == cause]


def looked(tally: Tally, state: DagState = DagState.RUNNING) -> Overview:
    return seen(tally).with_notices(notices_of(known(tally, state)))


def test_throttles_that_are_full_while_nodes_wait() -> None:
    limits = {"DAGMan_MaxJobs": 5, "DAGMan_MaxIdle": 3, "DAGMan_MaxPreScripts": 2}
    tally = a_run()
    tally.run.limits = limits
    said = [
        "MaxJobs is reached: 5 nodes with jobs in the queue, the limit is 5; node ready is waiting"
        " because of that.",
        "MaxIdle is reached: 3 jobs idle, the limit is 3; node ready is waiting because of that.",
    ]
    assert [one.sentence for one in noticed(tally, "throttle.full")] == said
    assert looked(tally).throttles == said
    tally = a_run(DAG)
    tally.run.limits = limits
    assert not noticed(tally, "throttle.full")


def test_throttles_of_a_dag_that_is_too_big_to_be_read() -> None:
    tally = a_run()
    tally.run.limits = {"DAGMan_MaxJobs": 5, "DAGMan_MaxPreScripts": 2}
    tally.run.counts = (100, 50, 3, 5, 2, 12000, 30, 2, 7)
    pre, jobs = noticed(Tally(tally.run), "throttle.full", exact=False)
    assert "2 PRE scripts running, the limit is 2; 1 node is waiting" in pre.sentence
    assert "the limit is 5; 12,000 nodes are waiting" in jobs.sentence


@pytest.mark.parametrize(("limit", "full"), [(1, True), (2, False)])
def test_categories_that_are_full_while_nodes_wait(limit: int, full: bool) -> None:
    text = f"{DAG}{READY}CATEGORY long big\nCATEGORY ready big\nMAXJOBS big {limit}\n"
    full_one = (
        "Category big is full: 1 node of it in the queue, MAXJOBS big 1 in the DAG file; node"
        " ready is waiting because of that."
    )
    said = [one.sentence for one in noticed(a_run(text), "throttle.full")]
    assert said == [full_one] * full


def test_held_jobs() -> None:
    (found,) = noticed(a_run(), "job.held")
    assert found.sentence == (
        "2 jobs of nodes h1 and h2 are held for 3 min 20 s: its input files could not be"
        " transferred (HoldReasonCode 13)."
    )
    assert found.evidence[0].text == "job 10.0 of h1: no such file"
    assert found.command == "condor_release 10.0 11.0"


def test_a_dag_of_which_no_node_is_left() -> None:
    assert not known(a_run()).all_ended
    counts = (3, 1, 0, 0, 0, 0, 0, 1, 1)
    tally = Tally(a_run().run)
    tally.run.in_queue.clear()
    tally.run.counts = counts
    assert known(tally, exact=False).all_ended


def test_notices_as_json_do_not_grow_with_the_dag() -> None:
    many = Notice(
        "job.held", Weight.PROBLEM, "x", tuple(map(str, range(99))), since=5.0, command="c"
    )
    (told,) = seen(a_run()).with_notices((many,)).as_json()["notices"]
    assert (told["weight"], told["since"], told["command"]) == ("problem", 5.0, "c")
    assert told["nodes"] == ["0", "1", "2", "3", "4"]
