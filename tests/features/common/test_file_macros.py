"""Macros in names of files: how they are written, and what becomes of them."""

from __future__ import annotations

import pytest

from condor_pydagman.features.common.file_macros import expanded, known_macros, unset_macros
from condor_pydagman.language.lexer import item_text
from tests.unit.language.one_line import good, wrong

LINES = ["PUBLISH A FILE {}", "CACHE A INPUTS x OUTPUTS y {}"]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("file", ["$(JOB).ad", "r/$(x)-$(My.y).ad", "a$b", "cost$", "$1", "a(b)"])
def test_good_names(line: str, file: str) -> None:
    assert file in str(good(line.format(file)))


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize(
    ("file", "begun"),
    [
        ("$(JOB", "$(JOB"),
        ("$(JOB.out", "$(JOB.out"),
        ("r/$(x).$(y", "$(y"),
        ("$( JOB ).out", "$("),
        ("$().out", "$().out"),
        ("$(x:y).out", "$(x:y).out"),
        ("${JOB}.out", "${JOB}.out"),
        ("$$(JOB)", "$$("),
        ("$ENV(HOME)/x", "$ENV(HOME)/x"),
        ("out/$JOB", "$JOB"),
        ("$job.out", "$job.out"),
    ],
)
def test_what_is_no_macro(line: str, file: str, begun: str) -> None:
    error = wrong(line.format(file))
    assert error.message.startswith(f"Invalid macro '{begun}")
    assert f"in the name of a file '{file.split()[0]}'" in error.message
    assert "expected $(JOB) or $(key) for a key of the node's VARS" in error.hint
    assert error.column - 1 == line.format(file).index(begun)


@pytest.mark.parametrize("file", ["$(JOB", "a.$(JOB.out", "$("])
def test_a_bracket_that_is_missing(file: str) -> None:
    assert wrong(f"PUBLISH A FILE {file}").hint.startswith("the ) is missing")


def test_values() -> None:
    known = known_macros("S+A", [("Out", "o/$(JOB)"), ("job", "x"), ("loop", "$(loop)x")])
    assert expanded("$(OUT)-$(no).ad", known) == "o/S+A-$(no).ad"
    assert len(expanded("$(loop)", known)) < 4096
    assert unset_macros("a$(no).$(NO)") == ["no", "NO"]


def test_a_value_that_is_text() -> None:
    known = known_macros("n", [("item", item_text("$(JOB)$x"))])
    assert expanded("r_$(item)", known) == "r_$(JOB)$x"
