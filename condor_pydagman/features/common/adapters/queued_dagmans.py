"""DAGMan jobs in the queue of the schedd, for claims that outlive their DAGMan."""

from __future__ import annotations

import socket
from typing import Any

import htcondor2

from condor_pydagman.adapters.descriptions import BINDINGS, reason_of
from condor_pydagman.adapters.knobs import lookup
from condor_pydagman.errors import PoolError
from condor_pydagman.named_tuple import NamedTuple

_AT_ONCE, _WITH_DAGS_AT_ONCE = 500, 100  # clusters that one query asks for
_GONE = (3, 4)  # removed and completed jobs
_IDLE = (1, 5)
_HELD = 5
_DAGMAN_UNIVERSE = 7


class Queued(NamedTuple):
    """A DAGMan job in the queue, and what its DAG has there."""

    held: bool  # whether the DAGMan job is on hold
    nodes: int  # how many nodes have jobs
    idle: int  # idle procs of them, those on hold included


def in_queue(clusters: list[int]) -> set[int]:
    """Those of the clusters that the schedd has.

    Raises:
        PoolError: it can't be asked.
    """
    found: set[int] = set()
    for begin in range(0, len(clusters), _AT_ONCE):
        some = clusters[begin : begin + _AT_ONCE]
        constraint = f"ClusterId >= {min(some)} && ClusterId <= {max(some)} && JobUniverse == 7"
        found.update(int(job["ClusterId"]) for job in queried_jobs(constraint, ["ClusterId"]))
    return found


def queued_dags(clusters: list[int]) -> dict[int, Queued]:
    """Those of these DAGMan jobs that the schedd has, and what their DAGs have there.

    Raises:
        PoolError: it can't be asked.
    """
    found: dict[int, Queued] = {}
    for begin in range(0, len(clusters), _WITH_DAGS_AT_ONCE):
        found.update(_some(clusters[begin : begin + _WITH_DAGS_AT_ONCE]))
    return found


def _some(clusters: list[int]) -> dict[int, Queued]:
    own = " || ".join(f"ClusterId == {cluster}" for cluster in clusters)
    theirs = " || ".join(f"DAGManJobId == {cluster}" for cluster in clusters)
    wanted = ["ClusterId", "JobUniverse", "JobStatus", "DAGManJobId", "DAGNodeName"]
    jobs = queried_jobs(f"{own} || {theirs}", wanted)
    nodes: dict[int, set[str]] = {}
    idle: dict[int, int] = {}
    for job in jobs:
        if job.get("JobStatus") not in _GONE:
            dag = int(job.get("DAGManJobId", 0))
            nodes.setdefault(dag, set()).add(str(job.get("DAGNodeName", job["ClusterId"])))
            idle[dag] = idle.get(dag, 0) + (job.get("JobStatus") in _IDLE)
    there = {
        int(job["ClusterId"]): job.get("JobStatus") == _HELD
        for job in jobs
        if job.get("JobUniverse") == _DAGMAN_UNIVERSE
    }
    return {
        cluster: Queued(there[cluster], len(nodes.get(cluster, ())), idle.get(cluster, 0))
        for cluster in clusters
        if cluster in there
    }


def queried_jobs(constraint: str, wanted: list[str]) -> list[Any]:
    """These attributes of jobs in the queue.

    Raises:
        PoolError: the schedd can't be asked.
    """
    try:
        return list(htcondor2.Schedd().query(constraint, wanted))
    except BINDINGS as error:
        raise PoolError(f"the schedd: {reason_of(error)}", transient=True) from None


def queue_name(global_job_id: object = None) -> str:
    """What tells the queue of this schedd from those of others on the machine: its name, and where
    the queue is kept, since personal pools have schedds of the same name.

    Args:
        global_job_id: of one of its jobs; without one the collector is asked for the name.
    """
    name, mark, _ = str(global_job_id or "").partition("#")
    if not mark:
        name = _asked_name()
    return f"{name} {lookup('SPOOL') or ''}"


def _asked_name() -> str:
    try:
        ad = htcondor2.Collector().locate(htcondor2.DaemonType.Schedd)
    except BINDINGS:
        return socket.gethostname()
    return str(ad.get("Name") or socket.gethostname())
