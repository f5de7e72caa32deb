"""Each event is told at least once whatever is killed, and whenever: the processes of NOTIFY, and
DAGMan, of which is here what it does about them and what it writes."""

from __future__ import annotations

import json
import os
import random
import signal
from pathlib import Path

import pytest

from condor_pydagman.adapters.files import living_holder
from condor_pydagman.features.notify.starter import Notifiers
from tests.dag_logs import DagLogs
from tests.unit.graph.texts import build_text
from tests.waiting import until

JOBS = 12
TELL = '#!/bin/sh\ncat >> "$1"\n'


class Dag:
    """A DAG whose events are told to a file, and which goes on by steps."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "t.dag"
        self.told = directory / "told"
        self.path.write_text("".join(f"JOB N{n} a.sub\n" for n in range(JOBS)))
        (directory / "tell.sh").write_text(TELL)
        (directory / "tell.sh").chmod(0o755)
        self.logs = DagLogs(directory)
        self.said: list[str] = []
        self.expected: list[tuple[str, str]] = []
        self.start_dagman(fresh=True)

    def start_dagman(self, *, fresh: bool) -> None:
        """Of a DAGMan that was killed the ends of its pipes are closed."""
        self.logs.start(fresh=fresh)
        self.expected.append(("dag.start", ""))
        dag = build_text(f"NOTIFY dag.start,dag.end,job.* PROGRAM ./tell.sh {self.told}\n")
        self.notifiers = Notifiers(str(self.path), dag, "", self.said.append)
        self.notifiers.start()

    def kill_dagman(self) -> None:
        for pipe in self.notifiers._pipes.values():
            os.close(pipe)
        self.logs.now += 5
        self.start_dagman(fresh=False)

    def kill_notifier(self) -> None:
        """That which delivers, if there is one by now."""
        holder = living_holder(f"{self.path}.notify.1")
        if holder:
            os.kill(holder.pid, signal.SIGKILL)

    def step(self, number: int) -> None:
        self.logs.now += 1
        self.logs.submit(f"N{number}", 100 + number)
        self.logs.terminate(100 + number)
        self.expected += [("job.submit", f"N{number}"), ("job.terminate", f"N{number}")]

    def events(self) -> list[tuple[str, str]]:
        lines = self.told.read_text().splitlines(keepends=True) if self.told.exists() else []
        events = (json.loads(line) for line in lines if line.endswith("\n"))  # the last may grow
        return [(event["event"], event.get("node", "")) for event in events]


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(n, marks=pytest.mark.long) for n in range(4, 60))]
)
def test_each_event_is_told(tmp_path: Path, seed: int) -> None:
    chance, dag = random.Random(seed), Dag(tmp_path)
    for number in range(JOBS):
        dag.step(number)
        what = chance.choice(["wait", "wait", "notifier", "check", "dagman"])
        if what == "wait":
            some = chance.randint(0, len(set(dag.expected)))
            until(lambda some=some: dag.notifiers.check() or len(set(dag.events())) >= some, "some")
        elif what == "notifier":
            dag.kill_notifier()
        elif what == "check":
            dag.notifiers.check()
        else:
            dag.kill_dagman()
    if chance.random() < 0.5:
        dag.kill_notifier()
    dag.notifiers.end()
    dag.logs.end()
    dag.expected.append(("dag.end", ""))
    if chance.random() < 0.7:
        dag.kill_notifier()  # the other one goes on
    until(lambda: ("dag.end", "") in dag.events(), "the end is told")
    until(lambda: not Path(f"{dag.path}.notify.1").exists(), "all is told")
    assert set(dag.events()) == set(dag.expected)
