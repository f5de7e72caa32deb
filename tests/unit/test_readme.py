"""The README: the commands of its table are commands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from condor_pydagman.cli.pydagman import SUBCOMMANDS
from condor_pydagman.language.parser import parse

README = Path(__file__).resolve().parents[2] / "README.md"
ROWS = re.findall(r"^\| ([^|`]+) \| (`[^|]+) \| ", README.read_text(encoding="utf-8"), re.M)
COMMANDS = [command for _, cell in ROWS for command in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_table_is_one(command: str) -> None:
    program, *words = command.split()
    if program == "condor_pydagman":
        assert words[0] in SUBCOMMANDS
    elif program == "from":
        exec(command, {})  # the page's own line
    elif not program.startswith("condor_"):
        assert not parse(command + "\n", "README").errors


def test_it_fits_into_the_head() -> None:
    assert len(COMMANDS) > 15
    assert len(README.read_text(encoding="utf-8").splitlines()) < 80
