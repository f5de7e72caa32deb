"""Numbers of a run: nodes by state, and how many of them end in a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.report import Report
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import logged_name
from condor_pydagman.trace.run_history import Run

WINDOW_S = 600.0  # of which the rate is told


class Tally:
    """Numbers of one run.

    Args:
        run: how it stands.
        engine: the same, as the engine has it; None if nothing is known of the DAG.

    Attributes:
        run: as given.
        dag: the DAG, None if it is not at hand.
    """

    def __init__(self, run: Run, engine: Engine | None = None) -> None:
        self.run = run
        self._engine = engine
        self.dag: Dag | None = engine.run.dag if engine is not None else None

    def report(self) -> Report | None:
        """How many nodes are in each state; None if the DAG is not at hand."""
        return self._engine.report() if self._engine is not None else None

    def ready(self) -> Iterator[int]:
        """Nodes that wait for nothing but to be submitted."""
        if self._engine is not None:
            yield from self._engine.run.nodes.in_state(State.READY)

    def feature(self, name: str) -> Any:
        """What the engine has of a feature that the DAG uses; None if it does not."""
        return self._engine.run.features.get(name) if self._engine is not None else None

    def name(self, node: int) -> str:
        """Its name in the log."""
        assert self.dag is not None
        return logged_name(self.dag.names[node])

    def per_second(self, now: float) -> float:
        """How many nodes are done in a second, over the last WINDOW_S; 0.0 if fewer than five are.

        Args:
            now: seconds since the epoch.
        """
        recent = sum(time >= now - WINDOW_S for time in self.run.ends)
        since = max(now - WINDOW_S, min(self.run.begun or now, now))
        return recent / (now - since) if recent >= 5 and now > since else 0.0
