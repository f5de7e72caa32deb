"""All DAGs of a schedd's queue, of whatever user and program, by what their DAGMans publish.

One query with a projection; no file of a DAG is read, so that a look at the DAGs of others costs
the schedd little, and reads nothing that they have written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from condor_pydagman.follow.run_model import DagState
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.found_state import state_of_ad
from condor_pydagman.monitor.schedd_queries import IN_UNIVERSE, LOG, is_dagman, text_of
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.progress_ad import (
    CPU,
    LAST_END,
    MEMORY,
    REFUSALS,
    VERSION,
    WAITS_FOR,
    WAITS_FOR_COUNT,
)
from condor_pydagman.vocabulary import MORE_HELD, MORE_RUNNING

# Our name of a number, and that of the job ad.
_NUMBERS = {
    "cluster": "ClusterId",
    "outer": "DAGManJobId",
    "submitted": "QDate",
    "started": "JobStartDate",
    "resumed": "JobCurrentStartDate",
    "starts": "JobRunCount",
    "total": "DAG_NodesTotal",
    "done": "DAG_NodesDone",
    "ready": "DAG_NodesReady",
    "queued": "DAG_NodesQueued",
    "failed": "DAG_NodesFailed",
    "futile": "DAG_NodesFutile",
    "jobs_idle": "DAG_JobsIdle",
    "jobs_held": "DAG_JobsHeld",
    "jobs_running": "DAG_JobsRunning",
    "jobs_completed": "DAG_JobsCompleted",
    "updated": "DAG_AdUpdateTime",
    "last_end": LAST_END,
    "waits_for_count": WAITS_FOR_COUNT,
    "refusals": REFUSALS,
    "memory_kb": MEMORY,
}
_MORE = {"jobs_held": MORE_HELD, "jobs_running": MORE_RUNNING}
_OTHERS = ("Owner", "Iwd", "UserLog", "JobStatus", "DAG_Status", VERSION, WAITS_FOR, CPU)
WANTED = (*_NUMBERS.values(), *_MORE.values(), *_OTHERS)
# What the table does not show, and not having it costs the schedd a fifth less.
_NOT_SHOWN = ("outer", "resumed", "starts", "queued", "futile", "refusals")
SHOWN = tuple(a for a in WANTED if a not in (VERSION, *(_NUMBERS[name] for name in _NOT_SHOWN)))
# What a job keeps while it is in the queue: fields here, and attributes of its ad.
_KEPT, _OF_KEPT = ("owner", "dag", "submitted"), ("Owner", "Iwd", "UserLog", "QDate")
CHANGING = tuple(a for a in SHOWN if a not in _OF_KEPT)
# What a DAG waits for whose DAGMan does not run.
_OF_JOB = {DagState.HELD: "dagman.held", DagState.IDLE: "dagman.idle"}


class QueuedDag(NamedTuple):
    """A DAG whose DAGMan's job is in the queue; numbers are 0 where nothing is published yet.

    Times are seconds since the epoch.
    """

    owner: str
    dag: str  # path of its first DAG file
    state: str
    program: str  # that runs it: `condor_pydagman 1.0`, `condor_dagman`; '' if it is not known yet
    waits_for: str  # a cause of `follow.notice`, '' if nothing is published
    waits_for_names: str  # the shared limits that it is about, with commas between them
    waits_for_count: int
    cluster: int  # of DAGMan's job
    outer: int  # that of the DAG of which it is a node, 0 if it is none
    submitted: int
    started: int  # for the first time
    resumed: int  # the last time
    starts: int  # how often DAGMan has been started
    updated: int  # when what is published was so last
    last_end: int  # when a node ended last
    total: int
    done: int
    ready: int
    queued: int
    failed: int
    futile: int
    jobs_idle: int
    jobs_held: int
    jobs_running: int
    jobs_completed: int
    refusals: int  # submissions that the schedd has not taken
    memory_kb: int  # of DAGMan's own, as it last published
    cpu_s: float  # the same, of its process

    @property
    def jobs_an_hour(self) -> float:
        """How many jobs have ended in an hour since the start; 0.0 if that can't be said."""
        seconds = self.updated - self.started
        return self.jobs_completed * 3600 / seconds if self.started and seconds > 0 else 0.0


def queued_dags(
    condition: str, *, wanted: Sequence[str] = WANTED, name: str = "", pool: str = ""
) -> list[QueuedDag]:
    """The DAGs that meet a ClassAd expression, in the order of their jobs.

    Args:
        condition: on the ad of DAGMan's job.
        wanted: the attributes that are asked for; SHOWN are those of the table.
        name: of the schedd; '' for this machine's.
        pool: address of the collector that knows it; '' for the usual one.

    Raises:
        PoolError: the schedd does not answer, or the expression can't be parsed.
    """
    ads = schedd_queries.ads_in_queue(f"{IN_UNIVERSE} && ({condition})", wanted, name, pool)
    return sorted(map(queued_dag, filter(is_dagman, ads)), key=lambda dag: dag.cluster)


class Looks:
    """The DAGs that meet a ClassAd expression, looked at again and again: what a job keeps is asked
    for once, which costs the schedd a fifth less.

    Args:
        condition, name, pool: as of `queued_dags`.
    """

    def __init__(self, condition: str, name: str, pool: str) -> None:
        self._condition = f"{IN_UNIVERSE} && ({condition})"
        self._place = name, pool
        self._known: dict[int, QueuedDag | None] = {}  # by cluster; None for what is no DAGMan's

    def look(self) -> list[QueuedDag]:
        """Those that there are now, in the order of their jobs.

        Raises:
            PoolError: the schedd does not answer, or the expression can't be parsed.
        """
        new = 0 if not self._known else self._look_again()
        if new is not None:
            asked = f"{self._condition} && ClusterId >= {new}"
            for ad in schedd_queries.ads_in_queue(asked, SHOWN, *self._place):
                dag = queued_dag(ad)
                self._known[dag.cluster] = dag if is_dagman(ad) else None
        return sorted(filter(None, self._known.values()), key=lambda dag: dag.cluster)

    def _look_again(self) -> int | None:
        """At those that are known; returns the first cluster that is not, None if all are."""
        before, self._known, new = self._known, {}, []
        for ad in schedd_queries.ads_in_queue(self._condition, CHANGING, *self._place):
            dag = queued_dag(ad)
            known = before.get(dag.cluster)
            if known is not None:
                kept = {field: getattr(known, field) for field in _KEPT}
                self._known[dag.cluster] = dag._replace(**kept)
            elif dag.cluster in before and not is_dagman(ad):
                self._known[dag.cluster] = None
            else:
                new.append(dag.cluster)
        return min(new, default=None)


def queued_dag(ad: Mapping[str, Any]) -> QueuedDag:
    """The DAG of the ad of a DAGMan's job."""
    numbers = {name: number_of(ad, attribute) for name, attribute in _NUMBERS.items()}
    for name, attribute in _MORE.items():
        numbers[name] += number_of(ad, attribute)
    state, version = state_of(ad)[0], text_of(ad, VERSION)
    stock = "condor_dagman" if "DAG_Status" in ad else ""
    if state in _OF_JOB:  # what DAGMan had published before counts no more
        numbers["waits_for_count"] = 1
    cause, _, names = (_OF_JOB.get(state) or text_of(ad, WAITS_FOR)).partition(" ")
    return QueuedDag(
        owner=text_of(ad, "Owner"),
        dag=dag_file(ad),
        state=state.value,
        program=f"condor_pydagman {version}" if version else stock,
        waits_for=cause,
        waits_for_names=names,
        cpu_s=real_of(ad, CPU),
        **numbers,
    )


def state_of(ad: Mapping[str, Any]) -> tuple[DagState, int | None]:
    """As `state_of_ad`, of an ad whose attributes may be anything."""
    try:
        return state_of_ad(ad)
    except (TypeError, ValueError):
        return DagState.UNKNOWN, None


def number_of(ad: Mapping[str, Any], attribute: str) -> int:
    """As `real_of`, a whole number."""
    return int(real_of(ad, attribute))


def real_of(ad: Mapping[str, Any], attribute: str) -> float:
    """0 of what is no number: users set attributes to anything, and the bindings' Undefined is an
    int."""
    try:
        value: Any = ad.get(attribute)
    except ValueError:
        return 0
    return value if type(value) in (int, float) and abs(value) < 1 << 63 else 0


def dag_file(ad: Mapping[str, Any]) -> str:
    """Path of the first DAG file of a DAGMan's job, by the name of its log."""
    log = text_of(ad, "UserLog")
    name = log[: -len(LOG)] if log.endswith(LOG) else log
    return os.path.normpath(os.path.join(text_of(ad, "Iwd"), name))
