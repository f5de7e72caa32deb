"""What bundles bring: a bag of short nodes alone, in bundles, and with the programs that people use
instead, side by side on one pool.

Use: python -m benchmarks.bundles [--nodes N] [--length L] [--seconds S] [--steps N] [--rounds R]
     [--slots K] [--peers]

`--length`: the nodes are chains of so many, in bundles with CHAINS.  `--seconds` is how long each
task sleeps; without it a task is /bin/true.  `--steps`: what a step of one chain takes is measured
in the same run, and told in a second table (`chain_steps`).  The time is from the submission of the
DAGMan job to its end; the time of a peer is that of its program.  The ideal is that K slots do
nothing but sleep.  CPU times are milliseconds a node, less those of a DAG of one node: of the
DAGMan process, of those that it starts, and of the schedd.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import bundle_costs, peers
from benchmarks.bundle_cases import Case, cases, run_case
from benchmarks.bundle_costs import Took
from benchmarks.chain_steps import Steps, subjects
from benchmarks.peers_steps import run_peer
from benchmarks.place import Failed, Place

PEERS = ("dask", "parsl-threads", "parsl-htex", "makeflow-local", "hyperqueue")
HEAD = (
    "| what | tasks a second | median | times the ideal | jobs | DAGMan | its helpers | schedd |\n"
    "|---|---:|---:|---:|---:|---:|---:|---:|"
)


def row(case: Case, nodes: int, ideal_s: float, found: list[Took], start: Took) -> str:
    """A line of the table.

    Args:
        ideal_s: the least that it can take; 0: next to nothing.
        found: of each round.
        start: of a DAG of one node.
    """
    fastest, usual = min(one.seconds for one in found), bundle_costs.medians(found)
    more = max(nodes - 1, 1)
    cpu = [
        f"{(whole - of_start) * 1000 / more:.2f}"
        for whole, of_start in zip(usual[2:], start[2:])  # the CPU times
    ]
    over = f"{usual.seconds / ideal_s:.3f}" if ideal_s else "-"
    cells = [
        f"{nodes / fastest:.1f}",
        f"{nodes / usual.seconds:.1f}",
        over,
        f"{usual.jobs:g}",
        *cpu,
    ]
    return f"| {case.title} | {' | '.join(cells)} |"


class Bags:
    """What the bags, or bags of chains, of all cases and peers have taken, round by round."""

    def __init__(self, place: Place, chosen: argparse.Namespace) -> None:
        self._place, self._chosen = place, chosen
        wanted = {case: self._nodes(case) for case in cases(chosen.seconds, chosen.length)}
        self._nodes_of = {case: count for case, count in wanted.items() if count}
        self._starts = {case: run_case(place, case, 1)[0] for case in self._nodes_of}
        self._found: dict[Case, list[Took]] = {case: [] for case in self._nodes_of}
        self._rates: dict[str, list[float]] = {}

    def _nodes(self, case: Case) -> int:
        return int(self._chosen.nodes if case.line else self._chosen.alone)

    def measure(self) -> None:
        """Run each once; a peer that can't is not told of."""
        length, nodes = self._chosen.length, self._chosen.nodes
        for case, count in self._nodes_of.items():
            took, _ = run_case(self._place, case, count // length, length)
            self._found[case].append(took)
        for name in PEERS if self._chosen.peers else ():
            try:
                rate = nodes / run_peer(self._place, name, "bag", nodes).whole
                self._rates.setdefault(peers.PEERS[name].title, []).append(rate)
            except Failed as error:
                print(f"{name}: {error}")

    def lines(self) -> Iterator[str]:
        """The table; the shortest time of all rounds counts."""
        slots = max(self._chosen.slots, os.cpu_count() or 1)
        yield HEAD
        for case, count in self._nodes_of.items():
            ideal_s = count * self._chosen.seconds / slots
            yield row(case, count, ideal_s, self._found[case], self._starts[case])
        for title, some in self._rates.items():
            best, usual = max(some), statistics.median(some)
            yield f"| {title} | {best:.1f} | {usual:.1f} | - | - | - | - | - |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=2000)
    parser.add_argument("--length", type=int, default=1, help="of the chains that the nodes are")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.0)
    parser.add_argument("--slots", type=int, default=16, help="of the pool; at least its cores")
    parser.add_argument("--steps", type=int, default=0, help="of a chain that is measured as well")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--alone", type=int, default=300, help="nodes of the bags without bundles")
    parser.add_argument("--directory", type=Path)
    arguments = parser.parse_args()
    directory = arguments.directory or Path(tempfile.mkdtemp(prefix="bundles-"))
    directory.mkdir(parents=True, exist_ok=True)
    directory.chmod(0o755)
    place = Place(directory)
    place.start(arguments.slots)
    try:
        print("\n".join(measured(place, arguments)))
    finally:
        place.stop()


def measured(place: Place, chosen: argparse.Namespace) -> list[str]:
    """Run everything in turn, so often as is wanted; the lines of the tables."""
    others = PEERS if chosen.peers else ()
    if others:
        peers.install(print)
    bags = Bags(place, chosen)
    steps = Steps(subjects(place, chosen.steps, others) if chosen.steps else ())
    for _ in range(chosen.rounds):
        bags.measure()
        steps.measure()
    return [*bags.lines(), *steps.lines()]


if __name__ == "__main__":
    main()
