"""People who steer nodes: any command for any nodes, at any time, in any state.

They have a random generator of their own, so that what they do changes no draw of anything else.
"""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import TYPE_CHECKING, ClassVar

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_settings import NodeSettings
from condor_pydagman.features.steering.preconditions import BEGUN, read_text
from condor_pydagman.features.steering.run import DAG_COMMAND, DagSteered, NodesSteered
from condor_pydagman.features.steering.settings_text import settings_text
from condor_pydagman.features.steering.steer_commands import DESCENDANTS, RETRY, NodeCommand
from condor_pydagman.graph.model import Dag
from tests.oracles import require
from tests.sim.parts import Part
from tests.sim.truth import NO_LIMIT, Truth

if TYPE_CHECKING:
    from condor_pydagman.engine.state import RunState
    from tests.sim.fake_jobs import Cluster
    from tests.sim.process import Process
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


def _steers(world: World) -> bool:
    return Steerers.of(world).asked > 3


class Steerers(Part):
    """All who steer; O32: each request is answered once, and names each of its nodes.

    Attributes:
        asked: requests so far; the number of the last one.
    """

    kind = "steered"
    meaning = "people steer nodes"
    place = 1
    fresh: ClassVar = {"steered": 25, "decided steered": 25}
    crashed: ClassVar = ((4, _steers), (34, _steers))
    undoes = True
    at_once = ("STEERED",)

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._anew: Counter[str] = Counter()  # number of the run that a person has asked for
        self._rng = rng = Random(f"steer {world.seed}")
        self._rate = rng.random() ** 2 * MAX_RATE
        self.asked = 0
        self._asked: dict[int, int] = {}  # nodes of requests that were not answered
        if self.is_on:
            world.every(20.0, self._act)

    def _act(self) -> None:
        world, rng = self.world, self._rng
        if world.process is None or world.now >= world.faults.until or rng.random() >= self._rate:
            return
        if rng.random() < 0.1:
            self.asked += 1
            self._asked[self.asked] = 1
            words = f"priority value {rng.randint(-3, 3)}"
            world.process.add_input(DagSteered("ann", words, self.asked))
            world.process.add_input(DagSteered("ann", "halt reason"))  # Others do that.
        for _ in range(rng.choice((1, 1, 2))):
            there = list(range(len(world.process.dag)))
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

    def answered(self, answer: do.Action) -> None:
        if not isinstance(answer, do.Steered):
            return
        asked = self._asked.pop(answer.request, None)
        require(asked is not None, f"O32: request {answer.request} is answered twice")
        told = answer.done + len(answer.refused)
        require(told == asked, f"O32: {asked} nodes asked for, {told} told")

    # What is checked.

    def started(self, process: Process, *, recovering: bool) -> None:
        if not recovering:
            self._anew.clear()

    def learn(self, truth: Truth, event: LogEvent, cluster: Cluster | None) -> None:
        """A person's command; DAGMan has checked that it fits."""
        if event.record != "STEERED":
            return
        name, words = event.node, read_text(event.text)
        descendants = truth.descendants(name)
        truth.changed |= {name, *descendants}
        assert words is not None
        if words.command in (NodeCommand.DONE, NodeCommand.SKIP):
            truth.done.add(name)
        elif words.command is NodeCommand.CANCEL and words.options == BEGUN:
            truth.cancelled.add(name)
        elif words.command is NodeCommand.RERUN and event.retry >= self._anew[name]:
            ended = _ended_by(truth, name)
            truth.run_anew(name, event.retry)
            self._anew[name] = event.retry + 1
            for other in descendants:
                if words.options == DESCENDANTS and other in ended:
                    truth.run_anew(other, NO_LIMIT)
                else:  # one that was ready waits again
                    truth.extra[other] += 1

    def replayed(self, live: RunState, other: RunState) -> None:
        same = live.dag_priority == other.dag_priority or live.written.of(DAG_COMMAND)
        told = f"O7: priority {live.dag_priority}, replayed {other.dag_priority}"
        require(bool(same), told)

    def blurs(self, dag: Dag) -> bool:
        return bool(self.world.oracles.truth.changed)


def _ended_by(truth: Truth, name: str) -> set[str]:
    """The node's descendants, without those that are done by a person's word alone: a parent of
    them has failed, or has not begun."""
    dag, found, todo = truth.dag, set[str](), [truth.dag.ids[name]]
    while todo:
        parent = todo.pop()
        for child in dag.children(parent):
            if dag.names[child] in found or _is_done_all_the_same(truth, parent, child):
                continue
            found.add(dag.names[child])
            todo.append(child)
    return found


def _is_done_all_the_same(truth: Truth, parent: int, child: int) -> bool:
    dag, name = truth.dag, truth.dag.names[parent]
    waited_for = dag.waits_for_end_only(parent, child) and truth.has_run(name)
    return dag.names[child] in truth.done and name not in truth.done and not waited_for


PART = Steerers
