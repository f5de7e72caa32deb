"""Values and expressions as the ClassAd language has them."""

from __future__ import annotations

from typing import Any

import classad2
import pytest

from condor_pydagman.adapters.classad_values import literal, mistake


@pytest.mark.parametrize(
    "value", [True, False, 0, -5, 2**40, 1.5, 1e300, 'a"b\\c\nd', "", [1, "x", [True]], []]
)
def test_a_value_is_read_back(value: Any) -> None:
    written = literal(value)
    assert classad2.ExprTree(str(written)).eval(classad2.ClassAd()) == value


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (float("nan"), 'real("NaN")'),
        (float("inf"), 'real("INF")'),
        ([float("-inf")], '{real("-INF")}'),
    ],
)
def test_numbers_that_are_none(value: Any, written: str) -> None:
    assert literal(value) == written
    there = value[0] if isinstance(value, list) else value
    read = classad2.ExprTree(written.strip("{}")).eval(classad2.ClassAd())
    assert repr(read) == repr(there)


@pytest.mark.parametrize("value", [object(), [[[[1]]]], [object()]])
def test_what_has_no_form(value: Any) -> None:
    assert literal(value) is None


def test_values_that_are_none() -> None:
    assert literal(classad2.Value.Undefined) == literal(None) == "undefined"
    assert literal(classad2.Value.Error) is None


def test_what_can_be_read_at_all() -> None:
    assert mistake("Parents.A.n > 3") == ""
    assert mistake("1 ; 2")
