"""A DAG and a person who steers it, for tests of commands for nodes."""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.node_states import State
from condor_pydagman.features.steering.run import NodesSteered
from condor_pydagman.features.steering.steer_commands import NodeCommand
from condor_pydagman.graph.model import Dag
from tests import make
from tests.make import QUIET


class Steered(make.EngineHarness):
    """A DAG and a person who steers it."""

    number = 0

    def ask(self, command: NodeCommand, names: str, options: str = "") -> do.Steered:
        """Ask, and let the log come back; the answer."""
        self.number += 1
        nodes = [self.dag.ids[name] for name in names.split()]
        self.tell(NodesSteered(self.number, command, nodes, "ann", options))
        first = self.last
        self.last = first + self.read_back()
        (answer,) = self.asked(do.Steered)
        assert answer.request == self.number
        self.replayed()
        return answer

    def refusal(self, command: NodeCommand, name: str, options: str = "") -> str:
        answer = self.ask(command, name, options)
        assert not answer.done
        ((_, why),) = answer.refused
        return why

    def run(self, name: str, cluster: int, value: int = 0) -> list[do.Action]:
        """A node's job is taken and ends, and all follows that does."""
        self.last = self.run_node(name, cluster, value)
        return self.settle()

    def replayed(self) -> str:
        """States that a DAGMan has that reads the log of this one, which are the same."""
        other = self.replay()
        other.tell(inputs.LogCaughtUp())
        mine, its = self.engine.run, other.engine.run
        live = [make.LOGGED.get(State(state), State(state)) for state in mine.nodes.states]
        assert live == [State(state) for state in its.nodes.states], other.states()
        assert list(mine.nodes.waiting) == list(its.nodes.waiting)
        assert mine.nodes.retries == its.nodes.retries
        assert mine.nodes.errors == its.nodes.errors
        assert mine.retrying.extra_retries == its.retrying.extra_retries
        assert self.live_procs() == other.live_procs()
        return other.states()


def steered(of: Dag | str) -> Steered:
    harness = Steered(of, QUIET)
    harness.begin()
    return harness
