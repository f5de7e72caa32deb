"""How long Python programs take to build a large DAG and write its file: with a Workflow, and with
htcondor2.dags.

Use: python -m benchmarks.building [--nodes N] [--rounds R]

The DAG has five layers of N/5 nodes, each with two variables; each node waits for those of the same
number in all layers before: two edges a node.  Each program runs in a process of its own, in turns.
A Workflow also reads what it has written, and finds what DAGMan would refuse; "built" is before it
begins to write.  Printed is a table with medians.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from statistics import median

LAYERS = "ABCDE"
HEAD = (
    "| | built, s | written, s | CPU, s | memory, MB |\n"
    "|---|---:|---:|---:|---:|"
)  # fmt: skip


def row(number: int) -> dict[str, str]:
    """The variables of a node."""
    return {"seed": str(number), "file": f"data/{number}.root"}


def rows(count: int) -> Iterator[dict[str, str]]:
    """Those of a layer."""
    return map(row, range(count))


def layers(count: int) -> Callable[[], object]:
    """Build it with a Workflow, layer by layer; gives what writes it."""
    from condor_pydagman import Workflow

    flow = Workflow()
    made = [flow.layer(name, "x.sub", rows(count)) for name in LAYERS]
    for parents, children in combinations(made, 2):
        parents.before_each(children)
    return lambda: flow.write("layers.dag")


def loop(count: int) -> Callable[[], object]:
    """The same, node by node and edge by edge."""
    from condor_pydagman import Workflow

    flow = Workflow()
    for number in range(count):
        made = [flow.job(f"{name}{number}", "x.sub", row(number)) for name in LAYERS]
        for parent, child in combinations(made, 2):
            parent >> child
    return lambda: flow.write("loop.dag")


def bindings(count: int) -> Callable[[], object]:
    """The same with htcondor2.dags."""
    from htcondor2 import dags

    dag = dags.DAG()
    made = [
        dag.layer(name=name, submit_description=Path("x.sub"), vars=rows(count)) for name in LAYERS
    ]
    for parents, children in combinations(made, 2):
        parents.add_children(children, edge=dags.OneToOne())
    return lambda: dags.write_dag(dag, Path(), "bindings.dag")


PROGRAMS = {
    "Workflow, by layers": layers,
    "Workflow, a loop": loop,
    "htcondor2.dags": bindings,
}


def play(program: str, count: int) -> list[float]:
    """Seconds to build, to write, of CPU, and MB of memory at most, of this process."""
    begin = time.monotonic()
    write = PROGRAMS[program](count)
    built = time.monotonic()
    write()
    end = time.monotonic()
    used = resource.getrusage(resource.RUSAGE_SELF)
    return [built - begin, end - built, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / 1e6]


def measured(program: str, count: int, directory: str) -> list[float]:
    """The same of a process of its own."""
    command = [sys.executable, "-m", "benchmarks.building", "--play", program]
    where = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [*command, "--nodes", str(count * len(LAYERS))],
        cwd=directory, env={**os.environ, **where}, check=True, stdout=subprocess.PIPE,
    )  # fmt: skip
    found: list[float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--play", choices=PROGRAMS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    count = options.nodes // len(LAYERS)
    if options.play:
        print(json.dumps(play(options.play, count)))
        return
    print(f"load before: {os.getloadavg()[0]:.1f}\n\n{HEAD}")
    found: dict[str, list[list[float]]] = {program: [] for program in PROGRAMS}
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(options.rounds):
            for program, values in found.items():
                values.append(measured(program, count, directory))
    for program, values in found.items():
        built, written, cpu, memory = map(median, zip(*values))
        print(f"| {program} | {built:.1f} | {written:.1f} | {cpu:.1f} | {memory:,.0f} |")


if __name__ == "__main__":
    main()
