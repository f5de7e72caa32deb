"""The countdown of nodes whose turn is decided by more than that all their parents are done."""

from __future__ import annotations

from condor_pydagman.engine.node_states import Cause
from condor_pydagman.engine.node_turns import GATE
from condor_pydagman.engine.nodes import Nodes
from tests import make


def nodes() -> Nodes:
    return Nodes(make.dag("A B -> X -> Y; A -> Z", conditions={"X": "true"}))


def test_parents_are_counted_however_they_end() -> None:
    found = nodes()
    a, b, x = (found.dag.ids[name] for name in "ABX")
    assert found.turns.pop_changed() == [x]
    assert (found.unfinished_parents(x), found.waiting[x]) == (2, GATE + 2)
    found.move(a, Cause.MARKED_DONE, 0)
    found.move(b, Cause.ANCESTOR_FAILED, 0)
    assert found.unfinished_parents(x) == 0
    assert found.turns.pop_changed() == [x]
    found.move(b, Cause.FREED, 0)
    assert found.unfinished_parents(x) == 1


def test_it_starts_when_its_turn_has_come() -> None:
    found = nodes()
    x = found.dag.ids["X"]
    assert x not in found.roots()
    found.turns.open(x)
    assert found.may_start(x)
    found.turns.close(x)
    assert not found.may_start(x)


def test_a_failed_parent_makes_nothing_futile_behind_it() -> None:
    found = nodes()
    a = found.dag.ids["A"]
    found.move(a, Cause.FAILED, 0)
    assert found.mark_futile(a, 0) == 1
    assert found.states[found.dag.ids["X"]] == found.states[found.dag.ids["Y"]] == 0


def test_without_such_nodes_there_is_nothing_to_count() -> None:
    found = Nodes(make.dag("A -> B"))
    assert not found.turns.watched
    assert found.turns.pop_changed() == []
