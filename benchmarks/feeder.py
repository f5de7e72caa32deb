"""What done nodes cost that a FEEDER has added: python -m benchmarks.feeder [--nodes N]

A DAG without nodes is fed with pieces of 1,000 nodes, each with a variable, in pairs of parent and
child, and each runs and ends well.  The parts of DAGMan do it that do so in a run: the desk that
reads a piece in steps, the file that keeps it, the engine.  No pool and no program is needed.
Printed are resident memory and CPU time as the DAG grows.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from condor_pydagman.config import Config
from condor_pydagman.daemon.helpers import Helpers
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.feeder.run import Fed
from condor_pydagman.features.growth.adapters import kept_pieces
from condor_pydagman.features.growth.commands import Feeding
from condor_pydagman.features.growth.helper import GrowthHelper
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.names import DagPaths
from condor_pydagman.vocabulary import EventKind

PIECE = 1000  # nodes that are fed at a time
LINES = 10  # that are printed


def text(number: int) -> str:
    """What the program gives."""
    first = number * PIECE
    lines = []
    for node in range(first, first + PIECE, 2):
        lines.append(f"JOB sample_{node} job.sub\nJOB sample_{node + 1} job.sub\n")
        lines.append(f'VARS sample_{node} n="{node}"\nVARS sample_{node + 1} n="{node}"\n')
        lines.append(f"PARENT sample_{node} CHILD sample_{node + 1}\n")
    return "".join(lines)


def resident() -> int:
    """Bytes of this process that are in memory."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


class FedDag:
    """A DAG that is fed."""

    def __init__(self, directory: Path) -> None:
        self._dag = build(
            ["x.dag"], lambda _: f"FEEDER BELOW {PIECE} PROGRAM feed\n", BuildOptions()
        )
        pieces = kept_pieces.of(self._dag, DagPaths(str(directory / "x.dag")))
        self._engine = Engine(self._dag, Config(), Throttles(), given={"growth": pieces})
        run: Any = SimpleNamespace(
            dag=self._dag, engine=self._engine, config=Config(), clock=time, out=None
        )
        run.helpers = Helpers(run, None, Config(), {"growth": pieces})  # type: ignore[arg-type]
        self._helper = GrowthHelper(run, pieces, BuildOptions())
        self._asked: list[do.Action] = []
        self._clusters = 0
        self._give(inputs.Begin(False))

    def _give(self, an_input: inputs.Input) -> None:
        self._asked += self._engine.handle(an_input, 1.0)

    def feed(self, number: int) -> None:
        """One piece, and all of its nodes run."""
        told: list[Any] = []
        self._helper.read_feeding(  # without the program
            Feeding(number + 1), text(number), lambda *answer: told.append(answer)
        )
        while self._helper.next_deadline() is not None:
            self._helper.work(time.monotonic())
        piece, error = told[0]
        if error:
            raise ValueError(error)
        self._give(inputs.Answered("feeder", Fed(number + 1, piece)))
        while self._asked:
            asked, self._asked = self._asked, []
            for action in asked:
                self._perform(action)
            if self._engine.next_deadline() == 1.0:
                self._give(inputs.Wake())

    def _perform(self, action: do.Action) -> None:
        if isinstance(action, do.AppendJournalRecord):
            told = {"value": action.value, "text": action.text, "record": action.record}
            self._event(EventKind.GENERIC, -1, **told)
        elif isinstance(action, do.SubmitNode):
            self._run_job(action.node)
        elif isinstance(action, do.SubmitTogether):
            for one in action.nodes:
                self._run_job(one.node)

    def _run_job(self, node: int) -> None:
        self._clusters += 1
        self._give(inputs.Submitted(node, self._clusters, 1))
        self._event(EventKind.SUBMIT, self._clusters, node=self._dag.names[node])
        self._event(EventKind.EXECUTE, self._clusters)
        self._event(EventKind.JOB_TERMINATED, self._clusters)

    def _event(self, kind: EventKind, cluster: int, **fields: Any) -> None:
        if kind is EventKind.GENERIC:
            fields.setdefault("record", "GROWN")
        self._give(LogEvent(kind, cluster, -1 if cluster < 0 else 0, 0, **fields))

    @property
    def done(self) -> int:
        """How many nodes are done."""
        return self._engine.report().done


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.feeder", description=__doc__)
    parser.add_argument("--nodes", type=int, default=500_000)
    parser.add_argument("--directory", type=Path, help="where the text is kept")
    chosen = parser.parse_args()
    count = max(1, chosen.nodes // PIECE)
    every = max(1, count // LINES)
    with tempfile.TemporaryDirectory(dir=chosen.directory) as directory:
        fed = FedDag(Path(directory))
        fed.feed(0)
        begin, base, before = resident(), fed.done, time.process_time()
        for number in range(1, count):
            fed.feed(number)
            if (number + 1) % every:
                continue
            now, used = time.process_time(), resident() - begin
            print(
                f"{fed.done:9,} done: {used / 1e6:7.1f} MB more,"
                f" {used / (fed.done - base):5.0f} bytes a node,"
                f" {(now - before) * 1000 / every:6.1f} ms of CPU a feeding",
                flush=True,
            )
            before = now
        kept = (Path(directory) / "x.dag.grown").stat().st_size
    print(f"{kept / (count * PIECE):.0f} bytes a node in x.dag.grown")
    return 0


if __name__ == "__main__":
    sys.exit(main())
