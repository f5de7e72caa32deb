"""What decides how many nodes go together: what a job costs its slot, and who waits for all."""

from __future__ import annotations

import pytest

from condor_pydagman.features.bundle.learned import FIRST_OVERHEAD_S, LONGEST_S, Learned
from condor_pydagman.features.bundle.packing import Group, fewest_parents
from condor_pydagman.features.bundle.plan import Limits, Seen
from condor_pydagman.graph.build import build
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import EventKind
from tests import make
from tests.features.bundle.bundled import bundle_submit, settled


def learned(*, worked_s: float = 5.0) -> Learned:
    """Eight slots; bundles of a task of five seconds have had a tenth of one beside it."""
    found = Learned()
    found.slots = 8
    for _ in range(20):
        found.took("k", [5.0], worked_s + 0.1, worked_s)
    return found


def size(of: Learned, ready: int = 450) -> int:
    return of.size("k", Seen(ready, running=8, is_live=True), Limits(), [], 100.0)


def test_a_gap_is_from_an_end_to_the_next_begin_in_turn() -> None:
    gaps = Learned()
    gaps.job_ended(10.0, waiting=2)
    gaps.job_ended(10.5, waiting=2)
    gaps.job_began(10.25)
    gaps.job_began(11.0)
    assert gaps.gap_s == pytest.approx(0.375)


def test_a_slot_for_which_no_job_waits_has_no_gap() -> None:
    gaps = Learned()
    gaps.job_ended(10.0, waiting=1)
    gaps.job_ended(10.0, waiting=1)
    gaps.job_began(10.5)
    gaps.job_began(11.5)
    assert gaps.gap_s == pytest.approx(0.5)


def test_what_begins_much_later_is_no_gap() -> None:
    gaps = Learned()
    gaps.job_ended(10.0, waiting=9)
    gaps.job_ended(20.0, waiting=9)
    gaps.job_began(20.25)
    gaps.job_began(20.25 + LONGEST_S)
    assert gaps.gap_s == pytest.approx(0.25)
    gaps.job_ended(30.0, waiting=9)
    gaps.job_began(29.9)  # its event is written before that of the end
    assert gaps.gap_s == pytest.approx(0.125)


def test_tasks_that_are_long_beside_what_a_job_costs_run_alone() -> None:
    assert size(learned()) == 1


def test_a_gap_counts_as_what_a_job_costs() -> None:
    found = learned()
    for second in range(20):
        found.job_ended(second, waiting=9)
        found.job_began(second + 0.2)
    assert size(found) > 1


def test_one_job_that_costs_little_decides_nothing() -> None:
    found = Learned()
    found.slots = 8
    assert found.overhead_s == FIRST_OVERHEAD_S
    for _ in range(20):
        found.took("k", [5.0], 5.3, 5.0)
    found.took("k", [5.0], 5.0, 5.0)
    assert found.overhead_s > 0.25
    assert size(found) > 1


def test_it_is_seen_by_the_events_of_bundles() -> None:
    harness = settled("A B C D E F\nBUNDLE b SIZE 2 ALL_NODES")
    gaps = harness.bundles.jobs.learned
    harness.taken(1, 7)
    harness.answered(2, 8)
    harness.tell(bundle_submit(2, 8))
    harness.wait(1.0)
    harness.ends(7)
    harness.wait(0.25)
    assert not gaps.gap_s
    harness.tell(make.of_job(EventKind.EXECUTE, 8))
    assert gaps.gap_s == pytest.approx(0.25)


NODES = "".join(f"JOB {name} x.sub\n" for name in "ABCDEF")


def dag(lines: str) -> Dag:
    return build(["t.dag"], lambda _: NODES + lines, BuildOptions())


@pytest.mark.parametrize(
    ("lines", "fewest"),
    [
        ("", 0),
        ("PARENT B CHILD A\n", 0),
        ("PARENT A CHILD F\n", 1),
        ("PARENT A B C CHILD F\n", 3),
        ("PARENT A B C CHILD F\nPARENT A D CHILD E\n", 2),
        ("PARENT A B C CHILD D E F\n", 3),
        ("PARENT A B C CHILD F\nRUN_IF F true\n", 1),
    ],
)
def test_how_many_must_end_before_a_child_can_start(lines: str, fewest: int) -> None:
    assert fewest_parents(dag(lines), 0) == fewest


def test_those_that_wait_no_more_do_not_count() -> None:
    group, graph = Group("k", is_live=False), dag("PARENT A B C CHILD F\nPARENT D CHILD E\n")
    for node in range(4):
        group.add(graph, node, 0.0)
    assert not group.needs_all()  # E may start when D has ended
    group.drop(3)
    assert group.needs_all()
    group.add(graph, 4, 0.0)  # E has no children, but is one of those that are waited for
    assert not group.needs_all()
    for node in (0, 1, 2):
        group.drop(node)
    assert group.needs_all()
