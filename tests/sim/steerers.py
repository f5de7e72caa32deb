"""People who steer nodes: any command for any nodes, at any time, in any state.

They have a random generator of their own, so that what they do changes no draw of anything else.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.node_settings import NodeSettings, settings_text
from condor_pydagman.features.steering.requests import NodesSteered, PriorityWanted
from condor_pydagman.features.steering.rules import DESCENDANTS, RETRY
from condor_pydagman.vocabulary import NodeCommand
from tests.sim.verdicts import require

if TYPE_CHECKING:
    from tests.sim.world import World

MAX_RATE = 0.8  # chance of a request, for an occasion
MAX_NODES = 4  # of a request
_OPTIONS = {
    NodeCommand.CANCEL: ("", "", RETRY),
    NodeCommand.RERUN: ("", DESCENDANTS),
    NodeCommand.SET: tuple(
        settings_text(one)
        for one in (
            NodeSettings(priority=3),
            NodeSettings(priority=-3, variables=(("a", "1"),)),
            NodeSettings(retries=1),
            NodeSettings(timeout=(50, None, 0)),
            NodeSettings(category="a"),
            NodeSettings(category="b"),
        )
    ),
}


class Steerers:
    """All who steer; O32: each request is answered once, and names each of its nodes.

    Attributes:
        asked: requests so far; the number of the last one.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._rng = rng = Random(f"steer {world.seed}")
        self._rate = rng.random() ** 2 * MAX_RATE
        self.asked = 0
        self._asked: dict[int, int] = {}  # nodes of requests that were not answered
        if world.kinds.steered:
            world.every(20.0, self._act)

    def _act(self) -> None:
        world, rng = self._world, self._rng
        if world.process is None or world.now >= world.faults.until or rng.random() >= self._rate:
            return
        if rng.random() < 0.1:
            world.process.add_input(PriorityWanted(rng.randint(-3, 3), "ann"))
        for _ in range(rng.choice((1, 1, 2))):
            there = [node for node, _ in world.process.dag.named()]
            nodes = [rng.choice(there) for _ in range(rng.randint(1, MAX_NODES))]
            command = rng.choice(list(NodeCommand))
            options = rng.choice(_OPTIONS.get(command, ("",)))
            self.asked += 1
            self._asked[self.asked] = len(nodes)
            cut = rng.randrange(len(nodes))
            parts = [nodes[:cut], nodes[cut:]] if cut else [nodes]
            for part in parts:
                last = part is parts[-1]
                world.process.add_input(
                    NodesSteered(self.asked, command, part, "ann", options, last)
                )

    def answered(self, answer: do.Steered) -> None:
        """DAGMan has answered a request."""
        asked = self._asked.pop(answer.request, None)
        require(asked is not None, f"O32: request {answer.request} is answered twice")
        told = answer.done + len(answer.refused)
        require(told == asked, f"O32: {asked} nodes asked for, {told} told")
