"""The tutorial: every file is written, every command typed, as the page has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import pages
from tests.pool.access_point import AccessPoint
from tests.pool.test_how_to import write
from tests.waiting import until

pytestmark = pytest.mark.pool

# Commands that only look, at what may take a moment to come.
LOOKS = ("condor_pydagman explain", "condor_pydagman rescue")


def test_the_tutorial(access_point: AccessPoint, work: Path) -> None:
    text = (pages.DOCS / "tutorial.md").read_text(encoding="utf-8")
    write(text, work)
    steps = [one for one in pages.steps(text) if "condor_pydagman pool " not in one.command]
    assert len(steps) > 20
    for step in steps:
        type_in(access_point, work, step)


def type_in(access_point: AccessPoint, work: Path, step: pages.Step) -> None:
    """Run a command of the page, and compare what it prints."""

    def printed() -> str:
        shell = ("sh", "-c", f"exec 2>&1; {step.command}")
        return access_point.run(*shell, cwd=work, check=False).stdout

    if step.command.startswith(LOOKS):
        until(
            lambda: pages.agrees(step.output, printed()), step.command, story=printed, pause_s=0.5
        )
    else:
        said = printed()
        assert pages.agrees(step.output, said), (
            f"line {step.line}: $ {step.command}\n{said}--- but the page says\n{step.output}"
        )
