"""`condor_pydagman pool` as a person types it, in a pool of its own beside that of the tests."""

from __future__ import annotations

import os
import re
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
from tests.pool.dagmans import processes_in
from tests.pool.waiting import until
from tests.waiting import LIMIT_S


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
            timeout=LIMIT_S,
            check=False,
        )

    def start(self) -> subprocess.CompletedProcess[str]:
        return self.type("start", "--timeout", f"{LIMIT_S:.0f}")

    def processes(self) -> list[int]:
        return processes.running(str(self.directory))


@pytest.fixture(scope="module")
def second(place: Path) -> Iterator[Typist]:
    """A second pool, beside that of the tests."""
    set_knobs(place / "other")
    typist = Typist(place / "other")
    started = typist.start()
    assert started.returncode == 0, started.stderr
    assert "is up" in started.stdout
    yield typist
    typist.type("stop")


@pytest.fixture
def other(access_point: AccessPoint, second: Typist) -> Typist:
    """The second pool, up, while the tests' own is up too."""
    assert second.processes() or second.start().returncode == 0
    return second


def test_status_of_a_pool_that_is_up(other: Typist) -> None:
    until(lambda: "jobs: none\n" in other.type("status").stdout, "what was removed to be gone")
    status = other.type("status")
    assert status.returncode == 0
    assert f"the pool in {other.directory} is up (condor_master: process " in status.stdout
    assert "schedd: <127.0.0.1:" in status.stdout


def test_the_release_that_runs_may_be_named_and_no_other(other: Typist) -> None:
    runs = (other.directory / "release").read_text().strip()
    assert "was up already" in other.type("start", "--release", runs).stdout
    refused = other.type("start", "--release", str(other.directory))
    assert (refused.returncode, refused.stdout) == (1, "")
    assert f"{other.directory}: there is no HTCondor in it" in refused.stderr
    assert "is up" in other.type("status").stdout


def test_a_second_start_changes_nothing(other: Typist) -> None:
    before = (other.directory / "lock/master.pid").read_text()
    again = other.type("start")
    assert again.returncode == 0
    assert "was up already" in again.stdout
    assert (other.directory / "lock/master.pid").read_text() == before


def test_the_command_htcondor_works(other: Typist) -> None:
    """A release made for another system looks for bindings in this system's Python."""
    done = other.type("run", "htcondor", "dag", "status", "4711")
    assert "No DAG found for ID 4711" in done.stdout + done.stderr


def submit(other: Typist, access_point: AccessPoint, work: Path) -> int:
    """A DAG to the second pool, whose job goes on; returns the DAGMan job's cluster."""
    dag = dags.write(work, 'JOB A job.sub\nVARS A seconds="100000"\n')
    submitted = other.type("run", "sh", "-c", f"cd {work} && condor_submit_dag -terse t.dag")
    access_point.wait_for(lambda: dags.starts(work)["A 0"], say="A to start there", dag=dag)
    return int(submitted.stdout.split(".")[0])


def test_two_pools_do_not_see_each_other(
    other: Typist, access_point: AccessPoint, work: Path
) -> None:
    cluster = submit(other, access_point, work)
    assert not access_point.queue(f'DAG_NodesTotal > 0 && Iwd == "{work}"')
    assert re.search(r"^jobs: .*\b[12] running", other.type("status").stdout, re.M)
    listed = other.type("run", "condor_q", "-af", "ClusterId").stdout.split()
    assert str(cluster) in listed
    assert other.type("run", "condor_rm", str(cluster)).returncode == 0


def test_a_pool_is_stopped_with_a_dag_and_started_again(
    other: Typist, access_point: AccessPoint, work: Path
) -> None:
    """No process is left, the tests' pool is let alone, and the queue is kept."""
    cluster = submit(other, access_point, work)
    assert other.processes()
    assert processes_in(work)
    stopped = other.type("stop")
    assert stopped.returncode == 0, stopped.stderr
    assert "is stopped" in stopped.stdout
    assert other.processes() == []
    assert processes_in(work) == []
    assert access_point.pool.status().up
    access_point.run("condor_q")

    status = other.type("status")
    assert status.returncode == 1
    assert "is down" in status.stdout
    again = other.type("stop")
    assert again.returncode == 0
    assert "was not running" in again.stdout

    assert other.start().returncode == 0
    total = "condor_q", str(cluster), "-af", "DAG_NodesTotal"
    access_point.wait_for(
        lambda: other.type("run", *total).stdout.split() == ["1"], say="the DAG in the queue"
    )
    assert other.type("run", "condor_rm", str(cluster)).returncode == 0
