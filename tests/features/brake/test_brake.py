"""BRAKE: what it counts, compared with a plain recount, and in which words it says so.  When it
acts, and what it does, is in `brake.scene`."""

from __future__ import annotations

from typing import Union

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.features.brake.commands import Brake, BrakesOfDag
from condor_pydagman.features.brake.run import BrakeCount, Brakes, Exceeded, Key, why
from condor_pydagman.graph.grow import Growth
from tests import make
from tests.make import QUIET


def brakes(*of: Brake) -> Brakes:
    """Those of a DAG that has begun."""
    dag = make.dag("A B C S\nSERVICE S n.sub\nCATEGORY A big")
    BrakesOfDag.put(dag).brakes.extend(of)
    found = make.EngineHarness(dag, QUIET).begin().engine.run.features["brake"]
    assert isinstance(found, Brakes)
    return found


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


def test_jobs_that_dagman_itself_removes_do_not_count() -> None:
    known = brakes(Brake(0, "all", 0))
    known.run.job_table.open(0, 7).set_surplus()
    known.run_ended(0, 1, True)
    assert not known.due


def test_a_noop_node_in_the_queue_is_not_put_on_hold() -> None:
    harness = make.EngineHarness("A\nJOB N n.sub NOOP\nBRAKE b 0 HOLD", QUIET).begin()
    harness.take("A", 1)
    harness.tell(make.noop("N", 1)[0])
    harness.tell(make.record("BRAKED", "A", value=0)._replace(text="0 HOLD b: why"))
    assert list(harness.engine.run.features["brake"].to_hold) == [(1, 0)]


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
