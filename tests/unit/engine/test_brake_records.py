"""What is known of brakes: which runs and holds each counts, and which jobs it has put on hold."""

from __future__ import annotations

from condor_pydagman.engine.brake_records import HOLD_WORDS, Brakes
from condor_pydagman.graph.model import Brake
from condor_pydagman.vocabulary import NodeKind
from tests import make


def brakes(*of: Brake) -> Brakes:
    dag = make.dag("A B C S", kinds={"S": NodeKind.SERVICE}, categories={"A": "big"})
    dag.brakes = list(of)
    return Brakes(dag)


def test_a_dag_without_brakes() -> None:
    assert not brakes()


def test_a_share_of_the_nodes_of_a_dag_that_grows() -> None:
    dag = make.dag("A B C D")
    dag.brakes = [Brake("half", 50, percent=True)]
    known = Brakes(dag)
    for node in range(2):
        known.run_ended(node, 1, "", "", failed=True)
    dag.kinds += bytes(2)
    known.grow()
    known.run_ended(2, 1, "", "", failed=True)
    assert not known.due
    known.run_ended(3, 1, "", "", failed=True)
    assert known.due[0][0] == 3


def test_which_runs_are_counted() -> None:
    known = brakes(
        Brake("all", 0),
        Brake("big", 0, category="big"),
        Brake("held", 0, alike="HOLD_REASON"),
        Brake("site", 0, alike="SITE"),
    )
    known.run_ended(3, 1, "north", "big", failed=True)  # a SERVICE
    known.excuse(0)
    known.run_ended(0, 1, "north", "big", failed=True)
    known.run_ended(0, 1, "", "", failed=False)
    assert not known.due
    known.run_ended(1, 1, "", "", failed=True)
    assert known.due == {0: (1, "1 node failed, more than 0: B")}
    known.run_ended(0, 1, "north", "big", failed=True)
    assert set(known.due) == {0, 1, 3}
    assert known.due[0][0] == 1
    known.job_held(0, 34, "memory", "big")
    assert set(known.due) == {0, 1, 2, 3}


def test_holds_that_say_nothing_about_the_job() -> None:
    known = brakes(Brake("held", 0, alike="HOLD_REASON"))
    for code in (1, 15, 16):
        known.job_held(0, code, "", "")
    known.job_held(0, 34, HOLD_WORDS, "")
    known.job_held(3, 34, "memory", "")
    assert not known.due


def test_jobs_that_a_brake_has_put_on_hold() -> None:
    known = brakes(Brake("b", 0, effect="HOLD"))
    assert known.brake(0, "why")
    assert not known.brake(0, "why")
    for proc in range(4):
        known.hold((7, proc))
    known.went_on_hold((7, 0), HOLD_WORDS)
    known.went_on_hold((7, 1), "memory")
    known.ended((7, 2))
    assert (list(known.to_hold), known.held) == ([(7, 3)], {(7, 0)})
    known.take_back()
    assert (known.round, known.to_hold, list(known.to_release)) == (1, {}, [(7, 0)])
    known.left_hold((7, 0))
    known.went_on_hold((7, 3), HOLD_WORDS)  # it was asked for before
    assert list(known.to_release) == [(7, 3)]
