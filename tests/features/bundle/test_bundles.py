"""Bundles in the engine: what scenes can't say (`bundle.scene`, `others.scene`)."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.state import Mode
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.bundle import one_bundle
from condor_pydagman.features.bundle.bundle_jobs import AGAIN_S
from condor_pydagman.features.bundle.messages import (
    Collect,
    Collected,
    LookAt,
    Prepare,
)
from condor_pydagman.features.bundle.run import LIVE_S, MAX_RETURNS
from condor_pydagman.follow.run_model import Run
from condor_pydagman.follow.tally import Taken, Tally
from condor_pydagman.names import logged_name
from condor_pydagman.records.own_events import parse_record, record_event
from condor_pydagman.timers import CONFIRM_LOST_S
from condor_pydagman.vocabulary import (
    MORE_HELD,
    MORE_RUNNING,
    EventKind,
)
from tests import make
from tests.features.bundle.bundled import (
    ALL,
    BAG,
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
from tests.sim.invariants import validate

# A bundle from its beginning to its end.


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


def test_of_kinds_that_no_node_waits_for_nothing_is_kept() -> None:
    harness = settled(kinds={"B": "other"})
    assert not harness.bundles.waiting.groups


# What nodes come to.


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


# Nodes that are given back.


def test_a_node_that_comes_back_again_and_again_runs_alone() -> None:
    harness = settled("A B\nBUNDLE b SIZE 100 ALL_NODES")
    for number in range(1, MAX_RETURNS + 2):
        assert bundled(harness) == [["A", "B"]]
        harness.taken(number, 6 + number)
        harness.ends(6 + number, 20)
        harness.home({})
    assert not bundled(harness)
    assert harness.submits() == ["A"]


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


def test_jobs_of_bundles_are_counted_as_jobs() -> None:
    harness = settled("A B C D E F\nBUNDLE b SIZE 3 ALL_NODES")
    assert jobs(harness) == (0, 0, 0, 0, 0)
    harness.taken(1, 7)
    harness.answered(2, 8)
    assert jobs(harness) == (1, 0, 1, 2, 0)
    harness.tell(bundle_submit(2, 8), held(8, "via condor_hold"))
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


# Restarts.


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


def test_what_is_not_home_has_not_ended_but_it_is_known_how_long_it_took() -> None:
    harness = live()
    harness.happens(Collected(1, "", [0.2, 0.4], not_home=2))
    assert states(harness, "ABC", State.SUBMITTED)
    assert "2 have ended" in harness.bundles.details(0)
    harness.wait(LIVE_S)
    harness.tell(Collected(1, ""))
    times = harness.bundles.jobs.learned._times["k"]
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
    assert before.bundles.waiting.kinds.alone


def test_first_bundles_are_large_if_who_waits_needs_all_that_comes_home() -> None:
    join = settled(f"{names_of(80)} -> E\nBUNDLE b ALL_NODES")
    assert [len(one) for one in bundled(join)] == [10] * 8


def test_nodes_that_go_alone_count_as_idle_jobs_at_once() -> None:
    """Until their times are known, no more of them are to be in the queue than may start soon."""
    harness = settled(f"{in_halves(100)}\nBUNDLE b ALL_NODES")
    assert 0 < len(harness.bundles.waiting.kinds.alone) < 50


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


# Throttles, and removals.


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


def test_who_follows_the_log_counts_places_and_jobs_not_nodes() -> None:
    text = "A B C D\nBUNDLE b SIZE 4 PARALLEL 2 ALL_NODES\nCATEGORY ALL_NODES x\nMAXJOBS x 3"
    harness = running(text)
    assert Tally(Run(), harness.replayed().engine).taken() == Taken(1, {"x": 2})


def test_a_removal_of_all_jobs_leaves_out_a_bundle_whose_end_has_been_read() -> None:
    harness = running()
    assert not harness.engine.has_ended(queued(1, 7))
    harness.ends(7)
    assert harness.engine.has_ended(queued(1, 7))
    harness.home(well("A"))
    assert harness.engine.has_ended(queued(1, 7))
    harness.tell(inputs.QueueListed([]))
    assert not harness.engine.has_ended(queued(1, 7))
