"""The engine alone, without a pool, a log or a clock: python -m benchmarks.engine

A DAG is loaded and the engine is told the whole life of all its nodes: the schedd's reply, the
submit, execute and terminate events, and where a node has a POST script the script's end and its
event.  Only the time inside `Engine.handle` counts, not the world that is played around it.
All nodes that can be in the queue at once are: events come when there is nothing to submit.

Rates are by CPU time, so that a busy machine does not spoil them: the CPU time of the run, shared
out between engine and world as the clock says.

Each case has a process of its own, so that its memory is its own.  It judges nothing: the exit code
is 0 whatever the numbers are.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import os
import platform
import subprocess
import sys
import time
from array import array
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import Dag, Script
from condor_pydagman.vocabulary import EventKind, ScriptKind

SIZES = (1_000, 10_000, 100_000, 1_000_000)
QUICK_SIZES = (1_000, 10_000, 100_000)
LAYERS = 100
MIN_INPUTS = 100_000  # small DAGs are run again until so many inputs have been measured
MIN_NODES_FOR_MEMORY = 100_000  # nodes; below that, what the interpreter itself takes hides theirs
FIRST_CLUSTER = 100  # cluster of node 0; a node has one cluster, so the two differ by that
STAMP = "11/21/26 11:56:29"
NEXT_EVENT = {EventKind.SUBMIT: EventKind.EXECUTE, EventKind.EXECUTE: EventKind.JOB_TERMINATED}
KINDS = 1000  # an event to come is one integer: node * KINDS + kind


@dataclass
class Figures:
    """What one case took.

    Attributes:
        inputs: how many were measured, over all rounds; Begin is not one of them.
        seconds: spent with them, by the clock.
        cpu: CPU seconds spent with them.
        longest: seconds of the slowest one, by the clock.
        begin: seconds to make an engine and give it Begin.
        dag: bytes of memory a node for the Dag.
        engine: bytes a node for the engine at its fullest.
    """

    shape: str
    nodes: int
    post: bool
    inputs: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    longest: float = 0.0
    begin: float = 0.0
    dag: float = 0.0
    engine: float = 0.0

    @property
    def rate(self) -> float:
        """Inputs a second."""
        return self.inputs / self.cpu


def _bag(nodes: int) -> Iterator[tuple[list[int], list[int]]]:
    """No edges."""
    return iter(())


def _layers(nodes: int) -> Iterator[tuple[list[int], list[int]]]:
    """Each node has two neighbours of the next of 100 layers as children."""
    width = nodes // LAYERS
    for node in range(nodes - width):
        first, place = node // width * width + width, node % width
        yield [node], [first + place, first + (place + 1) % width]


def _diamonds(nodes: int) -> Iterator[tuple[list[int], list[int]]]:
    """Diamonds of four nodes, one after the other: two jobs at most are in the queue."""
    for top in range(0, nodes - 3, 4):
        yield [top], [top + 1, top + 2]
        yield [top + 1, top + 2], [top + 3]
        if top + 4 < nodes:
            yield [top + 3], [top + 4]


SHAPES: dict[str, Callable[[int], Iterator[tuple[list[int], list[int]]]]] = {
    "bag": _bag,
    "layers": _layers,
    "diamonds": _diamonds,
}


def make_dag(shape: str, nodes: int, post: bool) -> Dag:
    """A DAG of that shape; with `post` each node has a POST script."""
    made = Dag(files=["x.dag"])
    made.add_jobs([f"n{number:07}" for number in range(nodes)], ["n.sub"] * nodes, range(nodes))
    for parents, children in SHAPES[shape](nodes):
        made.add_edges(parents, children)
    if post:
        scripts = {ScriptKind.POST: Script("post.sh $NODE $RETURN")}
        made.scripts = dict.fromkeys(range(nodes), scripts)
    made.finish()
    return made


class World:
    """Schedd, log and scripts, as far as the engine can tell: all goes well, and at once.

    Attributes:
        fullest: most bytes of resident memory seen, without what this world itself keeps.
    """

    def __init__(self, engine: Engine, figures: Figures) -> None:
        self.fullest = 0
        self._engine = engine
        self._names = engine.run.dag.names
        self._figures = figures
        self._answers: deque[inputs.Input] = deque()
        self._events = array("q")
        self._taken = 0
        self._now = 1e9
        self._exit: do.Exit | None = None
        self._look_every = max(1, figures.nodes // 4)
        self._do: dict[type, Callable[[Any], None]] = {
            do.SubmitNode: self._submit,
            do.RunScript: lambda a: self._answers.append(inputs.ScriptEnded(a.node, a.kind, 0)),
            do.AppendPostEnded: self._append_post_ended,
            do.QueryQueue: lambda _: self._answers.append(inputs.QueueUnknown("not here")),
            do.Exit: self._leave,
        }

    def run(self) -> None:
        """The whole DAG.

        Raises:
            RuntimeError: it does not come to its end, or not to the right one.
        """
        figures, handle, perform = self._figures, self._engine.handle, self._perform
        clock, told, seconds = time.perf_counter, 0, 0.0
        begin = clock()
        actions = handle(inputs.Begin(False), self._now)
        figures.begin += clock() - begin
        perform(actions)
        began, began_cpu = clock(), time.process_time()
        while self._exit is None:
            one = self._next()
            self._now += 1e-6
            begin = clock()
            actions = handle(one, self._now)
            took = clock() - begin
            seconds += took
            if took > figures.longest:
                figures.longest = took
            told += 1
            if told % self._look_every == 0:
                self._look()
            perform(actions)
        cpu = time.process_time() - began_cpu
        figures.cpu += cpu * seconds / (clock() - began)
        figures.seconds += seconds
        figures.inputs += told
        done = self._engine.report().done
        if self._exit.code or done != figures.nodes:
            raise RuntimeError(f"exit code {self._exit.code}, {done} nodes done")

    def _next(self) -> inputs.Input:
        if self._answers:
            return self._answers.popleft()
        if self._taken == len(self._events):
            raise RuntimeError("the engine waits for something that this world does not know")
        node, kind = divmod(self._events[self._taken], KINDS)
        self._taken += 1
        following = NEXT_EVENT.get(EventKind(kind))
        if following is not None:
            self._events.append(node * KINDS + following)
        name = self._names[node] if kind == EventKind.SUBMIT else ""
        return LogEvent(kind, FIRST_CLUSTER + node, 0, 0, self._now, STAMP, name)

    def _perform(self, actions: list[do.Action]) -> None:
        for action in actions:
            known = self._do.get(type(action))
            if known is not None:
                known(action)

    def _submit(self, action: do.SubmitNode) -> None:
        self._answers.append(inputs.Submitted(action.node, FIRST_CLUSTER + action.node, 1))
        self._events.append(action.node * KINDS + EventKind.SUBMIT)

    def _append_post_ended(self, action: do.AppendPostEnded) -> None:
        kind, name = EventKind.POST_SCRIPT_TERMINATED, self._names[action.node]
        ids = (action.cluster, action.proc, action.subproc)
        self._answers.append(LogEvent(kind, *ids, self._now, STAMP, name))

    def _leave(self, action: do.Exit) -> None:
        self._exit = action

    def _look(self) -> None:
        own = len(self._events) * self._events.itemsize
        self.fullest = max(self.fullest, resident() - own)


def resident() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def measure(shape: str, nodes: int, post: bool) -> Figures:
    """One case; memory is right only in a process that has done nothing else."""
    figures = Figures(shape, nodes, post)
    empty = resident()
    gc.disable()  # as the daemon does
    dag = make_dag(shape, nodes, post)
    gc.freeze()
    gc.enable()
    loaded = resident()
    figures.dag = (loaded - empty) / nodes
    figures.engine = max(0.0, _run(dag, figures) - loaded) / nodes
    while figures.inputs < MIN_INPUTS:
        _run(dag, figures)
    return figures


def _run(dag: Dag, figures: Figures) -> int:
    """Run the DAG once; returns the most bytes that were resident."""
    begin = time.perf_counter()
    engine = Engine(dag, Config(), Throttles(), dag_id=7)
    figures.begin = time.perf_counter() - begin
    world = World(engine, figures)
    world.run()
    return world.fullest


def apart(shape: str, nodes: int, post: bool) -> Figures:
    """One case, measured in a process of its own."""
    words = ["--one", shape, str(nodes), *(["post"] if post else [])]
    done = subprocess.run(
        [sys.executable, __file__, *words], stdout=subprocess.PIPE, text=True, check=True
    )
    return Figures(**json.loads(done.stdout))


def render(found: list[Figures]) -> str:
    """The table that people read, in Markdown."""
    lines = [
        "| DAG | nodes | inputs/s | µs an input | beside 1,000 nodes | slowest input | start"
        " | Dag, bytes a node | engine, bytes a node |",
        f"|---|{'---:|' * 8}",
    ]
    first: dict[tuple[str, bool], Figures] = {}
    for figures in found:
        base = first.setdefault((figures.shape, figures.post), figures)
        memory = figures.nodes >= MIN_NODES_FOR_MEMORY
        cells = [
            figures.shape + (", POST scripts" if figures.post else ""),
            f"{figures.nodes:,}",
            f"{figures.rate:,.0f}",
            f"{1e6 / figures.rate:.2f}",
            f"{base.rate / figures.rate:.2f}",
            f"{figures.longest * 1e3:.1f} ms",
            f"{figures.begin:.3f} s",
            f"{figures.dag:.0f}" if memory else "-",
            f"{figures.engine:.0f}" if memory else "-",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def arguments(argv: list[str]) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="no DAG of a million nodes")
    parser.add_argument(
        "--only",
        metavar="SHAPES",
        default=",".join(SHAPES),
        help="which shapes, with commas between them; all are %(default)s",
    )
    parser.add_argument("--nodes", type=int, action="append", help="this size; may be repeated")
    parser.add_argument("--json", metavar="FILE", help="write all numbers there too")
    parser.add_argument("--one", nargs="+", help=argparse.SUPPRESS)
    chosen = parser.parse_args(argv)
    chosen.only = chosen.only.split(",")
    for name in chosen.only:
        if name not in SHAPES:
            parser.error(f"--only {name}: there are {', '.join(SHAPES)}")
    return chosen


def main(argv: list[str]) -> int:
    """Measure and print."""
    chosen = arguments(argv)
    if chosen.one:
        shape, nodes, *post = chosen.one
        print(json.dumps(dataclasses.asdict(measure(shape, int(nodes), bool(post)))))
        return 0
    sizes = chosen.nodes or (QUICK_SIZES if chosen.quick else SIZES)
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores\n")
    found = []
    for shape in chosen.only:
        for post in (False, True):
            for nodes in sizes:
                found.append(apart(shape, nodes, post))
                last = found[-1]
                say(f"{shape}{', POST' * post}, {nodes} nodes: {last.rate:,.0f} inputs/s")
    print(render(found))
    if chosen.json:
        numbers = json.dumps([dataclasses.asdict(figures) for figures in found], indent=2)
        Path(chosen.json).write_text(f"{numbers}\n", encoding="utf-8")
    return 0


def say(text: str) -> None:
    """Tell what goes on; the table alone goes to standard output."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
