"""SAVE_POINT_FILE: written once, when the node starts for the first time."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.vocabulary import EventKind, NodeKind, Note
from tests import make

SAVES = {"B": "b.save"}


def names(bench: make.Bench) -> list[str]:
    return [bench.dag.names[action.node] for action in bench.asked(do.WriteSavePoint)]


def test_at_the_start_of_its_node_before_anything_of_it_begins() -> None:
    bench = make.Bench(make.dag("A -> B", saves=SAVES, pre={"B": "p"})).begin()
    assert not bench.ever(do.WriteSavePoint)
    bench.run_node("A", 1)
    kinds = (do.WriteSavePoint, do.RunScript)
    order = [type(action) for action in bench.last if isinstance(action, kinds)]
    assert order == [do.WriteSavePoint, do.RunScript]


def test_before_the_submission_even_if_it_has_to_wait() -> None:
    bench = make.Bench(make.dag("A -> B; C", saves=SAVES), limits=Throttles(jobs=1)).begin()
    bench.take("A", 1)
    bench.tell(make.terminated(1))
    assert names(bench) == ["B"]
    assert bench.submits() == ["C"]


def test_of_a_root() -> None:
    bench = make.Bench(make.dag("A", saves={"A": "a"})).begin()
    assert names(bench) == ["A"]


def test_not_of_a_done_node() -> None:
    bench = make.Bench(make.dag("A -> B -> C", saves=SAVES, done="A B")).begin()
    assert not names(bench)


@pytest.mark.parametrize("pre", [False, True])
def test_not_for_retries(pre: bool) -> None:
    made = make.dag("B", saves=SAVES, retries={"B": 2}, pre={"B": "p"} if pre else {})
    bench = make.Bench(made).begin()
    if pre:
        bench.pre_ends("B", 1)
    else:
        bench.run_node("B", 1, value=1)
    assert len(bench.ever(do.WriteSavePoint)) == 1


def test_not_for_submissions_that_are_tried_again() -> None:
    bench = make.Bench(make.dag("B", saves=SAVES)).begin()
    bench.tell(inputs.SubmitFailed(0, "busy", permanent=False))
    bench.wait(5.0)
    assert bench.submits() == ["B"]
    assert len(bench.ever(do.WriteSavePoint)) == 1


def test_a_skipped_node_and_a_noop_have_started() -> None:
    made = make.dag("B", saves=SAVES, pre={"B": "p"}, pre_skips={"B": 4})
    bench = make.Bench(made).begin()
    bench.pre_ends("B", 4)
    assert len(bench.ever(do.WriteSavePoint)) == 1
    bench = make.Bench(make.dag("B", saves=SAVES, noop="B")).begin()
    assert names(bench) == ["B"]


def test_halted_the_node_has_its_turn_all_the_same() -> None:
    bench = make.Bench(make.dag("A -> B; C", saves=SAVES)).begin()
    bench.take("A", 1)
    bench.take("C", 2)
    bench.tell(inputs.Halt())
    bench.tell(make.terminated(1))
    bench.tell(inputs.Resume())
    assert len(bench.ever(do.WriteSavePoint)) == 1


# Restarts.


def test_a_restart_before_the_node_began_writes_it() -> None:
    bench = make.Bench(make.dag("A -> B", saves=SAVES)).begin()
    bench.run_node("A", 1)
    other = bench.replay()
    assert not other.ever(do.WriteSavePoint)
    other.tell(inputs.LogCaughtUp())
    assert not other.ever(do.WriteSavePoint)
    other.tell(inputs.QueueListed([]))
    assert names(other) == ["B"]


@pytest.mark.parametrize("how", ["submitted", "pre", "skip", "retry", "submit failed", "done"])
def test_a_restart_when_the_node_had_begun_does_not(how: str) -> None:
    made = make.dag(
        "A -> B; C",
        saves=SAVES,
        pre={} if how in ("submitted", "retry", "submit failed", "done") else {"B": "p"},
        pre_skips={"B": 4},
        retries={"B": 1} if how == "retry" else {},
    )
    bench = make.Bench(made).begin()
    bench.run_node("A", 1)
    bench.run_node("C", 3)
    if how == "submitted":
        bench.take("B", 2)
    elif how == "pre":
        bench.pre_ends("B")
    elif how == "skip":
        bench.pre_ends("B", 4)
    elif how == "submit failed":
        bench.tell(inputs.SubmitFailed(1, "no", permanent=True))
        bench.read_back()
    else:
        bench.run_node("B", 2, value=int(how == "retry"))
    assert len(bench.ever(do.WriteSavePoint)) == 1
    assert not bench.restart().ever(do.WriteSavePoint)


def test_a_restart_that_finds_its_job_in_the_queue_only() -> None:
    bench = make.Bench(make.dag("A -> B", saves=SAVES)).begin()
    bench.run_node("A", 1)
    other = bench.replay()
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed([inputs.QueuedJob(2, 0, "B", 0)]))
    assert other.state("B").name == "SUBMITTED"
    assert not other.ever(do.WriteSavePoint)


def test_an_abort_before_its_node_was_asked_for() -> None:
    made = make.dag("A -> B; F", saves=SAVES, aborts={"A": 0}, kinds={"F": NodeKind.FINAL})
    bench = make.Bench(made).begin()
    bench.run_node("A", 1)
    bench.read_back()
    assert bench.state("B").name == "WAITING"
    assert not bench.ever(do.WriteSavePoint)
    assert bench.submits() == ["F"]
    bench.take("F", 9)
    bench.tell(make.of_job(EventKind.EXECUTE, 9), make.note(Note.FINAL_STARTED, "F"))
    assert not bench.ever(do.WriteSavePoint)


def test_not_again_after_a_replay_that_shows_that_the_submission_failed() -> None:
    made = make.dag("B", saves=SAVES, post={"B": "q"})
    bench = make.Bench(made).begin(recovering=True)
    bench.tell(make.note(Note.SUBMIT_FAILED, "B"), inputs.LogCaughtUp(), inputs.QueueListed(()))
    assert bench.state("B").name == "POST_RUN"
    assert not bench.ever(do.WriteSavePoint)
