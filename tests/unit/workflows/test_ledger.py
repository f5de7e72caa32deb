"""The checker accepts what is right and names each thing that is wrong."""

from __future__ import annotations

from tests.workflows.ledger import check_ledger

EDGES = [("A", "B"), ("A", "C")]
GOOD = ["A start 1.0", "A end 2.5", "B start 3", "C start 3", "C end 4", "B end 4"]


def check(lines: list[str], nodes: list[str] | None = None) -> list[str]:
    return check_ledger(EDGES, "".join(f"{line}\n" for line in lines), nodes or [])


def test_a_good_run() -> None:
    assert check(GOOD) == []
    assert check([*GOOD, "D start 5", "D end 5"], ["A", "B", "C", "D"]) == []


def test_a_clock_that_was_set_back_is_no_violation() -> None:
    assert check(["A start 9", "A end 8", *GOOD[2:]]) == []


def test_a_child_before_its_parents_end() -> None:
    lines = ["A start 1", "B start 1", "A end 2", "B end 2", "C start 3", "C end 3"]
    assert check(lines) == ["B started (line 2) before its parent A ended (line 3)"]


def test_a_node_that_ran_twice() -> None:
    assert check([*GOOD, "C start 5", "C end 6"]) == [
        "C has 2 start lines instead of 1 (lines 4, 7)",
        "C has 2 end lines instead of 1 (lines 5, 8)",
    ]


def test_a_node_that_never_ran() -> None:
    assert check([*GOOD[:2], "B start 1", "B end 1"]) == ["C never ran"]
    assert check(GOOD, ["A", "B", "C", "D"]) == ["D never ran"]


def test_a_node_without_end() -> None:
    assert check(GOOD[:-1]) == ["B has 0 end lines instead of 1"]


def test_an_end_before_its_start() -> None:
    assert check([*GOOD[:2], "C end 3", "C start 3", "B start 4", "B end 4"]) == [
        "C ended before it started (lines 3, 4)"
    ]


def test_a_stranger_is_reported_when_all_nodes_are_known() -> None:
    lines = [*GOOD, "X start 1", "X end 2"]
    assert check(lines) == []
    assert check(lines, ["A", "B", "C"]) == ["X is not in the workflow, but ran"]


def test_a_torn_line() -> None:
    assert check([*GOOD, "B sta"]) == ["line 7 is not NODE start|end TIME: 'B sta'"]


def test_an_empty_ledger() -> None:
    assert check([]) == ["A never ran", "B never ran", "C never ran"]
