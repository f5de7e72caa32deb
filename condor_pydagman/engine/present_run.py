"""Which jobs are of the present run of a node, and the record of those that no log shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.inputs import EndedJob, LogEvent, QueuedJob
from condor_pydagman.engine.jobs import Jobs, run_key
from condor_pydagman.engine.state import RunState
from condor_pydagman.vocabulary import SHARED_CLUSTER, JournalRecord

Job = TypeVar("Job", QueuedJob, EndedJob)

LATE_MATERIALIZATION = "late materialization"  # text of an ADOPTED record about such a cluster


def is_of_previous_run(run: RunState, node: int, cluster: int, subproc: int = 0) -> bool:
    """Whether a cluster is of an earlier run of the node."""
    return run_key(cluster, subproc) in run.retrying.previous_clusters.get(node, ())


def is_shared(jobs: Sequence[Job], cluster: int) -> bool:
    """Whether the cluster has jobs of several nodes."""
    return any(job.shared and job.cluster == cluster for job in jobs)


def best_cluster(mine: Sequence[QueuedJob], old: Sequence[EndedJob]) -> int | None:
    """Which cluster is the node's if there are several in one run of it: one that stays, before one
    that is leaving, before one that has left."""
    if mine:
        return max(mine, key=lambda job: (not job.leaving, job.cluster)).cluster
    return max((job.cluster for job in old), default=None)


def of_present_run(run: RunState, node: int, jobs: Sequence[Job]) -> list[Job]:
    """Those of a node's jobs that are of its present run."""
    retry = run.nodes.retries.get(node, 0)
    previous = run.retrying.previous_clusters.get(node, ())
    return [job for job in jobs if job.retry == retry and run_key(job.cluster, 0) not in previous]


def journal_adopted(run: RunState, node: int, procs: int) -> None:
    """The log does not show these procs, so a later replay must learn of them from us."""
    run.journal(node, _adopted(run, node, procs))


def record_adopted(run: RunState, node: int, jobs: Jobs) -> None:
    """A proc has ended whose submit event the log has lost: only the schedd's reply has told of it,
    and a replay would take what follows for another run of the node."""
    run.emit(_adopted(run, node, 1 if jobs.only is not None else max(jobs.procs) + 1))


def _adopted(run: RunState, node: int, procs: int) -> do.AppendJournalRecord:
    jobs, retry = run.job_table.by_node[node], run.nodes.retries.get(node, 0)
    jobs.set_adopted()
    text = LATE_MATERIALIZATION if jobs.factory else ""
    if jobs.only is not None:
        text = SHARED_CLUSTER
    return do.AppendJournalRecord(JournalRecord.ADOPTED, node, retry, procs, *jobs.target, text)


def proc_in_shared(event: LogEvent) -> int | None:
    """The node's only proc, by an event that opens a cluster which it shares; else None."""
    return event.proc if event.text == SHARED_CLUSTER else None
