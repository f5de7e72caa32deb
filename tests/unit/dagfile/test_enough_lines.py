"""ENOUGH: how its line is read and written."""

from __future__ import annotations

import pytest

from condor_pydagman.dagfile import commands, printer
from condor_pydagman.dagfile.parser import parse


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("ENOUGH ALL_NODES 3", ("ALL_NODES", "", 3, False, "REMOVE")),
        ("enough all-nodes of S 50% wait", ("ALL_NODES", "S", 50, True, "WAIT")),
        ("ENOUGH CATEGORY c 100 % REMOVE", ("CATEGORY", "c", 100, True, "REMOVE")),
        ("ENOUGH PARENTS X 7 WAIT", ("PARENTS", "X", 7, False, "WAIT")),
        ("ENOUGH PARENTS OF 7", ("PARENTS", "OF", 7, False, "REMOVE")),
    ],
)
def test_lines(line: str, fields: tuple[str, str, int, bool, str]) -> None:
    command = commands.EnoughLine(1, *fields)
    assert parse(line, "x.dag").commands == [command]
    assert parse(printer.lines(command), "x.dag").commands == [command]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ENOUGH", "Missing which nodes are meant"),
        ("ENOUGH SOME 1", "Unexpected token 'SOME'"),
        ("ENOUGH CATEGORY", "CATEGORY missing its name"),
        ("ENOUGH PARENTS", "PARENTS missing the node whose parents are meant"),
        ("ENOUGH ALL_NODES", "Missing how many nodes are enough"),
        ("ENOUGH ALL_NODES 0", "Invalid number of nodes that are enough '0'"),
        ("ENOUGH ALL_NODES 0%", "Invalid number of nodes that are enough '0'"),
        ("ENOUGH ALL_NODES 101%", "Invalid number of nodes that are enough '101'"),
        ("ENOUGH ALL_NODES 101 %", "Invalid number of nodes that are enough '101'"),
        ("ENOUGH ALL_NODES % 1", "Invalid number of nodes that are enough '%'"),
        ("ENOUGH ALL_NODES 1 STOP", "Unexpected token 'STOP'"),
        ("ENOUGH ALL_NODES 1 WAIT 2", "Unexpected token '2'"),
    ],
)
def test_mistakes(line: str, message: str) -> None:
    (error,) = parse(line, "x.dag").errors
    assert message in str(error)
