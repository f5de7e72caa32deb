"""The measurements of cost by size: the same with DAGs of a hundred nodes to a million.

The stock DAGMan is measured where it needs less than LIMIT_S: a size is left out if it would need
more in proportion to the size before it, or has needed more.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable

from benchmarks import engine as engine_alone
from benchmarks import offline_steps, pool_steps, watching
from benchmarks.place import Failed, Place
from benchmarks.sizes import Numbers, Sizes
from benchmarks.subjects import STOCK, TUNED

LIMIT_S = 180.0
SMALL = 10_000  # nodes; with as many or fewer a measurement is short, and is repeated
TURNS = 3
SHAPE = "vars"
LOOKS = ("watch --once", "report")


def load(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Time and memory of condor_dagman from its start until it has loaded a DAG and ended."""

    def take(nodes: int) -> Numbers:
        seconds, memory = offline_steps.load_one(place, subject, SHAPE, nodes)
        return {f"load curve time {nodes}": [seconds], f"load curve memory {nodes}": [memory]}

    return each_size(subject, (*sizes.curve, sizes.huge), take)


def recovery(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Time and memory until a DAGMan that died with one node to go has recovered."""

    def take(nodes: int) -> Numbers:
        seconds, memory = offline_steps.recover(place, subject, nodes)
        name = "recovery curve"
        return {f"{name} time {nodes}": [seconds], f"{name} memory {nodes}": [memory]}

    return each_size(subject, sizes.curve, take)


def held(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Submit rate of bags of held jobs; a bare loop has the description of a DAG's jobs."""

    def take(nodes: int) -> Numbers:
        rate = pool_steps.held_rate(place, subject, nodes)
        return {} if rate is None else {f"held rate {nodes}": [rate]}

    return each_size(subject, sizes.held_curve, take, turns=1)


def engine(_: Place, subject: str, sizes: Sizes) -> Numbers:
    """CPU seconds that the engine takes for an input, of a bag."""

    def take(nodes: int) -> Numbers:
        return {f"engine cpu {nodes}": [1 / engine_alone.apart("bag", nodes, False).rate]}

    return each_size(subject, sizes.curve, take, turns=1)


def look(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Time and memory of the commands that look at a DAG that has ended."""

    def take(nodes: int) -> Numbers:
        found: Numbers = {}
        directory = place.new_directory("looks")
        watching.write_dag(directory, nodes)
        for name in LOOKS:
            seconds, _, memory = watching.measure(directory, watching.COMMANDS[name][0])
            found |= {f"{name} time {nodes}": [seconds], f"{name} memory {nodes}": [memory]}
        shutil.rmtree(directory)
        return found

    return each_size(subject, sizes.curve, take, turns=1)


def each_size(
    subject: str, counts: Iterable[int], take: Callable[[int], Numbers], turns: int = TURNS
) -> Numbers:
    """The numbers of all sizes, from small to big; Failed after the last that could be taken."""
    found: Numbers = {}
    last, took = 0, 0.0
    for nodes in counts:
        if subject in (STOCK, TUNED) and last and took * nodes / last > LIMIT_S:
            break
        try:
            for _ in range(turns if nodes <= SMALL else 1):
                began = time.monotonic()
                for name, values in take(nodes).items():
                    found.setdefault(name, []).extend(values)
                took, last = time.monotonic() - began, nodes
        except Failed as error:
            raise Failed(f"{nodes:,} nodes: {error}", found) from None
    return found
