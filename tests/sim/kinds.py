"""Kinds of simulated worlds: what their DAGs have beyond what any DAG may have."""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

# Each is a field of `Kinds`, and an option of `tests.sim.run`.
MEANINGS = {
    "steered": "people steer nodes",
    "matched": "groups of nodes run at sites",
    "decided": "nodes have conditions",
    "braked": "the DAGs have brakes",
    "enough": "the DAGs have ENOUGH lines",
    "growing": "nodes and people add to the DAG",
    "fed": "a FEEDER adds to the DAG",
    "cached": "nodes have CACHE commands, and DAGs are run again",
}


class Kinds(NamedTuple):
    """Of which kinds a world is; see MEANINGS."""

    steered: bool = False
    matched: bool = False
    decided: bool = False
    braked: bool = False
    enough: bool = False
    growing: bool = False
    fed: bool = False
    cached: bool = False


# Each feature meets each other one: the worlds of two kinds.
PAIRS = tuple(combinations(MEANINGS, 2))


def pair_of(seed: int) -> tuple[str, str]:
    """The two kinds of the world of that seed, so that seeds in a row have all pairs."""
    return PAIRS[seed % len(PAIRS)]
