"""docs/compat.md has a row for all that stock has, and the tests that its rows name are there."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from condor_pydagman.config import knobs
from condor_pydagman.dagman_job.options import OPTIONS
from condor_pydagman.records import own_ad

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/compat.md"
VERDICTS = {"same", "better", "different"}
# Sections whose rows are: name, verdict, how or why, tests.
SECTIONS = [
    "Options of condor_submit_dag",
    "Arguments of condor_dagman",
    "Knobs",
    "Files",
    "Attributes of the DAGMan job",
    "Attributes of node jobs",
    "Clients",
    "Live control",
    "Installing, and side by side",
]


@cache
def rows(section: str) -> list[list[str]]:
    """The cells of each row of a section."""
    text = PAGE.read_text(encoding="utf-8")
    body = text.split(f"\n## {section}\n")[1].split("\n## ")[0]
    lines = [line for line in body.splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return cells[1:]  # without the heading


def names(section: str) -> set[str]:
    """All names in backquotes in a section's first column."""
    return {name for row in rows(section) for name in re.findall("`([^`]+)`", row[0])}


def test_every_option_of_condor_submit_dag() -> None:
    wanted = {f"-{option.name}" for option in OPTIONS}
    assert wanted - names("Options of condor_submit_dag") == set()


def test_every_argument_of_condor_dagman() -> None:
    wanted = {f"-{option.name}" for option in OPTIONS if option.daemon}
    assert wanted - names("Arguments of condor_dagman") == set()


def test_every_knob() -> None:
    wanted = {knob.name for knob in knobs()}
    assert wanted - names("Knobs") == set()


def test_every_throttle_in_the_job_ad() -> None:
    assert set(own_ad.LIMITS) - names("Attributes of the DAGMan job") == set()


@pytest.mark.parametrize("section", SECTIONS)
def test_rows(section: str) -> None:
    assert rows(section)
    for row in rows(section):
        assert len(row) == 4, row
        assert row[1] in VERDICTS, row
        assert row[1] == "same" or row[2], f"{row[0]}: how, or why?"
        assert row[3], f"{row[0]}: no test"


@pytest.mark.parametrize("section", SECTIONS)
def test_tests_are_there(section: str) -> None:
    for row in rows(section):
        for name in re.findall("`([^`]+)`", row[3]):
            path, _, function = name.partition("::")
            file = ROOT / "tests" / path
            assert file.exists(), f"{row[0]}: {name}"
            stands = rf"\bdef {function}\b|^{function} = STAGE\.|^\[{function}\]"
            assert not function or re.search(stands, file.read_text("utf-8"), re.M), name
