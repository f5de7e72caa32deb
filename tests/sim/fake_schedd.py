"""A schedd in memory: it takes clusters, runs their procs, and writes events into the nodes log.

It may be down, refuse, lose a reply before or after it took a cluster, and (rarely) lose a proc
without a word.  It knows the truth about every cluster there ever was; oracles ask it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from condor_pydagman.engine import inputs
from condor_pydagman.engine.actions import RemoveJobs, SubmitNode
from condor_pydagman.engine.inputs import EndedJob, QueuedJob
from condor_pydagman.vocabulary import PROVISIONER_READY, RETURN_JOB_ABORTED, NodeKind
from tests.sim.fake_jobs import Cluster, FakeJobs, Job

if TYPE_CHECKING:
    from tests.sim.world import World

_SPARED_BY_PEOPLE = ("leaving", "removed", "ended")


class FakeSchedd:
    """The queue and all clusters that ever were in it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.jobs = FakeJobs(world)
        self.clusters: dict[int, Cluster] = {}
        self._down_until = 0.0
        world.every(20.0, self._maybe_down)

    @property
    def down(self) -> bool:
        return self._world.now < self._down_until

    @property
    def queue(self) -> dict[tuple[int, int], Job]:
        """Every proc in the queue."""
        return self.jobs.queue

    def submit(self, action: SubmitNode, node: str, kind: NodeKind) -> inputs.Input:
        """Take a node's jobs, or not."""
        world, number = self._world, action.node
        if self.down or world.hit("refuse"):
            return inputs.SubmitFailed(number, "no schedd", permanent=False)
        if world.hit("refuse_for_good"):
            return inputs.SubmitFailed(number, "bad submit file", permanent=True)
        if world.hit("lost_before"):
            return inputs.SubmitFailed(number, "lost", permanent=False, unknown=True)
        cluster = self._take(action, node, kind)
        if world.hit("lost_after"):
            return inputs.SubmitFailed(number, "lost", permanent=False, unknown=True)
        procs = 0 if cluster.factory else cluster.procs
        return inputs.Submitted(number, cluster.number, procs)

    def remove(
        self, action: RemoveJobs, era: int, ended: Callable[[QueuedJob], bool] = lambda job: False
    ) -> str:
        """Remove one cluster, or all of an era, but what has `ended`; says why it can't, '' if it
        can."""
        if self.down:
            return "the schedd is down"
        if self._world.hit("no_remove"):
            return "it is too busy"
        for cluster in self.clusters.values():
            spared = action.spare_services and cluster.kind is NodeKind.SERVICE
            all_of_era = not action.cluster and cluster.era == era and not spared
            if not cluster.over and (all_of_era or cluster.number == action.cluster):
                self._remove(cluster, ended)
        return ""

    def manager_left(self, era: int) -> None:
        """The DAGMan job has left the queue: the schedd removes what is left of its jobs."""
        for cluster in self.clusters.values():
            if cluster.era == era and not cluster.over:
                self._remove(cluster, self._shadow_is_leaving)

    def _shadow_is_leaving(self, job: QueuedJob) -> bool:
        return self.queue[job.cluster, job.proc].status == "ended"

    def _remove(
        self, cluster: Cluster, ended: Callable[[QueuedJob], bool] = lambda job: False
    ) -> None:
        there = [job for job in self.queue.values() if job.cluster is cluster]
        left = [
            job
            for job in there
            if not ended(QueuedJob(cluster.number, job.proc, cluster.node, cluster.retry))
        ]
        cluster.removed |= bool(left) or cluster.factory > 0
        for job in left:
            self._world.oracles.removed(job)
            self.jobs.remove(job)
        if cluster.factory and not there:
            self.jobs.end_factory(cluster)

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
            )
            for cluster in self.clusters.values()
            if cluster.era == era
            for proc, code in cluster.ends.items()
            if (cluster.number, proc) not in self.queue
        ]

    def live(self, era: int) -> list[Cluster]:
        """Clusters of an era with procs in the queue that nobody has removed, each once."""
        found = {
            job.cluster.number: job.cluster
            for job in self.queue.values()
            if job.cluster.era == era and job.status not in _SPARED_BY_PEOPLE
        }
        return [cluster for cluster in found.values() if not cluster.removed]

    def provisioner_state(self, cluster: int) -> int | None:
        """`ProvisionerState` of a job."""
        ready_at = self.clusters[cluster].ready_at
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

    def _take(self, action: SubmitNode, node: str, kind: NodeKind) -> Cluster:
        world, retry = self._world, action.retry
        outcomes = world.workload.outcomes
        procs, factory = outcomes.procs(node), outcomes.factory(node)
        if kind is NodeKind.SUBDAG or (kind is NodeKind.PROVISIONER and procs < 3):
            procs, factory = 1, 0
        if self._tolerates_percent(node):
            factory = 0  # percent of what has been made so far: hard to foretell
        number = len(self.clusters) + 1
        cluster = Cluster(
            number, node, kind, retry, world.era, procs, factory, on_hold=action.on_hold
        )
        self.clusters[number] = cluster
        world.oracles.cluster_taken(cluster)
        world.trace("took", f"{node} retry {retry} cluster {number} procs {procs} {factory}")
        self.jobs.begin(cluster)
        return cluster
