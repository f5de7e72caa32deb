"""DAGs for the model of a pool: shapes, and how long tasks take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from tests.features.bundle.packed_pool import Work

Draw = Callable[[Random, float], float]


def constant(_: Random, mean: float) -> float:
    return mean


def lognormal(random: Random, mean: float) -> float:
    return mean * random.lognormvariate(-0.5, 1.0)


def bimodal(random: Random, mean: float) -> float:
    """One of ten takes a hundred times as long."""
    return mean * (100.0 if random.random() < 0.1 else 1.0) / 10.9


def rare(random: Random, mean: float) -> float:
    """One of two hundred takes a thousand times as long."""
    return mean * (1000.0 if random.random() < 0.005 else 1.0) / 5.995


def heavy(random: Random, mean: float) -> float:
    """Pareto, with an infinite variance, cut at a thousand times the least."""
    return mean * min(random.paretovariate(1.5), 1000.0) / 2.9


def even(random: Random, mean: float) -> float:
    """Uniform."""
    return mean * random.uniform(0.1, 1.9)


TIMES: dict[str, Draw] = {
    one.__name__: one for one in (constant, even, lognormal, bimodal, rare, heavy)
}


def bag(random: Random, count: int) -> Sequence[Sequence[int]]:
    return [()] * count


def layers(random: Random, count: int) -> Sequence[Sequence[int]]:
    """Layers, each node of which waits for all of the one before (through a node that joins)."""
    width = max(2, count // 8)
    found: list[Sequence[int]] = []
    while len(found) < count:
        first = len(found)
        join = first + width
        found += [(join,)] * width
        found.append(range(join + 1, join + 1 + width) if join + 1 < count else ())
    return found


def diamonds(random: Random, count: int) -> Sequence[Sequence[int]]:
    """Many diamonds of 10 nodes beside each other."""
    found: list[Sequence[int]] = []
    for first in range(0, count, 10):
        found += [range(first + 1, first + 9), *[(first + 9,)] * 8, ()]
    return found


def chains(random: Random, count: int) -> Sequence[Sequence[int]]:
    """Chains of 10 nodes beside each other."""
    return [(n + 1,) if n % 10 < 9 and n + 1 < count else () for n in range(count)]


def chain_and_bag(random: Random, count: int) -> Sequence[Sequence[int]]:
    """A chain of 20 nodes beside a bag."""
    return [(n + 1,) if n < min(19, count - 1) else () for n in range(count)]


def random_dag(random: Random, count: int) -> Sequence[Sequence[int]]:
    """Each node has one to three parents among the last 200 before it, or none."""
    found: list[list[int]] = [[] for _ in range(count)]
    for node in range(20, count):
        for parent in {random.randrange(max(0, node - 200), node) for _ in range(3)}:
            found[parent].append(node)
    return found


def wide_random(random: Random, count: int) -> Sequence[Sequence[int]]:
    """Five levels; each node has two random parents in the level before."""
    width = max(2, count // 5)
    found: list[list[int]] = [[] for _ in range(count)]
    for node in range(width, count):
        first = (node // width - 1) * width
        for parent in {random.randrange(first, first + width) for _ in range(2)}:
            found[parent].append(node)
    return found


def _beside(count: int, piece: Sequence[Sequence[int]]) -> Sequence[Sequence[int]]:
    """The same small DAG many times."""
    firsts = range(0, max(count, len(piece)), len(piece))
    return [[first + child for child in children] for first in firsts for children in piece]


def short_chains(random: Random, count: int) -> Sequence[Sequence[int]]:
    """Chains of 5 nodes beside each other."""
    return _beside(count, [(1,), (2,), (3,), (4,), ()])


def long_chains(random: Random, count: int) -> Sequence[Sequence[int]]:
    """Chains of 50 nodes beside each other."""
    return _beside(count, [*[(node,) for node in range(1, 50)], ()])


def unequal_chains(random: Random, count: int) -> Sequence[Sequence[int]]:
    """Chains of 1 to 40 nodes."""
    found: list[Sequence[int]] = []
    while len(found) < count:
        last = len(found) + random.randrange(40)
        found += [*[(node + 1,) for node in range(len(found), last)], ()]
    return found


def meeting_chains(random: Random, count: int) -> Sequence[Sequence[int]]:
    """Four chains of 4 nodes that meet, and a chain of 4 behind them."""
    return _beside(count, [*[(n + 4,) for n in range(12)], *[(16,)] * 4, (17,), (18,), (19,), ()])


def trees(random: Random, count: int) -> Sequence[Sequence[int]]:
    """Of 16 nodes two each are joined, until one is left."""
    return _beside(count, [*[(16 + node // 2,) for node in range(30)], ()])


def fan_outs(random: Random, count: int) -> Sequence[Sequence[int]]:
    """A node, and 9 that wait for it."""
    return _beside(count, [range(1, 10), *[()] * 9])


def small_diamonds(random: Random, count: int) -> Sequence[Sequence[int]]:
    """Three diamonds behind each other."""
    return _beside(count, [(1, 2), *[(3,)] * 2, (4, 5), *[(6,)] * 2, (7, 8), *[(9,)] * 2, ()])


def neighbours(random: Random, count: int) -> Sequence[Sequence[int]]:
    """Five layers, each node of which waits for three beside each other in the one before."""
    width = max(2, count // 5)
    layer = [{max(0, n - 1), n, min(width - 1, n + 1)} for n in range(width)]
    steps = range(width, 5 * width, width)
    return [[first + n for n in near] for first in steps for near in layer] + [[]] * width


SHAPES = {
    one.__name__: one
    for one in (bag, layers, diamonds, chains, chain_and_bag, random_dag, wide_random)
}

CHAINED = SHAPES | {
    one.__name__: one
    for one in (
        *(short_chains, long_chains, unequal_chains, meeting_chains),
        *(trees, fan_outs, small_diamonds, neighbours),
    )
}
"""The same, and what matters where nodes run behind others."""
BY_STEP = "by step"
STEPS = (1.0, 0.1, 2.5, 0.1, 1.3)
"""The time of each step of a chain, over the mean."""


def make(shape: str, times: str, count: int, mean: float, seed: int) -> Work:
    random = Random(f"{shape} {times} {count} {mean} {seed}")
    children = CHAINED[shape](random, count)
    if times == BY_STEP:
        return Work([mean * STEPS[node % len(STEPS)] for node in range(len(children))], children)
    return Work([TIMES[times](random, mean) for _ in children], children)
