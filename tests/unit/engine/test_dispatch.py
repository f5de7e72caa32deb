"""Which jobs are known to have ended, a run that only sets up, and what wakes the engine."""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.state import Mode
from condor_pydagman.features.growth.piece import PieceText, read_piece
from condor_pydagman.features.growth.run import PieceOffered
from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.graph.stepwise import at_once
from condor_pydagman.timers import REMOVAL_GRACE_S
from condor_pydagman.vocabulary import EventKind
from tests import make
from tests.features.sites.matched import matched
from tests.make import QUIET


def removing(procs: int = 2) -> make.EngineHarness:
    """The first proc of a node has failed, and the others have been told to go."""
    harness = make.harness_of("A; B\nRETRY A 1", QUIET, procs=procs)
    harness.take("B", 6)
    harness.tell(make.terminated(5, 0, value=1))
    harness.wait(REMOVAL_GRACE_S)
    return harness


def job(cluster: int, proc: int, name: str) -> inputs.QueuedJob:
    return inputs.QueuedJob(cluster, proc, name, 0)


def test_has_ended_knows_procs_whose_end_has_been_read() -> None:
    harness = removing(3)
    known = {proc: harness.engine.has_ended(job(5, proc, "A")) for proc in range(4)}
    assert known == {0: True, 1: False, 2: False, 3: False}
    assert not harness.engine.has_ended(job(6, 0, "B"))
    assert not harness.engine.has_ended(job(7, 0, "B"))  # not known (yet)
    assert not harness.engine.has_ended(job(8, 0, "nobody's"))


def test_has_ended_knows_clusters_of_earlier_runs() -> None:
    harness = removing()
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 5, 1))
    harness.take("A", 7)  # its retry
    harness.tell(make.terminated(6))  # B is done
    for engine in (harness.engine, harness.restart().engine):
        assert engine.has_ended(job(5, 0, "A"))
        assert engine.has_ended(job(6, 0, "B"))
        assert not engine.has_ended(job(7, 0, "A"))


def test_has_ended_knows_ends_among_unmatched_events() -> None:
    harness = make.harness_of("A")
    harness.tell(make.terminated(7, 0), make.of_job(EventKind.EXECUTE, 7, 1))
    jobs = [inputs.QueuedJob(7, proc, "A", 0) for proc in (0, 1)]
    assert [harness.engine.has_ended(job) for job in jobs] == [True, False]


# -SetupOnly


def test_a_run_that_only_sets_up_asks_for_nothing() -> None:
    made = make.dag("""
        A B C
        SERVICE S n.sub
        FINAL F n.sub
        SCRIPT PRE A p
        SAVE_POINT_FILE B b.save
    """)
    harness = make.EngineHarness(made)
    harness.engine.run.mode = Mode.SETUP_ONLY
    asked = harness.begin(recovering=True).all
    asked += harness.tell(make.submit("C", 5), make.terminated(5, value=1))
    asked += harness.tell(inputs.LogCaughtUp())
    assert {type(action) for action in asked} == {do.Say, do.SayStatus, do.Publish}
    assert not harness.said("Starting service")
    assert harness.engine.next_deadline() is None
    assert harness.states() == "A=PRE_WAIT B=READY C=FAILED S=READY F=WAITING"


def test_what_waits_for_a_piece_to_be_in_force_does_not_wake_the_engine() -> None:
    """Nor do requests for sites: with a full disk that would be for ever, and again and again."""
    harness = matched("A; B\nSITE_GROUP g NODES A", "s:0")
    harness.answer()
    ask_at = harness.sites.ask_at
    assert ask_at is not None
    given = PieceText("p", {"p": "JOB X x\n"}, BuildOptions(), "", "")
    piece = at_once(read_piece(harness.engine.run.dag, given, digest="d1"))
    harness.now = ask_at - 1
    harness.tell(PieceOffered(7, piece, "jane"))
    assert harness.engine.run.written.holding
    harness.now = ask_at
    harness.tell(inputs.Wake())
    due = harness.engine.next_deadline()
    assert due is not None
    assert due > harness.now
