"""Names and values of the nodes of a sweep."""

from __future__ import annotations

import pytest

from condor_pydagman.errors import UsageError
from condor_pydagman.features.sweep import commands
from condor_pydagman.features.sweep.commands import (
    Dimension,
    Sweep,
    filled,
    node_names,
    product,
    read_rows,
)


def test_the_last_variable_varies_fastest() -> None:
    table = product([Dimension("x", ("1..2",)), Dimension("y", ("a", "b", "c"))])
    assert table.size == 6
    assert list(filled("{x}{y}", table, "")) == ["1a", "1b", "1c", "2a", "2b", "2c"]
    assert list(filled("", table, "")) == [""] * 6
    assert list(filled("{1}{}-{x", table, "")) == ["{1}{}-{x"] * 6


def test_a_variable_along_another() -> None:
    table = product(
        [Dimension("x", ("a", "b")), Dimension("w", ("1..2",), True), Dimension("y", ("8", "9"))]
    )
    assert list(filled("{x}{w}{y}", table, "")) == ["a18", "a19", "b28", "b29"]


@pytest.mark.parametrize(
    ("dimensions", "message"),
    [
        ([Dimension("x", ("1",)), Dimension("X", ("2",))], "Variable X comes twice"),
        (
            [Dimension("x", ("1..3",)), Dimension("y", ("1", "2"), True)],
            "ALONG y has 2 values, and x has 3",
        ),
        ([Dimension("x", ("1..99999",)), Dimension("y", ("1..99999",))], "9,999,800,001 nodes"),
    ],
)
def test_dimensions_that_do_not_fit(dimensions: list[Dimension], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        product(dimensions)


@pytest.mark.parametrize("mark", [False, True])
def test_a_table(mark: bool) -> None:
    text = 'id, energy,note\r\n1,10,"a, b"\r\n\r\n2,"20","say ""x"""\n'
    table = read_rows("\ufeff" * mark + text, "t.csv")
    assert table.columns == {"id": ["1", "2"], "energy": ["10", "20"], "note": ["a, b", 'say "x"']}
    assert list(table.lines) == [2, 4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "t.csv has no first line"),
        ("a,b\n", "t.csv has no rows"),
        ("a,b c\n1,2\n", "t.csv:1 can't name a variable 'b c'"),
        ("a,queue\n1,2\n", "t.csv:1 can't name a variable 'queue': .* begin with queue"),
        ("a,,b\n1,2,3\n", "t.csv:1 has an empty cell, or a comma too many: column 2"),
        ("a;b\n1;2\n", "can't name a variable 'a;b': .*; commas separate the columns"),
        ("a,A\n1,2\n", "t.csv:1 names the variable a twice"),
        ("a,b\n1,2\n3\n", "t.csv:3 has 1 cell: expected 2, for a, b"),
        ('a,b\n1,2\n3,"x\nqueue"\n', "t.csv:4 has a cell of more than one line: row 2 .*column b"),
        ('a\n"x\rqueue"\n', "t.csv:3 has a cell of more than one line: row 1 .*, column a"),
        ('a\n"x\n', "t.csv:3 can't be read as CSV|t.csv:2 can't be read as CSV"),
        ("a\n" + "x" * 10_001 + "\n", "t.csv:2 has a cell of over 10000 characters"),
    ],
)
def test_tables_that_are_wrong(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read_rows(text, "t.csv")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("n{y}", r"The name has \{y\}, and the sweep no variable of that name: it has x, z"),
        ("{x}{z}", r"would be called 'b c1' \(line 4 of its table\)"),
        ("{z}", r"Node 1 comes twice in the sweep: put \{x\} into the name"),
    ],
)
def test_names_that_are_wrong(name: str, message: str) -> None:
    table = read_rows("x,z\na,1\na,2\nb c,1\n", "t.csv")
    with pytest.raises(UsageError, match=message):
        node_names(Sweep(1, name, "s", rows="t.csv"), table)


def test_reserved_names_and_equal_rows() -> None:
    with pytest.raises(UsageError, match="can't be names of nodes"):
        node_names(Sweep(1, "{x}", "s"), read_rows("x\nb\nchild\n", "t"))
    with pytest.raises(UsageError, match="the table has equal rows"):
        node_names(Sweep(1, "{x}", "s"), read_rows("x\nb\nb\n", "t"))
    with pytest.raises(UsageError, match="would be called ''"):
        node_names(Sweep(1, "{x}", "s"), read_rows('x,y\nb,1\n"",1\n', "t"))


def test_the_limit_of_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "MAX_NODES", 5)
    with pytest.raises(UsageError, match="The sweep would have 6 nodes: expected 1 to 5"):
        product([Dimension("x", ("1..6",))])
