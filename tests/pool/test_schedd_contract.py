"""The real schedd, through our adapter, keeps the contract that the simulator's keeps."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from condor_pydagman.adapters.joblog import NodesLog
from condor_pydagman.config import Config
from condor_pydagman.engine.inputs import EndedJob, LogEvent, QueuedJob
from condor_pydagman.language.description import template_of
from condor_pydagman.records.job_description import AtSubmission, Workflow, describe
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, EventKind
from tests import make
from tests.contract.schedd import Answer, ScheddContract, Wish
from tests.installation import CHECKOUT
from tests.pool.access_point import AccessPoint
from tests.pool.waiting import until
from tests.waiting import LIMIT_S

SUBMIT = "universe = scheduler\nexecutable = /bin/sh\narguments = \"-c '{}'\"\nqueue {}\n"
FOREVER = "exec sleep 100000"
NOWHERE = {
    "_CONDOR_SCHEDD_ADDRESS_FILE": "/nonexistent",
    "_CONDOR_SCHEDD_DAEMON_AD_FILE": "/nonexistent",
    "_CONDOR_COLLECTOR_HOST": "127.0.0.1:1",
}


class RealSide:
    """A DAGMan that has no job of its own but a number for itself.

    `how`: `adapter`, or `process` if the requests go through the process that asks the schedd.
    """

    def __init__(self, access_point: AccessPoint, work: Path, cluster: int, how: str) -> None:
        self._work = work
        self.how = how
        self._cluster = cluster
        self._servers: list[subprocess.Popen[str]] = []
        self._path = str(work / "t.dag.nodes.log")
        self._log = NodesLog(self._path)
        self._log.open(truncate=True)
        self._events: list[LogEvent] = []
        self._dag = make.dag("A; B; C")
        self._access_point = access_point
        self._here = self._serve({})

    def submit(self, wish: Wish) -> Answer:
        script = FOREVER if wish.lasting else f"exit {wish.code}"
        text = SUBMIT.format(script, wish.procs)
        if wish.fault == "refused":
            text = "requirements = (\n" + text
        if wish.fault == "forbidden":
            text = 'My.Owner = "root"\n' + text
        flow = Workflow(self._cluster, self._path, Config(), "b", f"{self._cluster}.0")
        whole = describe(
            self._dag, self._dag.ids[wish.node], template_of(text), flow,
            AtSubmission(wish.retry),
        )  # fmt: skip
        server = self._serve(NOWHERE) if wish.fault == "no schedd" else self._here
        reply = _ask(server, "submit", whole, str(self._work))
        if "ok" in reply:
            return Answer(*reply["ok"])
        return Answer(0, 0, not reply["transient"], reply["unknown"])

    def remove(self, cluster: int, ended: int = -1, *, force: bool = False) -> None:
        assert "ok" in _ask(self._here, "remove", cluster, ended, force)

    def hold(self, cluster: int, *, release: bool = False) -> None:
        assert "ok" in _ask(self._here, "hold", cluster, release)

    def jobs(self) -> list[QueuedJob]:
        return [QueuedJob(*job) for job in _ask(self._here, "jobs")["ok"]]

    def ended_jobs(self) -> list[EndedJob]:
        return [EndedJob(*job) for job in _ask(self._here, "ended_jobs")["ok"]]

    def until_ended(self, cluster: int) -> list[LogEvent]:
        return self._until(lambda: cluster not in {job.cluster for job in self.jobs()})

    def until_running(self, cluster: int) -> list[LogEvent]:
        return self.until_told(cluster, EventKind.EXECUTE)

    def until_told(self, cluster: int, kind: EventKind) -> list[LogEvent]:
        told = (kind, cluster)
        return self._until(lambda: told in {(e.kind, e.cluster) for e in self._read()})

    def submit_text(self, text: str, node: str = "A") -> Answer:
        """Submit a description as the node's."""
        flow = Workflow(self._cluster, self._path, Config(), "b", f"{self._cluster}.0")
        whole = describe(
            self._dag, self._dag.ids[node], template_of(text), flow,
        )  # fmt: skip
        return Answer(*_ask(self._here, "submit", whole, str(self._work))["ok"])

    def ask(self, *request: Any) -> Any:
        """What a method of the adapter answers."""
        return _ask(self._here, *request)["ok"]

    def ask_as(self, cluster: int, *request: Any) -> Any:
        """The same, of a DAGMan whose own job is `cluster`."""
        return _ask(self._serve({}, cluster), *request)["ok"]

    def close(self) -> None:
        self.remove(0)
        for server in self._servers:
            assert server.stdin is not None
            server.stdin.close()
            assert server.wait(LIMIT_S) == 0
            assert server.stdout is not None
            server.stdout.close()

    def _until(self, holds: Callable[[], bool]) -> list[LogEvent]:
        until(holds, "what the test waits for", pause=0.1, tell=lambda: str(self._events))
        return self._read()

    def _read(self) -> list[LogEvent]:
        """What the schedd was asked first, and the log read afterwards, belong together."""
        events = self._log.read()
        assert all(isinstance(event, LogEvent) for event in events)
        self._events += [event for event in events if isinstance(event, LogEvent)]
        return self._events

    def _serve(self, extra: dict[str, str], cluster: int = 0) -> subprocess.Popen[str]:
        module = "tests.contract.schedd_server"
        argv = [sys.executable, "-m", module, str(cluster or self._cluster), self.how]
        server = subprocess.Popen(
            self._access_point.pool.command(argv),
            cwd=CHECKOUT,
            env={**self._access_point.environment, **extra},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._servers.append(server)
        return server


def _ask(server: subprocess.Popen[str], *request: Any) -> dict[str, Any]:
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(request) + "\n")
    server.stdin.flush()
    reply: dict[str, Any] = json.loads(server.stdout.readline())
    return reply


LASTING = SUBMIT.format(FOREVER, 1)
_numbers = iter(range(900_001, 1_000_000))


@pytest.fixture(params=["adapter", "process"])
def side(
    access_point: AccessPoint, work: Path, request: pytest.FixtureRequest
) -> Iterator[RealSide]:
    made = RealSide(access_point, work, next(_numbers), request.param)
    yield made
    made.close()


class TestRealSchedd(ScheddContract):
    """On the pool of the tests."""


class TestBeyondTheContract:
    """What the simulator has no use for."""

    def test_late_materialization(self, side: RealSide) -> None:
        """No proc is promised; the log tells of each, and of the cluster's end."""
        text = SUBMIT.replace("scheduler", "vanilla").format("exit 0", 3)
        answer = side.submit_text("max_materialize = 1\n" + text)
        assert answer.procs == 0
        gone = EventKind.CLUSTER_REMOVE
        events = [
            (event.kind, event.proc)
            for event in side._until(lambda: gone in {event.kind for event in side._read()})
            if event.cluster == answer.cluster
        ]
        assert events[0][0] == EventKind.CLUSTER_SUBMIT
        assert events[-1][0] == gone
        for kind in (EventKind.SUBMIT, EventKind.JOB_TERMINATED):
            assert [proc for of, proc in events if of == kind] == [0, 1, 2]

    def test_the_history_shows_what_has_left_the_queue(self, side: RealSide) -> None:
        failed = side.submit(Wish("A", retry=2, procs=2, code=3))
        removed = side.submit(Wish("B", lasting=True))
        there = side.submit(Wish("C", lasting=True))
        side.remove(removed.cluster)
        side.until_ended(removed.cluster)
        side.until_ended(failed.cluster)
        assert sorted(side.ended_jobs()) == [
            EndedJob(failed.cluster, 0, "A", 2, 3),
            EndedJob(failed.cluster, 1, "A", 2, 3),
            EndedJob(removed.cluster, 0, "B", 0, RETURN_JOB_ABORTED),
        ]
        side.remove(there.cluster)

    def test_the_history_shows_a_cluster_that_has_made_all_its_procs(self, side: RealSide) -> None:
        text = "universe = scheduler\nexecutable = /bin/true\nmax_idle = 1\nqueue 2\n"
        cluster = side.submit_text(text).cluster
        side.until_ended(cluster)
        jobs = sorted(side.ended_jobs())
        assert jobs == [EndedJob(cluster, proc, "A", 0, 0) for proc in (-1, 0, 1)]

    def test_a_job_that_has_ended_and_stays_in_the_queue_is_not_removed(
        self, side: RealSide
    ) -> None:
        text = "leave_in_queue = true\n" + SUBMIT.format("exit 3", 1)
        cluster = side.submit_text(text).cluster
        ended = (EventKind.JOB_TERMINATED, cluster)
        side._until(lambda: ended in {(e.kind, e.cluster) for e in side._read()})
        side._until(lambda: all(job.leaving for job in side.jobs()))
        side.remove(0)
        assert EventKind.JOB_ABORTED not in {event.kind for event in side._read()}
        side._access_point.run("condor_rm", str(cluster))

    def test_services_can_be_spared(self, side: RealSide) -> None:
        gone = side.submit_text(LASTING)
        service = side.submit_text("My.DAGLifetimeJob = true\n" + LASTING, "B")
        side.ask("remove but services")
        side.until_ended(gone.cluster)
        assert [job.cluster for job in side.jobs()] == [service.cluster]

    def test_an_attribute_of_a_job(self, side: RealSide) -> None:
        answer = side.submit_text("My.ProvisionerState = 1 + 1\n" + LASTING)
        assert side.ask("attribute", answer.cluster, "ProvisionerState") == 2
        assert side.ask("attribute", answer.cluster, "NoSuch") is None
        assert side.ask("attribute", 999_999_999, "ProvisionerState") is None

    def test_our_own_ad(self, side: RealSide) -> None:
        """What is inherited is copied as it is written; what users edit is seen."""
        more = 'My.Foo = "a \\"b\\""\nMy.Sum = 3 + My.Foo\nMy.Nested = [ a = 1; b = { 2 } ]\n'
        cluster = side.submit_text(more + LASTING).cluster
        if side.how == "adapter":  # asked before there is a process
            found = side.ask_as(cluster, "own_expressions", ["Foo", "sum", "NoSuch", "Nested"])
            assert "".join(found.pop("Nested").split()) == "[a=1;b={2}]"
            assert found == {"Foo": '"a \\"b\\""', "sum": "3 + My.Foo"}
        limits = {"DAGMan_MaxJobs": "7", "DAGMan_MaxIdle": "0", "DAGMan_MaxPreScripts": '"x"'}
        side.ask_as(cluster, "publish", limits)
        for question in ("own_ad", "limits"):
            found = side.ask_as(cluster, question)
            assert [found[name] for name in limits] == [7, 0, "x"]
