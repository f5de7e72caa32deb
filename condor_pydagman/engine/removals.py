"""Clusters that are to be removed, and those of which the schedd could not be told.

A wish stays until the schedd has heard it or the jobs have ended.  During recovery wishes pile up;
what the log goes on to tell strikes them out again.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.inputs import QueuedJob, RemoveFailed
from condor_pydagman.engine.jobs import ENDED, Jobs
from condor_pydagman.vocabulary import EventKind

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine

AGAIN = 10.0  # seconds before a removal is asked for once more
ENDS = (EventKind.JOB_TERMINATED, EventKind.JOB_ABORTED)  # events of a job's end
# Seconds for the rest of a cluster with a failed proc: those that failed for the same reason end by
# themselves, and count as what they are.
GRACE = 1.0


class Removals:
    """What is to be removed, with the reason that the user is shown, by cluster."""

    def __init__(self) -> None:
        self._wanted: dict[int, str] = {}
        self._soon: dict[int, tuple[float, str]] = {}  # and when; the earliest first
        self._untold: dict[int, str] = {}
        self._asked: dict[int, str] = {}
        self._again_at = 0.0

    def __bool__(self) -> bool:
        """Whether anything is to be asked for, now or later."""
        return bool(self._wanted or self._soon or self._untold)

    def next_time(self) -> float | None:
        """When the schedd is to be told (once more); None if it knows all."""
        times = [self._again_at] if self._untold else []
        times += [when for when, _ in itertools.islice(self._soon.values(), 1)]
        return min(times, default=None)

    def want(self, cluster: int, reason: str) -> None:
        """Remove what is left of a cluster."""
        self._wanted[cluster] = reason

    def want_soon(self, cluster: int, reason: str, now: float) -> None:
        """Remove what will be left of a cluster in GRACE seconds."""
        self._soon[cluster] = (now + GRACE, reason)

    def work_off(self, engine: Engine) -> None:
        """Ask for what is wanted and still makes sense."""
        if self._untold and self._again_at <= engine.now:
            self._wanted.update(self._untold)
            self._untold.clear()
        while self._soon:
            cluster, (when, reason) = next(iter(self._soon.items()))
            if when > engine.now:
                break
            del self._soon[cluster]
            self._wanted.setdefault(cluster, reason)
        for cluster, reason in self._wanted.items():
            node = engine.book.by_cluster.get(cluster)
            if node is not None and engine.book.by_node[node].unfinished:
                self._asked[cluster] = reason
                engine.emit(do.RemoveJobs(reason, cluster))
        self._wanted.clear()

    def on_failed(self, engine: Engine, failed: RemoveFailed) -> None:
        """The schedd could not be told: once more, later."""
        engine.say(f"Warning: could not remove cluster {failed.cluster}: {failed.reason}")
        if failed.cluster in engine.book.by_cluster:
            if not self._untold:  # else others have waited for longer
                self._again_at = engine.now + AGAIN
            self._untold[failed.cluster] = self._asked.get(failed.cluster, failed.reason)


def remove_rest(engine: Engine, jobs: Jobs, reason: str, *, soon: bool = False) -> None:
    """Remove what is left of a node's cluster, once; `soon`: what is left GRACE seconds later."""
    if jobs.removing:
        return
    jobs.removing = True
    if soon and not engine.recovering:
        engine.removals.want_soon(jobs.cluster, reason, engine.now)
    else:
        engine.removals.want(jobs.cluster, reason)


def has_ended(engine: Engine, job: QueuedJob) -> bool:
    """Whether the end of a job in the queue is known: a removal must leave it out."""
    node = engine.dag.find(job.node)
    if node is None:
        return False
    jobs = engine.book.by_node.get(node)
    if jobs is not None and jobs.cluster == job.cluster:
        return bool(jobs.procs.get(job.proc, 0) & ENDED)
    if job.cluster == engine.nodes.clusters[node] or job.cluster in engine.former.get(node, ()):
        return True
    ends = [(kind, job.cluster, job.proc) for kind in ENDS]
    return any(event[:3] in ends for event in engine.strangers)
