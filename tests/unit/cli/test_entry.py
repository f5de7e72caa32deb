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


def test_an_inherited_ignored_sigchld_is_reset(tmp_path: Path) -> None:
    """One child reads the CONFIG file, another checks the DAG."""
    (tmp_path / "t.dag").write_text("CONFIG t.config\nJOB A a.sub\n")
    (tmp_path / "a.sub").write_text("executable = /bin/true\nqueue\n")
    (tmp_path / "t.config").write_text("DAGMAN_MAX_JOBS_IDLE = 5\n")
    program = f"import signal, sys; sys.path.insert(1, {ROOT!r})\n"
    program += "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
    program += "sys.argv = ['condor_submit_dag', '-no_submit', '-check_dag', 't.dag']\n"
    program += "from condor_pydagman.cli import entry; entry.condor_submit_dag()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={
            **os.environ,
            "CONDOR_CONFIG": "/dev/null",
            "_CONDOR_DAGMAN_AVOID_SLASH_TMP": "False",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("variable", "before", "after"),
    [
        ("/theirs:/bindings", "/theirs /python /bindings/ /site",
         "/python /site /theirs /bindings/"),
        (f"/theirs:{ROOT}", f"/theirs {ROOT} /python", f"{ROOT} /python /theirs"),
        (None, "/b /a", "/b /a"),
    ],
    ids=["modules found only there can be imported", "our own stays where it is", "none"],
)  # fmt: skip
def test_pythonpath_comes_last(
    monkeypatch: pytest.MonkeyPatch, variable: str | None, before: str, after: str
) -> None:
    monkeypatch.setattr(sys, "path", before.split())
    monkeypatch.delenv("PYTHONPATH", raising=False)
    if variable is not None:
        monkeypatch.setenv("PYTHONPATH", variable)
    entry.own_modules_first()
    assert sys.path == after.split()


LISTENERS = [">/dev/full", ">&-", "| true"]


@pytest.mark.parametrize("where", LISTENERS)
@pytest.mark.parametrize(
    ("command", "codes"),
    [
        ("condor_dagman -v", (0, 0, 0)),
        ("condor_dag_checker -help", (0, 0, 141)),
        ("condor_dag_checker bad.dag", (1, 1, 141)),
        ("condor_dag_checker -json bad.dag", (1, 1, 141)),
        ("condor_pydagman flatten good.dag", (1, 0, 141)),
    ],
)
def test_a_closed_output_does_not_change_the_exit_code(
    tmp_path: Path, command: str, codes: tuple[int, int, int], where: str
) -> None:
    """A closed pipe, a full disk, a closed descriptor: no traceback, and the usual exit code."""
    (tmp_path / "bad.dag").write_text("JOB A\n")
    (tmp_path / "good.dag").write_text("JOB A a.sub\n")
    name, *words = command.split()
    program = f"import select, sys; sys.path.insert(1, {ROOT!r}); sys.argv = {[name, *words]!r}\n"
    if where == "| true":  # until nobody reads it any more
        program += "poll = select.poll(); poll.register(1, 0); poll.poll()\n"
    program += f"from condor_pydagman.cli import entry; sys.exit(entry.{name}())"
    done = subprocess.run(
        ["bash", "-c", f'"$0" -c "$1" {where}; exit ${{PIPESTATUS[0]}}', sys.executable, program],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == codes[LISTENERS.index(where)], done.stderr
    full = command.startswith("condor_pydagman") and "full" in where
    assert done.stderr == ("condor_pydagman: [Errno 28] No space left on device\n" if full else "")
