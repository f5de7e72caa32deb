"""The runner as a file: what finds its Python, which Pythons run it, what it needs."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.features.bundle.bundle_job import RUNNER, BundleJob, changed

FIXED = "/usr/bin/python3 /usr/libexec/platform-python"
# Those of this machine, beside the one that runs the tests.
HOMES = (Path("/usr"), *Path.home().glob(".pyenv/versions/3*"))
PYTHONS = sorted(
    {
        str(path.resolve())
        for home in HOMES
        for path in home.glob("bin/python3.*")
        if path.name.removeprefix("python3.").isdigit()
    }
    | {sys.executable}
)
EMPTY = '{"format": 1, "parallel": 1}\n'


def runner_at(path: Path, *places: str) -> Path:
    """A copy of it that looks for Python at these places only, and on PATH."""
    text = RUNNER.read_text()
    assert text.count(FIXED) == 1
    path.write_text(text.replace(FIXED, " ".join(places) or "/no/such/python3"))
    path.chmod(0o755)
    return path


def python_at(path: Path) -> Path:
    """A python3 there, which notes how it is called."""
    path.mkdir()
    script = f'#!/bin/sh\necho "$@" > "{path}/called"\nexec {sys.executable} "$@"\n'
    (path / "python3").write_text(script)
    (path / "python3").chmod(0o755)
    return path


def call(command: list[str], tmp_path: Path, path: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "tasks").write_text(EMPTY)
    return subprocess.run(
        command, cwd=tmp_path, env={"PATH": path}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("by", [[], ["/bin/sh"]], ids=["direct", "by sh"])
def test_a_python_on_path_is_found(tmp_path: Path, by: list[str]) -> None:
    runner = runner_at(tmp_path / "condor_exec.exe")
    python = python_at(tmp_path / "bin dir")
    done = call([*by, str(runner), "tasks"], tmp_path, f"/no/such:{python}")
    assert (done.returncode, done.stderr) == (0, "")
    called = (python / "called").read_text()
    assert (called[:9], called.splitlines()[-1]) == ("-I -S -c ", f" {runner} tasks")
    assert '"handled": 0' in (tmp_path / "results").read_text()


def test_the_python_of_the_system_is_taken_first(tmp_path: Path) -> None:
    first, second = python_at(tmp_path / "first"), python_at(tmp_path / "second")
    runner = runner_at(tmp_path / "runner", "/no/such/python3", f"{first}/python3")
    assert call([str(runner), "tasks"], tmp_path, str(second)).returncode == 0
    assert (first / "called").exists()
    assert not (second / "called").exists()


def test_a_machine_without_python(tmp_path: Path) -> None:
    done = call([str(runner_at(tmp_path / "runner")), "tasks"], tmp_path, str(tmp_path))
    assert done.returncode == 127
    assert done.stderr.count("\n") == 1
    assert "needs Python 3.6 or newer" in done.stderr
    assert (tmp_path / "results").read_text() == ""  # a job that leaves none is put on hold


def test_a_machine_without_what_it_needs(tmp_path: Path) -> None:
    job = BundleJob(tmp_path / "job")
    job.command = changed("", fixed="import signal; del signal.sigtimedwait")
    assert "sigtimedwait" in job.run(23)


@pytest.mark.parametrize("transferred", [False, True], ids=["shared", "transferred"])
@pytest.mark.parametrize("python", PYTHONS)
def test_every_python(tmp_path: Path, python: str, transferred: bool) -> None:
    job = BundleJob(tmp_path / "job", transferred=transferred, parallel=2)
    job.command = (str(runner_at(tmp_path / "runner", python)),)
    (job.path / "1").write_text("data")
    job.add("echo Größe > new; cat", inputs=[["1", "in"]], input=os.devnull, output="o")
    job.add("kill -9 $$", outputs=["none"])
    job.add(program="/no such")
    job.add("sleep 1000", timeout=0.1)
    job.add("exit 3")
    if transferred:
        job.tasks[0]["input"] = "in"
    job.run()
    assert job.outcomes() == [(0, 0), (-9, 9), (127, 0), (-15, 15), (3, 0)]
    assert job.text("out/1/new" if transferred else "new") == "Größe\n"
    assert job.ended()[2]["missing"] == (["none"] if transferred else [])


def test_it_is_written_for_python_3_6() -> None:
    """And needs few modules, which are quick to load."""
    module = ast.parse(RUNNER.read_text(), feature_version=(3, 6))
    imports = [node for node in ast.walk(module) if isinstance(node, ast.Import)]
    first = {alias.name for node in imports if node in module.body for alias in node.names}
    later = {alias.name for node in imports if node not in module.body for alias in node.names}
    assert first == {"errno", "json", "os", "signal", "stat", "sys", "time"}
    assert later == {"shutil"}  # for tasks that change an input
    quoted = (ast.Constant, ast.Name, ast.Attribute)
    for node in ast.walk(module):
        found = [node.returns] if isinstance(node, ast.FunctionDef) else []
        found += [node.annotation] if isinstance(node, ast.arg) else []
        assert all(one is None or isinstance(one, quoted) for one in found), "quote it"


def test_it_loads_nothing_else() -> None:
    """Memory of each job, and time of each start."""
    command = changed("print(*sys.modules); sys.exit()")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    heavy = {"subprocess", "threading", "typing", "shutil", "tempfile", "argparse", "logging"}
    assert not heavy & {*done.stdout.split()}


def test_it_can_be_executed() -> None:
    assert os.access(RUNNER, os.X_OK)
