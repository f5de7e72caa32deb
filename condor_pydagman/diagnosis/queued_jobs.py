"""The jobs of a DAG that are idle or held, and which machines could run them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from condor_pydagman.diagnosis.known_facts import Fit
from condor_pydagman.diagnosis.machine_fit import fit_of
from condor_pydagman.monitor import queue
from condor_pydagman.notices.known import HELD, IDLE, QueuedJob

MAX_KINDS = 5  # of idle jobs that are compared with machines
Ad = Mapping[str, Any]
_WANTED = (
    *("ClusterId", "ProcId", "JobStatus", "JobUniverse", "DAGNodeName", "EnteredCurrentStatus"),
    *("HoldReason", "HoldReasonCode", "HoldReasonSubCode", "AutoClusterId"),
)
_ALIKE = ("Cmd", "RequestCpus", "RequestMemory", "RequestDisk", "RequestGpus")
_WITHOUT_MACHINE = (7, 9, 12)  # JobUniverse: scheduler, grid, local


def idle_and_held(cluster: int) -> list[Ad]:
    """The ads of a DAG's jobs that are idle or held.

    Raises:
        PoolError: the schedd does not answer.
    """
    condition = f"JobStatus == {IDLE} || JobStatus == {HELD}"
    return queue.jobs_of_dag(cluster, (*_WANTED, *_ALIKE), condition=condition)


def queued_job(ad: Ad) -> QueuedJob:
    """What an ad says."""
    return QueuedJob(
        f"{ad['ClusterId']}.{ad['ProcId']}",
        str(ad.get("DAGNodeName", "")),
        int(ad["JobStatus"]),
        float(ad.get("EnteredCurrentStatus", 0)),
        str(ad.get("HoldReason", "")),
        int(ad.get("HoldReasonCode", 0)),
        int(ad.get("HoldReasonSubCode", 0)),
    )


def fits_of(cluster: int, ads: Sequence[Ad]) -> list[Fit]:
    """How the idle ones among these jobs fit the machines of the pool, jobs of one kind together.

    Raises:
        PoolError: the schedd or the collector does not answer.
    """
    kinds: dict[Any, list[Ad]] = {}
    for ad in ads:
        if ad["JobStatus"] == IDLE and ad.get("JobUniverse") not in _WITHOUT_MACHINE:
            # the schedd gives the number when jobs are first negotiated for
            alike = ad.get("AutoClusterId") or tuple(str(ad.get(name)) for name in _ALIKE)
            kinds.setdefault(alike, []).append(ad)
    if not kinds:
        return []
    machines, found = queue.machine_ads(), []
    for jobs in sorted(kinds.values(), key=lambda jobs: -len(jobs))[:MAX_KINDS]:
        first = f"ClusterId == {jobs[0]['ClusterId']} && ProcId == {jobs[0]['ProcId']}"
        nodes = tuple(dict.fromkeys(str(ad.get("DAGNodeName", "")) for ad in jobs))
        for whole in queue.jobs_of_dag(cluster, (), condition=first):
            found.append(fit_of(whole, len(jobs), nodes, machines))
    return found
