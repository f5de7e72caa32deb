"""Bundles in the engine: made, submitted, brought home, given back, after restarts as well."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.state import Mode
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.bundle import one_bundle, waiting
from condor_pydagman.features.bundle.bundle_jobs import AGAIN_S
from condor_pydagman.features.bundle.messages import (
    Collect,
    Collected,
    Forget,
    LookAt,
    Prepare,
    Prepared,
)
from condor_pydagman.features.bundle.run import EMPTY_S, LIVE_S, MAX_RETURNS
from condor_pydagman.names import logged_name
from condor_pydagman.records.own_events import parse_record, record_event
from condor_pydagman.timers import CONFIRM_LOST_S, CONFIRM_TIMEOUT_S
from condor_pydagman.vocabulary import (
    MORE_HELD,
    MORE_RUNNING,
    RETURN_JOB_ABORTED,
    EventKind,
)
from tests import make
from tests.features.bundle.bundled import (
    ALL,
    BAG,
    BY_A_PERSON,
    FOR_MEMORY,
    BundledDag,
    begun,
    bundle_submit,
    bundled,
    held,
    queued,
    records,
    removed,
    running,
    settled,
    states,
    submitted,
    task,
    unbundled,
    well,
)
from tests.sim.invariants import validate

ONCE = "(said once for each reason)"

# A bundle from its beginning to its end.


def test_a_bag_runs_in_one_job() -> None:
    harness = begun()
    assert not harness.submits()
    (looked,) = harness.asked(LookAt)
    assert [one.node for one in looked.nodes] == [0, 1, 2, 3]
    harness.settle()
    (record,) = records(harness, "BUNDLED")
    assert (record.value, record.text, record.retry) == (1, "A B C D", 0)
    assert bundled(harness) == [["A", "B", "C", "D"]]
    assert harness.asked(do.SubmitJob) == [do.SubmitJob("bundle", 1, "job 1")]
    assert states(harness, ALL, State.SUBMITTING)
    harness.taken(1, 7)
    assert states(harness, ALL, State.SUBMITTED)
    harness.ends(7)
    assert harness.asked(Collect) == [
        Collect(1, 7, (0, 1, 2, 3), (0,) * 4, False, "its job has ended with status 0")
    ]
    harness.home(well())
    assert states(harness, ALL, State.DONE)
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_a_bundle_is_prepared_when_its_record_has_been_read() -> None:
    harness = begun()
    harness.tell(*harness.answers(harness.asked(LookAt)[0]))
    assert records(harness, "BUNDLED")
    assert not harness.asked(Prepare)
    harness.wait(CONFIRM_TIMEOUT_S + 1)  # it is not read back
    assert records(harness, "BUNDLED")
    harness.read_back()
    assert harness.asked(Prepare)


def test_nothing_is_done_before_the_events_of_its_nodes_have_been_read() -> None:
    harness = running("A B -> C\nBUNDLE b SIZE 100 NODES A B")
    harness.ends(7)
    harness.tell(Collected(1, "events", (1.0, 2.0)))
    assert states(harness, "AB", State.SUBMITTED)
    assert not harness.submits()
    harness.wait(CONFIRM_TIMEOUT_S + 1)
    assert harness.asked(do.AppendEvents) == [do.AppendEvents("events")]
    harness.tell(*harness.told(harness.ever(Collect)[0], well("AB")))
    assert harness.submits() == ["C"]


def test_results_that_cannot_be_brought_home_are_asked_for_again() -> None:
    harness = running()
    harness.ends(7)
    harness.tell(Collected(1, "", (), "the file system hangs"))
    assert harness.said("the file system hangs; trying again")
    assert not harness.asked(Collect)
    harness.wait(AGAIN_S)
    harness.home(well())
    assert states(harness, ALL, State.DONE)


def test_names_that_take_more_room_than_a_record_has_are_in_several() -> None:
    names = [f"N{number:03d}{'x' * 100}" for number in range(10)]
    harness = settled(f"{' '.join(names)}\nBUNDLE b SIZE 100 ALL_NODES")
    made = records(harness, "BUNDLED")
    assert [one.retry for one in made] == [1, 0]
    assert " ".join(one.text for one in made).split() == names
    assert bundled(harness) == [names]
    first = harness.log.index(next(one for one in harness.log if one.record))
    part = BundledDag(harness.dag, make.QUIET)
    part.begin(recovering=True)
    part.tell(*harness.log[: first + 1], inputs.LogCaughtUp())
    part.tell(inputs.QueueListed([]))
    part.settle()
    (anew,) = bundled(part)
    assert sorted(anew) == names


@pytest.mark.parametrize("letter", ["é", "本", '"', "\\", "x"])
@pytest.mark.parametrize("length", [30, 200, 600])
def test_no_name_is_cut_in_the_log(letter: str, length: int) -> None:
    names = [f"N{number:02d}{letter * length}" for number in range(12)]
    parts = one_bundle.parts_of(map(logged_name, names), one_bundle.MAX_NAMES)
    whole = []
    for part in parts:
        record = do.AppendJournalRecord("BUNDLED", -1, 99, 999_999_999, text=part)
        read = parse_record(record_event("W", "", record).partition(" W ")[2][: -len("\n...\n")])
        assert read is not None
        whole += read.text.split(" ")
    if all(map(one_bundle.fits, names)):
        assert whole == [logged_name(name) for name in names]
    else:
        assert length == 600


def test_a_node_whose_name_has_a_blank_runs_alone() -> None:
    harness = begun('A B C\nJOB "D E" n.sub\nBUNDLE b SIZE 100 ALL_NODES')
    (looked,) = harness.asked(LookAt)
    assert [harness.dag.names[one.node] for one in looked.nodes] == ["A", "B", "C"]


def test_one_node_runs_alone() -> None:
    harness = settled("A\nBUNDLE b SIZE 100 ALL_NODES")
    assert harness.submits() == ["A"]
    harness.run_node("A", 5)
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_nodes_that_cannot_be_bundled_run_alone_and_that_is_said_once() -> None:
    harness = settled(alone={"B": "it has foo", "C": "it has foo"})
    assert harness.submits() == ["B"]
    assert bundled(harness) == [["A", "D"]]
    said = [one for one in harness.ever(do.Say) if "it has foo" in one.text]
    assert [one.text for one in said] == [f"Node B is not bundled: it has foo {ONCE}"]


def test_nodes_of_different_kinds_lines_and_categories_do_not_go_together() -> None:
    text = """
        A B C D E F G H
        CATEGORY C x
        CATEGORY D x
        MAXJOBS x 1
        BUNDLE one SIZE 100 NODES A B C D E F
        BUNDLE two SIZE 100 NODES G H
    """
    harness = settled(text, kinds={"E": "other", "F": "other"})
    assert sorted(bundled(harness)) == [["A", "B"], ["C", "D"], ["E", "F"], ["G", "H"]]


def test_of_kinds_that_no_node_waits_for_nothing_is_kept() -> None:
    harness = settled(kinds={"B": "other"})
    assert not harness.bundles.waiting.by_key


@pytest.mark.parametrize("line", ["JOB A n.sub NOOP", "SUBDAG EXTERNAL A a.dag"])
def test_other_nodes_than_jobs_are_not_asked_about(line: str) -> None:
    harness = begun(f"B C A\n{line}\nBUNDLE b SIZE 100 ALL_NODES")
    (looked,) = harness.asked(LookAt)
    assert [harness.dag.names[one.node] for one in looked.nodes] == ["B", "C"]


def test_a_dry_run_bundles_nothing() -> None:
    dag = make.dag(BAG)
    engine = Engine(dag, make.QUIET, Throttles(), dag_id=7, mode=Mode.DRY_RUN, check=validate)
    actions = engine.handle(inputs.Begin(False), 1000.0)
    assert not make.of_kind(actions, LookAt)
    assert make.of_kind(actions, do.Exit) == [do.Exit(0)]


def test_wait_holds_back_a_bundle_that_is_not_full() -> None:
    text = "A -> B; C D\nBUNDLE b SIZE 3 WAIT 60 NODES B C D"
    harness = begun(text)
    harness.take("A", 5)
    harness.settle()
    assert not bundled(harness)
    assert harness.engine.next_deadline() == harness.now + 60
    harness.happens(make.terminated(5))
    assert bundled(harness) == [["C", "D", "B"]]
    other = begun(text)
    other.take("A", 5)
    other.settle()
    other.wait(60)
    other.settle()
    assert bundled(other) == [["C", "D"]]


# What nodes come to.


def test_one_that_fails_stops_no_other_and_is_retried() -> None:
    harness = running(BAG + "\nRETRY B 1")
    harness.ends(7)
    harness.home({"A": 0, "B": 3, "C": 0, "D": -9})
    assert states(harness, "AC", State.DONE)
    assert harness.asked(Forget) == [Forget(1)]
    assert harness.state("D") is State.FAILED
    assert harness.engine.run.nodes.errors[3] == "Job proc (7.0.4) failed with signal 9"
    assert harness.engine.run.nodes.retries == {1: 1}
    assert harness.submits() == ["B"]  # there is nobody to be bundled with
    harness.run_node("B", 8)
    assert harness.state("B") is State.DONE


def test_a_retry_is_bundled_with_others() -> None:
    harness = running("A B; A -> C\nBUNDLE b SIZE 100 ALL_NODES\nRETRY B 1")
    harness.ends(7)
    harness.home({"A": 0, "B": 1})
    assert bundled(harness) == [["C", "B"]]
    harness.taken(2, 8)
    harness.ends(8)
    harness.home(well("BC"))
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_doubles_of_the_old_bundle_are_no_events_of_the_new_one() -> None:
    harness = running("A B C\nBUNDLE b SIZE 100 NODES A B C\nRETRY ALL_NODES 1")
    harness.ends(7)
    harness.tell(Collected(1, "events"))
    *events, end = harness.told(harness.ever(Collect)[0], {"A": 1, "B": 1})
    harness.happens(*events)
    assert states(harness, "AB", State.READY)
    assert harness.state("C") is State.SUBMITTED
    harness.happens(end)
    assert bundled(harness) == [["A", "B", "C"]]
    harness.taken(2, 9)
    harness.tell(*events, end)  # doubles
    assert states(harness, "ABC", State.SUBMITTED)
    harness.replayed()


def test_a_double_of_a_tasks_end_does_not_end_the_next_attempt() -> None:
    harness = running("A B\nBUNDLE b SIZE 100 ALL_NODES\nRETRY A 2")
    harness.ends(7)
    harness.tell(Collected(1, "events"))
    harness.tell(*task(7, 1, "A", 1))
    harness.tell(make.submit("A", 8))
    harness.tell(task(7, 1, "A", 1)[-1])
    assert harness.state("A") is State.SUBMITTED
    assert harness.engine.run.nodes.retries == {0: 1}


def test_scripts_run_before_and_behind() -> None:
    harness = settled(
        "A B\nBUNDLE b SIZE 100 ALL_NODES\nSCRIPT PRE A p\nSCRIPT POST A q $JOBID $JOB_COUNT"
    )
    assert harness.submits() == ["B"]
    harness.run_node("B", 5)
    other = settled(
        "A B\nBUNDLE b SIZE 2 WAIT 60 ALL_NODES\nSCRIPT PRE A p\nSCRIPT POST A q $JOBID $JOB_COUNT"
    )
    other.pre_ends("A")
    other.settle()
    assert bundled(other) == [["B", "A"]]
    other.taken(1, 7)
    other.ends(7)
    other.home({"A": 4, "B": 0})
    (post,) = other.asked(do.RunScript)
    assert post.words == ("q", "7.0.2", "1")
    other.post_ends("A")
    assert other.asked(do.Exit) == [do.Exit(0)]


def test_abort_dag_on_the_value_of_a_task() -> None:
    harness = running("A B -> C\nBUNDLE b SIZE 100 NODES A B\nABORT-DAG-ON A 3 RETURN 5")
    harness.ends(7)
    harness.tell(Collected(1, "events"), *task(7, 1, "A", 3))
    assert not harness.asked(do.Exit)  # the results of the others are being read
    harness.tell(*task(7, 2, "B", 0), unbundled(1))
    assert harness.asked(do.Exit) == [do.Exit(5)]
    assert states(harness, "B", State.DONE)


def test_the_time_limit_of_a_node_is_its_tasks_and_no_clock_of_dagmans() -> None:
    harness = settled("A B\nBUNDLE b SIZE 100 ALL_NODES\nTIMEOUT A RUNNING 50")
    assert harness.asked(Prepare)[0].time_limits == (50, 0)
    harness.taken(1, 7)
    harness.ends(7)
    harness.tell(Collected(1, "events"))
    harness.tell(*task(7, 1, "A", 0)[:2])  # DAGMan dies within the write
    other = harness.killed()
    other.wait(1000)
    assert not records(other, "TIMED_OUT")


def test_a_task_that_has_timed_out_is_as_a_job_that_has() -> None:
    harness = begun("A B\nBUNDLE b SIZE 9 ALL_NODES\nTIMEOUT A RUNNING 50\nRETRY A 1 ONLY-IF -1002")
    harness.bundle()
    harness.ends(7)
    text = "ran for 50 s (TIMEOUT RUNNING 50)"
    timed_out = make.record("TIMED_OUT", "A", value=-1002, cluster=7, proc=0)
    harness.tell(
        Collected(1, "events"),
        *task(7, 1, "A", 0)[:2],
        timed_out._replace(text=text),
        make.of_job(EventKind.JOB_ABORTED, 7, text="it ran for too long")._replace(subproc=1),
        *task(7, 2, "B", 0),
        unbundled(1),
    )
    assert harness.said(f"Node A job proc (7.0.0) {text}")
    harness.settle()
    assert not harness.ever(do.RemoveJobs)
    assert harness.submits() == ["A"]
    assert harness.engine.run.nodes.retries == {0: 1}
    assert harness.engine.run.nodes.values[0] == RETURN_JOB_ABORTED


# Nodes that are given back.


def test_why_a_task_has_failed_is_the_error_of_its_node() -> None:
    harness = running(f"{BAG}\nRETRY A 1")
    harness.ends(7)
    (asked,) = harness.asked(Collect)
    harness.tell(Collected(asked.number, "events", [1.0] * 4))
    events = harness.told(asked, {"A": 1, "B": 1, "C": 0, "D": 0})
    for node, behind in ((0, 2), (1, 6)):  # between the begin and the end of its task
        why = LogEvent(EventKind.GENERIC, 7, 0, 0, node="AB"[node], text="its output x is missing")
        events.insert(behind, why._replace(record="TASK_FAILED"))
    harness.happens(*events)
    error = "Job proc (7.0.2) failed: its output x is missing"
    assert harness.engine.run.nodes.errors == {1: error}
    assert harness.said("Node B (7.0.2): its output x is missing")
    late = LogEvent(EventKind.GENERIC, 7, 0, 0, node="A", text="of the attempt before")
    harness.tell(late._replace(record="TASK_FAILED"))
    assert not harness.said("of the attempt before")


def test_nodes_without_a_result_run_again_and_use_no_retry() -> None:
    harness = running(BAG + "\nRETRY ALL_NODES 1")
    harness.ends(7, -9)
    harness.home(well("A"), suspects="B")
    assert harness.said("Bundle 1: no result of 3 nodes (its job has ended with signal 9)")
    assert not harness.engine.run.nodes.retries
    assert harness.submits() == ["B"]  # it was running, and may be why
    harness.take("B", 8)
    harness.settle()
    assert bundled(harness) == [["C", "D"]]


def test_a_node_that_comes_back_again_and_again_runs_alone() -> None:
    harness = settled("A B\nBUNDLE b SIZE 100 ALL_NODES")
    for number in range(1, MAX_RETURNS + 2):
        assert bundled(harness) == [["A", "B"]]
        harness.taken(number, 6 + number)
        harness.ends(6 + number, 20)
        harness.home({})
    assert not bundled(harness)
    assert harness.submits() == ["A"]


def test_a_held_bundle_is_removed_and_its_suspects_run_alone() -> None:
    harness = running()
    harness.tell(held(7, FOR_MEMORY, "it takes too much memory"))
    (action,) = harness.asked(do.RemoveJobs)
    assert action.cluster == 7
    assert harness.said("Bundle 1 is on hold: it takes too much memory; its nodes are taken back")
    harness.tell(removed(7))
    (collect,) = harness.asked(Collect)
    assert not collect.removed
    assert collect.why == "its job was removed since it was on hold: it takes too much memory"
    harness.home({}, suspects="A")
    assert harness.submits() == ["A"]
    harness.take("A", 8)
    harness.settle()
    assert bundled(harness) == [["B", "C", "D"]]


def test_a_removal_that_failed_is_tried_again() -> None:
    harness = running()
    harness.tell(held(7, FOR_MEMORY))
    harness.tell(inputs.RemoveFailed(7, -1, "it is too busy"))
    assert not harness.asked(do.RemoveJobs)
    harness.wait(AGAIN_S)
    assert [one.cluster for one in harness.asked(do.RemoveJobs)] == [7]
    harness.tell(inputs.RemoveFailed(7, -1, "it is too busy"), removed(7))
    harness.wait(AGAIN_S)
    assert not harness.asked(do.RemoveJobs)


@pytest.mark.parametrize("is_home", [False, True])
@pytest.mark.parametrize("kind", [EventKind.JOB_HELD, EventKind.EXECUTE])
def test_a_job_that_is_back_behind_its_end_is_removed(kind: EventKind, is_home: bool) -> None:
    harness = running()
    harness.ends(7)
    if is_home:
        harness.home(well("ABC"))
    harness.tell(make.of_job(kind, 7))
    assert [one.cluster for one in harness.asked(do.RemoveJobs)] == [7]
    other = harness.killed({1: 7} if not is_home else {})
    assert [one.cluster for one in other.ever(do.RemoveJobs)] == [7]
    harness.tell(inputs.RemoveFailed(7, -1, "its disk is full"))
    harness.wait(AGAIN_S)
    assert [one.cluster for one in harness.asked(do.RemoveJobs)] == [7]


def test_the_dag_waits_for_the_removal_of_a_job_that_is_back() -> None:
    harness = running()
    harness.ends(7)
    (asked,) = harness.asked(Collect)
    harness.tell(held(7, FOR_MEMORY))
    harness.tell(inputs.RemoveFailed(7, -1, "its disk is full"))
    harness.happens(*harness.told(asked, well()))
    assert states(harness, ALL, State.DONE)
    assert not harness.ever(do.Exit)
    harness.wait(AGAIN_S)
    assert [one.cluster for one in harness.asked(do.RemoveJobs)] == [7]
    harness.settle()
    assert harness.ever(do.Exit)


def test_a_bundle_that_a_person_holds_is_left_alone() -> None:
    harness = running()
    harness.tell(held(7, BY_A_PERSON))
    assert not harness.asked(do.RemoveJobs)
    harness.settle()
    harness.tell(make.of_job(EventKind.JOB_RELEASED, 7), make.of_job(EventKind.EXECUTE, 7))
    harness.ends(7)
    harness.home(well())
    assert states(harness, ALL, State.DONE)


def test_jobs_of_bundles_are_counted_as_jobs() -> None:
    harness = settled("A B C D E F\nBUNDLE b SIZE 3 ALL_NODES")
    assert jobs(harness) == (0, 0, 0, 0, 0)
    harness.taken(1, 7)
    harness.answered(2, 8)
    assert jobs(harness) == (1, 0, 1, 2, 0)
    harness.tell(bundle_submit(2, 8), held(8, BY_A_PERSON, "via condor_hold"))
    assert harness.said("Bundle 2 is on hold: via condor_hold")
    assert jobs(harness) == (0, 1, 1, 2, 2)
    assert harness.asked(do.Publish)
    harness.tell(make.of_job(EventKind.JOB_RELEASED, 8))
    assert harness.asked(do.Publish)
    assert jobs(harness) == (1, 0, 1, 2, 0)
    harness.ends(7)
    harness.home(well("ABC"))
    assert jobs(harness) == (1, 0, 0, 0, 0)


def jobs(harness: BundledDag) -> tuple[object, ...]:
    """Idle, on hold and running; and how many more nodes run and are on hold."""
    report = harness.engine.report()
    more = {one.attribute: one.value for one in report.shown}
    counts = report.procs_idle, report.procs_held, report.procs_running
    return *counts, more[MORE_RUNNING], more[MORE_HELD]


def test_a_bundle_that_a_person_removes_has_removed_its_nodes() -> None:
    harness = running()
    harness.tell(removed(7))
    (collect,) = harness.asked(Collect)
    assert collect.removed
    assert collect.why == "its job was removed: by bob"
    harness.tell(Collected(1, "events"))
    lives = [task(7, number, name, 0) for number, name in enumerate(ALL, 1)]
    ends = [make.of_job(EventKind.JOB_ABORTED, 7)._replace(subproc=one) for one in range(2, 5)]
    harness.tell(
        *lives[0], *(event for one, end in zip(lives[1:], ends) for event in (one[0], end))
    )
    harness.happens(unbundled(1))
    assert harness.state("A") is State.DONE
    assert states(harness, "BCD", State.FAILED)


def test_what_comes_behind_the_end_of_its_job_counts_no_more() -> None:
    harness = running()
    harness.ends(7)
    harness.tell(removed(7), held(7, FOR_MEMORY))
    harness.tell(Collected(1, "", (), "busy"))
    harness.wait(AGAIN_S)
    assert [one.removed for one in harness.asked(Collect)] == [False]


def test_a_helpers_event_is_none_of_its_job() -> None:
    harness = running()
    for kind in (EventKind.JOB_TERMINATED, EventKind.JOB_HELD, EventKind.JOB_ABORTED):
        harness.tell(make.of_job(kind, 7, -1000))
    assert not harness.asked(Collect)
    assert not harness.asked(do.RemoveJobs)


# What the schedd answers.


def test_a_refusal_for_now_gives_the_nodes_back() -> None:
    harness = settled("A B\nBUNDLE b SIZE 100 ALL_NODES")
    for number in range(1, waiting.MAX_REFUSALS):
        harness.answered(number, reason="too busy")
        assert not harness.asked(do.SubmitJob)
        harness.wait(harness.engine.next_deadline() - harness.now)
        harness.settle()
        assert [one.number for one in harness.asked(do.SubmitJob)] == [number + 1]
    harness.answered(waiting.MAX_REFUSALS, reason="too busy")
    harness.wait(harness.engine.next_deadline() - harness.now)
    harness.settle()
    assert not bundled(harness)
    assert submitted(harness) == ["A"]


def test_a_full_queue_is_no_refusal() -> None:
    """One is tried at a time, to see whether there is room."""
    harness = settled("A B C D\nBUNDLE b SIZE 2 ALL_NODES")
    harness.answered(1, reason="no room", full=True)
    harness.answered(2, reason="no room", full=True)
    for number in range(3, waiting.MAX_REFUSALS + 4):
        harness.wait(harness.engine.next_deadline() - harness.now)
        harness.settle()
        assert [one.number for one in harness.asked(do.SubmitJob)] == [number]
        harness.answered(number, reason="no room", full=True)
    harness.wait(harness.engine.next_deadline() - harness.now)
    harness.settle()
    harness.taken(number + 1, 5)
    harness.taken(number + 2, 6)
    assert sum("of the schedd" in say.text for say in harness.ever(do.Say)) == 2  # full, room again


def test_nodes_run_alone_whose_bundle_is_refused_for_good() -> None:
    harness = settled("A B\nBUNDLE b SIZE 9 ALL_NODES")
    harness.answered(1, reason="bad requirements", permanent=True)
    harness.wait(2)
    harness.settle()
    assert submitted(harness) == ["A"]
    assert len(harness.ever(Prepare)) == 1
    assert not harness.engine.run.submission.attempts  # that was no attempt of theirs


def test_nodes_run_alone_whose_bundles_cannot_be_prepared() -> None:
    harness = settled("A B\nBUNDLE b SIZE 9 ALL_NODES", fails="the disk is full")
    assert submitted(harness) == ["A"]
    assert len(harness.ever(Prepare)) == waiting.MAX_REFUSALS
    assert not harness.engine.run.submission.attempts


def test_all_nodes_of_a_kind_are_looked_at_again_when_descriptions_have_changed() -> None:
    harness = begun("A B C D E F\nBUNDLE b SIZE 2 WAIT 100 ALL_NODES", Throttles(jobs=2))
    harness.tell(*harness.answers(harness.asked(LookAt)[0]))
    harness.read_back()
    first = harness.asked(Prepare)[0]
    harness.kinds = {"B": "new", "E": "new"}
    harness.happens(Prepared(first.number, "", "they have changed"))
    assert bundled(harness) == [["A", "F"]]


def test_after_a_lost_reply_the_log_may_show_the_job() -> None:
    harness = settled()
    harness.answered(1, reason="lost", unknown=True)
    assert states(harness, ALL, State.SUBMITTING)
    harness.tell(bundle_submit(1, 7))
    assert states(harness, ALL, State.SUBMITTED)
    harness.wait(100)
    harness.tell(inputs.QueueListed([queued(1, 7)]))
    assert states(harness, ALL, State.SUBMITTED)


def test_after_a_lost_reply_the_queue_may_show_the_job() -> None:
    harness = settled()
    harness.answered(1, reason="lost", unknown=True)
    harness.wait(1)
    assert harness.asked(do.QueryQueue) == [do.QueryQueue(history=True)]
    harness.tell(inputs.QueueListed([queued(1, 7)]))
    assert states(harness, ALL, State.SUBMITTED)
    harness.tell(bundle_submit(1, 7))
    harness.ends(7)
    harness.home(well())


def test_after_a_lost_reply_the_history_may_show_the_job() -> None:
    harness = settled()
    harness.answered(1, reason="lost", unknown=True)
    harness.wait(1)
    harness.tell(inputs.QueueListed([], [inputs.EndedJob(7, 0, "bundle 1", 0, 0)]))
    assert harness.asked(Collect)[0].cluster == 7
    harness.home(well())


def test_after_a_lost_reply_nobody_may_have_the_job() -> None:
    harness = settled()
    harness.answered(1, reason="lost", unknown=True)
    harness.wait(1)
    harness.tell(inputs.QueueListed([]))  # it may be older than the submission
    assert states(harness, ALL, State.SUBMITTING)
    harness.wait(CONFIRM_LOST_S)
    assert harness.asked(do.QueryQueue)
    harness.happens(inputs.QueueListed([]))
    assert bundled(harness) == [["A", "B", "C", "D"]]


def test_a_job_that_comes_up_late_is_removed() -> None:
    harness = settled()
    harness.answered(1, reason="lost", unknown=True)
    harness.happens(unbundled(1))
    harness.tell(bundle_submit(1, 7))
    assert harness.asked(do.QueryQueue)
    harness.tell(inputs.QueueListed([queued(1, 7), queued(5, 8, leaving=True)]))
    assert [one.cluster for one in harness.asked(do.RemoveJobs)] == [7]


def test_a_lost_job_gives_back_what_has_no_result() -> None:
    harness = running()
    harness.tell(inputs.QueueListed([]))
    assert not harness.asked(Collect)  # its end may be on its way
    harness.wait(CONFIRM_LOST_S)
    assert harness.asked(do.QueryQueue) == [do.QueryQueue(history=True)]
    harness.settle()
    harness.tell(inputs.QueueListed([]))
    assert harness.asked(Collect)[0].why == (
        "its job has left the queue, as the nodes log does not show"
    )
    harness.home(well("AB"))
    assert states(harness, "AB", State.DONE)
    assert bundled(harness) == [["C", "D"]]


def test_a_job_that_was_removed_unseen_was_removed() -> None:
    harness = running()
    harness.tell(inputs.QueueListed([], [inputs.EndedJob(7, 0, "bundle 1", 0, RETURN_JOB_ABORTED)]))
    assert [one.removed for one in harness.asked(Collect)] == [True]


# Restarts.


def test_killed_before_the_record_all_is_made_anew() -> None:
    harness = begun()
    other = harness.killed()
    assert bundled(other) == [["A", "B", "C", "D"]]


@pytest.mark.parametrize("prepared", [False, True])
def test_killed_before_the_submission_the_bundle_is_given_up(prepared: bool) -> None:
    harness = settled()
    if not prepared:
        assert len(harness.ever(do.SubmitJob)) == 1
    other = harness.killed()
    assert other.ever(Prepare)[0].number == 2
    assert bundled(other) == [["A", "B", "C", "D"]]
    assert not other.engine.run.nodes.retries


def test_killed_when_the_schedd_has_taken_it_the_queue_shows_it() -> None:
    harness = settled()
    other = harness.killed({1: 7})
    assert states(other, ALL, State.SUBMITTED)
    assert not other.ever(Prepare)
    other.tell(bundle_submit(1, 7))
    other.ends(7)
    other.home(well())
    assert states(other, ALL, State.DONE)


def test_killed_while_its_job_runs_it_goes_on() -> None:
    harness = running()
    other = harness.killed({1: 7})
    assert states(other, ALL, State.SUBMITTED)
    other.ends(7)
    other.home(well("ABC"))
    assert other.submits() == ["D"]


@pytest.mark.parametrize("told", [0, 1, 2, 3, 5, 6, 9])
def test_killed_within_the_write_of_its_results_they_are_brought_home_again(told: int) -> None:
    harness = running(BAG + "\nRETRY ALL_NODES 1")
    harness.ends(7)
    harness.tell(Collected(1, "events"))
    events = harness.told(harness.ever(Collect)[0], {"A": 0, "B": 0, "C": 1})
    harness.tell(*events[:told])
    other = harness.killed()
    assert len(other.ever(Collect)) == 1
    other.last = [one for one in other.all if make.of_kind([one], Collect)]
    other.home({"A": 0, "B": 0, "C": 1})
    assert states(other, "AB", State.DONE)
    assert other.engine.run.nodes.retries == {2: 1}
    assert 1 not in other.bundles.bundles
    assert bundled(other) == ([["C", "D"]] if told < 9 else [])  # else C has gone on alone


def test_killed_behind_the_record_of_its_end_nothing_is_asked() -> None:
    harness = running()
    harness.ends(7)
    harness.home(well("ABC"))
    other = harness.killed()
    assert not other.ever(Collect)
    assert other.submits() == ["D"]


def test_killed_before_a_held_bundle_was_removed_it_is_removed() -> None:
    harness = running()
    harness.tell(held(7, FOR_MEMORY))
    other = harness.killed({1: 7})
    assert [one.cluster for one in other.ever(do.RemoveJobs)] == [7]
    other.tell(removed(7))
    assert [one.removed for one in other.asked(Collect)] == [False]


def test_a_log_that_has_lost_a_bundle_gives_its_number_to_no_other() -> None:
    harness = begun()
    other = harness.killed({3: 7})
    assert [one.cluster for one in other.ever(do.RemoveJobs)] == [7]
    assert [one.number for one in other.ever(Prepare)] == [4]


def test_a_log_that_has_lost_a_bundle_that_was_removed_gives_its_number_to_no_other() -> None:
    """The schedd's history has the number: nodes of another would count as removed with it."""
    harness = begun()
    removed_once = inputs.EndedJob(7, 0, "bundle 3", 0, RETURN_JOB_ABORTED)
    other = harness.killed(ended=[removed_once])
    assert [one.number for one in other.ever(Prepare)] == [4]


def test_who_follows_the_log_knows_who_is_where() -> None:
    harness = running()
    dag = make.dag(BAG)
    follower = Engine(dag, make.QUIET, Throttles(), dag_id=7, mode=Mode.FOLLOW, check=validate)
    follower.handle(inputs.Begin(True), 0.0)
    for event in harness.log:
        follower.follow(event)
    told = {one.name: one.details for one in follower.node_reports()}
    assert set(told.values()) == {"runs in bundle 1 (job 7.0) with 3 other nodes"}
    assert set(follower.run.nodes.states) == {State.SUBMITTED}
    assert not follower.run.out


# What is known of a bundle that runs.


def part(names: str = "", left: int = 1) -> LogEvent:
    """The record of a bundle whose job runs: which of its nodes it does not run any more."""
    return unbundled(1, names)._replace(retry=left)


def live(text: str = "A B C; E; A -> E\nBUNDLE b SIZE 3 NODES A B C") -> BundledDag:
    harness = running(text, is_live=True)
    harness.wait(LIVE_S)
    return harness


def test_many_bundles_are_looked_at_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("condor_pydagman.features.bundle.run.LIVE_BUNDLES", 0.5)
    harness = live()
    for times in (0, 1, 0, 1):
        assert len(harness.asked(Collect)) == times
        harness.tell(Collected(1, ""))
        harness.wait(LIVE_S)


def test_nodes_end_while_their_bundle_runs() -> None:
    harness = live()
    (asked,) = harness.asked(Collect)
    assert (asked.nodes, asked.why) == ((0, 1, 2), "")
    harness.tell(Collected(1, "events", [0.1]))
    harness.wait(10 * LIVE_S)
    assert not harness.asked(Collect)
    harness.happens(*harness.told(asked, {"A": 0})[:-1], part())
    assert states(harness, "A", State.DONE)
    assert "E" in submitted(harness)
    assert states(harness, "BC", State.SUBMITTED)
    assert harness.bundles.details(1) == "runs in bundle 1 (job 7.0) with 1 other node"
    harness.same_replay()
    harness.wait(LIVE_S)
    (asked,) = harness.asked(Collect)
    assert asked.nodes == (1, 2)
    harness.tell(Collected(1, ""))
    harness.ends(7)
    harness.home({"B": 0, "C": 1})
    assert states(harness, "AB", State.DONE)
    assert states(harness, "C", State.FAILED)


def test_nodes_that_a_bundle_gives_back_while_it_runs() -> None:
    harness = live()
    harness.tell(Collected(1, "events"))
    harness.happens(part("B", 2), part("C"))
    assert states(harness, "A", State.SUBMITTED)
    assert bundled(harness) == [["B", "C"]]
    assert harness.said("Bundle 1: a node takes long, and 1 other node need not wait for it")
    harness.taken(2, 8)
    harness.same_replay()
    harness.tell(removed(7))
    (asked,) = [one for one in harness.asked(Collect) if one.why]
    assert asked.nodes == (0,)
    harness.happens(unbundled(1))
    assert states(harness, "BC", State.SUBMITTED)


def test_what_is_not_home_has_not_ended_but_it_is_known_how_long_it_took() -> None:
    harness = live()
    harness.happens(Collected(1, "", [0.2, 0.4], not_home=2))
    assert states(harness, "ABC", State.SUBMITTED)
    assert "2 have ended" in harness.bundles.details(0)
    harness.wait(LIVE_S)
    harness.tell(Collected(1, ""))
    times = harness.bundles.waiting.learned._times["k"]
    assert (times.ended, harness.bundles.bundles[1].not_home) == (2, 2)
    harness.ends(7)
    harness.home(well("ABC"))
    assert states(harness, "ABC", State.DONE)


def names_of(count: int) -> str:
    return " ".join(f"N{number}" for number in range(count))


def in_halves(count: int) -> str:
    """So many nodes, and two others, each of which waits for a half of them."""
    names = names_of(count).split()
    halves = names[: count // 2], names[count // 2 :]
    return "; ".join(f"{' '.join(half)} -> E{number}" for number, half in enumerate(halves))


def test_first_bundles_are_large_if_nobody_waits_for_what_comes_home() -> None:
    last = settled(f"{names_of(80)}\nBUNDLE b ALL_NODES")
    assert [len(one) for one in bundled(last)] == [10] * 8
    before = settled(f"{in_halves(80)}\nBUNDLE b ALL_NODES")
    assert not bundled(before)
    assert before.bundles.waiting.alone


def test_first_bundles_are_large_if_who_waits_needs_all_that_comes_home() -> None:
    join = settled(f"{names_of(80)} -> E\nBUNDLE b ALL_NODES")
    assert [len(one) for one in bundled(join)] == [10] * 8


def test_a_dag_ends_when_the_jobs_of_its_bundles_have() -> None:
    """All has ended for the DAG, but its last job has not left the queue."""
    harness = live("A B C\nBUNDLE b SIZE 3 NODES A B C")
    harness.home_live(well("ABC"))
    assert states(harness, "ABC", State.DONE)
    assert not harness.asked(do.Exit)
    harness.ends(7)
    harness.home({})
    assert harness.asked(do.Exit) == [do.Exit(0)]
    assert not harness.ever(do.RemoveJobs)


@pytest.mark.parametrize("how", [EventKind.JOB_EVICTED, EventKind.JOB_HELD, None])
def test_a_job_that_has_nothing_more_to_do_does_not_stay(how: EventKind | None) -> None:
    harness = live("A B C\nBUNDLE b SIZE 3 NODES A B C")
    harness.home_live(well("ABC"))
    if how is not None:
        harness.tell(make.of_job(how, 7)._replace(value=BY_A_PERSON))
    harness.wait(EMPTY_S - 1)
    assert not harness.ever(do.RemoveJobs)
    harness.wait(1)
    assert [one.cluster for one in harness.asked(do.RemoveJobs)] == [7]
    assert harness.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize("is_asked", [False, True])
def test_what_has_ended_is_known_while_the_job_waits_to_run_again(is_asked: bool) -> None:
    harness = live()
    if not is_asked:
        harness.tell(Collected(1, ""))
    harness.tell(make.of_job(EventKind.JOB_EVICTED, 7))
    if is_asked:
        assert not harness.asked(Collect)
        harness.tell(Collected(1, ""))
    harness.home_live({"A": 0})
    assert states(harness, "A", State.DONE)
    harness.wait(10 * LIVE_S)
    assert not harness.asked(Collect)


def test_what_cannot_be_read_while_its_job_runs_is_not_read_again_at_once() -> None:
    harness = live()
    harness.tell(Collected(1, "", (), "the file system hangs"))
    harness.wait(10 * LIVE_S)
    assert not harness.asked(Collect)
    harness.wait(AGAIN_S)
    assert len(harness.asked(Collect)) == 1


def test_a_place_in_a_category_is_that_of_the_nodes_that_are_left() -> None:
    harness = live("A B C; A -> D\nBUNDLE b SIZE 3 NODES A B C\nCATEGORY ALL_NODES x\nMAXJOBS x 1")
    (asked,) = harness.asked(Collect)
    harness.tell(Collected(1, "events", [0.1]))
    harness.happens(*harness.told(asked, {"A": 0})[:-1], part())
    assert "D" not in submitted(harness)
    assert harness.engine.run.categories.free(3) == 0
    harness.same_replay()
    harness.ends(7)
    harness.home(well("BC"))
    assert "D" in submitted(harness)


def test_nodes_that_go_alone_count_as_idle_jobs_at_once() -> None:
    """Until their times are known, no more of them are to be in the queue than may start soon."""
    harness = settled(f"{in_halves(100)}\nBUNDLE b ALL_NODES")
    assert 0 < len(harness.bundles.waiting.alone) < 50


def test_a_node_that_has_run_since_is_not_run_again() -> None:
    """The nodes log has lost its end, with the end of the bundle; the schedd's history has it."""
    harness = running()
    harness.engine.run.query.history[0] = [inputs.EndedJob(9, 0, "A", 0, 0, False)]
    harness.tell(removed(7))
    harness.home({"B": 0, "C": 0, "D": 0}, suspects="A")
    assert harness.said("Node A: found its job in the schedd's history, cluster 9")
    assert "A" not in submitted(harness)


def test_a_task_whose_end_the_log_has_lost_is_not_lost_while_its_results_are_read() -> None:
    harness = running()
    harness.ends(7)
    (asked,) = harness.asked(Collect)
    harness.tell(*task(7, 1, "A", 0)[:2])
    for _ in range(3):
        harness.tell(inputs.QueueListed([]))
        harness.wait(CONFIRM_LOST_S)
    assert not [one for one in harness.ever(do.AppendJournalRecord) if one.node == 0]
    harness.happens(Collected(asked.number, "events"), *harness.told(asked, well()))
    assert states(harness, ALL, State.DONE)
