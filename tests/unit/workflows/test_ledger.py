"""The checker accepts what is right and names each thing that is wrong."""

from __future__ import annotations

import pytest

from tests.workflows.ledger import check_ledger

EDGES = [("A", "B"), ("A", "C")]
GOOD = ["A start 1.0", "A end 2.5", "B start 3", "C start 3", "C end 4", "B end 4"]


@pytest.mark.parametrize(
    ("lines", "nodes", "wrong"),
    [
        (GOOD, [], []),
        ([*GOOD, "D start 5", "D end 5"], [*"ABCD"], []),
        (["A start 9", "A end 8", *GOOD[2:]], [], []),  # a clock that was set back
        (
            ["A start 1", "B start 1", "A end 2", "B end 2", "C start 3", "C end 3"],
            *([], ["B started (line 2) before its parent A ended (line 3)"]),
        ),
        (
            [*GOOD, "C start 5", "C end 6"],
            [],
            [
                "C has 2 start lines instead of 1 (lines 4, 7)",
                "C has 2 end lines instead of 1 (lines 5, 8)",
            ],
        ),
        ([*GOOD[:2], "B start 1", "B end 1"], [], ["C never ran"]),
        (GOOD, [*"ABCD"], ["D never ran"]),
        (GOOD[:-1], [], ["B has 0 end lines instead of 1"]),
        (
            [*GOOD[:2], "C end 3", "C start 3", "B start 4", "B end 4"],
            *([], ["C ended before it started (lines 3, 4)"]),
        ),
        ([*GOOD, "X start 1", "X end 2"], [], []),
        ([*GOOD, "X start 1", "X end 2"], [*"ABC"], ["X is not in the workflow, but ran"]),
        ([*GOOD, "B sta"], [], ["line 7 is not NODE start|end TIME: 'B sta'"]),
        ([], [], ["A never ran", "B never ran", "C never ran"]),
    ],
)
def test_what_is_wrong(lines: list[str], nodes: list[str], wrong: list[str]) -> None:
    assert check_ledger(EDGES, "".join(f"{line}\n" for line in lines), nodes) == wrong
