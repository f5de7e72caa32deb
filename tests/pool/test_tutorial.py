"""The tutorial: every file is written, every command typed, as the page has them."""

from __future__ import annotations

from pathlib import Path

from tests import pages
from tests.pool.access_point import AccessPoint
from tests.pool.test_how_to import write
from tests.waiting import until

AGAIN = "ask again until"  # so a person is told before a command that may have to be repeated


def test_the_tutorial(access_point: AccessPoint, work: Path) -> None:
    text = (pages.DOCS / "tutorial.md").read_text(encoding="utf-8")
    write(text, work)
    steps = [one for one in pages.steps(text) if "condor_pydagman pool " not in one.command]
    assert len(steps) > 20
    for step in steps:
        type_in(access_point, work, step, may_repeat=AGAIN in said_before(text, step))


def said_before(text: str, step: pages.Step) -> str:
    """The paragraph before the block of a command."""
    before, _, _ = "\n".join(text.splitlines()[: step.line]).rpartition("```console")
    return before.rstrip().rpartition("\n\n")[2]


def type_in(access_point: AccessPoint, work: Path, step: pages.Step, *, may_repeat: bool) -> None:
    """Run a command of the page as a person would, and compare what it prints."""

    def printed() -> str:
        shell = ("sh", "-c", f"exec 2>&1; {step.command}")
        return access_point.run(*shell, cwd=work, check=False).stdout

    if may_repeat:
        until(
            lambda: pages.agrees(step.output, printed()), step.command, story=printed, pause_s=0.5
        )
    else:
        said = printed()
        assert pages.agrees(step.output, said), (
            f"line {step.line}: $ {step.command}\n{said}--- but the page says\n{step.output}"
        )
