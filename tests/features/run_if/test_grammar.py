"""RUN_IF lines, and what an expression refers to."""

from __future__ import annotations

import pytest

from condor_pydagman.features.run_if.commands import (
    RunIf,
    attribute_name,
    bare,
    references,
    renamed,
)
from condor_pydagman.language.commands import Command
from condor_pydagman.language.parser import lines_of
from tests.unit.language.one_line import good, message, wrong

ROUND_TRIPS = [
    (
        'RUN_IF C  Parents.A.Outcome == "DONE"  ',
        RunIf(1, "C", expression='Parents.A.Outcome == "DONE"'),
    ),
    ("Run-If C else DONE Failed == 0", RunIf(1, "C", "DONE", "Failed == 0")),
    ("RUN_IF C ELSE skip x", RunIf(1, "C", "SKIP", "x")),
    ("RUN_IF C Elsewhere > 1", RunIf(1, "C", "SKIP", "Elsewhere > 1")),
    ("RUN_IF C Parents.'odd-name'.n", RunIf(1, "C", "SKIP", "Parents.'odd-name'.n")),
    ('RUN_IF C x == "a b"', RunIf(1, "C", "SKIP", 'x == "a b"')),
]


@pytest.mark.parametrize(("line", "command"), ROUND_TRIPS)
def test_lines_are_read_and_written(line: str, command: Command) -> None:
    assert good(line + "\n") == command
    assert good(lines_of(command) + "\n") == command


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (f"RUN_IF C {'x' * 4001}", "The RUN_IF expression has 4,001 characters"),
    ],
)
def test_wrong_lines(line: str, said: str) -> None:
    assert message(line + "\n").partition(": ")[2] == said


@pytest.mark.parametrize(
    ("line", "at", "why"),
    [
        ("RUN_IF C  Parents.A.n = 3 ", "= 3", "a single '=' is no comparison: write == or =?="),
        ("RUN_IF C ELSE DONE x && (y", "(y", "'(' is not closed"),
        ("RUN_IF C 'x", "'x", "this text has no end: a quote is missing"),
    ],
)
def test_a_mistake_in_an_expression_is_shown_where_it_is(line: str, at: str, why: str) -> None:
    error = wrong(line + "\n")
    assert (error.line, error.column) == (1, line.index(at) + 1)
    assert error.hint == why


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("RUN_IF Parents.A.ExitCode == 0 B", "the node comes first: RUN_IF <node>"),
        ("RUN_IF category.x.Done > 1", "the node comes first: RUN_IF <node>"),
        ("RUN_IF B IF Failed > 0", "the expression follows the node: leave IF out"),
        ("RUN_IF B ELSE=DONE Failed > 0", "a blank stands behind ELSE: ELSE DONE"),
        ("RUN_IF B Failed > 0 ELSE SKIP", "ELSE SKIP stands before the expression"),
        ('RUN_IF B "Failed > 0"', "a text is neither true nor false: take the quotes away"),
    ],
)
def test_what_to_write_instead(line: str, hint: str) -> None:
    assert hint in wrong(line + "\n").hint


@pytest.mark.parametrize(
    "text", ["Done > 0", "skip == 1", 'if == "x"', '"a" == "b"', '"a" "b"=="c"']
)
def test_expressions_that_look_alike(text: str) -> None:
    assert good(f"RUN_IF B {text}\n") == RunIf(1, "B", "SKIP", text)


# What an expression of a RUN_IF refers to.


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("Parents.A.ExitCode == 0", [("Parents", "A", "ExitCode")]),
        ("parents.a.x + PARENTS . B . y", [("Parents", "a", "x"), ("Parents", "B", "y")]),
        ("isUndefined(Parents.A)", [("Parents", "A", "")]),
        (r"Parents.'a\'b-\\'.'k k' > 1", [("Parents", r"a'b-\ "[:-1], "k k")]),
        ("Category.gpu.Done >= 3", [("Category", "gpu", "Done")]),
        ('"Parents.A.x" == x // Parents.B.y', []),
        ("MyParents.A.x + x.Parents.A.y + 'Parents.A'", []),
        ("/* Parents.A.x */ Done > Failed", []),
    ],
)
def test_references(expression: str, found: list[tuple[str, str, str]]) -> None:
    assert [one[:3] for one in references(expression)] == found


def test_other_names() -> None:
    expression = "Parents.A.x > Parents.'b c'.y && Category.A.Done"
    new = renamed(expression, lambda one: f"N{len(one.name)}")
    assert new.text == "Parents.N1.x > Parents.N3.y && Category.N1.Done"
    assert new.values == [
        ("Parents.A.x", "Parents.N1.x"),
        ("Parents.'b c'.y", "Parents.N3.y"),
        ("Category.A.Done", "Category.N1.Done"),
    ]
    assert renamed("isUndefined(Parents.A)", lambda one: "N").values == []
    (first, *_) = references(expression)
    assert expression[first.start : first.stop] == "Parents.A.x"
    assert expression[first.begin : first.end] == "A"


def test_counts_are_words_of_their_own() -> None:
    expression = """Done + failed > Total && Category.c.Done + My.Futile + 'Skipped' + DoneX
        // Futile
        || "Skipped" == x"""
    assert renamed(expression, lambda one: one.name).counts == ["Done", "failed", "Total"]


@pytest.mark.parametrize("name", ["A", "S+A", "a'b", "x\\", "true", "Parent", "1", "", "_x9"])
def test_a_name_in_an_expression_is_read_back(name: str) -> None:
    assert bare(attribute_name(name)) == name
    (one,) = references(f"Parents.{attribute_name(name)}.x")
    assert one.name == name
