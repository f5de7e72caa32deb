"""PUBLISH and NODE_RESULT lines."""

from __future__ import annotations

import pytest

from condor_pydagman.features.publish.commands import NodeResult, Publish
from condor_pydagman.language.commands import Command
from condor_pydagman.language.parser import lines_of
from tests.unit.language.one_line import good, message

ROUND_TRIPS = [
    ("PUBLISH A FILE out/a.ad", Publish(1, "A", "out/a.ad")),
    ('PUBLISH A file "a b"', Publish(1, "A", "a b")),
    ("PUBLISH A ATTRIBUTES MemoryUsage, x,MemoryUsage", Publish(1, "A", "", ("MemoryUsage", "x"))),
    ("NODE_RESULT A [ ExitCode = 0; n = 3 ]", NodeResult(1, "A", "[ ExitCode = 0; n = 3 ]")),
    ("NODE_RESULT A []", NodeResult(1, "A", "[]")),
]


@pytest.mark.parametrize(("line", "command"), ROUND_TRIPS)
def test_lines_are_read_and_written(line: str, command: Command) -> None:
    assert good(line + "\n") == command
    assert good(lines_of(command) + "\n") == command


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("PUBLISH A ATTRIBUTES a,,b c", "Invalid name of an attribute 'b c'"),
        ("PUBLISH A ATTRIBUTES exitcode", "exitcode can't be published"),
        ("PUBLISH A ATTRIBUTES Cmd,Is", "Is can't be published"),
        ("NODE_RESULT A [ n = ) ]", "Invalid NODE_RESULT expression '[ n = ) ]'"),
    ],
)
def test_wrong_lines(line: str, said: str) -> None:
    assert message(line + "\n").partition(": ")[2] == said
