"""What a DAG is about: by the files beside it, or by the ad of DAGMan's job."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import Any

from condor_pydagman.adapters.files import living_holder, named_cluster, open_ordinary
from condor_pydagman.errors import FileError
from condor_pydagman.follow.run_model import COUNTS
from condor_pydagman.follow.run_model import DagState as DagState
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import DagPaths
from condor_pydagman.records.dagman_out import RunLog, last_run
from condor_pydagman.vocabulary import EXIT_RESTART
from condor_pydagman.vocabulary import DagStatus as Number

MAX_TAIL_BYTES = 1 << 20  # bytes at the end of `.dagman.out` that are read
SHORT_TAIL_BYTES = 1 << 16  # the same if there may be hundreds of DAGs
_SUBMITTED = re.compile(rb"^000 \((\d+)\.", re.M)
EXIT_ABORTED = 2  # condor_dagman(1): after condor_rm, and after errors that end a run at once


class StateOfFiles(NamedTuple):
    """What the files beside a DAG say."""

    state: DagState  # what it is about
    run: RunLog  # its last run, by the end of `.dagman.out`
    updated: int  # when `.dagman.out` was changed last, seconds since the epoch; 0 without one
    # of DAGMan's job, 0 if the lock file names none.  One of another user can't be read: then it is
    # the job that was submitted last.
    cluster: int

    @property
    def counts(self) -> dict[str, int]:
        """How many nodes are in each state; {} if nothing tells."""
        return dict(zip(COUNTS, self.run.counts))


def state_of_files(paths: DagPaths, tail_bytes: int = MAX_TAIL_BYTES) -> StateOfFiles:
    """What a DAG is about by its lock file, and by the last `tail_bytes` of `.dagman.out`.

    Whether DAGMan lives can be told only where its lock can be seen: on its machine, or on one that
    shares the directory with it by a file system with locks.

    Raises:
        FileError: `.dagman.out` is there, and can't be read.
    """
    data, updated = tail_of(paths.dagman_out, tail_bytes)
    run, holder = last_run(data), living_holder(paths.lock)
    cluster = holder.cluster if holder else named_cluster(paths.lock)
    if is_anothers(paths.lock):
        cluster = _submitted_last(paths.dagman_log)
    if holder:
        halted = os.path.exists(paths.halt) or run.dag_status == Number.HALTED
        return StateOfFiles(DagState.HALTED if halted else DagState.RUNNING, run, updated, cluster)
    return StateOfFiles(_without_dagman(paths, run, started=bool(data)), run, updated, cluster)


def is_anothers(lock: str) -> bool:
    """Whether the lock file can't be read, so that nobody can say here whether DAGMan lives."""
    return os.path.exists(lock) and not os.access(lock, os.R_OK)


def _submitted_last(dagman_log: str) -> int:
    """The cluster of DAGMan's job by its log; 0 if that does not tell."""
    try:
        found = _SUBMITTED.findall(tail_of(dagman_log, SHORT_TAIL_BYTES)[0])
    except FileError:
        return 0
    return int(found[-1]) if found else 0


def _without_dagman(paths: DagPaths, run: RunLog, *, started: bool) -> DagState:
    try:
        interrupted = os.path.getsize(paths.lock) > 0  # an empty one: the DAG had not begun
    except OSError:
        interrupted = False
    if interrupted:
        return DagState.INTERRUPTED
    if run.exit_code is None:
        return DagState.UNKNOWN if started else DagState.NOT_STARTED
    removed = run.dag_status == Number.RM  # whatever its FINAL node has made of the exit code
    aborted = run.dag_status is None and run.exit_code == EXIT_ABORTED
    return _state_of_end(run.exit_code, removed=removed or aborted)


def _state_of_end(code: int, *, removed: bool) -> DagState:
    if code == EXIT_RESTART:
        return DagState.UNKNOWN
    if removed:
        return DagState.REMOVED
    return DagState.SUCCEEDED if code == 0 else DagState.FAILED


_STATES = {1: DagState.IDLE, 2: DagState.RUNNING, 3: DagState.REMOVED, 5: DagState.HELD}
_COMPLETED = 4  # JobStatus


def state_of_ad(ad: Mapping[str, Any]) -> tuple[DagState, int | None]:
    """What the ad of DAGMan's job says, and condor_dagman's exit code if it has ended."""
    code = ad.get("ExitCode") if ad.get("JobStatus") == _COMPLETED else None
    if isinstance(code, int):
        return _state_of_end(code, removed=ad.get("DAG_Status") == Number.RM), code
    state = _STATES.get(int(ad.get("JobStatus", 0)), DagState.UNKNOWN)
    if state is DagState.RUNNING and ad.get("DAG_Status") == Number.HALTED:
        state = DagState.HALTED
    return state, None


def tail_of(path: str, size: int) -> tuple[bytes, int]:
    """The end of a file, and when it was changed last; (b'', 0) if there is none.

    Raises:
        FileError: it can't be read.
    """
    try:
        with open_ordinary(path) as file:
            found = os.fstat(file.fileno())
            file.seek(max(0, found.st_size - size))
            return file.read(size), int(found.st_mtime)
    except FileNotFoundError:
        return b"", 0
    except OSError as error:
        raise FileError(f"can't read {path}: {error.strerror}") from None
