"""How long a DAG that runs takes to grow: python -m benchmarks.growth [--nodes N] [--directory DIR]

N nodes (100,000) are added to a DAG of as many nodes, by the parts of DAGMan that do so: the desk
that reads a piece in steps, the file that keeps it, the engine.  No pool is needed.  Printed are
the CPU time of all, and the longest time for which a log event would have waited.
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

from condor_pydagman.adapters import kept_pieces
from condor_pydagman.config import Config
from condor_pydagman.daemon.growth_desk import GrowthDesk
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.names import DagPaths
from condor_pydagman.vocabulary import EventKind, JournalRecord

LAYER = 1000  # nodes of a layer; each has a parent in the layer before


class Result(NamedTuple):
    """CPU seconds of all, of the longest step, and what that step was."""

    whole: float
    longest: float
    step: str


def text(nodes: int, prefix: str) -> str:
    """A DAG in layers, with a variable for each node."""
    jobs = (f"JOB {prefix}{n} job.sub\n" for n in range(nodes))
    variables = (f'VARS {prefix}{n} number="{n}"\n' for n in range(nodes))
    edges = (f"PARENT {prefix}{n - LAYER} CHILD {prefix}{n}\n" for n in range(LAYER, nodes))
    return "".join((*jobs, *variables, *edges))


class _Steps:
    """Steps of a DAGMan, between which it would look at its log."""

    def __init__(self) -> None:
        self.whole, self.longest, self.name = 0.0, 0.0, ""

    def take(self, name: str, step: Callable[[], Any]) -> Any:
        """Take a step."""
        begun = time.process_time()
        result = step()
        took = time.process_time() - begun
        self.whole += took
        if took > self.longest:
            self.longest, self.name = took, name
        return result


def measure(nodes: int, directory: Path) -> Result:
    """Add nodes to a DAG of as many."""
    paths = DagPaths(str(directory / "x.dag"))
    dag = build(["x.dag"], lambda _: text(nodes, "N"), BuildOptions())
    pieces = kept_pieces.of(dag, paths)
    engine = Engine(dag, Config(), Throttles(), pieces=pieces)
    engine.handle(inputs.Begin(False), 0.0)
    run: Any = SimpleNamespace(dag=dag, engine=engine, config=Config(), clock=time)
    desk, told = GrowthDesk(run, pieces, BuildOptions()), []
    steps, more = _Steps(), text(nodes, "M") + "PARENT N0 CHILD M0 M1\n"
    desk.offer("more.dag", more, lambda *answer: told.append(answer), dry=False)
    while desk.next_deadline() is not None:
        steps.take("reading", lambda: desk.work(time.monotonic()))
    piece, error = told[0]
    if error:
        raise ValueError(error)
    offered = inputs.PieceOffered(1, piece, "me")
    asked = steps.take("checking", lambda: engine.handle(offered, 1.0))
    record = next(one for one in asked if isinstance(one, do.AppendJournalRecord))
    event = LogEvent(
        *(EventKind.GENERIC, -1, -1, 0),
        node=dag.names[0],
        value=record.value,
        record=JournalRecord.GROWN,
        text=record.text,
    )
    steps.take("joining", lambda: engine.handle(event, 2.0))
    while engine.next_deadline() == 2.0:
        steps.take("starting", lambda: engine.handle(inputs.Wake(), 2.0))
    if len(dag) != 2 * nodes:
        raise ValueError(f"{len(dag)} nodes")
    return Result(steps.whole, steps.longest, steps.name)


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--directory", type=Path, help="where the text is kept")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.directory) as directory:
        whole, longest, step = measure(chosen.nodes, Path(directory))
    print(
        f"{chosen.nodes:,} nodes added to as many: {whole:.2f} s of CPU,"
        f" at most {longest * 1000:.0f} ms at once ({step})"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
