"""What an expression of a RUN_IF refers to."""

from __future__ import annotations

import pytest

from condor_pydagman.dagfile.condition_text import attribute_name, bare, references, renamed


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
