"""The torture test of steering, as a command: people ask at random, DAGMan is killed at random.

    python -m tests.torture.steering [--kills N] [--seed S] [--directory DIR]

DAGs of a pool of its own have nodes that fail when they first run.  Somebody cancels, holds,
releases, skips, marks done, sets and runs again whatever he likes, halts and resumes, and believes
each answer; DAGMan is killed meanwhile, often between a request and its answer.  Exit code 1 if a
node's run began twice, or what was answered was not so.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from tests.pool.access_point import AccessPoint, new_directory
from tests.pool.waiting import end_of
from tests.torture.commands import kill_dagmans, own_pool, verdict, words_of

KNOBS = """\
DAGMAN_AVOID_SLASH_TMP = False
MASTER_BACKOFF_CONSTANT = 1
"""
LAYERS, WIDTH = 5, 5
STEERS_S = 12.0  # that a DAG is steered
TIMEOUT_S = 180.0
SLACK_S = 1.5  # from a submission to the first line of its job
JOB = """\
#!/bin/sh
# A line at the beginning, and one at the end: node, number of its run, time, cluster.
echo "$1 $2 start $(date +%s.%N) $5" >> ledger
sleep $3
code=0
[ "$4" -gt "$2" ] && code=1
echo "$1 $2 end$code $(date +%s.%N) $5" >> ledger
exit $code
"""
SUBMIT = """\
universe = scheduler
executable = job.sh
arguments = $(JOB) $(RETRY) $(seconds) $(fails) $(CLUSTER)
queue
"""
NODE_COMMANDS = ("cancel", "hold", "release", "rerun", "rerun+", "done", "skip", "set")


class Asked(NamedTuple):
    """A request for nodes.

    Attributes:
        begun, ended: seconds since the epoch; when it was made, and its answer came.
        nodes: those that it was made for.
        done: those for which it is in force; None if there was no answer, and nobody knows.
    """

    command: str
    begun: float
    ended: float
    nodes: tuple[str, ...]
    done: frozenset[str] | None


class Line(NamedTuple):
    """A line of the ledger."""

    node: str
    run: int
    what: str
    time: float
    cluster: int


class SteeredDag:
    """One DAG, those who steer it, and what becomes of it."""

    def __init__(self, access_point: AccessPoint, work: Path, random: Random) -> None:
        self.access_point = access_point
        self.work = work
        self.random = random
        self.asked: list[Asked] = []
        self.kills = 0
        self.wrong: list[str] = []
        self.names = [f"L{layer}N{n}" for layer in range(LAYERS) for n in range(WIDTH)]
        self.parents: dict[str, list[str]] = {}
        self.retries: dict[str, int] = {}

    def play(self) -> None:
        """To the end of the DAG."""
        self._write()
        self.access_point.submit(self.work, "t.dag")
        killer = threading.Thread(target=self._kill, daemon=True)
        until = time.time() + STEERS_S
        self._over = threading.Event()
        killer.start()
        while time.time() < until and not self._has_ended():
            self._ask()
        self._over.set()
        killer.join()
        limit = time.time() + TIMEOUT_S
        while not self._has_ended() and time.time() < limit:
            self._steer("resume")
            self._steer("release", "--pattern", "*")
            time.sleep(1)
        if not self._has_ended():
            self.wrong.append(f"{self.work} does not end")
        else:
            self._judge()

    def _write(self) -> None:
        lines = []
        for place, name in enumerate(self.names):
            layer = place // WIDTH
            above = self.names[(layer - 1) * WIDTH : layer * WIDTH] if layer else []
            self.parents[name] = self.random.sample(above, 2) if above else []
            self.retries[name] = self.random.choice((0, 0, 2))
            fails = self.random.choice((0, 0, 0, 0, 1))
            seconds = self.random.choice((0.1, 0.4, 1.0))
            lines += [f"JOB {name} job.sub", f'VARS {name} fails="{fails}" seconds="{seconds}"']
            lines += [f"RETRY {name} {self.retries[name]}"] * bool(self.retries[name])
            lines += [f"PARENT {' '.join(self.parents[name])} CHILD {name}"] * bool(above)
        for name, text in (
            ("t.dag", "\n".join(lines) + "\n"),
            ("job.sh", JOB),
            ("job.sub", SUBMIT),
        ):
            (self.work / name).write_text(text)
            (self.work / name).chmod(0o755)

    def _has_ended(self) -> bool:
        return end_of(self.work / "t.dag") is not None

    def _kill(self) -> None:
        draw = self.random.uniform
        self.kills = kill_dagmans(self.work, self._over, lambda: draw(0.3, 2.5))

    # Who steers.

    def _ask(self) -> None:
        draw = self.random.random()
        if draw < 0.1:
            self._steer("halt")
        elif draw < 0.25:
            self._steer("resume")
        elif draw < 0.3:
            self._steer("priority", str(self.random.randint(-5, 5)))
        else:
            self._ask_for_nodes()

    def _ask_for_nodes(self) -> None:
        command = self.random.choice(NODE_COMMANDS)
        nodes = tuple(self.random.sample(self.names, self.random.choice((1, 2, 5))))
        options = {
            "rerun+": ["--descendants"],
            "set": ["--priority", "3", "--var", "seconds=0.2"],
        }.get(command, [])
        begun = time.time()
        answer = self._steer(command.rstrip("+"), *nodes, *options)
        done = None
        if answer is not None:
            refused = {one["node"] for one in answer.get("refused", ())}
            done = frozenset(set(nodes) - refused)
        self.asked.append(Asked(command, begun, time.time(), nodes, done))

    def _steer(self, command: str, *words: str) -> dict[str, Any] | None:
        """The answer; None if there was none."""
        argv = ["condor_pydagman", "steer", command, "--json", "t.dag", *words]
        done = self.access_point.run(*argv, cwd=self.work, check=False)
        with contextlib.suppress(ValueError):
            found: dict[str, Any] = json.loads(done.stdout)
            return found
        return None

    # What must hold.

    def _judge(self) -> None:
        lines = [
            Line(node, int(run), what, float(when), int(cluster))
            for node, run, what, when, cluster in map(str.split, (self.work / "ledger").open())
        ]
        # A job that was held starts once more when it is released.
        first = {line.cluster: line for line in reversed(lines) if line.what == "start"}
        starts = sorted(first.values(), key=lambda line: line.time)
        for (node, run), count in Counter((line.node, line.run) for line in starts).items():
            if count > 1:
                self._complain(f"run {run} of {node} began {count} times")
        for line in starts:
            self._judge_order(line, lines)
        for node in self.names:
            self._judge_count(node, starts)
        for asked in self.asked:
            for node in asked.done or ():
                self._judge_answer(asked, node, starts)

    def _judge_order(self, start: Line, lines: list[Line]) -> None:
        for parent in self.parents[start.node]:
            ended = any(
                line.node == parent and line.what == "end0" and line.time <= start.time
                for line in lines
            )
            marked = any(
                asked.command in ("done", "skip")
                and parent in asked.nodes
                and asked.begun <= start.time
                for asked in self.asked
            )
            if not ended and not marked:
                self._complain(f"{start.node} began before its parent {parent} had ended")

    def _judge_count(self, node: str, starts: list[Line]) -> None:
        """A run for each time that it was to run, with all its retries."""
        anew = sum(
            asked.command in ("rerun", "rerun+")
            and (node in asked.nodes or asked.command == "rerun+")
            for asked in self.asked
        )
        allowed = (1 + anew) * (1 + self.retries[node])
        count = sum(line.node == node for line in starts)
        if count > allowed:
            self._complain(f"{node} ran {count} times, {allowed} at most are explained")

    def _judge_answer(self, asked: Asked, node: str, starts: list[Line]) -> None:
        later = [line for line in starts if line.node == node and line.time > asked.ended]
        undone = any(
            other.begun > asked.begun and other.command in ("rerun", "rerun+")
            for other in self.asked
            if node in other.nodes or other.command == "rerun+"
        )
        if asked.command in ("skip", "done") and later and not undone:
            self._complain(f"{node} ran after {asked.command} was answered")
        late = [line for line in later if line.time > asked.ended + SLACK_S]
        if asked.command == "cancel" and late and not undone:
            self._complain(f"{node} ran after it was cancelled")
        if asked.command == "rerun" and not later and self._is_alone(asked, node):
            # Its run may have begun between its record and the answer.
            begun = [line for line in starts if line.node == node and line.time > asked.begun]
            if not begun:
                self._complain(f"{node} was to run again, and has not")

    def _is_alone(self, asked: Asked, node: str) -> bool:
        """Whether nothing else that was asked later can have kept the node from running."""
        above = {node}
        for name in reversed(self.names):
            if name in above:
                above.update(self.parents[name])
        return not any(
            other.begun > asked.begun
            and other.command in ("cancel", "done", "skip", "rerun+", "rerun")
            and above & set(other.nodes)
            for other in self.asked
        )

    def _complain(self, text: str) -> None:
        self.wrong.append(f"{self.work.name}: {text}")


def main() -> int:
    """Run it; returns the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--kills", type=int, default=100)
    arguments = words_of(parser)
    place = arguments.directory
    kills = requests = answered = number = 0
    wrong: list[str] = []
    with own_pool(place, KNOBS) as access_point:
        while kills < arguments.kills and not wrong:
            number += 1
            random = Random(f"{arguments.seed} {number}")
            dag = SteeredDag(access_point, new_directory(place / f"dag{number}"), random)
            dag.play()
            kills += dag.kills
            requests += len(dag.asked)
            answered += sum(asked.done is not None for asked in dag.asked)
            wrong += dag.wrong
            print(f"{number} DAGs, {kills} kills, {requests} requests", flush=True)
    print(f"{number} DAGs, {kills} kills, {requests} requests, of which {answered} were answered")
    return verdict(wrong)


if __name__ == "__main__":
    sys.exit(main())
