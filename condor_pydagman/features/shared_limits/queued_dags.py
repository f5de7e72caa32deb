"""What DAGMan jobs have in the queue of the schedd, for those of them that do not live."""

from __future__ import annotations

import htcondor2

from condor_pydagman.adapters.descriptions import BINDINGS, reason_of
from condor_pydagman.errors import PoolError
from condor_pydagman.features.shared_limits.directory import Queued

_AT_ONCE = 100  # DAGMan jobs that one query asks for
_GONE = (3, 4)  # removed and completed jobs
_IDLE = (1, 5)
_HELD = 5
_DAGMAN_UNIVERSE = 7


def queued_dags(clusters: list[int]) -> dict[int, Queued]:
    """Those of these DAGMan jobs that the schedd has, and what their DAGs have there.

    Raises:
        PoolError: it can't be asked.
    """
    found: dict[int, Queued] = {}
    for begin in range(0, len(clusters), _AT_ONCE):
        found.update(_some(clusters[begin : begin + _AT_ONCE]))
    return found


def _some(clusters: list[int]) -> dict[int, Queued]:
    own = " || ".join(f"ClusterId == {cluster}" for cluster in clusters)
    theirs = " || ".join(f"DAGManJobId == {cluster}" for cluster in clusters)
    wanted = ["ClusterId", "JobUniverse", "JobStatus", "DAGManJobId", "DAGNodeName"]
    try:
        jobs = list(htcondor2.Schedd().query(f"{own} || {theirs}", wanted))
    except BINDINGS as error:
        raise PoolError(f"the schedd: {reason_of(error)}", transient=True) from None
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
