"""The simulator's schedd keeps the contract of a schedd."""

from __future__ import annotations

from dataclasses import replace

import pytest

from condor_pydagman.adapters.schedd_requests import LostReply, Remove
from condor_pydagman.engine.actions import HoldJobs, SubmitNode
from condor_pydagman.engine.inputs import LogEvent, QueuedJob
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.errors import PoolError
from condor_pydagman.vocabulary import ALL_PROCS, DagStatus, EventKind, NodeKind
from tests.contract import worlds
from tests.contract.schedd import Answer, ScheddContract, Wish
from tests.sim.fake_jobs import Job

FAULTS = {
    "refused": "refuse_for_good",
    "forbidden": "refuse_for_good",
    "no schedd": "refuse",
}


class FakeSide:
    """The fake in a world of its own."""

    def __init__(self, seed: int) -> None:
        self.world, self.told = worlds.quiet(seed)
        self._lasting: set[int] = set()
        jobs = self.world.schedd.jobs
        terminate = jobs._terminate

        def unless_lasting(job: Job) -> None:
            if job.cluster.number not in self._lasting:
                terminate(job)

        jobs._terminate = unless_lasting  # type: ignore[method-assign]

    def submit(self, wish: Wish) -> Answer:
        self.told.count, self.told.code = wish.procs, wish.code
        calm = self.world.faults
        if wish.fault:
            self.world.faults = replace(calm, **{FAULTS[wish.fault]: 1.0})
        action = SubmitNode(0, wish.retry, DagStatus.OK, 0)
        reply = self.world.schedd.submit(action, wish.node, NodeKind.JOB, Throttles())
        self.world.faults = calm
        if isinstance(reply, PoolError):
            return Answer(0, 0, not reply.transient, isinstance(reply, LostReply))
        self._lasting |= {reply.cluster} if wish.lasting else set()
        return Answer(reply.cluster, reply.procs)

    def remove(self, cluster: int, ended: int = -1, *, force: bool = False) -> None:
        schedd, era = self.world.schedd, self.world.era
        left_out = [job[:2] for job in self.jobs() if job.proc == ended]
        wanted = Remove("", cluster, ended=left_out, force=force)
        assert not schedd.remove(wanted, era, frozenset())

    def hold(self, cluster: int, *, release: bool = False) -> None:
        assert self.world.schedd.hold(HoldJobs(cluster, ALL_PROCS, "", release)) is None

    def jobs(self) -> list[QueuedJob]:
        return self.world.schedd.listed(self.world.era)

    def until_ended(self, cluster: int) -> list[LogEvent]:
        worlds.until(self.world, lambda: cluster not in {job.cluster for job in self.jobs()})
        return self._events()

    def until_running(self, cluster: int) -> list[LogEvent]:
        queue = self.world.schedd.queue
        running = lambda: any(  # noqa: E731
            job.status == "running" for (number, _), job in queue.items() if number == cluster
        )
        worlds.until(self.world, running)
        return self._events()

    def until_told(self, cluster: int, kind: EventKind) -> list[LogEvent]:
        def told() -> bool:
            return (kind, cluster) in {(event.kind, event.cluster) for event in self._events()}

        worlds.until(self.world, told)
        return self._events()

    def _events(self) -> list[LogEvent]:
        return self.world.log.events()


class TestFakeSchedd(ScheddContract):
    """Several seeds, because time passes differently in each."""

    @pytest.fixture(params=range(5))
    def side(self, request: pytest.FixtureRequest) -> FakeSide:
        return FakeSide(request.param)
