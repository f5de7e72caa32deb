"""What pieces say of their new nodes: lines that decide whether and how these run.

They are drawn apart from the rest of a piece, so that worlds of other kinds stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from tests.sim.fake_conditions import expression
from tests.sim.kinds import Kinds


def decision_lines(
    names: Sequence[str], parents: Mapping[str, Sequence[str]], rng: Random, kinds: Kinds
) -> list[str]:
    """Lines about these new nodes, of which some parents are known."""
    lines: list[str] = []
    for name in names:
        mine = tuple(parents.get(name, ()))
        if kinds.decided and rng.random() < 0.4:
            lines.append(f"PUBLISH {name} FILE {name}.ad")
        if kinds.decided and rng.random() < 0.5:
            how = rng.choice(("SKIP", "DONE"))
            lines.append(f"RUN_IF {name} ELSE {how} {expression(mine, rng)}")
        elif kinds.enough and mine and rng.random() < 0.4:
            limit = rng.choice(("1", "50%", str(len(mine))))
            lines.append(f"ENOUGH PARENTS {name} {limit} {rng.choice(('REMOVE', 'WAIT'))}")
        if kinds.cached and rng.random() < 0.8:
            lines.append(f"CACHE {name}")
    return lines
