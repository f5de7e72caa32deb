"""The attributes of DAGMan's own job ad that say how the DAG is.

condor_q, `htcondor dag status` and monitors read them from queue and history.  A value here is the
text of a ClassAd expression, which is what an edit of the schedd's queue takes.
"""

from __future__ import annotations

from collections.abc import Mapping

from condor_pydagman.engine.report import Report
from condor_pydagman.engine.throttles import Throttles

_UPDATE_TIME = "DAG_AdUpdateTime"


def attributes(report: Report, now: float) -> dict[str, str]:
    """All attributes of a DAG's state, the time of the update among them (seconds)."""
    numbers = {
        "DAG_Status": int(report.dag_status),
        "DAG_InRecovery": int(report.in_recovery),
        "DAG_NodesTotal": report.total,
        "DAG_NodesDone": report.done,
        "DAG_NodesPrerun": report.pre,
        "DAG_NodesQueued": report.queued,
        "DAG_NodesPostrun": report.post,
        "DAG_NodesHoldrun": report.hold_scripts,
        "DAG_NodesReady": report.ready,
        "DAG_NodesFailed": report.failed,
        "DAG_NodesUnready": report.unready,
        "DAG_NodesFutile": report.futile,
        "DAG_JobsSubmitted": report.procs_submitted,
        "DAG_JobsIdle": report.procs_idle,
        "DAG_JobsHeld": report.procs_held,
        "DAG_JobsRunning": report.procs_running,
        "DAG_JobsCompleted": report.procs_completed,
        _UPDATE_TIME: int(now),
    }
    return {name: str(value) for name, value in numbers.items()}


def throttles(limits: Throttles) -> dict[str, str]:
    """The limits in force, which a restarted DAGMan takes up again; 0 means none."""
    numbers = {
        "DAGMan_MaxIdle": limits.idle,
        "DAGMan_MaxJobs": limits.jobs,
        "DAGMan_MaxPreScripts": limits.pre,
        "DAGMan_MaxPostScripts": limits.post,
        "DAGMan_MaxHoldScripts": limits.hold,
        "DAGMan_MaxSubmitsPerInterval": limits.submits,
    }
    return {name: str(value) for name, value in numbers.items()}


def changed(new: Mapping[str, str], published: Mapping[str, str]) -> dict[str, str]:
    """What of `new` must be written, in an order that ends with the update time.

    If nothing but the update time differs, nothing needs writing: each attribute costs the schedd
    a transaction of its own.
    """
    different = {name: value for name, value in new.items() if published.get(name) != value}
    stamp = different.pop(_UPDATE_TIME, None)
    if different and stamp is not None:
        different[_UPDATE_TIME] = stamp
    return different
