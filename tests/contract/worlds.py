"""A simulated world in which nothing happens but what a contract asks for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from condor_pydagman.config import Config
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import ScriptKind
from tests import make
from tests.sim.faults import Faults
from tests.sim.workload import Workload
from tests.sim.world import World

NO_FAULTS_UNTIL_S = 1e9


class Told:
    """Outcomes as the contract wants them."""

    def __init__(self) -> None:
        self.count = 1
        self.code = 0

    def procs(self, node: str) -> int:
        return self.count

    def factory(self, node: str) -> int:
        return 0

    def common_input(self, node: str) -> bool:
        return False

    def prepares(self, era: int, node: str) -> bool:
        return True

    def seconds(self, node: str, retry: int) -> float | None:
        return None

    def job(self, era: int, node: str, retry: int, proc: int) -> int:
        return self.code

    def script(self, era: int, node: str, kind: ScriptKind, retry: int, deferred: int) -> int:
        return self.code


class Unwatched:
    """Oracles that object to nothing."""

    def __getattr__(self, name: str) -> Unwatched:
        return self

    def __call__(self, *_: object, **__: object) -> frozenset[object]:
        return frozenset()


def quiet(seed: int = 1, dag: Callable[[], Dag] | None = None) -> tuple[World, Told]:
    """A world without faults and without a DAGMan; its outcomes."""
    told = Told()
    build = dag or (lambda: make.dag("A; B; C\nSCRIPT PRE A script $NODE $RETRY"))
    work: Any = Workload(build, Config(), Throttles(), told)  # type: ignore[arg-type]
    world = World(seed, workload=work, faults=Faults(until=NO_FAULTS_UNTIL_S))
    world.oracles = Unwatched()  # type: ignore[assignment]
    return world, told


def until(world: World, holds: Callable[[], bool]) -> None:
    """Let time pass until something holds."""
    for _ in range(10_000):
        if holds():
            return
        world._advance()
    raise AssertionError("it never comes to that")
