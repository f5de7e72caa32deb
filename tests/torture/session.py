"""One DAG under test: submitted, watched, submitted again; and its disturbances."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from tests.pool.dagmans import dagmans_in
from tests.torture import ledger
from tests.torture.judge import Generation
from tests.torture.workload import Workload, files
from tests.torture.world import World, until

if TYPE_CHECKING:
    from tests.torture.everything import Everything

OURS, STOCK = "ours", "stock"
# With its defaults stock looks at its log every 5 seconds: a run would take minutes.
STOCK_KNOBS = ("DAGMAN_USER_LOG_SCAN_INTERVAL = 1", "DAGMAN_SUBMIT_DELAY = 0")


@dataclass
class Session:
    """A DAG in its directory.

    Attributes:
        work: where the DAG file is; the ledger stands in the directory above.
        dagman: the condor_dagman to run.
        knobs: that the DAG is run with.
        stop_seconds: how long a stopped process stays so.
        max_disturbances: how many disturbances are enough.
        limit: when (monotonic) the DAG must have ended.
        kills: SIGKILLs that a DAGMan got, alone or with its whole pool.
        disturbances: disturbances done, kills included.
        submitted_at: when the DAG was submitted, seconds since the epoch.
        carriers_killed: when what carries jobs was killed or vacated, seconds since the epoch.
        story: what was done, for people.
        wrong: what was seen on the way that should not be.
        more: what the DAG has beside its workload.
        acts: how often it was disturbed, by what did it, where that is not one thing alone.
    """

    world: World
    work: Path
    workload: Workload
    random: Random
    flavour: str
    dagman: str
    knobs: tuple[str, ...]
    stop_seconds: float
    max_disturbances: int
    limit: float
    cluster: int = 0
    generations: list[Generation] = field(default_factory=list)
    inner_done: list[frozenset[str]] = field(default_factory=list)
    kills: int = 0
    disturbances: int = 0
    submitted_at: list[float] = field(default_factory=list)
    carriers_killed: list[float] = field(default_factory=list)
    story: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    more: Everything | None = None
    acts: Counter[str] = field(default_factory=Counter)

    @property
    def ledger(self) -> Path:
        """Not where the DAG is: that disk may be full."""
        return self.work.parent / "ledger"

    def tell(self, text: str) -> None:
        """Record what is done to the DAG."""
        self.story.append(f"{time.strftime('%H:%M:%S')} {text}")

    def did(self, text: str) -> None:
        """Record a disturbance."""
        self.disturbances += 1
        self.tell(text)

    def write(self) -> None:
        """Write the DAG and what its nodes need."""
        knobs = [*self.knobs, *(STOCK_KNOBS if self.flavour == STOCK else ())]
        if self.workload.together and self.flavour == OURS:
            knobs.append("PYDAGMAN_MAX_NODES_IN_CLUSTER = 50")
        more = ["CONFIG t.config"] if knobs else []
        texts = {**files(self.workload, more), **ledger.programs(self.ledger, self.work)}
        texts["t.config"] = "".join(f"{knob}\n" for knob in knobs)
        for name, text in texts.items():
            (self.work / name).write_text(text)
            (self.work / name).chmod(0o755 if name.endswith(".sh") else 0o644)

    def submit(self, *words: str) -> None:
        """condor_submit_dag; after the first time it goes on with what is there."""
        recovers = (self.work / "t.dag.lock").exists()
        done = self._rescued("t.dag")
        options = [*words, *self.workload.options, "-dagman", self.dagman, "t.dag"]
        rescue = list(self.work.glob("t.dag.rescue*"))
        if self.generations and not recovers and not rescue and self.size():
            self.wrong.append(
                "DAGMan left neither lock file nor rescue file behind, but had run jobs"
            )
        if self.more is not None and self.generations and not recovers:
            self.more.keep_log()
        begun = time.time()
        self.cluster = self._submitted(options)
        self.submitted_at.append(begun)
        self.tell(f"submitted: {self.cluster}")
        last = self.generations.pop() if self.generations else None
        if last is not None and recovers:
            self.generations.append(last._replace(owners=(*last.owners, self.cluster)))
            return
        if last is not None:
            self.generations.append(last._replace(removed=True))
        self.generations.append(Generation((self.cluster,), done))
        self.inner_done.append(self._rescued("inner.dag"))

    def _submitted(self, options: list[str]) -> int:
        while True:
            try:
                stock = self.flavour == STOCK
                return self.world.access_point.submit(self.work, *options, stock=stock)
            except AssertionError as refused:
                # Files of the last time are in the way, or the schedd was down.
                if "-update_submit" in str(refused):
                    options = ["-update_submit", *options]
                elif "schedd" not in str(refused):
                    raise
                until(self.world.answers)

    def also(self, owner: int) -> None:
        """Another DAGMan job (0: one that is no job) that was started for the same DAG: what it
        runs, it runs as a second one."""
        last = self.generations[-1]
        if owner not in last.owners:
            self.generations[-1] = last._replace(owners=(*last.owners, owner))

    def _rescued(self, dag: str) -> frozenset[str]:
        """What the last rescue file calls done."""
        found = sorted(self.work.glob(f"{dag}.rescue[0-9][0-9][0-9]"))
        lines = found[-1].read_text().splitlines() if found else []
        return frozenset(line[5:] for line in lines if line.startswith("DONE "))

    def code(self) -> int | None:
        """Exit code of the DAG; None while its DAGMan job is in the queue."""
        code = self.world.history.exit_code(self.cluster)
        if code == -1:  # the DAG may have ended well as it was removed, not by its FINAL node alone
            log = self.work / "t.dag.dagman.out"
            said = log.read_text(errors="replace").rstrip() if log.exists() else ""
            life = said.rpartition("STARTING UP")[2]
            well = life.endswith("EXITING WITH STATUS 0") and "Writing Rescue DAG" not in life
            code = 0 if well else -1
        return code

    def over(self) -> bool:
        """Whether the DAG has ended, or its time."""
        return self.code() is not None or time.monotonic() > self.limit

    def wait_end(self) -> int | None:
        """Wait for the end; returns the exit code."""
        until(self.over, 1e6, pause=0.3)
        return self.code()

    def left(self) -> bool:
        """Wait until DAGMan and all its jobs have left the queue; whether they have."""
        owner = self.cluster

        def gone() -> bool:
            with contextlib.suppress(AssertionError):  # the schedd may be dead
                return self.world.access_point.gone(owner)
            return False

        return bool(until(gone, pause=1.0))

    def pids(self) -> list[int]:
        """DAGMans of this DAG and its sub-DAGs that run; that of the DAG itself first."""
        found = dagmans_in(self.work)
        return sorted(found, key=lambda pid: found[pid] != "t.dag.lock")

    def pid(self) -> int:
        """The DAG's DAGMan, or at times one of a sub-DAG; waits until one runs; 0 if none will."""
        pids = until(lambda: self.pids() or self.over())
        if not isinstance(pids, list):
            return 0
        return int(self.random.choice(pids) if self.random.random() < 0.3 else pids[0])

    def signal(self, pid: int, number: int) -> bool:
        """Send a signal; whether the process was there."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
            return True
        return False

    def kill(self) -> bool:
        """SIGKILL of DAGMan; waits until it is gone.  False if the DAG has ended before."""
        pid = self.pid()
        if not pid or not self.signal(pid, signal.SIGKILL):
            return False
        self.kills += 1
        self.did(f"killed DAGMan {pid}")
        until(lambda: pid not in self.pids(), pause=0.02)
        return True

    def size(self) -> int:
        """Bytes in the ledger: how far the DAG is."""
        with contextlib.suppress(FileNotFoundError):
            return self.ledger.stat().st_size
        return 0

    def begun(self) -> float:
        """Share of the nodes that have begun."""
        lines, _ = ledger.parse(self.ledger.read_text())
        return len({line.node for line in lines}) / len(self.workload.nodes)

    def rest(self) -> bool:
        """Let the DAG run for a random while.  False if it has ended, or has had the
        maximum number of disturbances."""
        if self.disturbances >= self.max_disturbances or not self.pid():
            return False
        draw = self.random.random()
        if draw < 0.25:
            time.sleep(self.random.uniform(0, 0.3))
        elif draw < 0.6:
            time.sleep(self.random.uniform(0.3, 2.0))
        else:
            more = self.size() + 60 * self.random.randint(1, 12)
            until(lambda: self.size() >= more or self.over(), 8.0, pause=0.05)
        return not self.over()

    def run(self, *argv: str) -> bool:
        """A command of HTCondor in the DAG's directory; whether it was obeyed."""
        done = self.world.access_point.run(*argv, cwd=self.work, check=False)
        if done.returncode:
            self.tell(f"{' '.join(argv)}: {(done.stderr or done.stdout).strip()[-200:]}")
        return done.returncode == 0
