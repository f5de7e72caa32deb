"""What is known of the ENOUGH lines of a run."""

from __future__ import annotations

from condor_pydagman.engine.enough_counts import EARLIER, FOLLOWS, EnoughCounts
from condor_pydagman.engine.enough_records import Enoughs
from condor_pydagman.graph.model import Dag, Enough
from tests import make


def of(*enoughs: Enough) -> tuple[Dag, Enoughs]:
    dag = make.dag("A B C")
    dag.enoughs = list(enoughs)
    return dag, Enoughs(dag, EnoughCounts(dag))


def test_whether_there_are_any() -> None:
    assert not of()[1]
    _, known = of()
    known.counts.mark(0, EARLIER)
    assert known
    assert known.why(0) == "it was not in an earlier run"


def test_a_node_that_is_not_needed() -> None:
    _, known = of(Enough("ALL_NODES", "", 1), Enough("ALL_NODES", "", 2, effect="WAIT"))
    known.give_up(0, 0)
    known.give_up(0, 1)
    known.give_up(1, 1)
    assert (known.removes(0), known.removes(1), known.removes(2)) == (True, False, False)
    known.ask(0)
    assert known.under_way
    known.set_aside(0, "it failed")
    known.set_aside(2, "")
    assert (known.mark_of(0), known.mark_of(2)) == (0, FOLLOWS)
    assert known.why(0) == "ENOUGH ALL_NODES 1"
    assert known.had_failed == {0: "it failed"}
    assert not known.under_way


def test_a_node_that_is_done_no_more() -> None:
    _, known = of(Enough("ALL_NODES", "", 1))
    known.taken_back(0, 0)
    assert not known.unwanted
    known.reach(0, "1 of 3")
    known.taken_back(0, 0)
    assert known.unwanted == {0: 0}
    known.ended(0)
    assert not known.unwanted
