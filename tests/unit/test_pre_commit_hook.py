"""The hook for pre-commit (.pre-commit-hooks.yaml): its entry, run as pre-commit runs it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOLERATED = {"DAG306"}  # the directories of tests are below /tmp


def hook() -> dict[str, str]:
    """The only hook of the file, in which each value stands in a line."""
    text = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
    lines = [line[2:] for line in text.splitlines() if not line.lstrip().startswith("#")]
    return dict(line.split(": ", 1) for line in lines)


def run(directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        [*shlex.split(hook()["entry"]), *words],
        cwd=directory,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def codes(said: str) -> set[str]:
    return set(re.findall(r"\bDAG[0-9]{3}\b", said))


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "good").mkdir()
    (tmp_path / "good/a.sub").write_text("executable = /bin/true\nqueue\n")
    for name in ("one", "two"):  # together they would have two FINAL nodes
        (tmp_path / f"good/{name}.dag").write_text("JOB A a.sub\nFINAL F a.sub\n")
    (tmp_path / "bad one.dag").write_text("JOB A a.sub\nPARENT A CHILD B\n")
    return tmp_path


def test_each_file_is_checked_alone_in_its_directory(repository: Path) -> None:
    done = run(repository, "-UseDagDir", "good/one.dag", "good/two.dag")
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert codes(done.stdout) <= TOLERATED


def test_a_mistake_in_one_of_them(repository: Path) -> None:
    done = run(repository, "-UseDagDir", "bad one.dag", "good/one.dag")
    assert done.returncode == 1
    assert "bad one.dag:2" in done.stdout
    assert "    in bad one.dag\n" in done.stdout
    assert "good/one.dag:" not in done.stdout.replace("good/one.dag: warning DAG306", "")


def test_a_file_whose_name_begins_as_an_option_does(repository: Path) -> None:
    (repository / "bad one.dag").rename(repository / "-bad.dag")
    done = run(repository, "-UseDagDir", "-bad.dag")
    assert done.returncode == 1
    assert "in ./-bad.dag" in done.stdout
