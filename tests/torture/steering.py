"""Somebody who steers a DAG at random, and believes each answer, for the torture of everything.

Of the nodes of a grid, some of which fail when they first run, he cancels, skips, marks done, sets
and runs again whatever he likes; all nodes he holds and releases, and the DAG he halts and resumes.
DAGMan is killed meanwhile, often between a request and its answer.  No run of a node may begin
twice, and what was answered must be so.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from tests.oracles import Record
from tests.torture.ledger import Line
from tests.torture.workload import Node

LAYERS, WIDTH = 5, 5
NODE_COMMANDS = ("cancel", "hold", "release", "rerun", "rerun+", "done", "skip", "set")


class Asked(NamedTuple):
    """A request for nodes.

    Attributes:
        begun, ended: seconds since the epoch; when it was made, and its answer came.
        done: those for which it is in force; None if there was no answer, and nobody knows.
    """

    command: str
    begun: float
    ended: float
    nodes: tuple[str, ...]
    done: frozenset[str] | None


def grid(random: Random) -> tuple[Node, ...]:
    """Nodes in layers, each with two parents in the layer above; all succeed if they are let."""
    nodes: list[Node] = []
    for place in range(LAYERS * WIDTH):
        layer = place // WIDTH
        above = [node.name for node in nodes[(layer - 1) * WIDTH : layer * WIDTH]] if layer else []
        nodes.append(
            Node(
                f"L{layer}N{place % WIDTH}",
                tuple(random.sample(above, 2)) if above else (),
                retries=random.choice((1, 1, 3)),
                fails=random.choice((0, 0, 0, 0, 1)),
                seconds=random.choice((0.1, 0.4, 1.0)),
            )
        )
    return tuple(nodes)


class Steerer:
    """Who steers a DAG, and what became of what he asked for.

    Args:
        steer: makes a request of these words; gives what was printed.
        nodes: the grid.
        others: nodes that he leaves alone but for what changes no result.
    """

    def __init__(
        self,
        steer: Callable[..., str],
        nodes: Sequence[Node],
        others: Sequence[Node],
        random: Random,
    ) -> None:
        self._steer_by = steer
        self.nodes = {node.name: node for node in nodes}
        self._others = others
        self._random = random
        self.asked: list[Asked] = []
        self.wrong: list[str] = []

    def ask(self) -> None:
        """For something."""
        draw = self._random.random()
        if draw < 0.05:
            self._steer("halt")
        elif draw < 0.25:
            self._steer("resume")
        elif draw < 0.3:
            self._steer("priority", str(self._random.randint(-5, 5)))
        elif draw < 0.4:
            node = self._random.choice(self._others).name
            self._steer(self._random.choice(("hold", "release")), node)
        else:
            self._ask_for_nodes()

    def let_go(self) -> None:
        """Nothing is halted or held any more."""
        self._steer("resume")
        self._steer("release", "--pattern", "*")

    def _ask_for_nodes(self) -> None:
        command = self._random.choice(NODE_COMMANDS)
        nodes = tuple(self._random.sample(list(self.nodes), self._random.choice((1, 2, 5))))
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
        with contextlib.suppress(ValueError):
            found: dict[str, Any] = json.loads(self._steer_by(command, "--json", "t.dag", *words))
            return found
        return None

    # What must hold.

    def judge(
        self,
        lines: Collection[Line],
        runs: Mapping[int, int],
        restarts: Sequence[float],
        queued: Callable[[int], float],
    ) -> list[str]:
        """What was wrong.

        Args:
            lines: of the grid's jobs.
            runs: by DAGMan job, the run of the DAG that it belongs to.
            restarts: when the DAG was submitted again, with a rescue file.
            queued: when a cluster was submitted.
        """
        self._restarts, self._queued = restarts, queued
        record = Record((), lambda oracle, text: self._complain(f"{oracle}: {text}"))
        record.changed.update(self.nodes)
        starts = self._tell(record, lines, runs)
        for node in self.nodes:
            self._judge_count(node, starts)
            if node not in record.done | self._marked():
                self._complain(f"{node} is lost")
        for asked in self.asked:
            for node in asked.done or ():
                self._judge_answer(asked, node, starts)
        return self.wrong

    def _tell(self, record: Record, lines: Collection[Line], runs: Mapping[int, int]) -> list[Line]:
        """What happened; returns the first starts of jobs: those that were held start again."""
        first: dict[int, Line] = {}
        for line in sorted(lines, key=lambda line: line.time):
            if (line.what, line.extra) == ("end", 0):
                record.done.add(line.node)
            elif line.what == "start" and line.cluster not in first:
                first[line.cluster] = line
                run = f"{line.node} in run {runs.get(line.owner)}"
                record.has_job(run, line.retry, line.cluster)
                parents, marked = self.nodes[line.node].parents, self._marked(line.time)
                record.begins(line.node, line.retry, parents, marked)
        return list(first.values())

    def _marked(self, until: float = float("inf")) -> set[str]:
        """Nodes that were to count as done by then."""
        asked = (it for it in self.asked if it.command in ("done", "skip") and it.begun <= until)
        return {node for one in asked for node in one.nodes}

    def _judge_count(self, node: str, starts: list[Line]) -> None:
        """A run for each time that it was to run, with all its retries."""
        anew = sum(
            asked.command in ("rerun", "rerun+")
            and (node in asked.nodes or asked.command == "rerun+")
            for asked in self.asked
        )
        allowed = (1 + anew + len(self._restarts)) * (1 + self.nodes[node].retries)
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
        late = [line for line in later if self._queued(line.cluster) > asked.ended]
        undone = undone or any(restart > asked.begun for restart in self._restarts)
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
        for name in reversed(self.nodes):
            if name in above:
                above.update(self.nodes[name].parents)
        return not any(
            other.begun > asked.begun
            and other.command in ("cancel", "done", "skip", "rerun+", "rerun")
            and above & set(other.nodes)
            for other in self.asked
        )

    def _complain(self, text: str) -> None:
        self.wrong.append(f"steering: {text}")
