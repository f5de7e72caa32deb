"""The page's JavaScript passes eslint and the types of TypeScript, which npm fetches."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "condor_pydagman/web/page"
WRONG = "wrong.js"
LACKING = "" if shutil.which("npm") and shutil.which("node") else "node and npm are not installed"

pytestmark = [pytest.mark.long, pytest.mark.skipif(bool(LACKING), reason=LACKING)]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the page, a file with mistakes, the tools and their settings."""
    directory = tmp_path_factory.mktemp("javascript")
    shutil.copytree(HERE / "javascript", directory, dirs_exist_ok=True)
    shutil.copytree(PAGE, directory / "page")
    (directory / "page" / WRONG).write_text("const unused = document.nothing;\n")
    quiet = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"]
    done = run(directory, "npm", "install", *quiet)
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["nothing was said"]
        pytest.skip(f"npm can't fetch the tools: {said[0]}")
    return directory


def run(directory: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)


def test_eslint_finds_nothing_but_what_is_wrong(place: Path) -> None:
    done = run(place, str(place / "node_modules/.bin/eslint"), "page", "--format", "json")
    found = {Path(one["filePath"]).name: one["messages"] for one in json.loads(done.stdout)}
    said = {name: [one["message"] for one in messages] for name, messages in found.items()}
    assert said.pop(WRONG) == ["'unused' is assigned a value but never used."]
    assert not any(said.values()), said


def test_types_are_right_but_for_what_is_wrong(place: Path) -> None:
    done = run(place, str(place / "node_modules/.bin/tsc"), "--project", "tsconfig.json")
    (line,) = done.stdout.splitlines()
    assert line.startswith(f"page/{WRONG}(1,")
    assert "'nothing' does not exist" in line
