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


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), [[[[1]]]], None])
def test_what_has_no_form(value: Any) -> None:
    assert literal(value) is None


def test_values_that_are_none() -> None:
    assert literal(classad2.Value.Undefined) == "undefined"
    assert literal(classad2.Value.Error) is None


def test_what_can_be_read_at_all() -> None:
    assert mistake("Parents.A.n > 3") == ""
    assert mistake("1 ; 2")
