"""What has happened, and happens, in a DAG: as events, and as attempts of its nodes.

The files beside the DAG are read; no HTCondor is needed for it, unless a cluster is given.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from functools import partial

from condor_pydagman.api.dag_reading import StrPath
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.run_model import Run
from condor_pydagman.monitor.dag_monitor import INTERVAL_S, DagMonitor, follow
from condor_pydagman.monitor.found_dag import FoundDag, find_dag
from condor_pydagman.monitor.plan import known_plan, with_logs


def dag_events(
    dag: StrPath | int, *, follow: bool = False, since: str = "", interval: float = INTERVAL_S
) -> Iterator[DagEvent]:
    """Everything that has happened in the last run of a DAG, oldest first.

    Args:
        dag: the first DAG file as condor_submit_dag was given it; or the cluster of DAGMan's job.
        follow: whether to wait for what happens next, until DAGMan has ended.
        since: the `id` of the last event that is known already, '' for none.
        interval: seconds between two looks at the logs.

    Raises:
        FileError: there is no such DAG.
        PoolError: a cluster was given, and the schedd does not answer, or has no such job.
        UsageError: `since` is not the id of an event.
    """
    found = _found(dag)
    monitor = DagMonitor(found, since=since, read_plan=partial(known_plan, found))
    return _events(monitor, interval if follow else None)


def read_run(dag: StrPath | int) -> Run:
    """The last run of a DAG: its nodes and their attempts, as far as the logs tell.

    100,000 nodes take some seconds.  For arguments and errors see `dag_events`.
    """
    found = _found(dag)
    return DagMonitor(found, read_plan=partial(known_plan, found)).read()


def _events(monitor: DagMonitor, interval: float | None) -> Iterator[DagEvent]:
    blocks = monitor.blocks() if interval is None else follow(monitor, time.sleep, interval)
    for events in blocks:
        yield from events


def _found(dag: StrPath | int) -> FoundDag:
    return with_logs(find_dag(str(dag) if isinstance(dag, int) else os.fspath(dag), ask=False))
