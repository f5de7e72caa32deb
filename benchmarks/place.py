"""The pool that is measured on: runs commands and DAGs in it, and waits for their ends."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks import dags, events, subjects
from benchmarks.sizes import Numbers
from condor_pydagman.pool import Pool, personal

HERE = Path(__file__).resolve().parent
COMPILED = b"\x7fELF"  # how such a program begins
# A checkout may be below /tmp, where DAGMan refuses to keep its log.
# HTCondor's default of 100,000 jobs is less than a DAG of as many nodes has with its DAGMan.
# By default 500 jobs of the scheduler universe run, 200 of one user.
KNOBS = """\
DAGMAN_AVOID_SLASH_TMP = False
MAX_JOBS_PER_OWNER = 1000000
START_SCHEDULER_UNIVERSE = True
MAX_RUNNING_SCHEDULER_JOBS_PER_OWNER = 10000
"""
TIMEOUT_S = 600.0  # so long takes nothing that goes well
_SHOWN = 1500  # characters of a `.dagman.out` in an error


class Failed(Exception):
    """A measurement that could not be taken; the text says why.

    Attributes:
        found: the numbers of the part of it that could.
    """

    def __init__(self, text: str, found: Numbers | None = None) -> None:
        super().__init__(text)
        self.found = found or {}


class Place:
    """A pool in a directory of its own.

    Args:
        directory: for the pool and the DAGs.
        ours: directory of our commands; that of this Python if ''.
        knobs: set for all DAGMans.
    """

    def __init__(
        self, directory: Path, ours: str = "", knobs: dict[str, str] | None = None
    ) -> None:
        self.directory = directory
        self.pool = Pool(directory / "pool")
        self.knobs = knobs or {}
        self.commands: dict[str, Path] = {}
        self._ours = Path(ours or personal.commands_directory())
        self._count = 0
        self._environment: dict[str, str] = {}

    def start(self, slots: int = 16) -> None:
        """Start the pool, and find both programs.

        Args:
            slots: how many one-CPU jobs may run at a time.

        Raises:
            PoolError: it does not come up.
            Failed: one of the programs is not there.
        """
        knobs = self.pool.directory / "config.d" / "benchmark"
        knobs.parent.mkdir(parents=True, exist_ok=True)
        knobs.write_text(KNOBS, encoding="ascii")
        self.pool.start(timeout_s=TIMEOUT_S, slots=slots)
        self._environment = self.pool.environment()
        stock = self._stock("condor_dagman")
        self.commands = {
            **dict.fromkeys((subjects.STOCK, subjects.TUNED), stock),
            **dict.fromkeys((subjects.OURS, subjects.TOGETHER, subjects.ASLEEP), self._ours),
        }
        if not (self._ours / "condor_dagman").is_file():
            raise Failed(
                f"{self._ours} has no condor_dagman; install condor_pydagman, or use --ours"
            )

    def _stock(self, command: str) -> Path:
        """Directory of the stock programs: a compiled one, since there may be several of ours."""
        for entry in self._environment["PATH"].split(":"):
            path = Path(entry) / command
            if path.is_file() and path.read_bytes()[: len(COMPILED)] == COMPILED:
                return Path(entry)
        raise Failed(f"there is no stock {command} beside the pool's HTCondor")

    def program(self, subject: str, name: str = "condor_dagman") -> str:
        """Path of a subject's program."""
        return str(self.commands[subject] / name)

    def environment(self, subject: str = "", knobs: dict[str, str] | None = None) -> dict[str, str]:
        """For what is run in the pool, with these knobs and those of the subject."""
        return {**self._environment, **subjects.knobs(subject, {**self.knobs, **(knobs or {})})}

    def require(self, subject: str) -> None:
        """Failed if a program has no knob by which the subject differs from others."""
        if subject == subjects.TOGETHER:
            told = self.run(self.program(subject, "condor_pydagman"), "knobs", "-all")
            if subjects.TOGETHER_KNOB not in told:
                raise Failed(f"this condor_pydagman has no knob {subjects.TOGETHER_KNOB}")

    def run(
        self,
        *argv: str,
        cwd: Path | None = None,
        subject: str = "",
        knobs: dict[str, str] | None = None,
        given: str = "",
        timeout_s: float = TIMEOUT_S,
    ) -> str:
        """Output of a command, run as the pool's user; Failed if it fails.

        Args:
            subject: whose knobs are set.
            knobs: others.
            given: its standard input.
        """
        try:
            done = subprocess.run(
                self.pool.command(list(argv)),
                env=self.environment(subject, knobs),
                cwd=cwd,
                input=given,
                capture_output=True,
                text=True,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"{argv[0]} took more than {timeout_s:.0f} s") from None
        if done.returncode:
            raise Failed(f"{' '.join(argv)}: {done.stderr.strip() or done.stdout.strip()}")
        return done.stdout

    def run_each(
        self,
        commands: Sequence[tuple[list[str], Path]],
        subject: str = "",
        knobs: dict[str, str] | None = None,
    ) -> list[tuple[float, str]]:
        """Run commands one after the other: seconds and output of each; Failed if one fails."""
        given = json.dumps([(argv, str(directory)) for argv, directory in commands])
        program = [sys.executable, "-I", str(HERE / "inside.py")]
        told = json.loads(self.run(*program, subject=subject, knobs=knobs, given=given))
        for (argv, _), (_, code, said) in zip(commands, told):
            if code:
                raise Failed(f"{' '.join(argv)}: {said.strip()}")
        return [(seconds, said) for seconds, _, said in told]

    def new_directory(self, name: str) -> Path:
        """An empty directory for one measurement; the queue is empty once this returns."""
        self.wait_empty()
        self._count += 1
        made = self.directory / f"{self._count:03}-{name}"
        made.mkdir()
        made.chmod(0o777)
        return made

    def wait_empty(self, timeout_s: float = TIMEOUT_S) -> None:
        """Wait until no job is in the queue."""
        deadline = time.monotonic() + timeout_s
        while self._queue():
            if time.monotonic() > deadline:
                raise Failed("the queue does not become empty")
            time.sleep(0.5)

    def _queue(self) -> list[str]:
        """The clusters in the queue."""
        return self.run("condor_q", "-allusers", "-af", "ClusterId").split()

    def remove_all(self) -> None:
        """Remove all jobs; the queue may not be empty yet."""
        if self._queue():
            try:
                self.run("condor_rm", "-all")
            except Failed:  # the last one may have left by itself
                if self._queue():
                    raise

    def submit(
        self,
        directories: Sequence[Path],
        subject: str,
        knobs: dict[str, str] | None = None,
        by: str = subjects.STOCK,
    ) -> None:
        """Submit the DAGs there, one after the other, by the condor_submit_dag of a subject: the
        stock one refuses commands that only ours knows."""
        submit = self.program(by, "condor_submit_dag")
        argv = [submit, "-dagman", self.program(subject), dags.NAME]
        self.run_each([(argv, directory) for directory in directories], subject, knobs)

    def wait_end(self, directory: Path, timeout_s: float) -> list[events.Event]:
        """Wait until the DAG there has ended; returns the events of the DAGMan job."""
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            found = events.read(directory / f"{dags.NAME}.dagman.log")
            if has_ended(found):
                return found
            time.sleep(0.2)
        raise Failed(f"the DAG has not ended after {timeout_s:.0f} s; {log_tail(directory)}")

    def wait_events(self, log: Path, kind: int, count: int, timeout_s: float) -> None:
        """Wait until the nodes log of the DAG beside it has that many events of a kind."""
        wait_while_it_runs(
            log.parent,
            lambda: len(events.times(events.read(log), kind)) >= count,
            f"{count} events of kind {kind} in {log.name}",
            timeout_s,
            interval_s=0.2 if count < 5000 else 1.0,  # to read a long log takes CPU time
        )

    def dagman_pid(self, directory: Path, timeout_s: float = TIMEOUT_S) -> int:
        """Process id of the DAGMan of the DAG there, as it says itself."""
        out = directory / f"{dags.NAME}.dagman.out"

        def pid() -> int:
            text = out.read_text(encoding="utf-8", errors="replace") if out.exists() else ""
            match = re.search(r"\*\* PID = (\d+)", text)
            return int(match[1]) if match else 0

        return wait_while_it_runs(directory, pid, "DAGMan's process id", timeout_s)

    def floor(self, program: str, *words: str, cwd: Path) -> tuple[float, list[events.Event]]:
        """Run one of the bare programs: its seconds, and the events of its jobs.

        The log is the word after the first.
        """
        begin = time.monotonic()
        self.run(sys.executable, "-I", str(HERE / program), *words, cwd=cwd)
        return time.monotonic() - begin, events.read(Path(words[1]))

    def stop(self) -> None:
        """Stop the pool; none of its processes is left."""
        self.pool.stop()


@contextmanager
def started_place() -> Iterator[Place]:
    """A place with a running pool, for a `with` block."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        Path(directory).chmod(0o755)
        place = Place(Path(directory))
        place.start()
        try:
            yield place
        finally:
            place.stop()


def has_ended(dagman: list[events.Event]) -> bool:
    """Whether a DAGMan job with these events has left the queue."""
    return any(event.kind in (events.TERMINATED, events.ABORTED) for event in dagman)


def log_tail(directory: Path) -> str:
    """The end of the `.dagman.out` there, for an error."""
    try:
        out = directory / f"{dags.NAME}.dagman.out"
        text = out.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        return f"there is no .dagman.out: {error.strerror}"
    return f".dagman.out says:\n{text[-_SHOWN:].strip()}"


def wait_while_it_runs(
    directory: Path, look: Callable[[], int], what: str, timeout_s: float, interval_s: float = 0.2
) -> int:
    """Wait until `look()` gives something true; returns that.

    Raises:
        Failed: the DAGMan job of the DAG there has ended without it, or it took too long.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        ended = has_ended(events.read(directory / f"{dags.NAME}.dagman.log"))  # before the look
        found = look()
        if found:
            return found
        if ended or time.monotonic() > deadline:
            why = "DAGMan has ended" if ended else f"{timeout_s:.0f} s have passed"
            raise Failed(f"{why} without {what}; {log_tail(directory)}")
        time.sleep(interval_s)
