"""Waiting for what happens next in a DAG."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from condor_pydagman.monitor.dag_monitor import DagMonitor
from condor_pydagman.trace.dag_events import DagEvent

INTERVAL_S = 0.5  # between looks at the logs, which cost two calls of the system each


def follow(
    monitor: DagMonitor, sleep: Callable[[float], object], interval: float = INTERVAL_S
) -> Iterator[list[DagEvent]]:
    """What happens, until DAGMan has ended; nothing that is empty.

    Args:
        sleep: waits for so many seconds.
        interval: between looks at the logs, seconds.
    """
    while True:
        events = monitor.poll()
        if events:
            yield events
        if monitor.more:
            continue
        if monitor.over:
            return
        sleep(interval)
