"""The page's JavaScript passes eslint and the types of TypeScript, which npm fetches."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "condor_pydagman/web/page"
LACKING = "" if shutil.which("npm") and shutil.which("node") else "node and npm are not installed"

pytestmark = [pytest.mark.long, pytest.mark.skipif(bool(LACKING), reason=LACKING)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the page, the tools and their settings."""
    directory = tmp_path_factory.mktemp("javascript")
    shutil.copytree(HERE / "javascript", directory, dirs_exist_ok=True)
    shutil.copytree(PAGE, directory / "page")
    quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"]
    done = run(directory, "npm", "install", *quiet)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["nothing was said"]
        pytest.skip(f"npm can't fetch the tools: {said[0]}")
    return directory


def run(directory: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", ["eslint page", "tsc --project tsconfig.json"])
def test_tools_are_content(place: Path, command: str) -> None:
    program, *words = command.split()
    done = run(place, str(place / "node_modules/.bin" / program), *words)
    assert done.returncode == 0, done.stdout + done.stderr


def test_they_would_find_something(place: Path) -> None:
    (place / "page/wrong.js").write_text("const unused = document.nothing;\n")
    try:
        found = run(place, str(place / "node_modules/.bin/tsc"), "--project", "tsconfig.json")
        assert "'nothing' does not exist" in found.stdout
        found = run(place, str(place / "node_modules/.bin/eslint"), "page")
        assert "'unused' is assigned a value but never used" in found.stdout
    finally:
        (place / "page/wrong.js").unlink()
