"""A test run that is killed leaves a pool, jobs and files; the next run ends and removes them."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from tests import run_directories
from tests.installation import CHECKOUT
from tests.pool.access_point import AccessPoint
from tests.pool.dagmans import running_dagmans
from tests.pool.waiting import until

RUNS = CHECKOUT / "var"


def users_of(directory: Path) -> dict[int, str]:
    """Processes that work in a directory, or have it in their environment."""
    found = {}
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            there = os.readlink(path / "cwd").startswith(f"{directory}/")
            if there or os.fsencode(f"={directory}/") in (path / "environ").read_bytes():
                found[int(path.name)] = (path / "cmdline").read_text(errors="replace")
    return found


def test_the_next_run_removes_what_a_killed_one_has_left(access_point: AccessPoint) -> None:
    before = set(RUNS.iterdir())
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider"]
    with subprocess.Popen(
        [*command, "tests/pool/test_python_interface.py"], cwd=CHECKOUT, env=environment
    ) as run:

        def its_directory() -> Path | None:
            """That of the run, once a DAGMan runs there."""
            assert run.poll() is None
            places = {Path(one.directory).parents[1] for one in running_dagmans()}
            return next(
                (path for path in places if path.parent == RUNS and path not in before), None
            )

        directory: Path = until(its_directory, "a DAGMan of the other run")
        run.kill()
    assert users_of(directory)
    assert directory in run_directories.remove_leftovers(RUNS)
    assert not directory.exists()
    until(lambda: not users_of(directory), "the end", tell=lambda: str(users_of(directory)))
    assert access_point.pool.status().up
