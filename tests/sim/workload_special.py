"""What stands out in a random DAG: FINAL, PROVISIONER and SERVICE nodes, HOLD scripts, retries with
delays, save points."""

from __future__ import annotations

from random import Random
from typing import Any

from condor_pydagman.graph.model import NOOP, Dag, Defer, Retry, Script, Tolerance
from condor_pydagman.vocabulary import NodeKind, ScriptKind
from tests.sim.kinds import PARTS


def add_nodes(dag: Dag, rng: Random, often: float) -> None:
    """Add nodes that are not ordinary, with all that may be said of them."""
    kinds = []
    if rng.random() < 0.5:
        kinds.append(("F", NodeKind.FINAL))
    if rng.random() < 0.2:
        kinds.append(("P", NodeKind.PROVISIONER))
    if rng.random() < 0.2:
        kinds += [(f"S{number}", NodeKind.SERVICE) for number in range(rng.randint(1, 2))]
    for name, kind in kinds:
        noop = NOOP if rng.random() < 0.1 else 0
        node = dag.add_node(name, "n.sub", kind, flags=noop)
        for script_kind in (ScriptKind.PRE, ScriptKind.POST):
            if rng.random() < often:
                dag.scripts.setdefault(node, {})[script_kind] = script(rng)
        if rng.random() < often and dag.script(node, ScriptKind.PRE):
            dag.pre_skips[node] = rng.choice((1, 2))
        if rng.random() < often / 2:
            dag.tolerances[node] = Tolerance(rng.randint(0, 2))
        add_options(dag, node, rng, often)


def add_options(dag: Dag, node: int, rng: Random, often: float) -> None:
    """What any node may have."""
    if rng.random() < often:
        dag.scripts.setdefault(node, {})[ScriptKind.HOLD] = script(rng)
    for part in PARTS:
        part.add_to_node(dag, node, rng, often)
    if rng.random() < often / 3:
        dag.save_points[node] = f"{dag.names[node]}.save"


# Of a DEFER with that status and delay: times, total, backoff, max_delay.
_LIMITS: dict[tuple[int, int], tuple[Any, ...]] = {
    **{(1, 0): (), (3, 0): (1,), (1, 5): (1,), (3, 5): (0, 8)},
    **{(1, 40): (2, 0, 2.0), (3, 40): (0, 90, 3.0, 50)},
}


def script(rng: Random) -> Script:
    """A SCRIPT command, perhaps with DEFER."""
    if rng.random() < 0.01:
        return Script("script $NODE $NO_SUCH_MACRO")
    if rng.random() < 0.3:
        status, seconds = rng.choice((1, 3)), rng.choice((0, 5, 40))
        return Script("script $NODE $RETRY", Defer(status, seconds, *_LIMITS[status, seconds]))
    return Script("script $NODE $RETRY")


def retry(rng: Random) -> Retry:
    """A RETRY command."""
    delay = rng.choice((0, 0, 0, 1, 20, 90))
    return Retry(
        rng.randint(0, 3),
        unless_exit=rng.choice(((), (), (2,), (2, -9))),
        only_if=rng.choice(((), (), (), (), (1, 2, 3), (-9, -1002))),
        delay=delay,
        backoff=rng.choice((1.0, 2.0)),
        max_delay=rng.choice((0, 100)) if delay else 0,
    )
