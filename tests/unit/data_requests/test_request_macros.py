"""Macros of a request."""

from __future__ import annotations

import pytest

from condor_pydagman.data_requests.request_macros import Macros, UndefinedMacro, variables_named
from condor_pydagman.language.lexer import item_text

MACROS = Macros({"A": "1", "b": "$(a)/$(A)", "C": "$(d)", "d": "$(C)"}, {"HOME": "/h"})


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("plain", "plain"),
        ("$(a) $(B)", "1 1/1"),
        ("$(x:default)", "default"),
        ("$(x:)", ""),
        ("$ENV(HOME)/x", "/h/x"),
        ("cost$(DOLLAR)(a)", "cost$(a)"),
        ("a$b $(", "a$b $("),
    ],
)
def test_macros(text: str, expanded: str) -> None:
    assert MACROS.expand(text) == expanded


def test_macros_without_value() -> None:
    with pytest.raises(UndefinedMacro, match=r"\$\(aa\) is not defined") as error:
        Macros({"aaa": ""}).expand("$(aa)")
    assert error.value.hint == "did you mean $(aaa)?"
    with pytest.raises(UndefinedMacro) as error:
        MACROS.expand("$ENV(NOPE)")
    assert "no variable NOPE" in error.value.hint


def test_macros_without_end() -> None:
    with pytest.raises(ValueError, match="in a circle"):
        MACROS.expand("$(c)")
    with pytest.raises(ValueError, match="more than"):
        Macros({"x": "$(x)$(x)" * 1000}).expand("$(x)")


def test_variables_that_are_named() -> None:
    texts = ["$ENV(A)/$(B) $env( C :d)", "$ENV(DOLLAR) $ENV(", "$ENV(E)"]
    assert variables_named(texts) == {"A", "C", "E"}


def test_a_value_that_is_text() -> None:
    assert Macros({"item": item_text("$ENV(HOME)")}).expand("<$(item)>") == "<$ENV(HOME)>"
