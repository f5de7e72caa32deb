"""BRAKE: what it counts, when it acts, what it does, how it is taken back, and a restart."""

from __future__ import annotations

from typing import Union

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_mock import MockerFixture

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import Change
from condor_pydagman.engine.node_settings import NodeSettings
from condor_pydagman.engine.node_states import State
from condor_pydagman.features.brake.commands import Brake, BrakesOfDag
from condor_pydagman.features.brake.run import (
    HOLD_AGAIN_S,
    HOLD_WORDS,
    BrakeCount,
    Brakes,
    Exceeded,
    Key,
    why,
)
from condor_pydagman.features.sites.messages import SiteClaim, SitesMatched
from condor_pydagman.features.steering.run import NodesSteered
from condor_pydagman.features.steering.settings_text import settings_text
from condor_pydagman.features.steering.steer_commands import NodeCommand
from condor_pydagman.graph.grow import Growth
from condor_pydagman.timers import CONFIRM_TIMEOUT_S
from condor_pydagman.vocabulary import (
    RETURN_SUBMIT_FAILED,
    DagStatus,
    EventKind,
)
from tests import make
from tests.make import QUIET

NAMES = "A B C D E"
TWO = "BRAKE sick 1 HALT"
EXIT = "BRAKE sick 1 ALIKE EXIT_CODE HALT"
HELD = "BRAKE sick 1 ALIKE HOLD_REASON HALT"


def fresh(brakes: str, text: str = NAMES) -> make.EngineHarness:
    """A DAG with these BRAKE commands."""
    return make.EngineHarness(f"{text}\n{brakes}", QUIET)


def running(brakes: str, text: str = NAMES) -> make.EngineHarness:
    """Nodes of which each but NOOP ones has a job: A has cluster 1, and so on."""
    harness = fresh(brakes, text).begin()
    dag = harness.dag
    for number, name in enumerate(dag.names, 1):
        waits = harness.state(name) in (State.SUBMITTING, State.READY)
        if waits and not dag.is_noop(number - 1):
            harness.take(name, number)
    return harness


def brakes_of(harness: make.EngineHarness) -> Brakes:
    found = harness.engine.run.features["brake"]
    assert isinstance(found, Brakes)
    return found


def fail(harness: make.EngineHarness, *clusters: int, value: int = 1) -> None:
    for cluster in clusters:
        harness.tell(make.terminated(cluster, value=value))


def records(harness: make.EngineHarness) -> list[do.AppendJournalRecord]:
    kinds = ("BRAKED", "BRAKES_OFF")
    return [one for one in harness.ever(do.AppendJournalRecord) if one.record in kinds]


def held(cluster: int, code: int = 34, reason: str = "memory") -> LogEvent:
    return make.of_job(EventKind.JOB_HELD, cluster, text=reason)._replace(value=code)


def reason(harness: make.EngineHarness) -> str:
    return "; ".join(one.value for one in harness.engine.report().shown)


def braked(brakes: str) -> make.EngineHarness:
    """A and B have failed, and the brake acts."""
    harness = running(brakes)
    fail(harness, 1, 2)
    harness.read_back()
    return harness


def test_it_acts_when_its_record_has_been_read() -> None:
    harness = running(TWO, text="A B C D -> E; F")
    fail(harness, 1, 2)
    ((record),) = records(harness)
    assert record.text == "0 HALT sick: 2 nodes failed, more than 1: A, B"
    assert harness.dag.names[record.node] == "B"
    assert not harness.engine.report().halts.halted
    harness.read_back()
    assert harness.engine.report().dag_status is DagStatus.HALTED
    assert reason(harness) == "sick: 2 nodes failed, more than 1: A, B"
    assert harness.said("Halt reason: brake sick: 2 nodes failed")
    fail(harness, 3, 4)
    assert len(records(harness)) == 1


def test_nothing_starts_while_its_record_is_on_its_way() -> None:
    harness = running("BRAKE b 0 HALT", text="A -> B; C\nRETRY C 3")
    fail(harness, 3)
    harness.tell(make.terminated(1))
    assert not harness.submits()
    harness.read_back()
    assert not harness.submits()
    assert harness.state("B") is State.READY


def test_a_record_that_is_lost_is_written_again() -> None:
    harness = running(TWO)
    fail(harness, 1, 2)
    assert harness.engine.next_deadline() == harness.now + CONFIRM_TIMEOUT_S
    harness.wait(CONFIRM_TIMEOUT_S)
    first, second = records(harness)
    assert first == second
    harness.tell(*harness.echo([first, second]))
    assert reason(harness)
    assert len(records(harness)) == 2


@pytest.mark.parametrize(
    ("brake", "values", "acts"),
    [
        (EXIT, (1, 2), False),
        (EXIT, (1, 1), True),
        (EXIT, (-9, -9), True),
        (TWO, (1, -9), True),
        ("BRAKE b 40% HALT", (1, 1), False),
        ("BRAKE b 39% HALT", (1, 1), True),
        ("BRAKE b 1 OF 3 HALT", (1, 0, 1), True),
        ("BRAKE b 1 OF 2 HALT", (1, 0, 1), False),
        ("BRAKE b 60% OF 3 HALT", (1, 1), False),
        ("BRAKE b 60% OF 3 HALT", (1, 1, 0), True),
    ],
)
def test_what_is_counted(brake: Brake, values: tuple[int, ...], acts: bool) -> None:
    harness = running(brake)
    for cluster, value in enumerate(values, 1):
        fail(harness, cluster, value=value)
    harness.read_back()
    assert bool(reason(harness)) is acts
    assert reason(harness.same_replay()) == reason(harness)


def test_retries_count_and_each_node_once() -> None:
    harness = running(TWO, text="A B\nRETRY ALL_NODES 9")
    fail(harness, 1)
    for cluster in (11, 12, 13):
        harness.run_node("A", cluster, 1)
    assert not records(harness)
    fail(harness, 2)
    assert len(records(harness)) == 1
    assert harness.state("B") is State.READY


def test_a_category() -> None:
    brake = "BRAKE b 1 CATEGORY big HALT"
    harness = running(brake, text=f"{NAMES}\nCATEGORY A big\nCATEGORY B big\nCATEGORY C big")
    fail(harness, 4, 5, 1)
    assert not records(harness)
    fail(harness, 2)
    assert "A, B" in records(harness)[0].text


def test_a_category_that_a_person_has_set() -> None:
    brake = "BRAKE b 0 CATEGORY big HALT"
    harness = running(brake, text="A -> B; C\nCATEGORY C big\nMAXJOBS big 9")
    wanted = settings_text(NodeSettings(category="big"))
    harness.happens(NodesSteered(1, NodeCommand.SET, [1], "ann", wanted))
    fail(harness, 1, value=0)
    harness.run_node("B", 9, 1)
    assert len(records(harness)) == 1


def test_a_site() -> None:
    brake = "BRAKE b 1 ALIKE SITE HALT"
    groups = "SITE_GROUP g NODES A B\nSITE_GROUP h NODES C"
    harness = fresh(brake, text=f"A B C D\n{groups}").begin()
    claims = [SiteClaim(0, "north", ""), SiteClaim(1, "south", "")]
    harness.happens(SitesMatched(claims, ["north", "south"]))
    for cluster, name in enumerate("ABCD", 1):
        harness.take(name, cluster)
    fail(harness, 3, 4, 1)
    assert not records(harness)
    fail(harness, 2)
    assert "failed at site north" in records(harness)[0].text


def test_submissions_that_fail_count() -> None:
    harness = fresh(EXIT, text="A B").begin()
    for node in (0, 1):
        harness.happens(inputs.SubmitFailed(node, "no such user", permanent=True))
    assert "2 nodes could not be submitted" in reason(harness)
    assert harness.engine.run.nodes.values[0] == RETURN_SUBMIT_FAILED


def test_what_a_person_has_cancelled_does_not_count() -> None:
    harness = running("BRAKE b 0 HALT")
    harness.happens(NodesSteered(1, NodeCommand.CANCEL, [0], "ann"))
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 1))
    assert harness.state("A") is State.FAILED
    assert not records(harness)


def test_nodes_that_are_not_ordinary_do_not_count() -> None:
    harness = running("BRAKE b 0 HALT", text="A\nSERVICE S n.sub")
    fail(harness, 2)
    assert not records(harness)


def test_jobs_that_are_held_alike() -> None:
    harness = running(HELD)
    harness.tell(held(1), held(2, 12), held(1), held(3, 1), held(4, 1))
    assert not records(harness)
    harness.tell(make.of_job(EventKind.JOB_RELEASED, 3), held(3))
    assert "HoldReasonCode 34" in records(harness)[0].text
    harness.read_back()
    assert reason(harness.same_replay()) == reason(harness) != ""


# Resume.


def test_a_resume_takes_it_back_and_counting_begins_anew() -> None:
    harness = braked(TWO)
    harness.tell(inputs.Resume("mended"))
    assert harness.engine.report().halts.halted
    (off,) = [one for one in records(harness) if one.record == "BRAKES_OFF"]
    assert (off.value, off.text) == (0, "mended")
    harness.read_back()
    assert harness.said("Resuming DAG progress...")
    assert not harness.engine.report().halts.halted
    fail(harness, 3)
    assert len(records(harness)) == 2
    fail(harness, 4)
    assert records(harness)[-1].text.startswith("1 HALT sick: 2 nodes failed, more than 1: C, D")
    harness.read_back()
    assert reason(harness)


def test_a_halt_file_that_vanishes_does_not_take_it_back() -> None:
    harness = braked(TWO)
    harness.tell(inputs.Halt(file=True))
    assert harness.said("DAGMan is already halted")
    harness.tell(inputs.Resume(file=True))
    assert harness.said("The DAG stays halted by a brake")
    assert len(records(harness)) == 1


def test_a_resume_takes_commands_back_as_well_but_not_the_halt_file() -> None:
    harness = braked(TWO)
    harness.happens(inputs.Halt(), inputs.Halt(file=True), inputs.Resume())
    assert harness.said("The DAG stays halted by the halt file")
    halts = harness.engine.report().halts
    assert (halts.by_file, halts.by_command, halts.by_rule) == (True, False, False)


def test_a_resume_without_a_brake_that_acts_is_not_written() -> None:
    harness = running(TWO)
    fail(harness, 1)
    harness.tell(inputs.Halt(), inputs.Resume())
    assert not records(harness)
    fail(harness, 2)
    assert len(records(harness)) == 1


def test_a_resume_before_the_record_has_been_read_comes_after_it() -> None:
    harness = running(TWO)
    fail(harness, 1, 2)
    harness.tell(inputs.Resume())
    first, second = records(harness)
    harness.tell(*harness.echo([first]))
    assert reason(harness)
    harness.tell(*harness.echo([second, first]))  # a double of before the resume changes nothing
    assert not harness.engine.report().halts.halted
    assert not harness.engine.run.written.holding


def test_a_brake_whose_record_is_lost_is_taken_back_all_the_same() -> None:
    harness = running(TWO)
    fail(harness, 1, 2)
    harness.tell(inputs.Resume())
    lost, off = records(harness)
    harness.tell(*harness.echo([off]))
    assert not harness.engine.run.written.holding
    harness.tell(*harness.echo([lost]))
    assert not harness.engine.report().halts.halted


def test_a_double_of_before_a_resume_is_not_taken_for_the_next_record() -> None:
    harness = running(TWO)
    fail(harness, 1, 2)
    harness.tell(inputs.Resume())
    first, off = records(harness)
    harness.tell(*harness.echo([first, off]))
    fail(harness, 3, 4)
    written = len(records(harness))
    assert written == 3
    harness.tell(*harness.echo([first]))
    assert len(records(harness)) == written, "the one on its way was written again"


# Restarts.


def test_a_restart_between_any_two_events_comes_to_the_same() -> None:
    harness = braked(TWO)
    harness.happens(inputs.Resume())
    fail(harness, 3, 4)
    harness.read_back()
    log = list(harness.log)
    for end in range(len(log) + 1):
        other = make.EngineHarness(harness.dag, QUIET)
        other.begin(recovering=True)
        other.tell(*log[:end])
        other.tell(inputs.LogCaughtUp())
        other.happens(inputs.QueueListed(other.queue()))
        kinds = [one.record for one in log[:end] if one.record is not None]
        failed = sum(one.kind == EventKind.JOB_TERMINATED for one in log[:end])
        off = "BRAKES_OFF" in kinds
        assert bool(reason(other)) is (failed >= (4 if off else 2))
        assert len(records(other)) == int(bool(reason(other)) and kinds.count("BRAKED") < 1 + off)


def test_a_restart_says_that_it_is_halted() -> None:
    other = braked(TWO).restart()
    assert other.said("Restoring halted state.")
    assert other.said("Halt reason: brake sick: 2 nodes failed")
    assert not other.said("Halting DAGMan")


def test_a_record_of_a_brake_that_is_gone_is_ignored() -> None:
    harness = running(TWO)
    record = make.record("BRAKED", "A", value=7)
    harness.tell(record)
    assert harness.said("ignoring the record of a brake")
    assert not harness.engine.report().halts.halted


# What it does.


def test_abort_ends_the_dag_as_abort_dag_on_does() -> None:
    harness = running("BRAKE sick 1 ABORT", text="A B C D E\nFINAL F n.sub")
    fail(harness, 1, 2)
    harness.read_back()
    assert harness.ever(do.WriteRescue)
    assert harness.ever(do.RemoveJobs)
    assert harness.said("Aborting DAG because of brake sick: 2 nodes failed, more than 1: A, B")
    assert harness.submits() == ["F"]
    harness.run_node("F", 99, 1)
    harness.tell(*(make.of_job(EventKind.JOB_ABORTED, cluster) for cluster in (3, 4, 5)))
    (end,) = harness.ever(do.Exit)
    assert end.code == 1


def test_abort_without_a_final_node() -> None:
    harness = braked("BRAKE sick 1 ABORT")
    (end,) = harness.asked(do.Exit)
    assert end.code == 1
    restarted = harness.restart()
    (again,) = restarted.asked(do.Exit)
    assert again.code == 1


def test_hold_puts_jobs_in_the_queue_on_hold() -> None:
    harness = braked("BRAKE sick 1 HOLD")
    asked = harness.asked(do.HoldJobs)
    assert [(one.cluster, one.release) for one in asked] == [(3, False), (4, False), (5, False)]
    reason = asked[0].reason
    assert reason.startswith(HOLD_WORDS)
    harness.tell(held(3, 1, reason), held(4, 1, reason))
    harness.wait(HOLD_AGAIN_S)
    assert [one.cluster for one in harness.asked(do.HoldJobs)] == [5]
    harness.tell(held(5, 1, reason))
    assert not brakes_of(harness).to_hold
    other = harness.restart()
    assert not other.ever(do.HoldJobs)
    harness.happens(inputs.Resume())
    asked = harness.asked(do.HoldJobs)
    assert [(one.cluster, one.release) for one in asked] == [(3, True), (4, True), (5, True)]
    harness.tell(*(make.of_job(EventKind.JOB_RELEASED, cluster) for cluster in (3, 4, 5)))
    assert not brakes_of(harness).to_release


def test_what_others_have_held_stays_so() -> None:
    harness = running("BRAKE sick 1 HOLD")
    harness.tell(held(3))
    fail(harness, 1, 2)
    harness.read_back()
    assert [one.cluster for one in harness.asked(do.HoldJobs)] == [4, 5]
    harness.happens(held(4, 1, "a person's"), make.terminated(5), inputs.Resume())
    assert not harness.asked(do.HoldJobs)


def test_a_job_that_comes_into_the_queue_later_is_held_as_well() -> None:
    harness = fresh("BRAKE sick 1 HOLD", text="A B C").begin()
    harness.run_node("A", 1, 1)
    harness.run_node("B", 2, 1)
    harness.read_back()
    assert not harness.ever(do.HoldJobs)
    harness.take("C", 3)
    assert [one.cluster for one in harness.asked(do.HoldJobs)] == [3]


def test_a_hold_that_comes_too_late_is_released() -> None:
    harness = braked("BRAKE sick 1 HOLD")
    reason = harness.asked(do.HoldJobs)[0].reason
    harness.happens(inputs.Resume())
    harness.tell(held(3, 1, reason))
    assert [(one.cluster, one.release) for one in harness.asked(do.HoldJobs)] == [(3, True)]


def test_a_restart_goes_on_to_hold_jobs() -> None:
    harness = braked("BRAKE sick 1 HOLD")
    harness.tell(held(3, 1, harness.asked(do.HoldJobs)[0].reason))
    harness.tell(make.of_job(EventKind.JOB_RELEASED, 3))
    other = harness.restart()
    assert [one.cluster for one in other.asked(do.HoldJobs)] == [4, 5]


def test_another_brake_may_act_after_the_first() -> None:
    more = "BRAKE worse 2 ABORT"
    harness = braked(f"{TWO}\n{more}")
    assert reason(harness)
    fail(harness, 3)
    harness.read_back()
    assert harness.asked(do.Exit)


def test_a_dag_that_is_halted_ends_when_nothing_is_left() -> None:
    harness = running(TWO, text="A B -> C; D -> E")
    fail(harness, 1, 2)
    harness.read_back()
    harness.tell(make.terminated(4))
    assert harness.state("E") is State.READY
    harness.wait(3)
    assert harness.asked(do.Exit)


# What is known of brakes: which runs and holds each counts, and which jobs it has put on hold.


def brakes(*of: Brake) -> Brakes:
    """Those of a DAG that has begun."""
    dag = make.dag("A B C S\nSERVICE S n.sub\nCATEGORY A big")
    BrakesOfDag.put(dag).brakes.extend(of)
    return brakes_of(make.EngineHarness(dag, QUIET).begin())


def hold_event(cluster: int, proc: int, reason: str, code: int = 34) -> LogEvent:
    event = make.of_job(EventKind.JOB_HELD, cluster, proc, reason)
    return event._replace(value=code)


def test_a_dag_without_brakes_has_no_such_feature() -> None:
    assert not make.EngineHarness("A B").engine.run.features


def test_a_share_of_the_nodes_of_a_dag_that_grows() -> None:
    known = brakes(Brake(0, "half", 50, percent=True))
    known.run_ended(0, 1, True)
    known.run.dag.kinds += bytes(2)
    known.grown(Growth(range(0), (), (), (), [], [], [], []), ())
    known.run_ended(1, 1, True)
    assert not known.due
    known.run_ended(2, 1, True)
    assert known.due[0][0] == 2


def test_which_runs_are_counted(mocker: MockerFixture) -> None:
    known = brakes(
        Brake(0, "all", 0),
        Brake(0, "big", 0, category="big"),
        Brake(0, "held", 0, alike="HOLD_REASON"),
        Brake(0, "site", 0, alike="SITE"),
    )
    known.run_ended(3, 1, True)  # a SERVICE
    known.run.job_table.open(0, 7).set_surplus()
    known.run_ended(0, 1, True)
    known.run.job_table.forget(0)
    known.run_ended(0, 1, False)
    assert not known.due
    known.run_ended(1, 1, True)
    assert known.due == {0: (1, "1 node failed, more than 0: B")}
    mocker.patch.object(type(known.run), "runs_at", return_value=("north", ""))
    known.run_ended(0, 1, True)
    assert set(known.due) == {0, 1, 3}
    assert known.due[0][0] == 1
    known.job_event(0, hold_event(7, 0, "memory"), Change.HELD)
    assert set(known.due) == {0, 1, 2, 3}


def test_holds_that_say_nothing_about_the_job() -> None:
    known = brakes(Brake(0, "held", 0, alike="HOLD_REASON"))
    for code in (1, 15, 16):
        known.job_event(0, hold_event(7, 0, "", code), Change.HELD)
    known.job_event(0, hold_event(7, 0, HOLD_WORDS), Change.HELD)
    known.job_event(3, hold_event(7, 0, "memory"), Change.HELD)  # a SERVICE's
    assert not known.due


def test_jobs_that_a_brake_has_put_on_hold() -> None:
    harness = running("BRAKE b 0 HOLD", "A B C D\nJOB N n.sub NOOP")
    known = brakes_of(harness)
    harness.tell(make.noop("N", 1)[0])
    record = make.record("BRAKED", "A", value=0)._replace(text="0 HOLD b: why")
    harness.tell(record)
    harness.tell(record)
    assert list(known.to_hold) == [(number, 0) for number in (1, 2, 3, 4)]
    harness.tell(make.of_job(EventKind.JOB_HELD, 1, text=HOLD_WORDS))
    harness.tell(make.of_job(EventKind.JOB_HELD, 2, text="memory"))
    harness.tell(make.terminated(3))
    assert (list(known.to_hold), known.held) == ([(4, 0)], {(1, 0)})
    harness.tell(make.record("BRAKES_OFF", "A", value=0))
    assert (known.round, known.to_hold, list(known.to_release)) == (1, {}, [(1, 0)])
    harness.tell(make.of_job(EventKind.JOB_RELEASED, 1))
    harness.tell(make.of_job(EventKind.JOB_HELD, 4, text=HOLD_WORDS))  # asked for before
    assert list(known.to_release) == [(4, 0)]


# What a brake counts, compared with a plain recount of all that has happened.


NODES = 6
Run = Union[tuple[int, Key], None]  # node and key of a failure; None: a success


def play(brake: Brake, runs: list[Run], members: int = NODES) -> list[bool]:
    """After which runs the brake acts."""
    count = BrakeCount(brake, members)
    told = [count.succeeded() if run is None else count.failed(*run) for run in runs]
    return [one is not None for one in told]


def recounted(brake: Brake, runs: list[Run], members: int = NODES) -> bool:
    """Whether the last of the runs makes too many."""
    looked_at = runs[-brake.last :] if brake.last else runs
    if brake.percent and len(runs) < brake.last:
        return False
    limit = brake.limit * (brake.last or members) / 100 if brake.percent else brake.limit
    failures = [run for run in looked_at if run is not None]
    keys = {key for _, key in failures}
    return any(len({node for node, own in failures if own == key}) > limit for key in keys)


_RUN = st.one_of(st.none(), st.tuples(st.integers(0, NODES - 1), st.sampled_from([1, 2])))


@given(
    st.builds(
        Brake,
        st.just(0),
        st.just("b"),
        st.integers(0, 4),
        st.just(False),
        st.sampled_from([0, 0, 1, 3, 5]),
    )
    | st.builds(
        Brake,
        st.just(0),
        st.just("b"),
        st.integers(0, 99),
        st.just(True),
        st.sampled_from([0, 1, 3, 5]),
    ),
    st.lists(_RUN, max_size=20),
)
def test_a_plain_recount_comes_to_the_same(brake: Brake, runs: list[Run]) -> None:
    told = play(brake, runs)
    first = told.index(True) if True in told else len(runs)  # nothing is asked after it
    for end in range(1, first + 2):
        if end <= len(runs):
            seen = recounted(brake, runs[:end])
            if runs[end - 1] is None and not brake.last:
                seen = False  # a success changes nothing
            assert told[end - 1] == seen


def test_a_node_counts_once() -> None:
    assert play(Brake(0, "b", 1), [(0, 1), (0, 1), (0, 1), (1, 1)]) == [False, False, False, True]


def test_a_share_waits_until_so_many_runs_have_ended() -> None:
    brake = Brake(0, "b", 40, percent=True, last=4)
    assert play(brake, [(0, 1), (1, 1), None, None]) == [False, False, False, True]
    assert play(brake, [(0, 1), (0, 1), (0, 1), (0, 1)]) == [False] * 4


def test_a_share_of_all_nodes() -> None:
    assert play(Brake(0, "b", 50, percent=True), [(0, 1), (1, 1), (2, 1)], 4) == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("brake", "key", "text"),
    [
        (Brake(0, "b", 1), "", "2 nodes failed, more than 1: A, B"),
        (
            Brake(0, "b", 1, alike="EXIT_CODE"),
            3,
            "2 nodes failed with exit code 3, more than 1: A, B",
        ),
        (
            Brake(0, "b", 1, alike="EXIT_CODE"),
            -9,
            "2 nodes failed with signal 9, more than 1: A, B",
        ),
        (
            Brake(0, "b", 1, alike="EXIT_CODE"),
            -1001,
            "2 nodes could not be submitted, more than 1: A, B",
        ),
        (
            Brake(0, "b", 1, alike="EXIT_CODE"),
            -1002,
            "2 nodes had their jobs removed, more than 1: A, B",
        ),
        (
            Brake(0, "b", 1, alike="SITE"),
            "north",
            "2 nodes failed at site north, more than 1: A, B",
        ),
        (
            Brake(0, "b", 1, alike="HOLD_REASON"),
            34,
            "2 nodes had jobs held for the same reason (HoldReasonCode 34), more than 1: A, B",
        ),
        (
            Brake(0, "b", 10, percent=True, last=5),
            "",
            "2 nodes failed in the last 5 runs, more than 10% OF 5: A, B",
        ),
    ],
)
def test_words(brake: Brake, key: Key, text: str) -> None:
    assert why(brake, Exceeded(key, (0, 1)), ["A", "B"]) == text


def test_of_many_nodes_some_are_named() -> None:
    names = [f"N{number}" for number in range(9)]
    told = why(Brake(0, "b", 3), Exceeded("", range(9)), names)
    assert told == "9 nodes failed, more than 3: N0, N1, N2, N3, N4 and 4 more"
    assert why(Brake(0, "b", 0), Exceeded("", (0,)), names) == "1 node failed, more than 0: N0"
