"""How a DAG stands, by the files beside it or by DAGMan's job in the schedd."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from condor_pydagman.adapters.files import rescue_numbers
from condor_pydagman.api.dag_reading import StrPath
from condor_pydagman.api.status_files import NodeCounts
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.follow.run_model import OVER, DagState, counts_in
from condor_pydagman.monitor.found_dag import found_by_ad, waiting_job
from condor_pydagman.monitor.found_state import state_of_ad, state_of_files
from condor_pydagman.monitor.schedd_queries import dagman_ad
from condor_pydagman.names import DagPaths
from condor_pydagman.records.rescue import newest


@dataclass(frozen=True)
class DagStatus:
    """How a DAG stands.

    Attributes:
        state: what it is about.
        counts: its nodes by their states; None if nothing tells.
        updated: when `counts` were written, seconds since the epoch; None without them.
        cluster: of DAGMan's job, None if not known.
        exit_code: condor_dagman's, None while it runs or if not known.
        rescue: number of the newest rescue file, 0 if there is none; None if the schedd was asked.
    """

    state: DagState
    counts: NodeCounts | None = None
    updated: int | None = None
    cluster: int | None = None
    exit_code: int | None = None
    rescue: int | None = None


def dag_status(dag: StrPath | int, *, outfile_dir: str = "", several: bool = False) -> DagStatus:
    """How a DAG stands: by its files, or by its job.

    A path asks the files: the lock file, and the last MB of `.dagman.out`.  No HTCondor is needed,
    unless the DAG was submitted again since its last run: then the schedd is asked for the job that
    waits, and if it answers, that job's state is told.  Whether DAGMan lives can be told only where
    its lock can be seen: on its machine, or on one that shares the directory with it by a file
    system with locks.

    A number asks the schedd of this machine, its queue and then its history: this imports htcondor2
    and takes as long as the schedd does.

    Args:
        dag: the first DAG file as condor_submit_dag was given it; or the cluster of DAGMan's job.
        outfile_dir: as the option -outfile_dir, if that was given.
        several: whether more than one DAG file was given, after which rescue files are named.

    Raises:
        FileError: there is no such DAG file, nor a log of a run of it.
        PoolError: the schedd does not answer, or has no such job of DAGMan's.
    """
    if isinstance(dag, int):
        return _of_job(dag)
    return status_of_files(DagPaths(os.fspath(dag), several, outfile_dir))


def status_of_files(paths: DagPaths) -> DagStatus:
    """How a DAG stands by its files.

    Raises:
        FileError: there is neither a DAG file nor `.dagman.out`.
    """
    if not os.path.exists(paths.primary) and not os.path.exists(paths.dagman_out):
        raise FileError(f"there is no DAG file {paths.primary}")
    files = state_of_files(paths)
    over = files.state in OVER
    may_wait = over or files.state in (DagState.NOT_STARTED, DagState.INTERRUPTED)
    waiting = _waiting_job(paths) if may_wait else {}
    if waiting:
        state, _ = state_of_ad(waiting)
        cluster = int(waiting["ClusterId"])
        return DagStatus(state, cluster=cluster, rescue=newest(rescue_numbers(paths)))
    return DagStatus(
        files.state,
        NodeCounts(**files.counts) if files.counts else None,
        files.updated if files.counts else None,
        files.cluster or None,
        files.run.exit_code if over else None,
        newest(rescue_numbers(paths)),
    )


def _waiting_job(paths: DagPaths) -> Mapping[str, Any]:
    try:
        return waiting_job(paths)
    except PoolError:
        return {}


def _of_job(cluster: int) -> DagStatus:
    ad = dagman_ad(cluster)
    counts = NodeCounts(**counts_in(ad)) if counts_in(ad) else None
    found = found_by_ad(ad)
    updated = ad.get("DAG_AdUpdateTime") if counts else None
    return DagStatus(found.state, counts, updated, cluster, found.exit_code)
