"""One row of the table: its words for people."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Kind, Knob


@pytest.mark.parametrize(
    ("knob", "allowed", "expected"),
    [
        (Knob("A", Kind.INTEGER, 1, "."), "any", "a whole number"),
        (Knob("A", Kind.INTEGER, 1, ".", 0), "0 or more", "a whole number, 0 or more"),
        (Knob("A", Kind.INTEGER, 1, ".", 0, 3), "0 to 3", "a whole number from 0 to 3"),
        (Knob("A", Kind.REAL, 1.0, ".", 1), "1 or more", "a number, 1 or more"),
        (Knob("A", Kind.BOOLEAN, True, "."), "True or False", "True or False"),
    ],
)
def test_ranges(knob: Knob, allowed: str, expected: str) -> None:
    assert knob.range() == allowed
    assert knob.expected() == expected


def test_text_has_no_range() -> None:
    assert Knob("A", Kind.PATH, "", ".").range() == ""


def test_values_as_stock_writes_them() -> None:
    assert Knob("A", Kind.REAL, 1.0, ".").text(7.5) == "7.500000"
    assert Knob("A", Kind.BOOLEAN, True, ".").text(False) == "False"


def test_a_value_keeps_its_type_within_limits() -> None:
    knob = Knob("A", Kind.INTEGER, 1, ".", 0, 3)
    assert [knob.within(value) for value in (-1, 2, 9)] == [0, 2, 3]
    assert Knob("A", Kind.REAL, 1.0, ".", 1).within(0.5) == 1.0
    assert Knob("A", Kind.BOOLEAN, True, ".", 5).within(False) is False
