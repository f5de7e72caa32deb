"""One DAGMan process in a simulated world without faults, except those that a test asks for.

The loop, the performer and the engine are the real ones; time is simulated.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from condor_pydagman.adapters import schedd_requests as ask
from condor_pydagman.config import Config
from condor_pydagman.engine import inputs
from condor_pydagman.graph.model import Dag
from tests import make
from tests.contract import worlds
from tests.sim.process import Process


class SimulatedDaemon:
    """A simulated DAGMan process, not started yet.

    Attributes:
        world: see `tests.sim.world`.
        process: the simulated DAGMan.
        asked: what the schedd was asked, and when.
        told: what the engine was told, and when.
    """

    def __init__(
        self,
        dag: str | Callable[[], Dag],
        *,
        recovering: bool = False,
        seed: int = 1,
        config: Config | None = None,
    ) -> None:
        build = (lambda: make.dag(dag)) if isinstance(dag, str) else dag
        self.world, self.outcomes = worlds.quiet(seed, build)
        self.world.workload = replace(self.world.workload, config=config or Config())
        self.world.locked = True
        self.process = Process(self.world, recovering=recovering)
        self.world.process = self.process
        self.asked: list[tuple[float, ask.Request]] = []
        self.told: list[tuple[float, inputs.Input]] = []
        self._listen()

    def _listen(self) -> None:
        requests, engine = self.process.requests, self.process.engine
        real_ask, real_handle = requests.ask, engine.handle

        def ask_(request: ask.Request, then: Callable[[Any], None]) -> None:
            self.asked.append((self.world.now, request))
            real_ask(request, then)

        def handle(an_input: inputs.Input, now: float) -> Any:
            self.told.append((self.world.now, an_input))
            return real_handle(an_input, now)

        requests.ask = ask_  # type: ignore[method-assign]
        engine.handle = handle  # type: ignore[method-assign]

    @property
    def loop(self) -> Any:
        return self.process.loop

    @property
    def run(self) -> Any:
        return self.process.loop.run

    def hang_schedd(self, seconds: float = 1e6) -> None:
        """Let the schedd answer nothing for so long from now on."""
        self.process.requests._free_at = self.world.now + seconds

    def faults(self, **rates: float) -> None:
        """Let faults strike from now on."""
        self.world.faults = replace(self.world.faults, **rates)

    def at(self, time: float, what: Callable[[], object]) -> None:
        """Call `what` at a time."""
        self.world.at(time, what)

    def input_at(self, time: float, an_input: inputs.Input) -> None:
        """Give the loop an input at a time."""
        self.world.at(time, lambda: self.process.add_input(an_input))

    def run_to_end(self) -> int:
        """Run; returns the exit code."""
        return self.process.loop.run_to_end()

    def when(self, kind: type) -> list[float]:
        """When the engine was told something of this kind."""
        return [time for time, an_input in self.told if isinstance(an_input, kind)]

    def requests(self, kind: type) -> list[Any]:
        """What the schedd was asked, of this kind."""
        return [request for _, request in self.asked if isinstance(request, kind)]
