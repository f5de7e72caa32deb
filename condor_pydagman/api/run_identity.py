"""Which run of which DAG is meant, and how it stands.

The files tell that as long as DAGMan lives, which costs next to nothing; else the schedd does.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from condor_pydagman.adapters.files import living_holder
from condor_pydagman.api.dag_reading import StrPath
from condor_pydagman.api.dag_state import DagStatus, dag_status, status_of_files
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.follow.run_model import OVER, DagState
from condor_pydagman.monitor import schedd_queries
from condor_pydagman.monitor.file_facts import shown
from condor_pydagman.monitor.found_dag import FoundDag, find_dag, found_by_ad
from condor_pydagman.monitor.found_state import state_of_ad
from condor_pydagman.monitor.plan import with_logs
from condor_pydagman.named_tuple import NamedTuple

_QUEUED = (DagState.IDLE, DagState.RUNNING, DagState.HALTED, DagState.HELD)


class Standing(NamedTuple):
    """How a run stands."""

    status: DagStatus
    # whether it is over (False), or something will go on with it (True): DAGMan, the schedd, or who
    # releases its job; None if nothing is known that will
    goes_on: bool | None


class RunIdentity:
    """The last run of a DAG file, or the run of one DAGMan job.

    Args:
        dag: a DAG file, or the cluster of DAGMan's job.

    Raises:
        FileError: there is no such DAG file, nor a run of it.
        PoolError: the schedd does not answer, or has no such job.
        UsageError: `dag` is a directory.
    """

    def __init__(self, dag: StrPath | int) -> None:
        # the cluster; None if the DAG file was given
        self.job = dag if isinstance(dag, int) else None
        found = _of_job(dag) if isinstance(dag, int) else find_dag(os.fspath(dag), ask=False)
        self.path = os.path.abspath(found.paths.primary)  # of the DAG file, absolute
        self._paths = found.paths

    @property
    def cluster(self) -> int | None:
        """Of DAGMan's job; None if it is not known, as after the end of a DAG that a file names."""
        if self.job is not None:
            return self.job
        holder = living_holder(self._paths.lock)
        if holder is not None:
            return holder.cluster or None
        found = self.found(ask=True)
        # Without an ad the number is that of a file, and may be another job's in this schedd.
        return (found.cluster if found.ad or found.schedd_problem else 0) or None

    def lives(self) -> bool:
        """Whether its DAGMan runs, as far as its lock can be seen from here."""
        holder = living_holder(self._paths.lock)
        return holder is not None and self.job in (None, holder.cluster)

    def refuse_later(self) -> None:
        """Raise FileError if DAGMan runs the DAG as another job than the one that is meant."""
        holder = living_holder(self._paths.lock)
        if holder is not None and self.job not in (None, holder.cluster):
            raise FileError(
                f"DAGMan runs {shown(self.path)} as job {holder.cluster}, not as job {self.job} any"
                f" more: DagRun({holder.cluster}) is its run"
            )

    def files(self) -> list[str]:
        """What changes when a DAGMan job is submitted, held, released, removed, starts or ends."""
        paths = self._paths
        return [paths.lock, paths.dagman_out, paths.dagman_log, paths.condor_sub]

    def is_there(self) -> bool:
        """Whether anything is left of the DAG."""
        return any(map(os.path.exists, (self.path, *self.files())))

    def found(self, *, ask: bool = False) -> FoundDag:
        """The DAG and its files, as they are now.

        Args:
            ask: whether the schedd is asked although it was not named by a cluster.

        Raises:
            FileError: its files are gone, or of a later run.
            PoolError: the schedd does not answer, or has no such job.
        """
        if self.job is not None and not self.lives():
            return with_logs(_of_job(self.job))
        found = find_dag(self.path, ask=ask and not self.lives())
        self._paths = found.paths
        return found._replace(name=shown(self.path))

    def standing(self) -> Standing:
        """How it stands now.

        Raises:
            FileError: its files are gone.
            PoolError: the schedd must be asked, and does not answer, or has no such job.
        """
        if self.lives():
            return Standing(status_of_files(self._paths), True)
        if self.job is not None:
            return _standing(dag_status(self.job))
        return _of_file(self.found(ask=True))

    def hold_reason(self) -> str:
        """Why DAGMan's job is on hold; '' if nobody can say."""
        try:
            cluster = self.cluster
            ad = schedd_queries.queued_dagman_ad(cluster) if cluster else {}
        except (PoolError, FileError):
            return ""
        return str(ad.get("HoldReason", ""))


def _of_file(found: FoundDag) -> Standing:
    status = status_of_files(found.paths)
    if found.ad:
        queued = status if status.state in _QUEUED else replace(status, state=found.state)
        return Standing(queued, True)
    if status.state is DagState.INTERRUPTED and found.cluster and not found.schedd_problem:
        status = _with_history(found, status)
    if found.schedd_problem and status.state not in OVER:
        return Standing(status, True)
    return _standing(status)


def _with_history(found: FoundDag, status: DagStatus) -> DagStatus:
    """Of an interrupted run whose job is not in the queue: its job was removed, perhaps."""
    try:
        ad: Mapping[str, Any] = schedd_queries.dagman_ad(found.cluster)
    except PoolError:
        return status
    state, _ = state_of_ad(ad)
    is_its = str(ad.get("Iwd", "")) == os.path.realpath(found.directory)
    return replace(status, state=state) if is_its and state in OVER else status


def _standing(status: DagStatus) -> Standing:
    if status.state in OVER:
        return Standing(status, False)
    return Standing(status, True if status.state in _QUEUED else None)


def _of_job(cluster: int) -> FoundDag:
    return found_by_ad(schedd_queries.dagman_ad(cluster))
