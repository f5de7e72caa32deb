"""Kinds of simulated worlds: what their DAGs have beyond what any DAG may have.

Each is that of a feature, whose part of the simulator is PART of `tests/features/NAME/sim.py`; see
`parts.Part`.  A module without a PART is a simulator of its own.
"""

from __future__ import annotations

from importlib import import_module
from itertools import combinations
from pathlib import Path

from tests import features
from tests.sim.parts import Part


def _found() -> list[type[Part]]:
    """The parts of all features."""
    folders = sorted(path.parent.name for path in Path(features.__path__[0]).glob("*/sim.py"))
    modules = [import_module(f"{features.__name__}.{name}.sim") for name in folders]
    return [module.PART for module in modules if hasattr(module, "PART")]


PARTS = tuple(sorted(_found(), key=lambda part: part.place))
# What each kind means, by its name, which is an option of `tests.sim.run`.
MEANINGS = {part.kind: part.meaning for part in PARTS if part.kind}


def chosen(**kinds: bool) -> frozenset[str]:
    """Of which kinds a world is; all of them are known."""
    unknown = kinds.keys() - MEANINGS
    if unknown:
        raise TypeError(f"no kinds of worlds: {unknown}")
    return frozenset(kind for kind, wanted in kinds.items() if wanted)


# Each feature meets each other one, and two others at once: worlds of so many kinds.
PAIRS = tuple(combinations(MEANINGS, 2))
SINGLES: tuple[tuple[str, ...], ...] = ((), *((kind,) for kind in MEANINGS))
IN_TURN = {"singles": SINGLES, "pairs": PAIRS, "threes": tuple(combinations(MEANINGS, 3))}


def in_turn(how: str, seed: int) -> dict[str, bool]:
    """The kinds of the world of that seed: seeds in a row have all `how` there are."""
    kinds = IN_TURN[how]
    return dict.fromkeys(kinds[seed % len(kinds)], True)
