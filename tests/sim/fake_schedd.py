"""A schedd in memory: it takes clusters, runs their procs, and writes events into the nodes log.

It may be down, refuse, lose a reply before or after it took a cluster, and (rarely) lose a proc
without a word.  It knows the truth about every cluster there ever was; oracles ask it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from condor_pydagman.engine import inputs
from condor_pydagman.engine.actions import SubmitNode
from condor_pydagman.engine.inputs import LogEvent, QueuedJob
from condor_pydagman.vocabulary import EventKind

if TYPE_CHECKING:
    from tests.sim.world import World


@dataclass
class Cluster:
    """All that ever happened to one cluster.

    Attributes:
        ends: exit code by proc, None if aborted.
        lost: procs that the schedd lost.
    """

    number: int
    node: str
    retry: int
    era: int
    procs: int
    ends: dict[int, int | None] = field(default_factory=dict)
    lost: list[int] = field(default_factory=list)
    removed: bool = False


@dataclass
class Job:
    """A proc in the queue; `status` is idle, running, held, removed or leaving."""

    cluster: Cluster
    proc: int
    status: str = "idle"


class FakeSchedd:
    """The queue and all clusters that ever were in it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.queue: dict[tuple[int, int], Job] = {}
        self.clusters: dict[int, Cluster] = {}
        self._down_until = 0.0
        world.every(20.0, self._maybe_down)

    @property
    def down(self) -> bool:
        return self._world.now < self._down_until

    def submit(self, action: SubmitNode, node: str) -> inputs.Input:
        """Take a node's jobs, or not."""
        world, number = self._world, action.node
        if self.down or world.hit("refuse"):
            return inputs.SubmitFailed(number, "no schedd", permanent=False)
        if world.hit("refuse_for_good"):
            return inputs.SubmitFailed(number, "bad submit file", permanent=True)
        if world.hit("lost_before"):
            return inputs.SubmitFailed(number, "lost", permanent=False, unknown=True)
        cluster = self._take(node, action.retry)
        if world.hit("lost_after"):
            return inputs.SubmitFailed(number, "lost", permanent=False, unknown=True)
        return inputs.Submitted(number, cluster.number, cluster.procs)

    def remove(self, cluster: int, era: int) -> bool:
        """Remove one cluster, or all of an era; False if the schedd can't be told."""
        if self.down:
            return False
        for job in list(self.queue.values()):
            mine = job.cluster.number == cluster or (not cluster and job.cluster.era == era)
            if mine and job.status not in ("leaving", "removed"):
                job.status = "removed"
                job.cluster.removed = True
                self._later(job, self._aborted)
        return True

    def jobs(self, era: int) -> list[QueuedJob]:
        """Every proc of an era in the queue, those on their way out included."""
        return [
            QueuedJob(job.cluster.number, job.proc, job.cluster.node, job.cluster.retry)
            for job in self.queue.values()
            if job.cluster.era == era
        ]

    def live(self, era: int) -> list[Cluster]:
        """Clusters of an era with procs in the queue that nobody has removed, each once."""
        found = {
            job.cluster.number: job.cluster
            for job in self.queue.values()
            if job.cluster.era == era and not job.cluster.removed and job.status != "leaving"
        }
        return list(found.values())

    def _maybe_down(self) -> None:
        if self._world.hit("outage"):
            self._down_until = self._world.now + self._world.rng.uniform(1.0, 120.0)
            self._world.trace("schedd down", f"until {self._down_until:.3f}")

    def _take(self, node: str, retry: int) -> Cluster:
        world = self._world
        number = len(self.clusters) + 1
        cluster = Cluster(number, node, retry, world.era, world.workload.outcomes.procs(node))
        self.clusters[number] = cluster
        world.oracles.cluster_taken(cluster)
        world.trace("took", f"{node} retry {retry} cluster {number} procs {cluster.procs}")
        for proc in range(cluster.procs):
            job = Job(cluster, proc)
            self.queue[number, proc] = job
            self._write(job, EventKind.SUBMIT)
        for proc in range(cluster.procs):
            self._later(self.queue[number, proc], self._execute)
        return cluster

    def _later(self, job: Job, step: object) -> None:
        assert callable(step)
        world = self._world
        delay = world.rng.choice((0.0, 0.5, world.rng.uniform(0.0, 60.0)))
        world.after(delay, lambda: step(job))

    def _write(self, job: Job, kind: EventKind, value: int = 0) -> float:
        world = self._world
        world.trace("event", f"{kind.name} {job.cluster.number}.{job.proc} {value}")
        node = job.cluster.node if kind is EventKind.SUBMIT else ""
        return world.log.append(
            LogEvent(kind, job.cluster.number, job.proc, 0, world.now, node=node, value=value)
        )

    def _execute(self, job: Job) -> None:
        world = self._world
        if job.status != "idle":
            return
        job.status = "running"
        self._write(job, EventKind.EXECUTE)
        if world.hit("lose_job"):
            world.trace("lost", f"{job.cluster.number}.{job.proc}")
            job.status = "leaving"
            job.cluster.lost.append(job.proc)
            del self.queue[job.cluster.number, job.proc]
        elif world.hit("hold"):
            self._later(job, self._hold)
        elif world.hit("evict"):
            self._later(job, self._evict)
        else:
            self._later(job, self._terminate)

    def _hold(self, job: Job) -> None:
        if job.status == "running":
            job.status = "held"
            self._write(job, EventKind.JOB_HELD)
            self._later(job, self._release)

    def _release(self, job: Job) -> None:
        if job.status == "held":
            job.status = "idle"
            self._write(job, EventKind.JOB_RELEASED)
            self._later(job, self._execute)

    def _evict(self, job: Job) -> None:
        if job.status == "running":
            job.status = "idle"
            self._write(job, EventKind.JOB_EVICTED)
            self._later(job, self._execute)

    def _terminate(self, job: Job) -> None:
        if job.status != "running":
            return
        cluster = job.cluster
        code = self._world.workload.outcomes.job(cluster.era, cluster.node, cluster.retry, job.proc)
        self._leave(job, code, EventKind.JOB_TERMINATED, code)

    def _aborted(self, job: Job) -> None:
        if job.status == "removed":
            self._leave(job, None, EventKind.JOB_ABORTED, 0)

    def _leave(self, job: Job, code: int | None, kind: EventKind, value: int) -> None:
        """The proc leaves the queue once its last event is completely written."""
        job.status = "leaving"
        job.cluster.ends[job.proc] = code
        self._world.oracles.cluster_ended(job.cluster)
        written = self._write(job, kind, value)
        key = (job.cluster.number, job.proc)
        if written <= self._world.now:
            del self.queue[key]
        else:
            self._world.at(written, lambda: self.queue.pop(key, None))
