"""BRAKE: how its line is read and written."""

from __future__ import annotations

import pytest

from condor_pydagman.features.brake.commands import Brake
from condor_pydagman.language.parser import lines_of, parse
from tests.unit.language.one_line import wrong


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("BRAKE sick 10 HALT", ("sick", 10, False, 0, "", "", "HALT")),
        ("brake s 20% of 50 hold", ("s", 20, True, 50, "", "", "HOLD")),
        ("BRAKE s 20 % ABORT", ("s", 20, True, 0, "", "", "ABORT")),
        ("BRAKE s 3 ALIKE exit-code HALT", ("s", 3, False, 0, "EXIT_CODE", "", "HALT")),
        (
            "BRAKE s 3 CATEGORY S+c ALIKE SITE OF 9 HALT",
            ("s", 3, False, 9, "SITE", "S+c", "HALT"),
        ),
        ("BRAKE s 0 ALIKE HOLD_REASON HALT", ("s", 0, False, 0, "HOLD_REASON", "", "HALT")),
        ("BRAKE HALT 1 CATEGORY HOLD HALT", ("HALT", 1, False, 0, "", "HOLD", "HALT")),
    ],
)
def test_lines(line: str, fields: tuple[str, int, bool, int, str, str, str]) -> None:
    command = Brake(1, *fields)
    assert parse(line, "x.dag").commands == [command]
    assert parse(lines_of(command), "x.dag").commands == [command]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("BRAKE s -1 HALT", "Invalid number of the brake '-1'"),
        ("BRAKE s % HALT", "Invalid number of the brake '%'"),
        ("BRAKE s 1 OF 0 HALT", "Invalid OF number '0'"),
        ("BRAKE s 1 OF 9.5 HALT", "Invalid OF number '9.5'"),
        ("BRAKE s 1 OF 50% HALT", "Invalid OF number '50%'"),
        ("BRAKE s 1 OF 3 ALIKE HOLD_REASON HALT", "OF can't be told of HOLD_REASON"),
    ],
)
def test_mistakes(line: str, message: str) -> None:
    (error,) = parse(line, "x.dag").errors
    assert message in str(error)


def test_a_brake_with_a_number_for_a_name() -> None:
    assert parse("BRAKE 10 10 HALT", "x.dag").errors == []


@pytest.mark.parametrize("number", ["2.5%", "101%", "101 %", "-1%", "1.5", "10x", "2.5 %"])
def test_what_is_no_number_and_no_share(number: str) -> None:
    error = wrong(f"BRAKE s {number} HALT")
    assert error.message == f"Invalid number of the brake '{number}'"
    assert error.hint == (
        "expected a whole number, 0 or more, or a share of them: a whole number of per cent from 0"
        " to 100, as in 50%"
    )
    assert error.column == 9
