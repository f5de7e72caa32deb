"""The table of states that people see, and which of them a node has."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from condor_pydagman.follow.run_model import Attempt, NodeRun
from condor_pydagman.follow.shown_states import (
    BAR,
    COUNTED,
    KEYS,
    LOOKS,
    Shown,
    class_of,
    done_of,
    in_words,
    of_status,
    shown_state,
    why_done,
)
from condor_pydagman.vocabulary import STATE_WORDS, NodeStatus


def test_the_table_has_each_state_once_and_in_its_order() -> None:
    assert list(LOOKS) == list(Shown)
    assert sorted(BAR) == list(Shown)
    assert [KEYS[state] for state in Shown] == [look.key for look in LOOKS.values()]
    assert {status for look in LOOKS.values() for status in [look.status]} == set(NodeStatus)
    assert len({class_of(state) for state in (*Shown, None)}) == len(Shown) + 1


@pytest.mark.parametrize("field", ["key", "word", "meaning", "mark", "ascii_mark", "sign"])
def test_states_can_be_told_apart_by(field: str) -> None:
    assert len({getattr(look, field) for look in LOOKS.values()}) == len(Shown)


def test_colours_differ_in_light_and_dark() -> None:
    for one, other in combinations((*(look.paint for look in LOOKS.values()),), 2):
        assert one.strong != other.strong
        assert one.dark_strong != other.dark_strong


def test_marks_of_ascii_are_as_wide_as_the_others() -> None:
    assert all(len(look.mark) == len(look.ascii_mark) == 1 for look in LOOKS.values())
    assert all(look.ascii_mark.isascii() for look in LOOKS.values())


def test_names_that_programs_know_stay() -> None:
    assert (
        *("done", "running", "idle", "held", "pre", "post", "ready", "waiting", "failed", "futile"),
    ) == COUNTED
    before = ("waiting", "ready", "pre", "idle", "running", "held", "post", "retry", "done")
    assert KEYS[: len(before)] == before
    assert {look.counted for look in LOOKS.values()} == set(COUNTED)


def test_states_by_which_nodes_are_chosen_are_those_of_the_table() -> None:
    """A node in the queue is `queued` for `steer --state`, whatever its jobs do."""
    for word, status in STATE_WORDS.items():
        keys = {look.key for look in LOOKS.values() if look.status is status}
        assert word in keys or keys == {"idle", "running", "held"}


@pytest.mark.parametrize("status", NodeStatus)
def test_a_node_of_which_only_the_status_is_known(status: NodeStatus) -> None:
    assert LOOKS[of_status(status)].status is status
    known = shown_state(NodeRun("A", status))
    assert LOOKS[known].status is status
    assert known is of_status(status) or status is NodeStatus.SUBMITTED


def done(marks: int = 0, why: str = "", *, cached: bool = False) -> NodeRun:
    node = NodeRun("A", NodeStatus.DONE)
    node.all_marks, node.why, node.cached = bytearray([marks]), why, cached
    return node


def test_a_node_that_is_left_out_until_somebody_lets_it_run() -> None:
    node, waiting = done(), NodeRun("A")
    node.is_left_out = waiting.is_left_out = True
    assert shown_state(node) is Shown.LEFT_OUT
    assert why_done(node) == "CHOOSE leaves it out"
    node.attempts = (Attempt(0),)
    assert shown_state(node) is Shown.DONE
    assert why_done(node) == ""
    assert shown_state(waiting) is Shown.WAITING


def test_counts_in_words() -> None:
    counts = {"failed": 2, "skipped": 1234, "waiting": 0}
    assert list(in_words(counts)) == ["1,234 skipped", "2 failed"]
    assert done_of({**counts, "done": 1, "left_out": 3}) == 1238


def test_the_documentation_has_the_table() -> None:
    text = (Path(__file__).parents[3] / "docs/watching.md").read_text(encoding="utf-8")
    for look in LOOKS.values():
        row = f"| {look.word} | {look.meaning} | {look.status.name} | `{look.key}` |"
        assert row in text
