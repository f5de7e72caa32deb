"""ENOUGH: how its line is read and written."""

from __future__ import annotations

import pytest

from condor_pydagman.features.enough.commands import Enough
from condor_pydagman.language.parser import lines_of, parse
from tests.unit.language.one_line import wrong


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("ENOUGH ALL_NODES 3", ("ALL_NODES", "", 3, False, "REMOVE")),
        ("enough all-nodes of S 50% wait", ("ALL_NODES", "S", 50, True, "WAIT")),
        ("ENOUGH CATEGORY c 100 % REMOVE", ("CATEGORY", "c", 100, True, "REMOVE")),
        ("ENOUGH PARENTS X 7 WAIT", ("PARENTS", "X", 7, False, "WAIT")),
        ("ENOUGH PARENTS OF 7", ("PARENTS", "OF", 7, False, "REMOVE")),
    ],
)
def test_lines(line: str, fields: tuple[str, str, int, bool, str]) -> None:
    command = Enough(1, *fields)
    assert parse(line, "x.dag").commands == [command]
    assert parse(lines_of(command), "x.dag").commands == [command]


@pytest.mark.parametrize(
    "number",
    [
        *("0", "-1", "1.5", "1e2", "x", "50percent", "12x", "99999999999", "%", "%50"),
        *("0%", "101%", "-5%", "50.5%", "1e1%", "5%%", "0.5 %", "101 %", "-1 %", "5 %%"),
    ],
)
def test_what_is_no_number(number: str) -> None:
    error = wrong(f"ENOUGH ALL_NODES {number} WAIT")
    assert error.message == f"Invalid number of nodes that are enough '{number}'"
    assert error.hint == (
        "expected a whole number, 1 or more, or a share of them: a whole number of per cent from 1"
        " to 100, as in 50%"
    )
    assert error.column == 18
