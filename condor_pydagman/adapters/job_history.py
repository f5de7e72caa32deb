"""The schedd's history: the query for the jobs of a run, and the reading of the ads.

The schedd searches it backwards, so the query says at which job the search may stop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from condor_pydagman.adapters.ownership import ATTRIBUTES as OWNER
from condor_pydagman.adapters.ownership import Owners
from condor_pydagman.engine.inputs import EndedJob
from condor_pydagman.errors import PoolError
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.own_ad import BEGUN
from condor_pydagman.timers import HISTORY_MARGIN_S
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, SHARED_CLUSTER

USER_NOTES = "SubmitEventUserNotes"
FACTORY_ATTRIBUTE = "JobMaterializeDigestFile"  # in the ads of clusters with late materialization
ATTRIBUTES = [
    "ClusterId",
    "ProcId",
    "DAGNodeName",
    "DAGManNodeRetry",
    "JobStatus",
    "ExitBySignal",
    "ExitCode",
    "ExitSignal",
    "TotalSubmitProcs",
    USER_NOTES,
    FACTORY_ATTRIBUTE,
    *OWNER,
]
_COMPLETED = 4  # JobStatus
MAX_TRIES = 5  # in a row; then the run goes on without the history
_REFUSED = ("HISTORY undefined", "has been disabled", "DENIED")  # by the configuration


class HistoryQuery(NamedTuple):
    """A query of the history."""

    which: str  # expression that is true for the jobs
    # expression that is true for the job at which the search, going back, stops; None: the whole
    # history is searched
    since: str | None
    owners: Owners  # owners of the jobs, checked again in the result


def history_query(cluster: int, own: Mapping[str, Any], owners: Owners) -> HistoryQuery:
    """The query for the jobs of a DAGMan job's run.  `own` has QDate and BEGUN of the DAGMan job's
    ad, as far as they are known.

    The job that stops the search must have left the queue before this run began.  Those of other
    users do not stop it: they can edit the times of their jobs.
    """
    which, begun = f"DAGManJobId == {cluster} && {owners.clause}", own.get(BEGUN)
    if isinstance(begun, int):
        which += f" && QDate >= {begun}"
    born = begun if isinstance(begun, int) else own.get("QDate")
    if not isinstance(born, int):
        return HistoryQuery(which, None, owners)
    return HistoryQuery(which, f"{left_before(cluster, born)} && {owners.clause}", owners)


def left_before(cluster: int, submitted: float) -> str:
    """An expression that is true for jobs that had left the queue when another one was submitted.

    It is not for all of these: where a job stands in the history is known only if it left the queue
    as it ended.  Two kinds may have been there longer: those that may stay for days after their end
    (LeaveJobInQueue, or output that somebody must fetch), and those that were submitted later but
    ended earlier, as the clock was set back.

    Args:
        cluster: of the other job.
        submitted: when, seconds since the epoch.
    """
    at_once = f'JobStatus == {_COMPLETED} && unparse(LeaveJobInQueue) =?= "false"'
    before = f"EnteredCurrentStatus < {int(submitted) - HISTORY_MARGIN_S}"
    return f"{at_once} && ClusterId < {cluster} && {before}"


def search(schedd: Any, query: HistoryQuery) -> list[EndedJob]:
    """The jobs that a query finds in the history of a `htcondor2.Schedd`.

    To be called in a process of its own: the bindings wait without limit while a disk hangs, and do
    not free the memory that the ads of a long history took.

    Raises:
        what the bindings raise.
    """
    ads = schedd.history(query.which, ATTRIBUTES, since=query.since)
    return ended_procs([ad for ad in ads if query.owners.has(ad)])


class Patience:
    """Decides whether a failed query of the history is repeated."""

    def __init__(self) -> None:
        self._tries = 0

    def judge(self, result: list[EndedJob] | PoolError) -> list[EndedJob] | PoolError | str:
        """The result; a PoolError if the query is to be repeated; or the reason as a text if the
        run is to go on without the history.

        The text comes after MAX_TRIES failures in a row, or at once if the history is disabled.
        """
        if not isinstance(result, PoolError):
            self._tries = 0
            return result
        self._tries += 1
        for_good = any(phrase in result.reason for phrase in _REFUSED)
        if self._tries < MAX_TRIES and not for_good:
            return result
        return f"can't ask for the schedd's history ({result}); going by log and queue"


def ended_procs(ads: Sequence[Any]) -> list[EndedJob]:
    """The procs of nodes among these ads; also (as proc -1, as in the queue) clusters with late
    materialization all of whose procs have been made and have ended."""
    ads = [ad for ad in ads if "DAGNodeName" in ad]
    jobs = [_ended_job(ad) for ad in ads]
    found = Counter(job.cluster for job in jobs)
    clusters = {
        job.cluster: job._replace(proc=-1, value=0)
        for job, ad in zip(jobs, ads)
        if FACTORY_ATTRIBUTE in ad and found[job.cluster] == ad.get("TotalSubmitProcs")
    }
    return [*jobs, *clusters.values()]


def retry_of(ad: Mapping[str, Any]) -> int:
    """The retry number of the node in a job's ad; 0 if it is no integer, since a submit file can
    set it to anything."""
    retry = ad.get("DAGManNodeRetry")
    return retry if type(retry) is int else 0  # classad2's Undefined is a kind of int


def is_shared(ad: Mapping[str, Any]) -> bool:
    """Whether a job is in a cluster with jobs of other nodes, by its ad."""
    return bool(ad.get(USER_NOTES) == SHARED_CLUSTER)


def _ended_job(ad: Any) -> EndedJob:
    value = RETURN_JOB_ABORTED
    if ad.get("JobStatus") == _COMPLETED:
        by_signal = ad.get("ExitBySignal") is True
        value = -int(ad.get("ExitSignal", 1)) if by_signal else int(ad.get("ExitCode", 0))
    return EndedJob(
        int(ad["ClusterId"]),
        int(ad["ProcId"]),
        str(ad["DAGNodeName"]),
        retry_of(ad),
        value,
        is_shared(ad),
    )
