"""EXTEND and SCATTER: their lines, and what is wrong with them."""

from __future__ import annotations

import pytest

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.parser import parse


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("EXTEND A m.dag", commands.ExtendLine(1, "A", "m.dag")),
        ("extend A m.dag between", commands.ExtendLine(1, "A", "m.dag")),
        (
            'EXTEND A "m n" DIR d ANYWHERE PREFIX none',
            commands.ExtendLine(1, "A", "m n", False, "d", ""),
        ),
        (
            "SCATTER A l x-{item} x.sub DIR d PREFIX S+ VARS a={1} b={number}/{item}",
            commands.ScatterLine(
                1,
                "A",
                "l",
                "x-{item}",
                "x.sub",
                (("a", "{1}"), ("b", "{number}/{item}")),
                "d",
                "S+",
            ),
        ),
    ],
)
def test_lines(line: str, command: object) -> None:
    parsed = parse(line + "\n", "t.dag")
    assert not parsed.errors
    assert parsed.commands == [command]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("EXTEND", "No node name specified"),
        ("EXTEND A", "Missing DAG file"),
        ("EXTEND A m BELOW", "Unexpected token 'BELOW'"),
        ("EXTEND A m DIR", "DIR missing its directory"),
        ("EXTEND A m PREFIX", "PREFIX missing its text"),
        ("SCATTER A", "Missing list file"),
        ("SCATTER A l", "Missing pattern of the nodes' names"),
        ("SCATTER A l same x.sub", "Pattern 'same' gives all nodes the same name"),
        ("SCATTER A l {item}", "Missing submit description"),
        ("SCATTER A l {item} x VARS", "VARS missing its variables"),
        ("SCATTER A l {item} x VARS a", "Invalid variable 'a'"),
        ("SCATTER A l {item} x a=1", "Unexpected token 'a=1'"),
    ],
)
def test_what_is_wrong(line: str, message: str) -> None:
    (error,) = parse(line + "\n", "t.dag").errors
    assert message in str(error)
    assert (error.file, error.line) == ("t.dag", 1)
