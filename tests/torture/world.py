"""The pool that is tortured, its processes, and what its schedd remembers.

Programs of HTCondor are run as a person would run them; DAGMans are found by their directory.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from condor_pydagman.errors import PoolError
from condor_pydagman.pool import processes
from tests.pool import second_user
from tests.pool.access_point import AccessPoint
from tests.pool.dagmans import running_dagmans
from tests.torture.commands import own_pool
from tests.waiting import LIMIT_S

# The master waits ever longer before it starts a dead daemon again; not here.  By default 200 jobs
# of a user run in the scheduler universe, DAGMans among them.
KNOBS = """
DAGMAN_AVOID_SLASH_TMP = False
MASTER_BACKOFF_CONSTANT = 1
MASTER_BACKOFF_FACTOR = 1
MASTER_BACKOFF_CEILING = 2
MAX_HISTORY_LOG = 2000000000
MAX_SCHEDD_LOG = 200000000
DEAD_COLLECTOR_MAX_AVOIDANCE_TIME = 5
START_SCHEDULER_UNIVERSE = True
MAX_RUNNING_SCHEDULER_JOBS_PER_OWNER = 10000
"""
_ATTRIBUTES = (
    *("ClusterId", "ProcId", "DAGManJobId", "DAGNodeName", "DAGManNodeRetry", "ExitCode"),
    *("Owner", "QDate", "DAGManBundleNodes", "RemoveReason"),
)
_ASSIGNMENT = re.compile(rf"^({'|'.join(_ATTRIBUTES)}|ExitBySignal|JobStatus) = (.*)$", re.M)


class History:
    """The schedd's history file, read as it grows, also across a rotation."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._inode = 0
        self._offset = 0
        self._rest = b""
        self._lock = threading.Lock()
        self.ads: dict[tuple[int, int], dict[str, Any]] = {}

    def look(self) -> dict[tuple[int, int], dict[str, Any]]:
        """Ads of all jobs that have left the queue, by (cluster, proc); the second user's are not
        among them."""
        with self._lock, contextlib.suppress(FileNotFoundError), self._path.open("rb") as file:
            inode = os.fstat(file.fileno()).st_ino
            if self._inode not in (0, inode):
                for other in self._path.parent.glob(f"{self._path.name}.*"):
                    if other.stat().st_ino == self._inode:
                        self._take(other.read_bytes()[self._offset :])
                self._offset = 0
            self._inode = inode
            file.seek(self._offset)
            data = file.read()
            self._offset += len(data)
            self._take(data)
        return self.ads

    def _take(self, data: bytes) -> None:
        self._rest += data
        end = self._rest.rfind(b"\n*** ")
        end = self._rest.find(b"\n", end + 1) if end >= 0 else -1
        if end < 0:
            return
        text, self._rest = self._rest[: end + 1].decode("utf-8", "replace"), self._rest[end + 1 :]
        for part in re.split(r"^\*\*\* .*\n", text, flags=re.M):
            ad = {name: value.strip('"') for name, value in _ASSIGNMENT.findall(part)}
            if "ClusterId" in ad and "ProcId" in ad and ad.get("Owner") != second_user.NAME:
                self.ads[int(ad["ClusterId"]), int(ad["ProcId"])] = ad

    def exit_code(self, cluster: int) -> int | None:
        """Of a DAGMan job that has left the queue; -1 if it has none (removed), None if it has
        not left."""
        ad = self.look().get((cluster, 0))
        if ad is None:
            return None
        return int(ad["ExitCode"]) if ad.get("JobStatus") == "4" and "ExitCode" in ad else -1


class World:
    """A pool that runs, and a directory for the DAGs that are tortured there.

    Attributes:
        killed: directory -> DAGMans there that were killed with the whole pool.
        all_killed: when that was done, seconds since the epoch.
    """

    def __init__(self, access_point: AccessPoint, directory: Path) -> None:
        self.access_point = access_point
        self.directory = directory
        self.pool = access_point.pool
        self.history = History(self.pool.directory / "spool" / "history")
        self.killed: Counter[str] = Counter()
        self.all_killed: list[float] = []

    def kill_all(self) -> None:
        """SIGKILL for every process of the pool at once, jobs and DAGMans as well."""
        pids = sorted(
            {*self.access_point.processes(), *processes.running(str(self.pool.directory))}
        )
        self.killed.update(one.directory for one in running_dagmans() if one.pid in pids)
        self.all_killed.append(time.time())
        processes.send(pids, signal.SIGSTOP)
        processes.send(pids, signal.SIGKILL)

    def restart(self) -> None:
        """Start the pool again after its death, as often as it needs."""
        for attempt in range(3):
            try:
                self.pool.start(timeout_s=LIMIT_S)
                return
            except PoolError:
                if attempt == 2:
                    raise

    def answers(self) -> bool:
        """Whether the schedd does."""
        return self.access_point.run("condor_q", "-totals", check=False).returncode == 0

    def left(self) -> list[str]:
        """What is left in the queue of DAGs when all have ended."""
        what = "JobUniverse == 7 || DAGManJobId isnt undefined"
        until(lambda: not self.access_point.queue(what), pause=1.0)
        return [f"job {ad['ClusterId']} is left" for ad in self.access_point.queue(what)]

    def submissions(self, owners: set[int], why: str = "") -> dict[tuple[int, str, int], set[int]]:
        """(DAGMan job, node, retry) -> clusters; none for stock's jobs, which tell no retry; `why`:
        only those that were removed with a reason that has these words."""
        found: dict[tuple[int, str, int], set[int]] = {}
        for ad in list(self.history.look().values()):
            owner = int(ad.get("DAGManJobId", 0))
            wanted = owner in owners and why in ad.get("RemoveReason", "")
            if wanted and "DAGNodeName" in ad and "DAGManNodeRetry" in ad:
                key = (owner, ad["DAGNodeName"], int(ad["DAGManNodeRetry"]))
                found.setdefault(key, set()).add(int(ad["ClusterId"]))
        return found

    def children(self, owner: int) -> dict[int, set[str]]:
        """Cluster -> its nodes, of all jobs of a DAGMan job that have left the queue."""
        found: dict[int, set[str]] = {}
        for ad in list(self.history.look().values()):
            if int(ad.get("DAGManJobId", 0)) == owner and "DAGNodeName" in ad:
                found.setdefault(int(ad["ClusterId"]), set()).add(ad["DAGNodeName"])
        return found


@contextlib.contextmanager
def started(directory: Path, more: str = "") -> Iterator[World]:
    """A pool of the test's own with `more` knobs, as long as it is needed; what an earlier command
    left in its queue is removed."""
    with own_pool(directory, KNOBS + more + second_user.KNOBS) as access_point:
        if access_point.queue():
            access_point.run("condor_rm", "-all", check=False)
            access_point.wait_for(lambda: not access_point.queue(), say="an empty queue")
        yield World(access_point, directory)


def until(what: Callable[[], Any], seconds: float = LIMIT_S, pause: float = 0.1) -> Any:
    """Wait until `what()` gives something true, or the time is over; returns what it gave.

    `seconds`: less than what is set only where a DAG may go on without it.
    """
    limit = time.monotonic() + seconds
    while True:
        value = what()
        if value or time.monotonic() > limit:
            return value
        time.sleep(pause)
