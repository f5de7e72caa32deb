"""What tools/environment.sh says of versions that it can't take, before it makes anything."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from condor_pydagman.errors import PoolError
from tools import fetch_python

SCRIPT = Path(__file__).resolve().parents[3] / "tools/environment.sh"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--python", "--python needs a version, such as --python 3.13"),
        ("test --htcondor new", "--htcondor needs a version, such as --htcondor 25.0"),
        ("--python=3.13", "there is no option --python=3.13; there are --python and --htcondor"),
        ("--python 3.8", "Python 3.8 won't do: the package needs 3.9 or newer (3."),
        ("--python 2.7 --htcondor 25.0", "Python 2.7 won't do: the package needs 3.9 or newer (3."),
        ("test --python 3.99", f"$PYTHON is {sys.executable}, which is no Python 3.99"),
    ],
)
def test_a_version_that_will_not_do_is_told_in_a_line(
    words: str, said: str, tmp_path: Path
) -> None:
    version = f"python3.{sys.version_info[1]}"
    (tmp_path / version).symlink_to(sys.executable)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    environment.pop("PYTHON", None)
    if "3.99" in words:
        environment["PYTHON"] = sys.executable
    done = subprocess.run(
        ["sh", str(SCRIPT), *words.split()],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"tools/environment.sh: {said}")
    assert done.stderr.count("\n") == 1


def script_in(checkout: Path) -> Path:
    """The script in what it takes for a checkout, with an environment already made."""
    script = checkout / "tools/environment.sh"
    script.parent.mkdir(parents=True)
    shutil.copy(SCRIPT, script)
    (checkout / "setup.cfg").touch()
    words = ["--system-site-packages", "--without-pip"]  # which takes no time
    subprocess.run([sys.executable, "-m", "venv", *words, checkout / ".venv"], check=True)
    return script


@pytest.mark.parametrize("name", ["a b", "/".join(["x" * 100] * 3)])
def test_a_path_where_no_command_could_run_is_told_before_anything_is_installed(
    tmp_path: Path, name: str
) -> None:
    done = subprocess.run(
        ["sh", str(script_in(tmp_path / name))], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"no command can run in {tmp_path / name}/.venv/bin" in done.stderr
    assert "put the checkout elsewhere" in done.stderr


def test_without_a_home_of_the_environment_it_is_that_of_the_account() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "HOME"}
    done = subprocess.run(
        ["sh", str(SCRIPT), "--python", "3.8"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Python 3.8 won't do" in done.stderr


def test_a_python_that_has_been_fetched_is_not_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("condor_pydagman.pool.apt.available", lambda: False)
    there = fetch_python.interpreter(tmp_path, "3.99")
    there.parent.mkdir(parents=True)
    there.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    there.chmod(0o755)
    assert fetch_python.fetch("3.99", tmp_path) == there


def test_without_apt_no_python_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("condor_pydagman.pool.apt.available", lambda: False)
    with pytest.raises(PoolError, match="no apt-get"):
        fetch_python.fetch("3.99", tmp_path / "python")
    assert not (tmp_path / "python").exists()


def test_a_python_that_could_not_be_fetched_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(archive: object, version: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("condor_pydagman.pool.apt.available", lambda: True)
    monkeypatch.setattr(fetch_python, "_choose_suite", fail)
    with pytest.raises(PoolError, match="python: No space left on device; set XDG_CACHE_HOME"):
        fetch_python.fetch("3.99", tmp_path / "python")
    assert not (tmp_path / "python").exists()
