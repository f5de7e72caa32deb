"""Requirements cut into the parts that must all hold."""

from __future__ import annotations

import pytest

from condor_pydagman.explain.jobs import clauses_of, names_in


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("", [""]),
        ("false", ["false"]),
        ("((A))", ["A"]),
        ("(A) && (B)", ["A", "B"]),
        ("(A && (B && C)) && D", ["A", "B", "C", "D"]),
        ("A && (B || C && D)", ["A", "B || C && D"]),
        ("A || B && C", ["A || B && C"]),
        ("A ? B && C : D", ["A ? B && C : D"]),
        ('X == "a && (b" && Y', ['X == "a && (b"', "Y"]),
        ('X == "a\\" && b" && Y', ['X == "a\\" && b"', "Y"]),
        ('member("x", {"a", "b"}) && L[0]', ['member("x", {"a", "b"})', "L[0]"]),
        ("(A) == (B)", ["(A) == (B)"]),
        ("(A && B", ["(A && B"]),
    ],
)
def test_clauses(text: str, clauses: list[str]) -> None:
    assert clauses_of(text) == clauses


def test_names() -> None:
    text = 'TARGET.Memory >= RequestMemory && stringListMember("Name", MY.List) && Memory > 1.5e3'
    assert names_in(text) == ["TARGET.Memory", "RequestMemory", "MY.List", "Memory"]
