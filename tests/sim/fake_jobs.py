"""What happens to jobs in the fake schedd's queue: they run, are held, come back, end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from condor_pydagman.engine.actions import SubmitNode
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.vocabulary import (
    ALL_PROCS,
    HELPER_PROC,
    SHARED_CLUSTER,
    EventKind,
    NodeKind,
)

if TYPE_CHECKING:
    from tests.sim.world import World

_OF_HELPERS = (
    EventKind.SUBMIT,
    EventKind.EXECUTE,
    EventKind.JOB_EVICTED,
    EventKind.JOB_TERMINATED,
    EventKind.SHADOW_EXCEPTION,
    EventKind.JOB_ABORTED,
    EventKind.JOB_HELD,
)
SERVES = 400.0  # seconds that the job of a SERVICE node runs at most
HOLD_CODES = (12, 34)  # of HTCondor's own holds
BY_A_PERSON = 1
PREPARES = 60.0  # seconds until the PROVISIONER's job says that all is ready
DEAF_S = 5000.0  # seconds until a site confirms a removal that seemed to be dead


@dataclass
class Cluster:
    """All that ever happened to one cluster.

    Attributes:
        procs: how many there are, or are to be with late materialization.
        only: the node's only proc in a cluster that it shares with other nodes, each of which has
            an object of its own; None if the cluster is its own.
        factory: how many are in the queue at a time with late materialization; 0 without.
        on_hold: it was submitted on hold.
        made: procs that are or were in the queue.
        ends: exit code by proc, None if aborted.
        lost: procs that the schedd lost.
        removed: somebody removed all of it.
        touched: somebody removed some of it.
        over: nothing of it is left.
        ready_at: when a PROVISIONER's job says that all is ready; None if never.
        action: by which DAGMan asked for it.
        asker: the helper of the feature that has asked for it; '' if it is a node's.
        in_categories: names of nodes, places in whose categories a job takes that is no node's.
    """

    number: int
    node: str
    kind: NodeKind
    retry: int
    era: int
    procs: int
    factory: int = 0
    on_hold: bool = False
    only: int | None = None
    made: int = 0
    ends: dict[int, int | None] = field(default_factory=dict)
    lost: list[int] = field(default_factory=list)
    removed: bool = False
    touched: bool = False
    over: bool = False
    ready_at: float | None = None
    action: SubmitNode | None = None
    asker: str = ""
    in_categories: tuple[str, ...] = ()

    @property
    def target(self) -> tuple[int, int]:
        """Cluster and proc, as in RemoveJobs."""
        return self.number, ALL_PROCS if self.only is None else self.only


@dataclass
class Job:
    """A proc in the queue.

    `status` is idle, running, suspended, away (its machine can't be reached), held, removed,
    leaving, or ended (its end is in the log, but it is in the queue); `quiet`: it was submitted on
    hold, which makes no event.
    """

    cluster: Cluster
    proc: int
    status: str = "idle"
    quiet: bool = False

    @property
    def key(self) -> tuple[int, int]:
        return self.cluster.number, self.proc


class FakeJobs:
    """All procs in the queue."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.queue: dict[tuple[int, int], Job] = {}

    def begin(self, cluster: Cluster) -> None:
        """The procs of a new cluster come into the queue, the first of them at least."""
        if cluster.factory:
            self.write(cluster, -1, EventKind.CLUSTER_SUBMIT)
        at_once = min(cluster.procs, cluster.factory or cluster.procs)
        jobs = [self._make(cluster) for _ in range(at_once)]
        for job in jobs:
            self.later(job, self.release if cluster.on_hold else self._execute)

    def remove(self, job: Job) -> None:
        """Somebody removes a proc."""
        if job.status == "ended":  # it counts as removed all the same
            job.status = "leaving"
            self.write(job.cluster, job.proc, EventKind.JOB_ABORTED)
        elif job.status not in ("leaving", "removed"):
            job.status = "removed"
            job.cluster.touched = True
            if any(part.is_deaf(job.cluster) for part in self._world.parts):
                self._world.after(DEAF_S, lambda: self.aborted(job))
            else:
                self.later(job, self.aborted)

    def hold(self, job: Job, reason: str = "") -> None:
        """Somebody holds a proc, and releases it later; without a reason, HTCondor may do it."""
        if job.status in ("idle", "running", "suspended", "away"):
            job.status = "held"
            code = BY_A_PERSON if reason else HOLD_CODES[(job.cluster.number + job.proc) % 2]
            self.write(job.cluster, job.proc, EventKind.JOB_HELD, code, text=reason)
            self.later(job, self.release)

    def end(self, job: Job, code: int) -> None:
        """A proc ends by itself, if it runs."""
        if job.status == "running":
            self._leave(job, code, EventKind.JOB_TERMINATED, code)

    def end_factory(self, cluster: Cluster) -> None:
        """A cluster with late materialization that was removed has no procs left."""
        mine = any(job.cluster is cluster for job in self.queue.values())
        if not cluster.over and not mine:
            cluster.over = True
            early = int(cluster.made < cluster.procs)
            self.write(cluster, -1, EventKind.CLUSTER_REMOVE, early)

    def write(
        self,
        cluster: Cluster,
        proc: int,
        kind: EventKind,
        value: int = 0,
        then: Callable[[], object] | None = None,
        text: str = "",
    ) -> None:
        """An event; `then` is called when it is completely written."""
        world = self._world
        world.trace("event", f"{kind.name} {cluster.number}.{proc} {value}")
        named = kind in (EventKind.SUBMIT, EventKind.CLUSTER_SUBMIT)
        node, time = cluster.node if named else "", world.clock()
        text = SHARED_CLUSTER if named and cluster.only is not None else text
        event = LogEvent(kind, cluster.number, proc, 0, time, node=node, value=value, text=text)
        world.log.append(event, then)

    def later(self, job: Job, step: Callable[[Job], None]) -> None:
        """Something happens to a job soon."""
        world = self._world
        delay = world.rng.choice((0.0, 0.5, world.rng.uniform(0.0, 60.0)))
        world.after(delay, lambda: step(job))

    def _make(self, cluster: Cluster) -> Job:
        status = "held" if cluster.on_hold else "idle"
        proc = cluster.made if cluster.only is None else cluster.only
        job = Job(cluster, proc, status, quiet=cluster.on_hold)
        cluster.made += 1
        self.queue[job.key] = job
        self.write(cluster, job.proc, EventKind.SUBMIT)
        return job

    def _execute(self, job: Job) -> None:
        if job.status != "idle":
            return
        if any(part.never_runs(job.cluster) for part in self._world.parts):
            self.later(job, self._execute)
            return
        job.status = "running"
        self.write(job.cluster, job.proc, EventKind.EXECUTE)
        world = self._world
        if world.hit("helper"):
            kind = world.rng.choice(_OF_HELPERS)
            self.write(
                job.cluster, HELPER_PROC - job.proc, kind, int(kind == EventKind.JOB_ABORTED)
            )
        if world.hit("lose_job"):
            self._lose(job)
            return
        troubles = {
            "hold": self._held,
            "evict": self._evict,
            "suspend": self._suspend,
            "disconnect": self._disconnect,
            "shadow": self._shadow,
            "bad_program": self._bad_program,
        }
        trouble = next((step for name, step in troubles.items() if world.hit(name)), None)
        if trouble is not None:
            self.later(job, trouble)
        if trouble is None or job.cluster.asker:
            self._run(job)

    def _run(self, job: Job) -> None:
        """Nothing disturbs it until it ends."""
        world, cluster = self._world, job.cluster
        if cluster.asker:
            for part in world.parts:
                part.job_runs(job)
            return
        seconds = world.workload.outcomes.seconds(cluster.node, cluster.retry)
        if seconds is not None:
            world.after(seconds, lambda: self._terminate(job))
        elif cluster.kind is NodeKind.SERVICE:
            world.after(world.rng.uniform(0.0, SERVES), lambda: self._terminate(job))
        elif cluster.kind is NodeKind.PROVISIONER and cluster.ready_at is None:
            if world.workload.outcomes.prepares(cluster.era, cluster.node):
                cluster.ready_at = world.now + world.rng.uniform(0.0, PREPARES)
                end = cluster.ready_at + world.rng.uniform(0.0, SERVES)
                world.at(end, lambda: self._terminate(job))
            else:
                self.later(job, self._terminate)
        else:
            self.later(job, self._terminate)

    def _lose(self, job: Job) -> None:
        self._world.trace("lost", f"{job.cluster.number}.{job.proc}")
        job.status = "leaving"
        job.cluster.lost.append(job.proc)
        self._world.oracles.truth.job_lost(job.cluster.node, job.cluster.retry, job.cluster.target)
        del self.queue[job.key]
        self._gone(job)

    def _held(self, job: Job) -> None:
        if job.status == "running":
            self.hold(job)

    def release(self, job: Job) -> None:
        """A proc is on hold no more."""
        if job.status == "held":
            job.status, job.quiet = "idle", False
            self.write(job.cluster, job.proc, EventKind.JOB_RELEASED)
            self.later(job, self._execute)

    def _evict(self, job: Job) -> None:
        self._requeue(job, "running", EventKind.JOB_EVICTED)

    def _shadow(self, job: Job) -> None:
        self._requeue(job, "running", EventKind.SHADOW_EXCEPTION)

    def _requeue(self, job: Job, status: str, kind: EventKind) -> None:
        if job.status == status:
            job.status = "idle"
            self.write(job.cluster, job.proc, kind)
            self.later(job, self._execute)

    def _suspend(self, job: Job) -> None:
        if job.status == "running":
            job.status = "suspended"
            self.write(job.cluster, job.proc, EventKind.JOB_SUSPENDED)
            self.later(job, self._unsuspend)

    def _unsuspend(self, job: Job) -> None:
        if job.status == "suspended":
            job.status = "running"
            self.write(job.cluster, job.proc, EventKind.JOB_UNSUSPENDED)
            self._run(job)

    def _disconnect(self, job: Job) -> None:
        if job.status == "running":
            job.status = "away"
            self.write(job.cluster, job.proc, EventKind.JOB_DISCONNECTED)
            self.later(job, self._reconnect if self._world.rng.random() < 0.5 else self._give_up)

    def _reconnect(self, job: Job) -> None:
        if job.status == "away":
            job.status = "running"
            self.write(job.cluster, job.proc, EventKind.JOB_RECONNECTED)
            self._run(job)

    def _give_up(self, job: Job) -> None:
        self._requeue(job, "away", EventKind.JOB_RECONNECT_FAILED)

    def _bad_program(self, job: Job) -> None:
        if job.status != "running":
            return
        self.write(job.cluster, job.proc, EventKind.EXECUTABLE_ERROR)
        if self._world.rng.random() < 0.5:
            self.hold(job)
        else:
            self._leave(job, None, EventKind.JOB_ABORTED, 0)

    def _terminate(self, job: Job) -> None:
        cluster = job.cluster
        code = self._world.workload.outcomes.job(cluster.era, cluster.node, cluster.retry, job.proc)
        self.end(job, code)

    def aborted(self, job: Job) -> None:
        """A proc that is being removed is gone."""
        if job.status == "removed":
            self._leave(job, None, EventKind.JOB_ABORTED, 0)

    def _leave(self, job: Job, code: int | None, kind: EventKind, value: int) -> None:
        """The proc leaves the queue once its last event is completely written, sooner or later."""
        job.status = "leaving"
        job.cluster.ends[job.proc] = code

        def gone() -> None:
            del self.queue[job.key]
            self._gone(job)

        def told() -> None:
            job.status = "ended" if kind == EventKind.JOB_TERMINATED else job.status
            self._world.after(self._world.rng.choice((0.0, 0.0, 3.0)), gone)

        self.write(job.cluster, job.proc, kind, value, told)

    def _gone(self, job: Job) -> None:
        """A proc less: late materialization makes the next one, or ends the cluster."""
        cluster = job.cluster
        if not cluster.factory:
            cluster.over = not any(other.cluster is cluster for other in self.queue.values())
        elif cluster.made < cluster.procs and not cluster.removed:
            self._world.after(self._world.rng.choice((0.0, 5.0)), lambda: self._next(cluster))
        else:
            self._world.after(self._world.rng.choice((0.0, 5.0)), lambda: self.end_factory(cluster))

    def _next(self, cluster: Cluster) -> None:
        if cluster.removed:
            self.end_factory(cluster)
        elif cluster.made < cluster.procs:
            self.later(self._make(cluster), self.release if cluster.on_hold else self._execute)
