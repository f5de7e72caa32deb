"""How a DAG stands, by the files beside it or by DAGMan's job in the schedd."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from condor_pydagman.adapters.files import rescue_numbers
from condor_pydagman.adapters.lock_holder import Holder, living_holder, named_cluster
from condor_pydagman.api.dag_reading import StrPath
from condor_pydagman.api.status_files import NodeCounts
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.names import DagPaths
from condor_pydagman.records.dagman_out import RunLog, last_run
from condor_pydagman.records.rescue import newest
from condor_pydagman.vocabulary import EXIT_RESTART
from condor_pydagman.vocabulary import DagStatus as Number

MAX_TAIL_BYTES = 1 << 20  # bytes at the end of `.dagman.out` that are read
EXIT_REMOVED = 2  # condor_dagman(1)


class DagState(Enum):
    """What a DAG is about."""

    NOT_STARTED = "not started"
    IDLE = "idle"  # DAGMan's job waits in the queue to be started
    RUNNING = "running"
    HALTED = "halted"  # it runs, but submits nothing (manual: "Suspending a Running DAG")
    HELD = "held"  # DAGMan's job is on hold
    INTERRUPTED = "interrupted"  # DAGMan is gone; its next start recovers the run
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    REMOVED = "removed"
    UNKNOWN = "unknown"


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

    A path asks the files: the lock file, and the last MB of `.dagman.out`.  No HTCondor is needed;
    whether DAGMan lives can be told only where its lock can be seen: on its machine, or on one that
    shares the directory with it by a file system with locks.

    A number asks the schedd of this machine, its queue and then its history: this imports htcondor2
    and takes as long as the schedd does.

    Args:
        dag: the first DAG file as condor_submit_dag was given it; or the cluster of DAGMan's job.
        outfile_dir: as the option -outfile_dir, if that was given.
        several: whether more than one DAG file was given, after which rescue files are named.

    Raises:
        FileError: there is no such DAG file.
        PoolError: the schedd does not answer, or has no such job of DAGMan's.
    """
    if isinstance(dag, int):
        return _of_job(dag)
    return _of_files(DagPaths(os.fspath(dag), several, outfile_dir))


def _of_files(paths: DagPaths) -> DagStatus:
    if not os.path.exists(paths.primary):
        raise FileError(f"there is no DAG file {paths.primary}")
    text, updated = _tail(paths.dagman_out)
    run, holder = last_run(text), living_holder(paths.lock)
    state = _state(paths, run, holder, started=bool(text))
    cluster = holder.cluster if holder else named_cluster(paths.lock)
    over = state in (DagState.SUCCEEDED, DagState.FAILED, DagState.REMOVED)
    return DagStatus(
        state,
        NodeCounts(*run.counts) if run.counts else None,
        updated if run.counts else None,
        cluster or None,
        run.exit_code if over else None,
        newest(rescue_numbers(paths)),
    )


def _state(paths: DagPaths, run: RunLog, holder: Holder | None, *, started: bool) -> DagState:
    if holder:
        halted = os.path.exists(paths.halt) or run.dag_status == Number.HALTED
        return DagState.HALTED if halted else DagState.RUNNING
    try:
        interrupted = os.path.getsize(paths.lock) > 0  # an empty one: the DAG had not begun
    except OSError:
        interrupted = False
    if interrupted:
        return DagState.INTERRUPTED
    if run.exit_code is None:
        return DagState.UNKNOWN if started else DagState.NOT_STARTED
    if run.dag_status == Number.RM and run.exit_code != EXIT_RESTART:
        return DagState.REMOVED  # whatever its FINAL node has made of the exit code
    return _ended(run.exit_code)


def _ended(code: int) -> DagState:
    known = {0: DagState.SUCCEEDED, EXIT_REMOVED: DagState.REMOVED, EXIT_RESTART: DagState.UNKNOWN}
    return known.get(code, DagState.FAILED)


def _tail(path: str) -> tuple[str, int]:
    """The end of a file, and when it was changed last; ('', 0) if there is none."""
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            file.seek(max(0, found.st_size - MAX_TAIL_BYTES))
            return file.read(MAX_TAIL_BYTES).decode("utf-8", "replace"), int(found.st_mtime)
    except FileNotFoundError:
        return "", 0
    except OSError as error:
        raise FileError(f"can't read {path}: {error.strerror}") from None


_COUNTED = ("Total", "Done", "Prerun", "Queued", "Postrun", "Ready", "Unready", "Failed", "Futile")
_COUNTS = tuple(f"DAG_Nodes{name}" for name in _COUNTED)
_WANTED = ["JobStatus", "ExitCode", "DAG_Status", "DAG_AdUpdateTime", *_COUNTS]
_STATES = {1: DagState.IDLE, 2: DagState.RUNNING, 3: DagState.REMOVED, 5: DagState.HELD}
_COMPLETED = 4  # JobStatus


def _of_job(cluster: int) -> DagStatus:
    ad = _job_ad(cluster)
    numbers = [ad.get(name) for name in _COUNTS]
    counts = None
    if isinstance(numbers[0], int):
        counts = NodeCounts(*(number if isinstance(number, int) else 0 for number in numbers))
    code = ad.get("ExitCode") if ad.get("JobStatus") == _COMPLETED else None
    state = _STATES.get(int(ad.get("JobStatus", 0)), DagState.UNKNOWN)
    if isinstance(code, int):
        state = _ended(code)
    elif state is DagState.RUNNING and ad.get("DAG_Status") == Number.HALTED:
        state = DagState.HALTED
    updated = ad.get("DAG_AdUpdateTime") if counts else None
    return DagStatus(state, counts, updated, cluster, code)


def _job_ad(cluster: int) -> Mapping[str, Any]:
    import htcondor2

    wanted = f"ClusterId == {cluster} && ProcId == 0 && JobUniverse == 7"
    try:
        schedd = htcondor2.Schedd()
        ads = schedd.query(wanted, _WANTED) or list(schedd.history(wanted, _WANTED, match=1))
    except (htcondor2.HTCondorException, OSError, RuntimeError) as error:
        raise PoolError(
            f"can't ask the schedd for job {cluster}: {error}", transient=True
        ) from None
    if not ads:
        raise PoolError(
            f"the schedd has no DAGMan job {cluster}, neither in its queue nor in its history",
            transient=False,
        )
    found: Mapping[str, Any] = ads[0]
    return found
