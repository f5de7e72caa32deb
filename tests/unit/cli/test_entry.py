"""What PYTHONPATH holds does not change what the commands run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from condor_pydagman.cli import entry

ROOT = str(Path(__file__).resolve().parents[3])
COMMANDS = ["condor_submit_dag", "condor_dagman", "condor_dag_checker", "condor_pydagman"]


def run(command: str, python_path: str, directory: Path) -> subprocess.CompletedProcess[str]:
    # As the installed script does: the package is found without PYTHONPATH.
    program = f"import sys; sys.path.insert(1, {ROOT!r}); sys.argv = [{command!r}, '-h']\n"
    program += f"from condor_pydagman.cli import entry; sys.exit(entry.{command}())"
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": python_path},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("python_path", ["{}", ":/none", "{}:" + ROOT])
def test_modules_of_pythonpath_come_last(tmp_path: Path, command: str, python_path: str) -> None:
    for name in ("htcondor2", "classad2", "select", "json", "condor_dagman", "argparse"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('not the one')\n")
    done = run(command, python_path.format(tmp_path), tmp_path)
    assert done.stderr == ""
    assert "sage" in done.stdout


def test_what_only_pythonpath_has_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["/theirs", "/python", "/bindings/", "/site"])
    monkeypatch.setenv("PYTHONPATH", "/theirs:/bindings")
    entry.own_modules_first()
    assert sys.path == ["/python", "/site", "/theirs", "/bindings/"]


def test_our_own_directory_stays_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["/theirs", ROOT, "/python"])
    monkeypatch.setenv("PYTHONPATH", f"/theirs:{ROOT}")
    entry.own_modules_first()
    assert sys.path == [ROOT, "/python", "/theirs"]


def test_no_pythonpath(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["/b", "/a"])
    monkeypatch.delenv("PYTHONPATH", raising=False)
    entry.own_modules_first()
    assert sys.path == ["/b", "/a"]
