"""Scenes: small DAGs under our DAGMan, and what people do to them while they run.

Most of a scene is waiting, so the scenes of all modules are played at the same time, once; each
test then tells how one of them went. A module has its scenes in `STAGE`.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import htcondor2
import pytest

from tests.pool import dags, waiting
from tests.pool.access_point import OURS, STOCK, AccessPoint, new_directory
from tests.pool.dagmans import dagmans_in, send
from tests.pool.stock import Stock, plain

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
AT_ONCE = 24
_TOLD = ("DAG", "JobStatus", "Hold", "Exit", "Remove", "NumJobStarts")  # of an ad, in a story
STATUS = "NODE_STATUS_FILE t.status 1\n"
# A job, and a script, that go on until somebody makes a file `go.NAME`.
UNTIL_TOLD = """\
#!/bin/sh
# told.sh NAME RETRY [CODE]: as job.sh, but goes on until the file go.NAME is there
echo "$1 $2 start $(date +%s.%N)" >> ledger
until test -e "go.$1"; do sleep 0.3; done
echo "$1 $2 end $(date +%s.%N)" >> ledger
exit "${3:-0}"
"""
WAIT = """\
#!/bin/sh
# wait.sh NAME: writes NAME down, goes on until the file go.NAME is there, and writes so
echo "$1" >> scripts
until test -e "go.$1"; do sleep 0.3; done
echo "$1 ended" >> scripts
"""
TOLD_SUBMIT = """\
universe = scheduler
executable = told.sh
arguments = "$(JOB) $(RETRY) $(code:0)"
queue
"""
NEVER_SUBMIT = """\
universe = vanilla
executable = job.sh
requirements = False
queue
"""
# For a DAG whose jobs fail when they first run, with $(code).
FIRST = """\
#== first.sub
universe = scheduler
executable = first.sh
arguments = "$(JOB) $(RETRY) 0 $(code)"
queue
"""
FILES = {"told.sh": UNTIL_TOLD, "wait.sh": WAIT}
FILES.update({"told.sub": TOLD_SUBMIT, "never.sub": NEVER_SUBMIT})


@dataclass
class Scene:
    """One DAG, `t.dag`, in a directory of its own; `cluster` is its last DAGMan job, and `flavour`
    the program that runs it."""

    access_point: AccessPoint
    work: Path
    cluster: int = 0
    flavour: str = OURS

    def write(self, dag: str) -> None:
        """Write the DAG and the files that its nodes need."""
        for name, text in FILES.items():
            (self.work / name).write_text(text)
            (self.work / name).chmod(0o755)
        dags.write(self.work, dag)

    def bring(self, example: str) -> None:
        """Copy the files of an example, a folder of `examples`."""
        for file in (EXAMPLES / example).iterdir():
            shutil.copy(file, self.work / file.name)

    def submit(self, dag: str, *words: str, started: str = "") -> None:
        """Write the DAG and submit it; wait until the job of `started` has, as `NODE RETRY`."""
        self.write(dag)
        self.submit_again(*words)
        if started:
            self.started(started)

    def submit_again(self, *words: str) -> None:
        """Submit the DAG that is there."""
        (self.work / "t.dag.dagman.log").unlink(missing_ok=True)
        stock = self.flavour == STOCK
        dagman = ("-dagman", self.access_point.stock_dagman) if stock else ()
        self.cluster = self.access_point.submit(self.work, *dagman, *words, "t.dag", stock=stock)

    def ends(self) -> int:
        """Wait for the end of the DAG; returns the exit code."""
        return self.access_point.wait(self.work / "t.dag").code

    def until(
        self,
        what: Callable[[], Any],
        say: str,
        *,
        pause: float = 0.1,
        max_pause: float = 0.0,
        after_end: bool = False,
    ) -> Any:
        """Wait until `what()` gives something true, looking every `pause` seconds; returns that.

        `after_end`: it may take its time after the end of DAGMan.
        """
        dag = None if after_end else self.work / "t.dag"
        return waiting.until(what, say, dag, pause=pause, max_pause=max_pause, tell=self.story)

    def story(self) -> str:
        """What the access point knows of the DAG: the ad of its DAGMan job, and its processes."""
        shown = {name: value for name, value in self.ad().items() if name.startswith(_TOLD)}
        processes = dagmans_in(self.work)
        return f"in {self.work}, DAGMan job {self.cluster}, DAGMans: {processes}, ad: {shown}"

    def whole_story(self) -> str:
        """The same, and what its files say."""
        return f"{self.story()}\n{waiting.story(self.work / 't.dag')}"

    def settled(self) -> None:
        """Wait until DAGMan has acted on all that its log had when this was called, and has said
        so.

        A client is let in during one pass of DAGMan's loop and answered in a later one, which reads
        the log first: so the first answer says that the log has been read.  DAGMan acts on what it
        has read, and writes `.dagman.out`, before it looks for clients again; only while replies of
        the schedd wait it may look once in between.  So the third answer says all.
        """
        for _ in range(3):
            self.until(self._answers, "an answer of DAGMan", pause=0.05)

    def _answers(self) -> bool:
        return self.answer("condor_pydagman", "steer", "info", "t.dag").returncode == 0

    def submissions(self) -> Counter[str]:
        """How often DAGMan has begun to submit each node, by `.dagman.out`."""
        return Counter(re.findall(r"Submitting HTCondor Node (\S+) job", self.out()))

    def applied(self, event: str, node: str, times: int = 1) -> None:
        """Wait until DAGMan has acted on an event of a node (`JOB_TERMINATED`, ...)."""
        self.says(rf"Event: ULOG_{event} for HTCondor Node {re.escape(node)} \(", times)

    def touch(self, *names: str) -> None:
        for name in names:
            (self.work / name).touch()

    def text(self, name: str) -> str:
        path = self.work / name
        return path.read_text() if path.exists() else ""

    def out(self) -> str:
        """`.dagman.out` so far."""
        return self.text("t.dag.dagman.out")

    def says(self, pattern: str, times: int = 1) -> re.Match[str]:
        """Wait until `.dagman.out` has the pattern so often; returns the last match."""
        found = self.until(
            lambda: list(re.finditer(pattern, self.out(), re.M))[times - 1 :], pattern
        )
        match: re.Match[str] = found[-1]
        return match

    def started(self, *runs: str) -> None:
        """Wait until the jobs of these `NODE RETRY` have started."""
        for run in runs:
            self.until(lambda run=run: dags.starts(self.work)[run], f"start of {run}")

    def ran(self, run: str) -> None:
        """Wait until the job of `NODE RETRY` has ended."""
        self.until(lambda: dags.runs(self.work)[run], f"end of {run}")

    def wrote(self, line: str, times: int = 1) -> None:
        """Wait until a script has written that line so often."""
        self.until(lambda: dags.scripts(self.work).count(line) >= times, f"a script: {line}")

    def run(self, *argv: str) -> str:
        """Run a command in the DAG's directory."""
        return self.answer(*argv, check=True).stdout

    def answer(self, *argv: str, check: bool = False) -> subprocess.CompletedProcess[str]:
        """The same, with its exit code and errors."""
        return self.access_point.run(*argv, cwd=self.work, check=check)

    def ad(self) -> dict[str, Any]:
        """The DAGMan job's ad."""
        return next(iter(self.access_point.queue(f"ClusterId == {self.cluster}")), {})

    def has(self, **wanted: Any) -> None:
        """Wait until the DAGMan job's ad has these values."""
        seen: dict[str, Any] = {}

        def equal() -> bool:
            ad = self.ad()
            seen.update({name: ad.get(name) for name in wanted})
            return seen == wanted

        self.until(equal, f"{wanted} in the ad", pause=0.4, max_pause=1.5)

    def edit(self, name: str, value: int) -> None:
        """condor_qedit of the DAGMan job."""
        self.run("condor_qedit", str(self.cluster), name, str(value))

    def job(self, node: str) -> int:
        """Cluster of a node's last job."""
        return int(self.says(rf"Event: ULOG_SUBMIT for HTCondor Node {node} \((\d+)\.")[1])

    def pid(self) -> int:
        """Process id of the DAGMan that runs, 0 if none does."""
        found = [pid for pid, lock in dagmans_in(self.work).items() if lock == "t.dag.lock"]
        return found[0] if found else 0

    def kill(self) -> None:
        """kill -9 of DAGMan; the schedd starts another."""
        self.signal(signal.SIGKILL)

    def restart(self) -> None:
        """The same; waits until the other one runs and knows what has been."""
        before = self.out().count("done with RECOVERY mode")
        self.kill()
        self.says("done with RECOVERY mode", before + 1)

    def signal(self, number: int) -> int:
        """Send a signal to DAGMan, once it runs; returns its process id."""
        pid: int = self.until(self.pid, "DAGMan to run")
        send(pid, number)
        return pid

    def hold(self) -> None:
        """condor_hold of DAGMan; waits until it has left."""
        self.run("condor_hold", str(self.cluster))
        self.until(lambda: not self.pid(), "DAGMan to leave")

    def release(self) -> None:
        """condor_release of DAGMan; waits until it runs and knows what has been."""
        before = self.out().count("done with RECOVERY mode")
        self.run("condor_release", str(self.cluster))
        self.says("done with RECOVERY mode", before + 1)

    def remove(self) -> None:
        self.run("condor_rm", str(self.cluster))

    def gone(self) -> None:
        """Wait until DAGMan and all its jobs have left the queue."""
        self.until(
            lambda: self.access_point.gone(self.cluster),
            "an empty queue",
            pause=0.4,
            max_pause=1.5,
            after_end=True,
        )

    def rescue(self, number: int = 1) -> list[str]:
        """The nodes that a rescue file calls done."""
        text = (self.work / f"t.dag.rescue{number:03}").read_text()
        return [line[5:] for line in text.splitlines() if line.startswith("DONE ")]

    def events(self) -> list[Any]:
        """Every event of the nodes log."""
        with htcondor2.JobEventLog(str(self.work / "t.dag.nodes.log")) as log:
            return list(log.events(0))


@dataclass
class Played:
    """How the scenes went.

    Attributes:
        errors: what they raised, by name and flavour.
        stories: of those, what there was to know of their DAGs.
        left: what they returned.
    """

    errors: dict[tuple[str, str], BaseException] = field(default_factory=dict)
    stories: dict[tuple[str, str], str] = field(default_factory=dict)
    left: dict[tuple[str, str], Any] = field(default_factory=dict)

    def check(self, name: str, flavour: str = OURS) -> Any:
        """Raise what the scene raised, or return what it returned."""
        if (name, flavour) in self.errors:
            print(self.stories[name, flavour])  # pytest shows it
            raise self.errors[name, flavour]
        return self.left[name, flavour]

    def stock(self, name: str, stock: Stock) -> Any:
        """What the scene returned under stock, by the recording."""
        return stock(name, lambda: self.check(name, STOCK))


class Stage:
    """The scenes of a module; those in `pairs` are played under stock as well, to record it."""

    def __init__(self) -> None:
        self.scenes: dict[str, Callable[[Scene], Any]] = {}
        self.pairs: dict[str, Callable[[Scene], Any]] = {}

    def scene(self, play: Callable[[Scene], Any]) -> Callable[[Scene], Any]:
        """Decorator: one more scene."""
        self.scenes[play.__name__] = play
        return play

    def by_both(self, play: Callable[[Scene], Any]) -> Callable[[Scene], Any]:
        """Decorator: one more scene for both programs."""
        self.pairs[play.__name__] = play
        return play

    def tests(self) -> Callable[..., None]:
        """A test for each scene: how it went."""

        @pytest.mark.parametrize("name", self.scenes)
        def check(played: Played, name: str) -> None:
            played.check(name)

        return check

    def beside_stock(self) -> Callable[..., None]:
        """A test for each of `pairs`: that both programs leave the same."""

        @pytest.mark.parametrize("name", self.pairs)
        def check(played: Played, stock: Stock, name: str) -> None:
            assert plain(played.check(name)) == played.stock(name, stock)

        return check

    def parts(self, names: set[str], *, recording: bool) -> list[tuple[Stage, str, str]]:
        """The scenes with these names, once for each program that plays them."""
        found = [(self, name, OURS) for name in (*self.pairs, *self.scenes)]
        found += [(self, name, STOCK) for name in self.pairs] if recording else []
        return [part for part in found if part[1] in names]


def play(
    access_point: AccessPoint, place: Path, items: list[pytest.Item], *, recording: bool
) -> dict[Stage, Played]:
    """Play the scenes that tests ask for, of all modules, in directories below `place`.

    Args:
        recording: those that compare with stock are played under stock as well.
    """
    names: dict[Stage, set[str]] = {}
    for item in items:
        stage = getattr(getattr(item, "module", None), "STAGE", None)
        if isinstance(stage, Stage):
            names.setdefault(stage, set()).add(item.name.partition("[")[2].rstrip("]"))
    played = {stage: Played() for stage in names}

    def one(stage: Stage, name: str, flavour: str) -> None:
        work = new_directory(place / str(list(names).index(stage)) / flavour / name)
        scene = Scene(access_point, work, flavour=flavour)
        act = {**stage.scenes, **stage.pairs}[name]
        try:
            played[stage].left[name, flavour] = act(scene)
        except BaseException as error:
            played[stage].errors[name, flavour] = error
            try:
                played[stage].stories[name, flavour] = scene.whole_story()
                if scene.cluster:
                    access_point.run("condor_rm", str(scene.cluster), check=False)
            except Exception as another:  # the other scenes go on
                played[stage].stories.setdefault((name, flavour), f"no story: {another!r}")

    parts = [
        part for stage, asked in names.items() for part in stage.parts(asked, recording=recording)
    ]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(lambda part: one(*part), parts))
    return played
