"""The README: the commands of its table are commands, and its figures those of the pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from condor_pydagman.cli.pydagman import SUBCOMMANDS
from condor_pydagman.language.parser import parse

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
CELLS = re.findall(r"^\| [^|`]+ \| (`[^|]+) \|$", TEXT, re.M)
COMMANDS = [command for cell in CELLS for command in re.findall(r"`([^`]+)`", cell)]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_table_is_one(command: str) -> None:
    program, *words = command.split()
    if program == "condor_pydagman":
        assert words[0] in SUBCOMMANDS
    elif program == "from":
        exec(command, {})  # the page's own line
    elif not program.startswith("condor_"):
        assert not parse(command + "\n", "README").errors


def test_it_fits_on_a_page() -> None:
    assert len(COMMANDS) > 10
    assert len(TEXT.splitlines()) < 70
    assert len(TEXT.split()) < 600


def figures(page: str, row: str) -> list[float]:
    """The numbers of the first row of this name in a page's tables; a dash counts as 0."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    _, _, rest = text.partition(f"\n| {row} | ")
    cells = rest.partition("\n")[0].replace(",", "").split("|")[:-1]
    return [float(re.sub(r"[^\d.]", "", cell) or 0) for cell in cells]


def test_its_speed_is_that_of_the_benchmark() -> None:
    row = "end of parent to submit of child, median"
    _, stock, tuned, ours, *_ = figures("performance.md", row)
    told = f"{ours:.0f} ms in the median; HTCondor's own DAGMan takes {tuned / 1000:.0f} to"
    assert f"{told} {stock / 1000:.0f} seconds" in TEXT
    together = figures("performance.md", "held jobs, submit rate")[5]
    assert f"reach {round(together, -3):,.0f} a second" in TEXT


@pytest.mark.parametrize("what", ["time", "memory"])
def test_a_million_nodes_take_a_third(what: str) -> None:
    assert "a million nodes load in a third of the time and memory" in TEXT
    stock, ours, _ = figures("performance.md", f"1,000,000 nodes, with VARS: {what}")
    assert round(stock / ours) == 3


def test_its_memory_is_that_of_the_benchmark() -> None:
    stock, awake, asleep = figures("performance.md", "USS of a DAGMan, no event")
    assert f"{awake:.0f} MB of its own for a DAGMan that is awake, {asleep:.1f} MB for" in TEXT
    assert f"own takes {stock:.0f} MB" in " ".join(TEXT.split())


def test_its_kills_are_those_of_the_torture_test() -> None:
    assert "kills DAGMan more than 500 times" in TEXT
    _, _, kills, jobs, *violations = figures("torture.md", "**all**")[:8]
    assert kills > 500 and jobs > 5000 and not any(violations)
