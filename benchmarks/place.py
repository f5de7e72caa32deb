"""The pool that is measured on: runs commands and DAGs in it, and waits for their ends."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import dags
import events

from condor_pydagman.pool import Pool, paths


class Failed(Exception):
    """A measurement that could not be taken; the text says why."""


class Place:
    """A pool in a directory of its own.

    Args:
        directory: for the pool and the DAGs; not under /tmp, which the stock DAGMan refuses.
        ours: path of our condor_dagman; the one of this Python if ''.
    """

    def __init__(self, directory: Path, ours: str = "") -> None:
        self.directory = directory
        self.pool = Pool(directory / "pool")
        self._ours = ours or str(Path(paths.commands_directory()) / "condor_dagman")
        self._count = 0
        self.environment: dict[str, str] = {}
        self.programs: dict[str, str] = {}

    def start(self) -> None:
        """Start the pool, and find both programs.

        Raises:
            PoolError: it does not come up.
            Failed: one of the programs is not there.
        """
        self.pool.start(timeout=120)
        self.environment = self.pool.environment()
        self.programs = {"stock": self.stock("condor_dagman"), "ours": self._ours}
        if not Path(self._ours).is_file():
            raise Failed(f"{self._ours} is not there; install condor_pydagman, or use --dagman")

    def stock(self, command: str) -> str:
        """Full path of one of the stock programs."""
        ours = Path(paths.commands_directory()).resolve()
        for entry in self.environment["PATH"].split(":"):
            if (Path(entry) / command).is_file() and Path(entry).resolve() != ours:
                return str(Path(entry) / command)
        raise Failed(f"there is no stock {command} beside the pool's HTCondor")

    def run(self, *argv: str, cwd: Path | None = None, timeout: float = 300) -> str:
        """Output of a command, run as the pool's user; Failed if it fails."""
        try:
            done = subprocess.run(
                self.pool.command(list(argv)),
                env=self.environment,
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"{argv[0]} took more than {timeout:.0f} s") from None
        if done.returncode:
            raise Failed(f"{' '.join(argv)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def new_directory(self, name: str) -> Path:
        """An empty directory for one measurement; the queue is empty once this returns."""
        self.wait_empty()
        self._count += 1
        made = self.directory / f"{self._count:02}-{name}"
        made.mkdir()
        made.chmod(0o777)
        return made

    def wait_empty(self, patience: float = 120) -> None:
        """Wait until no job is in the queue."""
        limit = time.monotonic() + patience
        while self.run("condor_q", "-allusers", "-af", "ClusterId").strip():
            if time.monotonic() > limit:
                raise Failed("the queue does not become empty")
            time.sleep(0.5)

    def submit(self, directory: Path, which: str) -> int:
        """Submit the DAG there by the stock condor_submit_dag, for the DAGMan 'stock' or 'ours'."""
        said = self.run(
            self.stock("condor_submit_dag"),
            "-dagman",
            self.programs[which],
            dags.NAME,
            cwd=directory,
        )
        match = re.search(r"submitted to cluster (\d+)", said)
        if match is None:
            raise Failed(f"condor_submit_dag said: {said}")
        return int(match[1])

    def wait_end(self, directory: Path, patience: float) -> list[events.Event]:
        """Wait until the DAG there has ended; returns the events of the DAGMan job."""
        limit = time.monotonic() + patience
        while time.monotonic() < limit:
            found = events.read(directory / f"{dags.NAME}.dagman.log")
            if any(event.kind in (events.TERMINATED, events.ABORTED) for event in found):
                return found
            time.sleep(0.2)
        raise Failed(f"the DAG has not ended after {patience:.0f} s")

    def dagman_pid(self, directory: Path, patience: float = 60) -> int:
        """Process id of the DAGMan of the DAG there, as it says itself."""
        out = directory / f"{dags.NAME}.dagman.out"
        limit = time.monotonic() + patience
        while time.monotonic() < limit:
            text = out.read_text(encoding="utf-8", errors="replace") if out.exists() else ""
            match = re.search(r"\*\* PID = (\d+)", text)
            if match:
                return int(match[1])
            time.sleep(0.2)
        raise Failed("DAGMan does not say its process id")

    def floor(self, directory: Path, count: int, jobs: str) -> list[events.Event]:
        """Submit jobs in a bare loop; returns their events so far."""
        log = directory / "floor.log"
        script = str(Path(__file__).with_name("floor.py"))
        self.run(sys.executable, script, str(count), str(log), jobs, cwd=directory)
        return events.read(log)

    def stop(self) -> None:
        """Stop the pool; none of its processes is left."""
        self.pool.stop()
