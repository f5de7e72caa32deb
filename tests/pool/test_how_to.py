"""The pages of docs/how-to on a real pool: their files are written, their commands typed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import pages
from tests.pool.access_point import AccessPoint

pytestmark = pytest.mark.pool


def page(name: str) -> str:
    return (pages.DOCS / "how-to" / f"{name}.md").read_text(encoding="utf-8")


def write(text: str, work: Path) -> None:
    """Write the files of a page, also those below directories, for the pool's user to change."""
    pages.write_files(text, work)
    for path in work.rglob("*"):
        path.chmod(0o777 if path.is_dir() or path.stat().st_mode & 0o111 else 0o666)


def type_in(text: str, access_point: AccessPoint, work: Path) -> None:
    """Run the commands of a page, and compare what they print."""
    for step in pages.steps(text):
        shell = ("sh", "-c", f"exec 2>&1; {step.command}")
        printed = access_point.run(*shell, cwd=work, check=False).stdout
        assert pages.agrees(step.output, printed), (
            f"line {step.line}: $ {step.command}\n{printed}--- but the page says\n{step.output}"
        )


@pytest.mark.parametrize("name", ["no-shared-file-system", "python", "nightly-runs"])
def test_page(access_point: AccessPoint, work: Path, name: str) -> None:
    write(page(name), work)
    type_in(page(name), access_point, work)
