"""DAGs that have ended, of whatever user, by the schedd's history."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from condor_pydagman.follow.run_model import COUNTS
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.queued_dags import dag_file, number_of, state_of
from condor_pydagman.monitor.schedd_queries import IS_DAGMAN, text_of
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records import progress_ad

_NUMBERS = {
    "cluster": "ClusterId",
    "outer": "DAGManJobId",
    "submitted": "QDate",
    "started": "JobStartDate",
    "starts": "JobRunCount",
    "total": "DAG_NodesTotal",
    "done": "DAG_NodesDone",
    "failed": "DAG_NodesFailed",
    "futile": "DAG_NodesFutile",
    "retries": progress_ad.RETRIES,
    **{field: name for name, field in progress_ad.TIMES.items()},
}
_OTHERS = ("Owner", "Iwd", "UserLog", "JobStatus", "DAG_Status", "ExitCode")
_ENDS = ("CompletionDate", "EnteredCurrentStatus")  # one that was removed has the second alone
_ANY_CLUSTER = 1 << 31  # is greater than all
WANTED = (*_NUMBERS.values(), *_OTHERS, *_ENDS, progress_ad.FAILED)
# What tells the files of a DAG (`found_dag.found_by_ad`), and its nodes that are not counted above.
FOR_FILES = ("Arguments", "Args", "Environment", "Env", *COUNTS.values())


class EndedDag(NamedTuple):
    """A run of a DAG that has ended; numbers are 0 where its program has left none.

    Times are seconds since the epoch, durations are in seconds.
    """

    owner: str
    dag: str  # path of its first DAG file
    state: str  # how it has ended
    exit_code: int | None  # condor_dagman's; None if it has left none
    failed_nodes: str  # names of those that failed first
    ended: int
    cluster: int  # of DAGMan's job
    outer: int  # that of the DAG of which it is a node, 0 if it is none
    submitted: int
    started: int
    starts: int  # how often DAGMan was started
    total: int
    done: int
    failed: int
    futile: int
    retries: int
    # summed over jobs: in the queue, on hold, running, and the last runs of those that failed
    idle_s: int
    held_s: int
    running_s: int
    wasted_s: int

    @property
    def wall_s(self) -> int:
        """From the start of DAGMan to the end."""
        return max(self.ended - (self.started or self.submitted), 0)


def ended_dags(condition: str, most: int, *, name: str = "", pool: str = "") -> list[EndedDag]:
    """The DAGs that ended last and meet a ClassAd expression, the newest first.

    Args:
        condition: on the ad of DAGMan's job.
        most: how many, at most.
        name: of the schedd; '' for this machine's.
        pool: address of the collector that knows it; '' for the usual one.

    Raises:
        PoolError: the schedd does not answer.
    """
    condition = f"{IS_DAGMAN} && ({condition})"
    ads = schedd_queries.ads_in_history(condition, WANTED, most, name, pool)
    return list(map(ended_dag, ads))


def lately_ended_ads(after: float, most: int) -> list[Mapping[str, Any]]:
    """The ads of one's own DAGs that ended after a time, without sub-DAGs, the newest first.

    The history is searched back to a job of one's own that had left the queue before: those of
    others do not stop the search, as they can edit the times of their jobs.

    Args:
        after: seconds since the epoch.
        most: how many, at most.

    Raises:
        PoolError: the schedd does not answer.
    """
    from condor_pydagman.adapters.job_history import left_before

    own = f'Owner == "{schedd_queries.user()}"'
    which = f"{own} && DAGManJobId =?= undefined && EnteredCurrentStatus >= {int(after)}"
    since = f"{left_before(_ANY_CLUSTER, after)} && {own}"
    wanted = (*WANTED, *FOR_FILES)
    condition = f"{IS_DAGMAN} && {which}"
    return schedd_queries.ads_in_history(condition, wanted, most, "", "", since=since)


def ended_dag(ad: Mapping[str, Any]) -> EndedDag:
    """The run of the ad of a DAGMan's job that has left the queue."""
    state, code = state_of(ad)
    return EndedDag(
        owner=text_of(ad, "Owner"),
        dag=dag_file(ad),
        state=state.value + (f" ({code})" if code else ""),
        exit_code=code,
        failed_nodes=text_of(ad, progress_ad.FAILED),
        ended=number_of(ad, "CompletionDate") or number_of(ad, "EnteredCurrentStatus"),
        **{name: number_of(ad, attribute) for name, attribute in _NUMBERS.items()},
    )
