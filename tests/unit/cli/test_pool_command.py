"""`condor_pydagman pool` as a person types it, for a pool that is not up."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pytest

COMMANDS = Path(sys.executable).parent


@dataclass
class Typist:
    """Types `condor_pydagman pool ACTION` for the pool in one directory."""

    directory: Path

    def type(self, action: str, *words: str) -> subprocess.CompletedProcess[str]:
        command = [str(COMMANDS / "condor_pydagman"), "pool", action, "--dir", str(self.directory)]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("_CONDOR_")}
        environment.pop("PYDAGMAN_POOL", None)
        return subprocess.run(
            [*command, *words], env=environment, capture_output=True, text=True, check=False
        )


@pytest.fixture
def stopped(run_directory: Path) -> Typist:
    """A pool that has been started once, with an HTCondor of one command.

    Root's pool has a user of its own, who can't reach the files below `tmp_path`.
    """
    place = Path(tempfile.mkdtemp(dir=run_directory))
    place.chmod(0o755)
    directory, release = place / "pool", place / "release"
    for path in (directory, release / "bin"):
        path.mkdir(parents=True)
    (directory / "release").write_text(f"{release}\n")
    (release / "bin/condor_q").write_text("#!/bin/sh\n")
    (release / "bin/condor_q").chmod(0o755)
    return Typist(directory)


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_run_passes_the_exit_code(stopped: Typist, code: int) -> None:
    assert stopped.type("run", "sh", "-c", f"exit {code}").returncode == code


def test_run_passes_words_and_output_as_they_are(stopped: Typist) -> None:
    done = stopped.type("run", "--", "printf", "%s|", "a b", "--dir", "", "$HOME")
    assert (done.stdout, done.stderr, done.returncode) == ("a b|--dir||$HOME|", "", 0)


def test_run_of_what_is_not_there(stopped: Typist) -> None:
    done = stopped.type("run", "no-such-command")
    assert done.returncode == 127
    assert "no-such-command" in done.stderr


def test_wrong_command_lines(stopped: Typist) -> None:
    assert stopped.type("run").returncode == 2
    assert stopped.type("begin").returncode == 2


def test_env_makes_a_shell_use_the_pool(stopped: Typist) -> None:
    printed = stopped.type("env")
    assert printed.returncode == 0
    script = printed.stdout + 'echo "$CONDOR_CONFIG"\n'
    script += "command -v condor_submit_dag\ncommand -v condor_q\n"
    shown = subprocess.run(
        ["sh", "-euc", script], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert shown == [
        str(stopped.directory / "condor_config"),
        str(COMMANDS / "condor_submit_dag"),
        str(stopped.directory.parent / "release/bin/condor_q"),
    ]


def test_a_pool_that_is_down(stopped: Typist) -> None:
    status = stopped.type("status")
    assert (status.stdout, status.returncode) == (f"the pool in {stopped.directory} is down\n", 1)
    again = stopped.type("stop")
    assert again.returncode == 0
    assert "was not running" in again.stdout


def test_a_pool_that_never_was(tmp_path: Path) -> None:
    typist = Typist(tmp_path / "never")
    assert typist.type("status").returncode == 1
    env = typist.type("env")
    assert env.returncode == 1
    assert "start one with: condor_pydagman pool start" in env.stderr
    assert typist.type("run", "true").returncode == 1
    assert typist.type("stop").returncode == 0
    assert not typist.directory.exists()


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = Typist(tmp_path / "file" / "pool").type("start")
    assert done.returncode == 1
    assert "choose another directory with --dir" in done.stderr
