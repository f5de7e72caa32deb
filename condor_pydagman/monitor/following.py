"""Waiting for what happens next in a DAG."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from condor_pydagman.errors import PoolError
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.dag_monitor import DagMonitor

INTERVAL_S = 0.5  # between looks at the logs, which cost two calls of the system each
ASK_S = 15.0  # between questions whether a job that has not started is still in the queue


def follow(
    monitor: DagMonitor, sleep: Callable[[float], object], interval: float = INTERVAL_S
) -> Iterator[list[DagEvent]]:
    """What happens, until DAGMan has ended; nothing that is empty.

    Args:
        sleep: waits for so many seconds.
        interval: between looks at the logs, seconds.

    Raises:
        PoolError: DAGMan's job has left the queue before it started.
    """
    waited, gone = 0.0, False
    while True:
        events = monitor.poll()
        if events:
            yield events
        if monitor.more:
            continue
        if monitor.over:
            return
        if gone and not monitor.begun:
            raise PoolError(
                f"DAGMan's job {monitor.found.cluster} has left the queue before it started",
                transient=False,
            )
        sleep(interval)
        waited += interval
        if waited >= ASK_S and not monitor.begun:
            waited, gone = 0.0, _has_left(monitor.found.cluster)


def _has_left(cluster: int) -> bool:
    """Whether the queue has no such job; not if the schedd does not answer."""
    try:
        return not schedd_queries.queued_dagman_ad(cluster)
    except PoolError:
        return False
