"""Figures about all DAGs of a queue, for a monitor: sums and counts, without the names of DAGs."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from condor_pydagman.follow.notice import ALL_CAUSES
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.monitor.queued_dags import QueuedDag
from condor_pydagman.named_tuple import NamedTuple

STALLED_S = 3600  # a DAG that could go on, and in which no node has ended for so long, is stalled


class Family(NamedTuple):
    """What a figure is."""

    meaning: str
    label: str = ""  # by which its samples are told apart, '' if there is one sample
    greatest: bool = False  # whether it is the greatest of the DAGs' and not their sum


FAMILIES = {
    "dagman_dags": Family("DAGs in the queue, by what they are about", "state"),
    "dagman_programs": Family("DAGs in the queue, by the program that runs them", "program"),
    "dagman_waiting": Family("DAGs in the queue, by what they wait for", "cause"),
    "dagman_nodes": Family("nodes of these DAGs", "state"),
    "dagman_jobs": Family("jobs of these DAGs in the queue", "state"),
    "dagman_stalled": Family("DAGs that could run jobs, and no node has ended for an hour"),
    "dagman_longest_without_end_seconds": Family(
        "time since a node of a running DAG ended, or DAGMan was started", greatest=True
    ),
    "dagman_submit_refusals": Family("submissions that the schedd has not taken"),
    "dagman_restarts": Family("starts of DAGMans after their first"),
    "dagman_most_restarts": Family("starts of one DAGMan after its first", greatest=True),
    "dagman_memory_bytes": Family("own memory of DAGMans when they were last awake"),
    "dagman_cpu_seconds": Family("CPU time of DAGMans, as last published"),
}
_PROGRAM = re.compile(r"condor_(pydagman [\w.+-]{1,32}|dagman)")
_NODES = ("total", "done", "ready", "queued", "failed", "futile")
# causes why nodes that are ready could not run, beside those with names of limits
_NOT_YET = ("node.retry", "script.running")
_JOBS = {"idle": "jobs_idle", "held": "jobs_held", "running": "jobs_running"}
Labels = tuple[str, str]  # value of a family's own label, and user; '' for what it has not
Sums = Mapping[str, Mapping[Labels, float]]


def figures(dags: Iterable[QueuedDag], now: float, *, by_user: bool = False) -> Sums:
    """The samples of all families by their labels.

    Args:
        now: seconds since the epoch.
        by_user: whether users are told apart.
    """
    found: dict[str, defaultdict[Labels, float]] = {
        name: defaultdict(float, {} if family.label or by_user else {("", ""): 0.0})
        for name, family in FAMILIES.items()
    }
    for dag in dags:
        for name, value, number in _of_one(dag, now):
            labels, samples = (value, dag.owner if by_user else ""), found[name]
            both = (samples[labels], number)
            samples[labels] = max(both) if FAMILIES[name].greatest else sum(both)
    return found


def _of_one(dag: QueuedDag, now: float) -> Iterator[tuple[str, str, float]]:
    yield "dagman_dags", dag.state, 1
    # Users can set what is published, and a monitor keeps each value for ever.
    yield "dagman_programs", dag.program if _PROGRAM.fullmatch(dag.program) else "unknown", 1
    yield "dagman_waiting", dag.waits_for if dag.waits_for in ALL_CAUSES else "unknown", 1
    for state in _NODES:
        yield "dagman_nodes", state, getattr(dag, state)
    for state, field in _JOBS.items():
        yield "dagman_jobs", state, getattr(dag, field)
    if dag.state == DagState.RUNNING.value and dag.program.startswith("condor_pydagman"):
        since = max(now - max(min(dag.last_end, now), dag.resumed or dag.submitted), 0.0)
        yield "dagman_longest_without_end_seconds", "", since
        yield "dagman_stalled", "", float(since > STALLED_S and _could_run(dag))
    restarts = max(dag.starts - 1, 0)
    yield "dagman_restarts", "", restarts
    yield "dagman_most_restarts", "", restarts
    yield "dagman_submit_refusals", "", dag.refusals
    yield "dagman_memory_bytes", "", dag.memory_kb << 10
    yield "dagman_cpu_seconds", "", dag.cpu_s


def _could_run(dag: QueuedDag) -> bool:
    """Whether there are jobs or nodes that could run, and none does."""
    ready = dag.ready if dag.waits_for not in _NOT_YET and not dag.waits_for_names else 0
    return not dag.jobs_running and bool(dag.jobs_idle or ready)
