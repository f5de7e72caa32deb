"""SKIPPED lines."""

from __future__ import annotations

import pytest

from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.parser import lines_of
from condor_pydagman.features.skipping.grammar import Skipped
from tests.unit.dagfile.one_line import good, message

ROUND_TRIPS = [
    ("SKIPPED S+A", Skipped(1, "S+A")),
]


@pytest.mark.parametrize(("line", "command"), ROUND_TRIPS)
def test_lines_are_read_and_written(line: str, command: Command) -> None:
    assert good(line + "\n") == command
    assert good(lines_of(command) + "\n") == command


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("SKIPPED", "No node name specified"),
        ("SKIPPED A B", "Unexpected token 'B'"),
    ],
)
def test_wrong_lines(line: str, said: str) -> None:
    assert message(line + "\n").partition(": ")[2] == said
