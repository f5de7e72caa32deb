"""A schedd in memory: it takes clusters, runs their procs, and writes events into the nodes log.

It may be down, refuse, lose a reply before or after it took a cluster, and (rarely) lose a proc
without a word.  It knows the truth about every cluster there ever was; oracles ask it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Union

from condor_pydagman.adapters.schedd_requests import (
    Accepted,
    ListRemovable,
    LostReply,
    QueueFull,
    Remove,
)
from condor_pydagman.engine.actions import HoldJobs, SubmitJob, SubmitNode
from condor_pydagman.engine.inputs import EndedJob, QueuedJob
from condor_pydagman.engine.queues import Target
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.errors import PoolError
from condor_pydagman.vocabulary import (
    ALL_PROCS,
    PROVISIONER_READY,
    RETURN_JOB_ABORTED,
    NodeKind,
)
from tests.sim.fake_jobs import Cluster, FakeJobs, Job
from tests.sim.own_ad import OwnAd

if TYPE_CHECKING:
    from tests.sim.world import World

_SPARED_BY_PEOPLE = ("leaving", "removed", "ended")
_DOES_NOT_RUN = ("idle", "held", "removed")
Outcome = Union[Accepted, PoolError]


class FakeSchedd:
    """The queue and all clusters that ever were in it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.jobs = FakeJobs(world)
        self.clusters: dict[Target, Cluster] = {}
        self._last = 0  # number of the last cluster
        self.own_ad = OwnAd()
        self._down_until = 0.0
        # By what a removal means, procs of which DAGMan was told that they might have ended.
        self._looked_at: dict[tuple[int, int], set[tuple[int, int]]] = {}
        world.every(20.0, self._maybe_down)

    @property
    def down(self) -> bool:
        return self._world.now < self._down_until

    @property
    def queue(self) -> dict[tuple[int, int], Job]:
        """Every proc in the queue."""
        return self.jobs.queue

    def submit(self, action: SubmitNode, node: str, kind: NodeKind, limits: Throttles) -> Outcome:
        """Take a node's jobs, or not; `limits` were in force when DAGMan decided to submit them."""
        refusal = self._refusal()
        if refusal is not None:
            return refusal
        cluster = self._take(action, node, kind, limits)
        if self._world.hit("lost_after"):
            return LostReply("lost")
        return Accepted(cluster.number, 0 if cluster.factory else cluster.procs)

    def _refusal(self, uneven: bool = False) -> Outcome | None:
        """What is answered in place of taking a job, of which `uneven` nodes can't be parts; None:
        it is taken, with the next number."""
        world = self._world
        if self.down or world.hit("refuse"):
            return PoolError("no schedd", transient=True)
        if uneven:
            return PoolError("not all of them have one proc", transient=False)
        if world.hit("full"):
            return QueueFull("no room")
        if world.hit("refuse_for_good"):
            return PoolError("bad submit file", transient=False)
        if world.hit("lost_before"):
            return LostReply("lost")
        self._last += 1
        return None

    def submit_together(
        self, actions: Sequence[SubmitNode], nodes: Sequence[str], limits: Sequence[Throttles]
    ) -> Outcome:
        """Take the jobs of several nodes as procs of one cluster, or not."""
        world, outcomes = self._world, self._world.workload.outcomes
        uneven = any(outcomes.procs(node) > 1 or outcomes.factory(node) for node in nodes)
        refusal = self._refusal(uneven)
        if refusal is not None:
            return refusal
        for proc, (action, node, limit) in enumerate(zip(actions, nodes, limits)):
            self._take(action, node, NodeKind.JOB, limit, proc)
        return LostReply("lost") if world.hit("lost_after") else Accepted(self._last, len(nodes))

    def submit_job(self, action: SubmitJob) -> Outcome:
        """Take a job that is no node's, or not; the text of the action is its name."""
        world, refusal = self._world, self._refusal()
        if refusal is not None:
            return refusal
        number = self._last
        cluster = Cluster(number, action.text, NodeKind.JOB, 0, world.era, 1, asker=action.asker)
        world.oracles.job_taken(cluster, action)
        self.clusters[cluster.target] = cluster
        world.trace("took", f"{action.text} cluster {number}")
        self.jobs.begin(cluster)
        return LostReply("lost") if world.hit("lost_after") else Accepted(number, 1)

    def cluster_of(self, number: int, proc: int) -> Cluster | None:
        """The cluster that a job is of; in a shared one, the part of its node."""
        return self.clusters.get((number, ALL_PROCS)) or self.clusters.get((number, proc))

    def removable(self, wanted: ListRemovable, era: int) -> list[QueuedJob]:
        """Jobs that a removal would strike and that look as if they ran."""
        clusters = self._meant(wanted, era)
        found = [
            job
            for job in self.queue.values()
            if job.cluster in clusters and job.status not in _DOES_NOT_RUN
        ]
        looked_at = self._looked_at.setdefault((wanted.cluster, wanted.proc), set())
        looked_at |= {job.key for job in found}
        return [
            QueuedJob(job.cluster.number, job.proc, job.cluster.node, job.cluster.retry)
            for job in found
        ]

    def hold(self, wanted: HoldJobs) -> PoolError | None:
        """Put jobs of a cluster on hold, or release them: some of them release themselves later."""
        if self._world.hit("no_remove"):
            return PoolError("it is too busy", transient=True)
        for job in list(self.queue.values()):
            mine = job.cluster.number == wanted.cluster and wanted.proc in (ALL_PROCS, job.proc)
            if mine and not wanted.release:
                self.jobs.hold(job, wanted.reason)
            elif mine and job.status == "held":
                self.jobs.release(job)
        return None

    def prioritize(self) -> PoolError | None:
        """Jobs get another priority, of which nothing depends here."""
        if self._world.hit("no_remove"):
            return PoolError("it is too busy", transient=True)
        return None

    def remove(self, wanted: Remove, era: int, heard: frozenset[tuple[int, int]]) -> str:
        """Remove one cluster, or all of an era, but what has `ended`; says why it can't, '' if it
        can.

        Args:
            heard: procs of whose ends DAGMan had heard when it asked.
        """
        if self.down:
            return "the schedd is down"
        if self._world.hit("no_remove"):
            return "it is too busy"
        # The others did not run when it asked which do.
        known = heard & self._looked_at.get((wanted.cluster, wanted.proc), set())
        for cluster in self._meant(wanted, era):
            if wanted.force:
                self._force(cluster)
            else:
                self._remove(cluster, frozenset(wanted.ended), known)
        return ""

    def _meant(self, wanted: ListRemovable | Remove, era: int) -> list[Cluster]:
        if wanted.cluster:
            found = self.clusters.get((wanted.cluster, wanted.proc))
            return [found] if found is not None and not found.over else []
        return [
            cluster
            for cluster in self.clusters.values()
            if cluster.era == era and not cluster.over
            if not (wanted.spare_services and cluster.kind is NodeKind.SERVICE)
        ]

    def manager_left(self, era: int) -> None:
        """The DAGMan job has left the queue: the schedd removes what is left of its jobs."""
        self.own_ad = OwnAd()
        for cluster in self.clusters.values():
            if cluster.era == era and not cluster.over:
                leaving = {key for key, job in self.queue.items() if job.status == "ended"}
                self._remove(cluster, frozenset(leaving), frozenset())

    def _remove(
        self,
        cluster: Cluster,
        ended: frozenset[tuple[int, int]],
        known: frozenset[tuple[int, int]],
    ) -> None:
        there = [job for job in self.queue.values() if job.cluster is cluster]
        left = [job for job in there if job.key not in ended]
        cluster.removed |= bool(left) or cluster.factory > 0
        for job in left:
            self._world.oracles.removed(job, known)
            self.jobs.remove(job)
        if cluster.factory and not there:
            self.jobs.end_factory(cluster)

    def _force(self, cluster: Cluster) -> None:
        for job in [job for job in self.queue.values() if job.cluster is cluster]:
            self.jobs.aborted(job)

    def listed(self, era: int) -> list[QueuedJob]:
        """Every proc of an era in the queue, those on their way out included; and the clusters that
        go on making some."""
        making = [
            QueuedJob(cluster.number, -1, cluster.node, cluster.retry, leaving=cluster.removed)
            for cluster in self.clusters.values()
            if cluster.era == era and cluster.factory and not cluster.over
        ]
        return making + [
            QueuedJob(
                job.cluster.number,
                job.proc,
                job.cluster.node,
                job.cluster.retry,
                leaving=job.status == "removed",
                shared=job.cluster.only is not None,
            )
            for job in self.queue.values()
            if job.cluster.era == era
        ]

    def ended(self, era: int) -> list[EndedJob]:
        """Every proc of an era that has left the queue, but for those that nobody knows of; and
        clusters whose late procs have all been made and have ended."""
        made = [
            EndedJob(cluster.number, -1, cluster.node, cluster.retry, 0)
            for cluster in self.clusters.values()
            if cluster.era == era and cluster.factory and cluster.over
            if len(cluster.ends) == cluster.procs
        ]
        return made + [
            EndedJob(
                cluster.number,
                proc,
                cluster.node,
                cluster.retry,
                RETURN_JOB_ABORTED if code is None else code,
                shared=cluster.only is not None,
            )
            for cluster in self.clusters.values()
            if cluster.era == era
            for proc, code in cluster.ends.items()
            if (cluster.number, proc) not in self.queue
        ]

    def live(self, era: int) -> list[Cluster]:
        """Clusters of an era with procs in the queue that nobody has removed, each once."""
        found = {
            job.cluster.target: job.cluster
            for job in self.queue.values()
            if job.cluster.era == era and job.status not in _SPARED_BY_PEOPLE
        }
        return [cluster for cluster in found.values() if not cluster.removed]

    def provisioner_state(self, cluster: int) -> int | None:
        """`ProvisionerState` of a job."""
        ready_at = self.clusters[cluster, ALL_PROCS].ready_at
        if self.down or not any(number == cluster for number, _ in self.queue):
            return None
        return PROVISIONER_READY if ready_at is not None and ready_at <= self._world.now else None

    def some_job(self) -> Job | None:
        """A job of this era that somebody may lay hands on."""
        found = [
            job
            for job in self.queue.values()
            if job.cluster.era == self._world.era and job.status not in _SPARED_BY_PEOPLE
        ]
        return self._world.rng.choice(found) if found else None

    def _maybe_down(self) -> None:
        if self._world.hit("outage"):
            self._down_until = self._world.now + self._world.rng.uniform(1.0, 120.0)
            self._world.trace("schedd down", f"until {self._down_until:.3f}")

    def _tolerates_percent(self, name: str) -> bool:
        if self._world.process is None:
            return False
        dag = self._world.process.dag
        tolerance = dag.tolerances.get(dag.ids[name])
        return tolerance is not None and tolerance.percent

    def _take(
        self,
        action: SubmitNode,
        node: str,
        kind: NodeKind,
        limits: Throttles,
        only: int | None = None,
    ) -> Cluster:
        world, retry = self._world, action.retry
        outcomes = world.workload.outcomes
        procs, factory = outcomes.procs(node), outcomes.factory(node)
        if kind is NodeKind.SUBDAG or (kind is NodeKind.PROVISIONER and procs < 3):
            procs, factory = 1, 0
        if self._tolerates_percent(node):
            factory = 0  # percent of what has been made so far: hard to foretell
        number = self._last
        cluster = Cluster(
            number, node, kind, retry, world.era, procs, factory, action.on_hold, only
        )
        cluster.action = action
        self.clusters[cluster.target] = cluster
        world.oracles.cluster_taken(cluster, limits)
        world.trace("took", f"{node} retry {retry} cluster {number} procs {procs} {factory}")
        self.jobs.begin(cluster)
        return cluster
