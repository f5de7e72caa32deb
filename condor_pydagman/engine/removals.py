"""Clusters that are to be removed, and those of which the schedd could not be told.

A wish stays until the schedd has heard it or the jobs have ended.  During recovery wishes pile up;
what the log goes on to tell strikes them out again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.inputs import RemoveFailed
from condor_pydagman.engine.jobs import Jobs

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine

AGAIN = 10.0  # seconds before a removal is asked for once more


class Removals:
    """What is to be removed, with the reason that the user is shown, by cluster."""

    def __init__(self) -> None:
        self._wanted: dict[int, str] = {}
        self._untold: dict[int, str] = {}
        self._asked: dict[int, str] = {}
        self._again_at = 0.0

    def __bool__(self) -> bool:
        """Whether anything is to be asked for, now or later."""
        return bool(self._wanted or self._untold)

    def next_time(self) -> float | None:
        """When the schedd is to be told once more; None if it knows all."""
        return self._again_at if self._untold else None

    def want(self, cluster: int, reason: str) -> None:
        """Remove what is left of a cluster."""
        self._wanted[cluster] = reason

    def work_off(self, engine: Engine) -> None:
        """Ask for what is wanted and still makes sense."""
        if self._untold and self._again_at <= engine.now:
            self._wanted.update(self._untold)
            self._untold.clear()
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


def remove_rest(engine: Engine, jobs: Jobs, reason: str) -> None:
    """Remove what is left of a node's cluster, once."""
    if not jobs.removing:
        jobs.removing = True
        engine.removals.want(jobs.cluster, reason)
