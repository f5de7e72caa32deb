"""The torture test of data placement, as a command.

    python -m tests.torture.data [--kills N] [--seconds S] [--units N] [--seed S] [--directory DIR]

DAGs of a pool of its own allocate space, stage in files from servers that break off, stall and are
overloaded (http, ftp), from the disk and by a module, run jobs on them, stage out, fetch back, and
release the space.  Meanwhile workers, their processes, DAGMan, condor_starter and condor_schedd are
killed at random times, jobs of workers and of DAGMan are held, vacated and stopped, and DAGMan is
removed; then the DAG goes on from its rescue file.  When a DAG is done the next one begins, until
so many were killed, or the time is over.  Exit code 1 if a file is half, wrong or lost, a node was
done that was not or twice, or a part, a lock, a turn or an allocation is left.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from condor_pydagman.adapters.shared_directory import OPEN, SharedDirectory
from condor_pydagman.placement.rules.allocation_rules import read_ledger
from condor_pydagman.pool import processes
from tests.pool.access_point import AccessPoint, new_directory
from tests.pool.dagmans import dagmans_in
from tests.pool.waiting import end_of
from tests.servers import real
from tests.servers.faulty_http import FaultyServer, Wrong, faulty_http
from tests.torture import data_dags
from tests.torture.commands import own_pool, verdict, words_of
from tests.torture.data_dags import Place
from tests.torture.world import until

UNITS = 20  # each is four nodes
KNOBS = """\
PYDAGMAN_PLACEMENT_DIR = {place}/shared
PYDAGMAN_PLACEMENT_CAPACITY = scratch=1 GB
PYDAGMAN_PLACEMENT_MODULES = {place}/modules
PYDAGMAN_PLACEMENT_STALL_TIMEOUT = 1
PYDAGMAN_PLACEMENT_HOST_REST = 1
PYDAGMAN_PLACEMENT_MAX_DELAY = 2
DAGMAN_USER_LOG_SCAN_INTERVAL = 1
DAGMAN_QUEUE_UPDATE_INTERVAL = 1
DAGMAN_AVOID_SLASH_TMP = False
MASTER_BACKOFF_CONSTANT = 1
MASTER_BACKOFF_FACTOR = 1
MASTER_BACKOFF_CEILING = 2
"""
LONGEST_S = 900.0  # for which a DAG may run, with all that is done to it
LIVE_TURNS = "turn."  # names of turns in the shared directory
LOCKS = "write."  # of locks of destinations, in the user's part of it


class Torture:
    """DAGs with DATA nodes, and what becomes of them."""

    def __init__(
        self,
        access_point: AccessPoint,
        http: FaultyServer,
        ftp: real.Server,
        place: Path,
        seed: int,
    ) -> None:
        self.access_point = access_point
        self.http, self.ftp = http, ftp
        self.place = place
        self.random = Random(seed)  # of the DAGs and their servers
        self.acts: Counter[str] = Counter()
        self.submissions = 0
        self.wrong: list[str] = []
        self._disturber = Random(f"{seed} disturbances")
        self._servers = data_dags.Servers(
            f"dav://{http.place}", ftp.url.rstrip("/"), real.free_port()
        )

    @property
    def done(self) -> int:
        """How much was done to DAGs so far."""
        return sum(self.acts.values())

    def play(self, number: int, units: int, is_enough: Callable[[], bool]) -> None:
        """One DAG, until it is done."""
        work = new_directory(self.place / "dags" / f"dag{number}")
        self.work = work
        self.dag = data_dags.draw(work.name, work, self.random, units, self._servers)
        self._write(work)
        self.contents = self.dag.contents()
        self.done_in: dict[str, set[int]] = {}  # by node, clusters
        removals = 0
        until_s = time.monotonic() + LONGEST_S
        while True:
            code = self._run(is_enough)
            if code == 0 or time.monotonic() > until_s:
                break
            removals += code == 2
        if code:
            self.wrong.append(f"{work} does not get done, exit code {code}")
        self._judge(removals)
        print(f"{work.name}: {self.submissions} submissions, {dict(self.acts)}", flush=True)

    def _write(self, work: Path) -> None:
        for name in ("in", "work", "back", work.name):
            new_directory(work / name)
        (work / "ledger").touch()
        for name, data in (*self.dag.files.items(), ("t.dag", self.dag.text.encode())):
            (work / name).write_bytes(data)
        (work / "join.sh").chmod(0o755)
        for place, data in self.dag.sources.items():
            if place.where == "http":
                self.http.files[f"/{place.path}"] = data
                continue
            self._path(place).parent.mkdir(parents=True, exist_ok=True)
            self._path(place).write_bytes(data)
        for path in work.rglob("*"):
            path.chmod(0o777 if path.is_dir() or path.name == "join.sh" else 0o666)

    def _path(self, place: Place) -> Path:
        if place.where == "ftp":
            assert self.ftp.directory is not None
            return self.ftp.directory / place.path
        return self.work / place.path

    def _read(self, place: Place) -> bytes | None:
        if place.where == "http":
            return self.http.files.get(f"/{place.path}")
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            return self._path(place).read_bytes()
        return None

    # A submission

    def _run(self, is_enough: Callable[[], bool]) -> int:
        """Submit the DAG and wait for its end, with disturbances."""
        self._submit()
        over = threading.Event()
        disturber = threading.Thread(target=self._disturb, args=(over, is_enough))
        disturber.start()
        try:
            limit = time.monotonic() + LONGEST_S
            while (code := end_of(self.work / "t.dag")) is None:
                if not is_enough():
                    self._make_trouble()
                self._look()
                time.sleep(0.2)
                if time.monotonic() > limit:
                    self.wrong.append(f"{self.work} does not end")
                    return -1
        finally:
            over.set()
            disturber.join()
        until(self._is_gone)
        self._look()
        return code

    def _submit(self) -> None:
        (self.work / "t.dag.dagman.log").unlink(missing_ok=True)
        while True:
            # A submission that failed has left its submit file.
            again = ("-update_submit",) if (self.work / "t.dag.condor.sub").exists() else ()
            try:
                self.cluster = self.access_point.submit(self.work, *again, "t.dag")
                break
            except AssertionError:  # the schedd is down, or the last DAGMan is not yet gone
                time.sleep(1)
        self.submissions += 1

    def _is_gone(self) -> bool:
        try:
            return self.access_point.gone(self.cluster)
        except AssertionError:  # the schedd is down
            return False

    def _make_trouble(self) -> None:
        """Let some request to the http server go wrong, or the ftp server pause."""
        if self.random.random() < 0.6:
            paths = [
                f"/{place.path}"
                for place in (*self.dag.sources, *self.contents)
                if place.where == "http"
            ]
            after = self.random.randrange(1, 1_500_000)
            wrong = self.random.choice((
                Wrong(after=after), Wrong(status=503), Wrong(after=after, stalls=True),
                Wrong(wrong_range=True), Wrong(no_ranges=True), Wrong(status=500, reads=True),
                Wrong(length=9_000_000),
            ))  # fmt: skip
            self.http.fail(self.random.choice(paths), wrong)
        if self.random.random() < 0.05:
            self.ftp.process.send_signal(signal.SIGSTOP)
            time.sleep(self.random.choice((0.3, 2.0)))
            self.ftp.process.send_signal(signal.SIGCONT)

    # What must hold

    def _look(self) -> None:
        """No file is ever half or wrong; a node that is done has made all of its own."""
        for place, content in self.contents.items():
            if self._read(place) not in (None, content):
                self._note(f"{place.where} {self._path(place)} is half or wrong")
        log = self.work / "t.dag.dagman.out"
        text = log.read_text(errors="replace") if log.exists() else ""
        for node, cluster in data_dags.successes(text):
            if cluster in self.done_in.setdefault(node, set()):
                continue
            self.done_in[node].add(cluster)
            for place, content in self.dag.makes.get(node, {}).items():
                if self._read(place) != content:
                    self._note(f"{node} is done, and {place} is not right")

    def _note(self, text: str) -> None:
        self.wrong += [text] * (text not in self.wrong)

    def _judge(self, removals: int) -> None:
        for place, content in self.contents.items():
            if self._read(place) != content:
                self._note(f"{place} is lost or wrong")
        for node in self.dag.makes:
            times = len(self.done_in.get(node, ()))
            # A DAGMan that does not run when it is removed notes nothing more.
            if not 1 <= times <= 1 + removals:
                self._note(f"{node} was done {times} times, with {removals} removals")
        for left in self._left():
            self._note(f"{self.work.name} has left {left}")

    def _left(self) -> Iterator[str]:
        assert self.ftp.directory is not None
        for directory in (self.work, self.ftp.directory):
            yield from (str(path) for path in directory.rglob("*.part"))
        yield from (path for path in self.http.files if path.endswith(".part"))
        yield from left_in(self.place / "shared")
        for pid in self.workers():
            yield f"a worker, {pid}"

    # What is done to it

    def _disturb(self, over: threading.Event, is_enough: Callable[[], bool]) -> None:
        acts = list(ACTS)
        weights = [ACTS[act][0] for act in acts]
        while not over.wait(self._disturber.uniform(0.05, 0.6)) and not is_enough():
            for act in self._disturber.choices(acts, weights, k=5):
                with contextlib.suppress(ProcessLookupError):
                    if ACTS[act][1](self, over):
                        self.acts[act] += 1
                        break

    def one_of(self, pids: list[int]) -> int:
        """One of some processes; 0 if there is none."""
        return self._disturber.choice(pids) if pids else 0

    def workers(self, *, below: bool = False) -> list[int]:
        """Workers of DATA nodes, or their processes."""
        family = self.access_point.processes()
        marked = {pid for pid in family if b".order\0" in data_dags.words_of(pid)}
        first = {pid for pid in marked if processes.stat_of(pid).parent not in marked}
        if not below:
            return sorted(first)
        return [pid for one in sorted(first) for pid in processes.family(one) if pid != one]

    def kill(self, pids: list[int]) -> bool:
        """SIGKILL for one of them."""
        pid = self.one_of(pids)
        if pid:
            os.kill(pid, signal.SIGKILL)
        return bool(pid)

    def daemons(self, name: str) -> list[int]:
        """Those of the pool with that name."""
        return [pid for pid in self.access_point.processes() if processes.stat_of(pid).name == name]

    def stop_worker(self, over: threading.Event) -> bool:
        """A worker hangs for longer than its servers have patience."""
        pid = self.one_of(self.workers())
        if pid:
            os.kill(pid, signal.SIGSTOP)
            over.wait(2)
            os.kill(pid, signal.SIGCONT)
        return bool(pid)

    def hold(self, cluster: int, over: threading.Event) -> bool:
        """Hold a job for a while; whether that was obeyed."""
        if not self.obeyed("condor_hold", cluster):
            return False
        over.wait(self._disturber.uniform(0, 2))
        # While DAGMan leaves, and while the schedd is down, it can't be released.
        until(lambda: self.obeyed("condor_release", cluster) or over.is_set(), pause=0.5)
        return True

    def obeyed(self, command: str, cluster: int) -> bool:
        """Whether a command for a job was."""
        if not cluster:
            return False
        return self.access_point.run(command, str(cluster), check=False).returncode == 0

    def job(self) -> int:
        """The cluster of a DATA node that runs; 0 if none does."""
        what = f"DAGManJobId == {self.cluster} && JobUniverse == 12 && JobStatus == 2"
        with contextlib.suppress(AssertionError):  # the schedd is down
            return self.one_of([int(ad["ClusterId"]) for ad in self.access_point.queue(what)])
        return 0


# How often each is done, of all; and how.
ACTS: dict[str, tuple[int, Callable[[Torture, threading.Event], bool]]] = {
    "kill worker": (12, lambda it, over: it.kill(it.workers())),
    "kill a process of a worker": (8, lambda it, over: it.kill(it.workers(below=True))),
    "kill DAGMan": (3, lambda it, over: it.kill(list(dagmans_in(it.work)))),
    "kill starter": (2, lambda it, over: it.kill(it.daemons("condor_starter"))),
    "kill schedd": (1, lambda it, over: it.kill(it.daemons("condor_schedd"))),
    "stop worker": (1, Torture.stop_worker),
    "hold DAGMan": (1, lambda it, over: it.hold(it.cluster, over)),
    "hold worker": (2, lambda it, over: it.hold(it.job(), over)),
    "vacate DAGMan": (1, lambda it, over: it.obeyed("condor_vacate_job", it.cluster)),
    "vacate worker": (2, lambda it, over: it.obeyed("condor_vacate_job", it.job())),
    "remove DAGMan": (1, lambda it, over: it.obeyed("condor_rm", it.cluster)),
}


def left_in(shared: Path) -> Iterator[str]:
    """What is left in the directory that all workers share."""
    for ledger in shared.glob("ledger.*.txt"):
        for one in read_ledger(ledger.read_text()):
            if not one.released:
                yield f"allocation {one.allocation_id}"
    for path in shared.glob(f"{LIVE_TURNS}*"):
        if is_alive(path):
            yield f"a turn, {path.name}"
    for path in shared.glob(f"own.*/{LOCKS}*"):
        if is_locked(path):
            yield f"a lock, {path.name}"


def is_alive(path: Path) -> bool:
    """Whether the process that has made a file as a `LiveFile` lives."""
    shared = SharedDirectory(str(path.parent), os.open(path.parent, OPEN))
    try:
        return shared.is_alive(path.name)
    finally:
        shared.close()


def is_locked(path: Path) -> bool:
    """Whether somebody has the lock of a file."""
    shared = SharedDirectory(str(path.parent), os.open(path.parent, OPEN))
    try:
        fd = shared.try_lock(path.name)
        if fd >= 0:
            os.close(fd)
        return fd < 0 and path.exists()
    except FileNotFoundError:
        return False
    finally:
        shared.close()


@contextlib.contextmanager
def started(place: Path, seed: int) -> Iterator[Torture]:
    """A pool of the test's own, and servers, in an empty directory."""
    new_directory(place / "dags")
    new_directory(place / "shared").chmod(0o1777)
    (place / "modules").mkdir()
    module = place / "modules" / "stork.transfer.mod-file"
    module.write_text(data_dags.MODULE)
    module.chmod(0o755)
    (place / "ftp").mkdir()
    with faulty_http() as http, real.ftp(place / "ftp") as ftp:
        http.stall_s = 5.0
        with own_pool(place, KNOBS.format(place=place)) as access_point:
            yield Torture(access_point, http, ftp, place, seed)


def main() -> int:
    """Run it; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=100, help="and whatever else is done to DAGs")
    parser.add_argument("--seconds", type=float, default=1e6)
    parser.add_argument("--units", type=int, default=UNITS)
    arguments = words_of(parser)
    limit = time.monotonic() + arguments.seconds
    number = 0
    with started(arguments.directory, arguments.seed) as torture:

        def is_enough() -> bool:
            return torture.done >= arguments.kills or time.monotonic() > limit

        while not is_enough() and not torture.wrong:
            number += 1
            torture.play(number, arguments.units, is_enough)
    nodes = number * (4 * arguments.units + 2)
    print(f"seed {arguments.seed}: {number} DAGs, {nodes} nodes, {torture.submissions} submissions,"
          f" {torture.done} disturbances: {dict(torture.acts)}")  # fmt: skip
    return verdict(torture.wrong)


if __name__ == "__main__":
    sys.exit(main())
