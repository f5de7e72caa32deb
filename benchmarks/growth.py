"""How long a DAG that runs takes to grow: python -m benchmarks.growth [options], see --help.

N nodes (100,000) are added to a DAG of as many nodes, by the parts of DAGMan that do so: the desk
that reads a piece in steps, the file that keeps it, the engine.  No pool is needed.  Printed are
the time of all, and the longest for which a log event would have waited, of the CPU and by the
clock, which counts the disk and other programs as well.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from condor_pydagman.config import Config
from condor_pydagman.daemon.helpers import Helpers
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.growth.adapters import kept_pieces
from condor_pydagman.features.growth.helper import GrowthHelper
from condor_pydagman.features.growth.run import PieceOffered, ReadOffer
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.names import DagPaths
from condor_pydagman.vocabulary import EventKind

LAYER = 1000  # nodes of a layer; each has a parent in the layer before


class Step(NamedTuple):
    """Seconds of CPU, seconds by the clock, and what was done."""

    cpu: float
    clock: float
    name: str


def text(nodes: int, prefix: str) -> str:
    """A DAG in layers, with a variable for each node."""
    jobs = (f"JOB {prefix}{n} job.sub\n" for n in range(nodes))
    variables = (f'VARS {prefix}{n} number="{n}"\n' for n in range(nodes))
    edges = (f"PARENT {prefix}{n - LAYER} CHILD {prefix}{n}\n" for n in range(LAYER, nodes))
    return "".join((*jobs, *variables, *edges))


def children(nodes: int) -> str:
    """A child for each node of a DAG of so many."""
    return "".join(f"JOB M{n} job.sub\nPARENT N{n} CHILD M{n}\n" for n in range(nodes))


class _Steps:
    """Steps of a DAGMan, between which it would look at its log."""

    def __init__(self) -> None:
        self.taken: list[Step] = []

    def take(self, name: str, step: Callable[[], Any]) -> Any:
        """Take a step."""
        begun, clock = time.process_time(), time.monotonic()
        result = step()
        self.taken.append(Step(time.process_time() - begun, time.monotonic() - clock, name))
        return result


def decided(nodes: int) -> str:
    """As `text`, with a condition for each node that has a parent."""
    outcomes = (f'Parents.M{n - LAYER}.Outcome == "DONE"' for n in range(LAYER, nodes))
    lines = (f"RUN_IF M{n} {outcome}\n" for n, outcome in enumerate(outcomes, LAYER))
    return "".join((text(nodes, "M"), *lines))


def measure(nodes: int, more: str, directory: Path) -> list[Step]:
    """Add as many nodes to a DAG of so many; returns the steps."""
    paths = DagPaths(str(directory / "x.dag"))
    dag = build(["x.dag"], lambda _: text(nodes, "N"), BuildOptions())
    pieces = kept_pieces.of(dag, paths)
    engine = Engine(dag, Config(), Throttles(), given={"growth": pieces})
    engine.handle(inputs.Begin(False), 0.0)
    run: Any = SimpleNamespace(dag=dag, engine=engine, config=Config(), clock=time)
    run.helpers = Helpers(run, None, Config(), {"growth": pieces})  # type: ignore[arg-type]
    told: list[Any] = []
    helper = GrowthHelper(run, pieces, BuildOptions())
    steps = _Steps()
    helper.ask(ReadOffer("more.dag", more), told.append)
    while helper.next_deadline() is not None:
        steps.take("reading", lambda: helper.work(time.monotonic()))
    piece, error = told[0]
    if error:
        raise ValueError(error)
    offered = PieceOffered(1, piece, "me")
    asked = steps.take("checking", lambda: engine.handle(offered, 1.0))
    record = next(one for one in asked if isinstance(one, do.AppendJournalRecord))
    event = LogEvent(
        *(EventKind.GENERIC, -1, -1, 0),
        node=dag.names[0],
        value=record.value,
        record="GROWN",
        text=record.text,
    )
    steps.take("joining", lambda: engine.handle(event, 2.0))
    while engine.next_deadline() == 2.0:
        steps.take("starting", lambda: engine.handle(inputs.Wake(), 2.0))
    if len(dag) != 2 * nodes:
        raise ValueError(f"{len(dag)} nodes")
    return steps.taken


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--directory", type=Path, help="where the text is kept")
    parser.add_argument("--children", action="store_true", help="each is a child of one there")
    parser.add_argument("--decided", action="store_true", help="each has a RUN_IF")
    chosen = parser.parse_args()
    nodes = chosen.nodes
    more = children(nodes) if chosen.children else text(nodes, "M") + "PARENT N0 CHILD M0 M1\n"
    more = decided(nodes) if chosen.decided else more
    with tempfile.TemporaryDirectory(dir=chosen.directory) as directory:
        taken = measure(nodes, more, Path(directory))
    cpu, clock = max(taken), max(taken, key=lambda step: step.clock)
    print(
        f"{nodes:,} nodes added to as many: {sum(step.cpu for step in taken):.2f} s of CPU,"
        f" {sum(step.clock for step in taken):.2f} s by the clock; at once at most"
        f" {cpu.cpu * 1000:.0f} ms of CPU ({cpu.name}), {clock.clock * 1000:.0f} ms ({clock.name})"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
