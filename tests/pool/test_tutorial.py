"""The tutorial: every file is written, every command typed, as the page has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import Command, File, steps_of
from tests.pool.access_point import AccessPoint, new_directory

pytestmark = pytest.mark.pool

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
# Commands that only look, at what may take a moment to come.
LOOKS = ("condor_pydagman explain", "condor_pydagman rescue")


def test_the_tutorial(access_point: AccessPoint, work: Path) -> None:
    place = new_directory(work / "squares")
    typed = 0
    for step in steps_of(TUTORIAL):
        if isinstance(step, File):
            (place / step.name).write_text(step.text)
            (place / step.name).chmod(0o666)
        elif not step.line.startswith("condor_pydagman pool "):  # a pool is there
            typed += 1
            if step.line.startswith(LOOKS):
                access_point.wait_for(lambda step=step: not _lacks(access_point, place, step))
            else:
                assert _lacks(access_point, place, step) == ""
    assert typed > 20


def _lacks(access_point: AccessPoint, place: Path, command: Command) -> str:
    """What the command does not print of what the page has, and what it prints; '' if it does."""
    line = f"{{ {command.line}; }} 2>&1"  # in the order in which a terminal shows it
    printed = access_point.run("sh", "-c", line, cwd=place, check=False).stdout
    lacks = command.missing(printed)
    return f"{command.line}: no {lacks!r} in\n{printed}" if lacks else ""
