"""ENOUGH lines that are reached: from records in the nodes log."""

from __future__ import annotations

from condor_pydagman.features.enough.trace import EnoughSeen, ReachedEnough, unneeded_by
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.trace.countdown import Countdown
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.run_history import Run
from condor_pydagman.trace.tally import Tally
from condor_pydagman.vocabulary import JournalRecord, NodeStatus
from tests.features.taking import take
from tests.unit.trace.test_futile import countdown_of
from tests.unit.trace.test_tally import a_run, change


def test_an_enough_is_told_of_once() -> None:
    run = Run()
    text = "ENOUGH CATEGORY c 2: 2 of 5 nodes are done"
    read = RecordRead(JournalRecord.ENOUGH, "A", 0, 0, text=text)
    (event,) = take(run, read, 7.0)
    assert event.name == "dag.enough"
    assert event.data == {"enough": "ENOUGH CATEGORY c 2", "reason": "2 of 5 nodes are done"}
    assert not take(run, read, 8.0)


def test_why_jobs_were_removed_that_are_not_needed() -> None:
    words = "DAG Enough: the node is not needed"
    line = "ENOUGH ALL_NODES OF S 3"
    assert unneeded_by(f"{words}: {line}") == line
    assert unneeded_by(f"{words}: {line} (by user ann)") == line
    assert unneeded_by("via condor_rm (by user ann)") == unneeded_by(words) == ""


def test_the_node_of_an_enough_that_is_reached() -> None:
    _, dag = countdown_of("PARENT A B CHILD C\nENOUGH PARENTS C 1\n")
    run = Run()
    assert not Countdown(dag, run).is_free(2)
    EnoughSeen.put(run).reached["ENOUGH PARENTS C 1"] = ReachedEnough("1 of 2", 5.0)
    assert Countdown(dag, run).is_free(2)


def test_the_node_of_an_enough_that_is_reached_is_ready() -> None:
    text = "JOB A x\nJOB B x\nJOB C x\nPARENT A B CHILD C\nENOUGH PARENTS C 1\n"
    dag = build(["t.dag"], lambda _: iter([text]), BuildOptions())
    run = a_run(A=NodeStatus.DONE, B=NodeStatus.SUBMITTED, C=NodeStatus.NOT_READY)
    tally = Tally(run, dag)
    assert not tally.ready
    EnoughSeen.put(run).reached["ENOUGH PARENTS C 1"] = ReachedEnough(
        "1 of 2 nodes are done", 150.0
    )
    tally.take([DagEvent("dag.enough", 150.0, data={"enough": "ENOUGH PARENTS C 1"})])
    assert tally.ready == Tally(run, dag).ready == {"C"}
    tally.take([change(run, "C", "SUBMITTED")])
    assert not tally.ready
