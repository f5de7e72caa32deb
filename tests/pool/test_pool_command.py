"""`condor_pydagman pool` as a person types it, in a pool of its own beside that of the tests."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from condor_pydagman.pool import processes
from tests.pool import dags
from tests.pool.access_point import AccessPoint
from tests.pool.conftest import set_knobs

pytestmark = pytest.mark.pool


@dataclass
class Typist:
    """Types `condor_pydagman pool ACTION` for the pool in one directory."""

    directory: Path

    def type(self, action: str, *words: str) -> subprocess.CompletedProcess[str]:
        command = os.path.join(os.path.dirname(sys.executable), "condor_pydagman")
        environment = {k: v for k, v in os.environ.items() if not k.startswith("_CONDOR_")}
        environment.pop("PYDAGMAN_POOL", None)
        return subprocess.run(
            [command, "pool", action, "--dir", str(self.directory), *words],
            env=environment,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def processes(self) -> list[int]:
        return processes.running(str(self.directory))


@pytest.fixture(scope="module")
def other(access_point: AccessPoint, place: Path) -> Iterator[Typist]:
    """A second pool, up, while the tests' own is up too."""
    set_knobs(place / "other")
    typist = Typist(place / "other")
    started = typist.type("start")
    assert started.returncode == 0, started.stderr
    assert "is up" in started.stdout
    yield typist
    typist.type("stop")


def test_status_of_a_pool_that_is_up(other: Typist) -> None:
    status = other.type("status")
    assert status.returncode == 0
    assert f"the pool in {other.directory} is up (condor_master: process " in status.stdout
    assert "schedd: <127.0.0.1:" in status.stdout
    assert "jobs: none" in status.stdout


def test_a_second_start_changes_nothing(other: Typist) -> None:
    before = (other.directory / "lock/master.pid").read_text()
    again = other.type("start")
    assert again.returncode == 0
    assert "was up already" in again.stdout
    assert (other.directory / "lock/master.pid").read_text() == before


@pytest.mark.parametrize("code", [0, 1, 7, 255])
def test_run_passes_the_exit_code(other: Typist, code: int) -> None:
    assert other.type("run", "sh", "-c", f"exit {code}").returncode == code


def test_run_passes_words_and_output_as_they_are(other: Typist) -> None:
    done = other.type("run", "--", "printf", "%s|", "a b", "--dir", "", "$HOME")
    assert (done.stdout, done.stderr, done.returncode) == ("a b|--dir||$HOME|", "", 0)


def test_the_command_htcondor_works(other: Typist) -> None:
    """A release made for another system looks for bindings in this system's Python."""
    done = other.type("run", "htcondor", "dag", "status", "4711")
    assert "No DAG found for ID 4711" in done.stdout + done.stderr


def test_run_of_what_is_not_there(other: Typist) -> None:
    done = other.type("run", "no-such-command")
    assert done.returncode == 127
    assert "no-such-command" in done.stderr


def test_run_of_nothing_is_a_wrong_command_line(other: Typist) -> None:
    assert other.type("run").returncode == 2


def test_an_action_that_is_not_there_is_a_wrong_command_line(other: Typist) -> None:
    assert other.type("begin").returncode == 2


def test_env_makes_a_shell_use_the_pool(other: Typist) -> None:
    printed = other.type("env")
    assert printed.returncode == 0
    script = printed.stdout + 'echo "$CONDOR_CONFIG"\n'
    script += "command -v condor_submit_dag\ncommand -v condor_q\n"
    shown = subprocess.run(
        ["sh", "-euc", script], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert shown[0] == str(other.directory / "condor_config")
    assert shown[1] == os.path.join(os.path.dirname(sys.executable), "condor_submit_dag")
    assert shown[2].endswith("/condor_q")


def test_two_pools_do_not_see_each_other(
    other: Typist, access_point: AccessPoint, work: Path
) -> None:
    dag = dags.write(work, 'JOB A job.sub\nVARS A seconds="60"\n')
    submitted = other.type("run", "sh", "-c", f"cd {work} && condor_submit_dag -terse t.dag")
    cluster = int(submitted.stdout.split(".")[0])
    access_point.wait_for(lambda: dags.starts(work)["A 0"], say="A to start there", dag=dag)
    assert not access_point.queue(f'DAG_NodesTotal > 0 && Iwd == "{work}"')
    assert "1 running" in other.type("status").stdout or "2 running" in other.type("status").stdout
    listed = other.type("run", "condor_q", "-af", "ClusterId").stdout.split()
    assert str(cluster) in listed


def test_stop_leaves_no_process_and_the_tests_pool_alone(
    other: Typist, access_point: AccessPoint
) -> None:
    """The DAG of the test before still runs, with a job."""
    assert other.processes()
    stopped = other.type("stop")
    assert stopped.returncode == 0, stopped.stderr
    assert "is stopped" in stopped.stdout
    assert other.processes() == []
    assert _living_in(other.directory.parent / "test_two_pools_do_not_see_each_other") == []
    assert access_point.pool.status().up
    access_point.run("condor_q")


def _living_in(directory: Path) -> list[str]:
    """Processes whose working directory it is."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/cwd") == str(directory):
                found.append(entry)
        except OSError:
            continue
    return found


def test_a_stopped_pool(other: Typist) -> None:
    status = other.type("status")
    assert status.returncode == 1
    assert "is down" in status.stdout
    again = other.type("stop")
    assert again.returncode == 0
    assert "was not running" in again.stdout


def test_a_pool_that_never_was(place: Path) -> None:
    typist = Typist(place / "never")
    assert typist.type("status").returncode == 1
    env = typist.type("env")
    assert env.returncode == 1
    assert "start one with: condor_pydagman pool start" in env.stderr
    assert typist.type("run", "true").returncode == 1
    assert typist.type("stop").returncode == 0
    assert not typist.directory.exists()


def test_a_directory_that_cannot_be_made(place: Path) -> None:
    (place / "file").write_text("")
    done = Typist(place / "file" / "pool").type("start")
    assert done.returncode == 1
    assert "choose another directory with --dir" in done.stderr


def test_the_queue_is_kept(other: Typist, access_point: AccessPoint) -> None:
    """It was stopped with a DAG in the queue."""
    assert other.type("start").returncode == 0
    shown = access_point.wait_for(
        lambda: other.type("run", "condor_q", "-af", "DAG_NodesTotal").stdout.split(), 20
    )
    assert "1" in shown
    assert other.type("run", "condor_rm", "-all").returncode == 0
    assert other.type("stop").returncode == 0
    assert other.processes() == []
