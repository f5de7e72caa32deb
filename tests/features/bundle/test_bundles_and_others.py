"""Bundles in the engine beside priorities, throttles, halts, people, and other features."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.node_settings import NodeSettings
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.bundle.messages import (
    Collect,
    Collected,
    LookAt,
    Prepare,
)
from condor_pydagman.features.bundle.run import LIVE_S
from condor_pydagman.features.steering.run import NodesSteered
from condor_pydagman.features.steering.settings_text import settings_text
from condor_pydagman.features.steering.steer_commands import NodeCommand
from condor_pydagman.follow.run_model import Run
from condor_pydagman.follow.tally import Taken, Tally
from condor_pydagman.vocabulary import (
    EventKind,
    JournalRecord,
)
from tests import make
from tests.features.bundle.bundled import (
    ALL,
    BAG,
    BY_A_PERSON,
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
    well,
)

# Which bundle is first.


def test_bundles_are_made_in_the_order_of_priorities() -> None:
    text = "A B C D E F\nPRIORITY C 5\nPRIORITY D 5\nPRIORITY E 9\nPRIORITY F 9"
    harness = begun(f"{text}\nBUNDLE b SIZE 2 ALL_NODES", Throttles(jobs=1))
    order = []
    for number in (1, 2, 3):
        harness.settle()
        order += bundled(harness)
        harness.taken(number, 6 + number)
        harness.ends(6 + number)
        harness.home(dict.fromkeys(order[-1], 0))
    assert order == [["E", "F"], ["C", "D"], ["A", "B"]]


def test_nodes_of_higher_priority_that_are_ready_later_are_first() -> None:
    text = "A B C D; A -> E; A -> F\nPRIORITY E 1\nPRIORITY F 1\nBUNDLE b SIZE 2 ALL_NODES"
    harness = running(text, Throttles(jobs=1))
    harness.ends(7)
    harness.home(well("AB"))
    assert bundled(harness) == [["E", "F"]]


def test_a_node_that_runs_alone_is_before_bundles_of_lower_priority() -> None:
    text = "A B C; A -> D\nPRIORITY D 1\nBUNDLE b SIZE 2 NODES A B C"
    harness = running(f"{text}\nJOB E n.sub\nBUNDLE c SIZE 2 NODES E", Throttles(jobs=1))
    harness.ends(7)
    harness.home(well("AB"))
    assert not bundled(harness)
    assert harness.submits() == ["D"]


def test_a_node_whose_priority_is_set_while_it_waits_is_in_the_next_bundle() -> None:
    harness = running("A B C D\nBUNDLE b SIZE 2 ALL_NODES", Throttles(jobs=1))
    wanted = settings_text(NodeSettings(priority=3))
    harness.happens(NodesSteered(1, NodeCommand.SET, [3], "ann", wanted))
    assert harness.asked(do.Steered)[0].done == 1
    harness.ends(7)
    harness.home(well("AB"))
    assert harness.submits() == ["D"]
    harness.run_node("D", 8)
    harness.settle()
    assert harness.submits() == ["C"]


# Throttles and halts.


def test_a_bundle_takes_one_place() -> None:
    harness = settled("A B C\nBUNDLE b SIZE 100 NODES A B", Throttles(jobs=2))
    assert len(bundled(harness)) == 1
    assert harness.submits() == ["C"]
    assert harness.engine.run.nodes_in_queue() == 2
    harness.taken(1, 7)
    assert harness.replayed().engine.run.nodes_in_queue() == 1


def test_no_bundle_is_made_beyond_max_jobs() -> None:
    harness = settled("A B C D E F\nBUNDLE b SIZE 2 ALL_NODES", Throttles(jobs=2))
    assert bundled(harness) == [["A", "B"], ["C", "D"]]
    harness.taken(1, 7)
    harness.taken(2, 8)
    harness.ends(7)
    harness.tell(Collected(1, "events"))
    harness.happens(*task(7, 1, "A", 0))
    assert not bundled(harness)
    harness.happens(*task(7, 2, "B", 0))
    assert bundled(harness) == [["E", "F"]]


def test_a_bundle_in_the_queue_is_an_idle_job() -> None:
    harness = settled("A B C D\nBUNDLE b SIZE 2 ALL_NODES", Throttles(idle=1))
    assert bundled(harness) == [["A", "B"]]
    harness.answered(1, 7)
    harness.happens(bundle_submit(1, 7))
    assert not bundled(harness)
    harness.happens(make.of_job(EventKind.EXECUTE, 7))
    assert bundled(harness) == [["C", "D"]]


def test_a_bundle_takes_as_many_places_of_a_category_as_run_side_by_side() -> None:
    text = "A B C D\nBUNDLE b SIZE 100 NODES A B C D\nCATEGORY ALL_NODES x\nMAXJOBS x 3"
    for parallel, room in ((1, 2), (2, 1), (3, 0)):
        harness = settled(text.replace("100 NODES", f"100 PARALLEL {parallel} NODES"))
        assert bundled(harness) == [["A", "B", "C", "D"]]
        assert harness.asked(Prepare)[0].parallel == parallel
        assert harness.engine.run.categories.free(0) == room
        harness.taken(1, 7)
        assert harness.replayed().engine.run.categories.free(0) == room
        harness.ends(7)
        harness.home(well("AB"))
        assert bundled(harness) == [["C", "D"]]
        assert harness.engine.run.categories.free(0) == 3 - min(2, parallel)


def test_no_more_run_side_by_side_than_the_category_allows() -> None:
    harness = settled(f"{BAG.replace('4', '2 PARALLEL 3')}\nCATEGORY ALL_NODES x\nMAXJOBS x 2")
    assert harness.asked(Prepare)[0].parallel == 2
    text = "BUNDLE b: only 2 nodes can run side by side, not 3, because of MAXJOBS x 2"
    assert [one.text for one in harness.ever(do.Say) if "side by side" in one.text] == [text]
    harness.taken(1, 7)
    assert harness.replayed().engine.run.categories.free(0) == 0
    harness.ends(7)
    harness.home(well("AB"))
    assert harness.asked(Prepare)[0].parallel == 2
    assert [one.text for one in harness.ever(do.Say) if "side by side" in one.text] == [text]


def test_a_bundle_waits_until_as_many_places_of_its_category_are_free() -> None:
    """Those of a bundle become free one by one, and the next would be as narrow as the first."""
    text = "A B C D; E F G\nBUNDLE b SIZE 4 PARALLEL 2 ALL_NODES\nCATEGORY ALL_NODES x"
    harness = running(f"{text}\nMAXJOBS x 2", is_live=True)
    harness.wait(LIVE_S)
    harness.home_live(well("ABC"))
    assert harness.engine.run.categories.free(0) == 1
    assert not harness.asked(Prepare)
    assert harness.bundles.details(4) == "waits for 2 places of category x, with 1 free"
    harness.ends(7)
    harness.home(well("D"))
    assert bundled(harness) == [["E", "F", "G"]]
    assert harness.asked(Prepare)[0].parallel == 2


def test_who_follows_the_log_counts_places_and_jobs_not_nodes() -> None:
    text = "A B C D\nBUNDLE b SIZE 4 PARALLEL 2 ALL_NODES\nCATEGORY ALL_NODES x\nMAXJOBS x 3"
    harness = running(text)
    assert Tally(Run(), harness.replayed().engine).taken() == Taken(1, {"x": 2})


def test_the_last_node_waits_for_one_place_only() -> None:
    text = "A B C\nBUNDLE b SIZE 2 PARALLEL 2 ALL_NODES\nCATEGORY ALL_NODES x\nMAXJOBS x 3"
    harness = settled(text)
    assert bundled(harness) == [["A", "B"]]
    assert submitted(harness) == ["C"]


def test_a_halt_makes_no_bundles_and_submits_none() -> None:
    harness = begun()
    harness.happens(inputs.Halt("somebody says so"))
    harness.happens(*harness.answers(harness.ever(LookAt)[0]))
    assert not bundled(harness)
    harness.happens(inputs.Resume())
    assert len(bundled(harness)) == 1
    other = begun()
    other.tell(*other.answers(other.asked(LookAt)[0]))
    other.read_back()
    (prepare,) = other.asked(Prepare)
    other.happens(inputs.Halt("somebody says so"), *other.answers(prepare))
    assert not other.ever(do.SubmitJob)
    assert states(other, ALL, State.READY)


def test_what_has_ended_is_known_before_the_rescue_file_of_a_removed_dag() -> None:
    harness = running(BAG + "\nFINAL F n.sub")
    harness.tell(inputs.DagRemoved())
    assert [one.cluster for one in harness.ever(do.RemoveJobs)] == [7]
    assert not harness.ever(Collect)
    harness.tell(removed(7))
    assert not harness.ever(do.WriteRescue)
    harness.home({"A": 0, "B": 3})
    assert len(harness.ever(do.WriteRescue)) == 1
    assert [one.cluster for one in harness.ever(do.RemoveJobs)] == [7, 0]
    assert states(harness, "A", State.DONE)
    assert states(harness, "B", State.FAILED)
    assert "F" in submitted(harness)
    harness.run_node("F", 9)
    assert len(harness.ever(do.Exit)) == 1


def test_what_has_ended_is_read_though_the_job_does_not_leave() -> None:
    harness = running(BAG, is_live=True)
    harness.tell(inputs.DagRemoved())
    harness.wait(9)
    assert not harness.ever(Collect)
    harness.wait(2)
    harness.home_live({"A": 0})
    assert len(harness.ever(do.WriteRescue)) == 1
    assert states(harness, "A", State.DONE)
    assert states(harness, "B", State.SUBMITTED)


def test_jobs_that_stay_are_not_waited_for() -> None:
    harness = running(BAG, is_live=True, config=make.quiet(remove_node_jobs=False))
    harness.tell(inputs.DagRemoved())
    assert not harness.ever(do.RemoveJobs)
    harness.home_live({"A": 0})
    assert len(harness.ever(do.WriteRescue)) == 1


def test_what_comes_home_only_with_the_job_is_not_waited_for_long() -> None:
    harness = running(BAG)
    harness.tell(inputs.DagRemoved())
    harness.wait(11)
    assert not [one for one in harness.ever(Collect) if one.why]
    harness.settle()
    assert len(harness.ever(do.WriteRescue)) == 1


@pytest.mark.parametrize("answers", [True, False])
def test_a_removed_dag_does_not_wait_for_long(answers: bool) -> None:
    """Its results can't be read, or the one who reads does not come back."""
    harness = running(BAG)
    harness.tell(inputs.DagRemoved())
    harness.tell(removed(7))
    if answers:
        harness.tell(Collected(1, "", (), "the disk is full"))
    harness.wait(19)
    assert not harness.ever(do.WriteRescue)
    harness.wait(2)
    assert len(harness.ever(do.WriteRescue)) == 1
    assert len(harness.ever(do.Exit)) == 1


def test_a_job_that_a_person_has_given_another_name_is_the_bundles() -> None:
    harness = running(BAG)
    for _ in range(3):
        harness.tell(inputs.QueueListed([inputs.QueuedJob(7, 0, "other", 0)]))
        harness.wait(30)
    assert not [one for one in harness.ever(Collect) if one.why]
    assert not harness.ever(do.RemoveJobs)


def test_a_bundle_that_is_being_made_when_the_run_ends_is_not_submitted() -> None:
    harness = begun(BAG + "\nFINAL F n.sub")
    harness.tell(*harness.answers(harness.asked(LookAt)[0]))
    harness.read_back()
    (prepare,) = harness.asked(Prepare)
    harness.happens(inputs.DagRemoved())
    harness.happens(*harness.answers(prepare))
    assert not harness.ever(do.SubmitJob)
    assert "F" in submitted(harness)


def test_a_removal_of_all_jobs_leaves_out_a_bundle_whose_end_has_been_read() -> None:
    harness = running()
    assert not harness.engine.has_ended(queued(1, 7))
    harness.ends(7)
    assert harness.engine.has_ended(queued(1, 7))
    harness.home(well("A"))
    assert harness.engine.has_ended(queued(1, 7))
    harness.tell(inputs.QueueListed([]))
    assert not harness.engine.has_ended(queued(1, 7))


# Other features.


def test_a_node_in_a_bundle_cannot_be_steered() -> None:
    harness = running()
    harness.tell(NodesSteered(1, NodeCommand.CANCEL, [0], "ann", ""))
    (answer,) = harness.asked(do.Steered)
    assert answer.refused[0][1] == "it is in bundle 1 with 3 other nodes: ask when that ends"


def test_a_node_that_waits_for_others_can_be_steered() -> None:
    harness = settled("A B\nBUNDLE b SIZE 100 WAIT 100 ALL_NODES")
    assert {one.details for one in harness.engine.node_reports()} == {
        "waits for others to be bundled with"
    }
    harness.happens(NodesSteered(1, NodeCommand.SKIP, [0], "ann", ""))
    assert harness.state("A") is State.DONE
    harness.wait(100)
    harness.settle()
    assert harness.submits() == ["B"]


def test_enough_nodes_are_done_while_others_are_in_a_bundle() -> None:
    harness = settled("A B C\nBUNDLE b SIZE 100 NODES A B\nENOUGH ALL_NODES 1")
    harness.run_node("C", 5)
    harness.settle()
    assert not harness.ever(do.Exit)
    harness.taken(1, 7)
    harness.ends(7)
    harness.home({"A": 0, "B": 1})
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_fewer_jobs_wanted_leave_bundles_alone() -> None:
    harness = running("A B\nBUNDLE b SIZE 100 ALL_NODES\nRETRY A 1", Throttles(jobs=3))
    harness.ends(7)
    harness.home({"A": 1})
    harness.settle()
    harness.tell(inputs.LimitsWanted(jobs=1))
    assert not records(harness, JournalRecord.SURPLUS)


def test_nodes_with_a_shared_limit_run_alone_and_hold_up_no_bundle() -> None:
    harness = settled("A B S\nSHARED_LIMIT tokens NODES S\nBUNDLE b SIZE 100 ALL_NODES")
    assert bundled(harness) == [["A", "B"]]
    assert harness.state("S") is State.READY  # there is no place for it


@pytest.mark.parametrize("kind", ["QUEUED", "TOTAL"])
def test_a_node_whose_wait_is_limited_runs_alone(kind: str) -> None:
    harness = settled(f"{BAG}\nTIMEOUT A {kind} 60\nTIMEOUT B RUNNING 60")
    assert harness.submits() == ["A"]
    harness.take("A", 8)
    harness.settle()
    assert bundled(harness) == [["B", "C", "D"]]
    assert harness.said(
        "Node A is not bundled: it has a TIMEOUT QUEUED or TOTAL (said once for each reason)"
    )
    harness.wait(60)
    assert [one.node for one in records(harness, "TIMED_OUT")] == [0]


def steered(harness: BundledDag, command: NodeCommand, *nodes: int, options: str = "") -> int:
    """A person asks for something; returns for how many nodes it is done."""
    harness.happens(NodesSteered(1, command, nodes, "ann", options))
    (answer,) = harness.asked(do.Steered)
    return answer.done


@pytest.mark.parametrize("runs", [False, True])
@pytest.mark.parametrize("command", [NodeCommand.CANCEL, NodeCommand.HOLD, NodeCommand.SET])
def test_a_node_in_a_bundle_cannot_be_told_apart(command: NodeCommand, runs: bool) -> None:
    harness = settled()
    if runs:
        harness.taken(1, 7)
    options = settings_text(NodeSettings(retries=1)) if command is NodeCommand.SET else ""
    harness.tell(NodesSteered(1, command, [0], "ann", options))
    (answer,) = harness.asked(do.Steered)
    assert answer.refused[0][1] == "it is in bundle 1 with 3 other nodes: ask when that ends"


def waits() -> BundledDag:
    """Nodes wait for others to be bundled with."""
    harness = settled("A B C D\nBUNDLE b SIZE 100 WAIT 100 ALL_NODES\nCATEGORY D x\nMAXJOBS x 1")
    assert not bundled(harness)
    return harness


def test_a_node_that_waits_for_others_can_be_cancelled() -> None:
    harness = waits()
    assert steered(harness, NodeCommand.CANCEL, 0) == 1
    assert harness.state("A") is State.FAILED
    harness.wait(100)
    harness.settle()
    assert ["B", "C"] in bundled(harness)


def test_a_node_that_waits_for_others_has_no_job_to_be_held() -> None:
    harness = waits()
    assert steered(harness, NodeCommand.HOLD, 0) == 0


def test_a_node_that_waits_for_others_gets_what_is_set() -> None:
    harness = waits()
    timeout = settings_text(NodeSettings(timeout=(60, None, None)))
    assert steered(harness, NodeCommand.SET, 0, options=timeout) == 1
    assert harness.submits() == ["A"]  # it may not wait any more
    assert steered(harness, NodeCommand.SET, 1, options=settings_text(NodeSettings(retries=4))) == 1
    other = settings_text(NodeSettings(category="x"))
    assert steered(harness, NodeCommand.SET, 2, options=other) == 1
    harness.take("A", 8)
    harness.settle()
    harness.wait(100)
    harness.settle()
    assert ["D", "C"] in bundled(harness)


def test_a_node_that_has_run_in_a_bundle_can_be_run_again() -> None:
    harness = settled("A B C\nBUNDLE b SIZE 100 NODES A B")
    harness.take("C", 5)
    harness.taken(1, 7)
    harness.ends(7)
    harness.home({"A": 0, "B": 1})
    assert harness.state("B") is State.FAILED
    assert steered(harness, NodeCommand.RERUN, 1) == 1
    assert harness.submits() == ["B"]


def test_a_brake_that_holds_jobs_lets_bundles_run_and_makes_none() -> None:
    harness = settled(
        "A B C D; E; F; F -> G; F -> H\nBUNDLE b SIZE 100 NODES A B C D G H\nBRAKE b 0 HOLD\n"
    )
    for cluster, name in enumerate("EF", 5):
        harness.take(name, cluster)
        harness.settle()
    harness.taken(1, 7)
    harness.happens(make.terminated(5, value=1))
    assert [one.cluster for one in harness.asked(do.HoldJobs)] == [6]
    harness.happens(make.terminated(6))
    assert not bundled(harness)
    harness.ends(7)
    harness.home(well())
    assert states(harness, ALL, State.DONE)


def test_a_node_that_is_done_or_skipped_by_its_pre_script_is_in_no_bundle() -> None:
    harness = settled(
        "A B C D\nBUNDLE b SIZE 100 WAIT 60 ALL_NODES\nSCRIPT PRE A p\nPRE_SKIP A 3\nDONE D"
    )
    harness.pre_ends("A", 3)
    harness.settle()
    harness.wait(60)
    harness.settle()
    assert bundled(harness) == [["B", "C"]]
    assert states(harness, "AD", State.DONE)


def test_a_task_is_never_on_hold() -> None:
    harness = running(f"{BAG}\nSCRIPT HOLD A h")
    harness.happens(held(7, BY_A_PERSON))
    assert not harness.ever(do.RunScript)
