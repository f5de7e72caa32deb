"""CHOOSE: how its line is read and written."""

from __future__ import annotations

import pytest

from condor_pydagman.features.choose.commands import Choose
from condor_pydagman.language.parser import lines_of, parse


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("CHOOSE FROM A", Choose(1, "FROM", ("A",))),
        ("choose until A S+B c", Choose(1, "UNTIL", ("A", "S+B", "c"))),
        ("CHOOSE Only sim_*", Choose(1, "ONLY", ("sim_*",))),
    ],
)
def test_lines(line: str, command: Choose) -> None:
    assert parse(line, "x.dag").commands == [command]
    assert parse(lines_of(command), "x.dag").commands == [command]
