"""A simulated world in which nothing happens but what a contract asks for."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from condor_pydagman.config import Config
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.vocabulary import ScriptKind
from tests import make
from tests.sim.faults import Faults
from tests.sim.workload import Workload
from tests.sim.world import World

LONG = 1e9


class Told:
    """Outcomes as the contract wants them."""

    def __init__(self) -> None:
        self.count = 1
        self.code = 0

    def procs(self, node: str) -> int:
        return self.count

    def factory(self, node: str) -> int:
        return 0

    def seconds(self, node: str, retry: int) -> float | None:
        return None

    def job(self, era: int, node: str, retry: int, proc: int) -> int:
        return self.code

    def script(self, era: int, node: str, kind: ScriptKind, retry: int, deferred: int) -> int:
        return self.code


def quiet(seed: int = 1) -> tuple[World, Told]:
    """A world without faults and without a DAGMan; its outcomes."""
    told = Told()
    build = lambda: make.dag("A; B; C", pre={"A": "script $NODE $RETRY"})  # noqa: E731
    work: Any = Workload(build, Config(), Throttles(), told)  # type: ignore[arg-type]
    world = World(seed, workload=work, faults=Faults(until=LONG))
    nobody = lambda *_, **__: None  # noqa: E731
    world.oracles = SimpleNamespace(cluster_taken=nobody, in_log=nobody, removed=nobody)  # type: ignore[assignment]
    return world, told


def until(world: World, holds: Callable[[], bool]) -> None:
    """Let time pass until something holds."""
    for _ in range(10_000):
        if holds():
            return
        world._advance()
    raise AssertionError("it never comes to that")
