"""Lines that join nodes; the messages are those of the stock checker for the same lines."""

from __future__ import annotations

import pytest

from condor_pydagman.language.commands import Command, Connect, ParentChild, Pin
from tests.unit.language.one_line import good, message, wrong


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("WEAK PARENT A CHILD B", ParentChild(1, ("A",), ("B",), True)),
        ("weak parent A B child C D", ParentChild(1, ("A", "B"), ("C", "D"), True)),
        ("PARENT A CHILD CHILD C child D", ParentChild(1, ("A",), ("C", "D"))),
        ("PARENT WEAK CHILD B", ParentChild(1, ("WEAK",), ("B",))),
        ("CONNECT S 'T U'", Connect(1, "S", "'T U'")),
        ("PIN_IN A 1", Pin(1, "A", 1, False)),
        ("pin-out A 12x", Pin(1, "A", 12, True)),
    ],
)
def test_good_lines(text: str, command: Command) -> None:
    assert good(text) == command


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("WEAK FOO", "PARENT: WEAK dependency missing PARENT keyword"),
        ('WEAK "PARENT" A CHILD B', "PARENT: WEAK dependency missing PARENT keyword"),
        ("WEAK PARENT", "PARENT: No parent node(s) specified"),
        ("WEAK PARENT CHILD B", "PARENT: No parent node(s) specified"),
        ("WEAK PARENT A B", "PARENT: Missing CHILD specifier"),
        ("PARENT A CHILD B CHILD", "PARENT: No children node(s) specified"),
        ('WEAK PARENT "A CHILD B', "PARENT: Invalid quoting: no ending quote found"),
        ("PIN_IN A x", "PIN_IN: Invalid pin number 'x'"),
        ("PIN-OUT A -1", "PIN_OUT: Invalid pin number '-1'"),
        ("PIN-OUT A 99999999999", "PIN_OUT: Invalid pin number '99999999999'"),
        ("PIN-OUT A 1 2", "PIN_OUT: Unexpected token '2'"),
    ],
)
def test_wrong_lines(text: str, expected: str) -> None:
    assert message(text) == expected


def test_a_misspelled_child_is_pointed_at() -> None:
    error = wrong("PARENT A B CHIDL C D")
    assert (error.column, error.hint) == (12, "did you mean CHILD?")
    assert wrong("PARENT A B").hint.startswith("the nodes that wait for these follow a CHILD")
    assert wrong("WEAK PARNT A CHILD B").hint == "did you mean PARENT?"
