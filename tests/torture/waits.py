"""DAGs whose jobs take long, so that DAGMan sleeps, and what people and the schedd do to them."""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random

from condor_pydagman.daemon.sleep import WAITER
from tests.torture.session import Session
from tests.torture.workload import Node, Workload, drawn_node
from tests.torture.world import until

TRAITS = {"some scripts", "retry pre", "retry post", "skip", "noop", "procs", "vanilla"}
HALT_S = 40.0  # for which a halt file is there, at most
LOOK_S = 3.0  # between two looks at a process: there may be a hundred DAGs


def draw(random: Random, seconds: float) -> Workload:
    """A few nodes in layers; their jobs end at random moments, the last after `seconds` or less."""
    nodes: list[Node] = []
    above: tuple[str, ...] = ()
    layers = random.randint(2, 4)
    for layer in range(layers):
        names = tuple(f"L{layer}N{number}" for number in range(random.randint(1, 3)))
        for name in names:
            node = drawn_node(random, TRAITS, name, above)
            part = random.uniform(0.05, 1.0) / layers
            nodes.append(node._replace(seconds=round(part * seconds, 1)))
        above = names
    return Workload(tuple(nodes))


def disturb(s: Session, acts: dict[str, tuple[int, Callable[[Session], object]]]) -> None:
    """Do something now and then, until the DAG has ended or it is enough.

    Args:
        acts: how often each is done, of all; and how.
    """
    pause = max(node.seconds for node in s.workload.nodes)
    weights = [often for often, _ in acts.values()]
    for _ in range(s.random.randint(3, 6)):
        until(s.over, s.random.uniform(0.0, pause))
        if s.random.random() < 0.5:
            until(lambda: s.over() or _sleeps(s), pause, LOOK_S)
        if s.over():
            return
        name = s.random.choices(list(acts), weights)[0]
        state, before = "asleep" if _sleeps(s) else "awake", s.disturbances
        acts[name][1](s)
        s.acts[f"{name}, {state}"] += s.disturbances > before


def _sleeps(s: Session) -> bool:
    return any(map(sleeps, s.pids()))


def sleeps(pid: int) -> bool:
    """Whether a DAGMan does."""
    try:
        return os.readlink(f"/proc/{pid}/exe") == WAITER
    except OSError:
        return False


def halt_once(s: Session) -> None:
    """A halt file comes and goes."""
    halt = s.work / "t.dag.halt"
    halt.touch()
    s.did("halted")
    until(s.over, s.random.uniform(0.0, HALT_S))
    halt.unlink(missing_ok=True)
    s.tell("the halt file is gone")
