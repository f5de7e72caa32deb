"""Words and sizes of boxes."""

from __future__ import annotations

from condor_pydagman.picture.shapes import describe, face, short_label
from condor_pydagman.picture.sketch import Box, Fold
from condor_pydagman.picture.states import State


def folded(label: str, fold: Fold = Fold.ALIKE, **counts: int) -> Box:
    box = Box(fold, label, things=sum(counts.values()))
    for name, count in counts.items():
        box.counts[State[name]] = count
    return box


def test_failed_nodes_are_named_first() -> None:
    assert describe(folded("a … b", DONE=5000, FAILED=2)) == "5,002 nodes · 2 failed · 5,000 done"


def test_one_state_is_said_once() -> None:
    assert describe(folded("a … b", DONE=3)) == "3 nodes, all done"
    assert describe(folded("a … b", WAITING=3)) == "3 nodes, not run"


def test_many_states_are_cut() -> None:
    assert describe(folded("a", DONE=4, IDLE=3, RUNNING=2, WAITING=1)).endswith("2 running · …")


def test_splices_are_counted() -> None:
    box = folded("S0 … S9", DONE=30)
    box.splices, box.things = True, 10
    assert describe(box) == "10 splices · 30 nodes, all done"


def test_the_splice_around_both_names_is_said_once() -> None:
    assert short_label(folded("S+T+a1 … S+T+a9", DONE=2)) == "S+T+a1 … a9"


def test_a_name_of_a_million_characters_gives_a_small_box() -> None:
    box = Box(Fold.NODE, "x" * 1_000_000)
    assert face(box).width < 500
    assert len(face(box).label) <= 40


def test_a_dot_is_small_and_without_words() -> None:
    assert face(Box(Fold.DOT, "_condor_join_node0")) == (10, 10, "", "")
