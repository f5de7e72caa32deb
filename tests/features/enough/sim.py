"""ENOUGH lines in random DAGs, and what must hold of them.

O40 An ENOUGH is reached exactly when so many of its nodes are done, by the events of the log alone,
    and that is recorded once; a restart forgets none.
O41 Nothing is started of a node that is not needed; only such nodes are not needed that belong to
    an ENOUGH which is reached, or of which all parents are not needed.
O42 When a DAG has ended well, no job of a node is left in the queue.

Where people steer nodes, groups leave sites or the DAG grows, what was done may count no more; then
the rest of O40 is looked at.
"""

from __future__ import annotations

from collections.abc import Collection
from random import Random
from typing import TYPE_CHECKING, ClassVar

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import CLEANING, SKIPPED
from condor_pydagman.features.enough.commands import (
    Enough,
    EnoughsOfDag,
    enoughs_of,
    goal,
    members,
)
from condor_pydagman.graph.joins import parents_of
from condor_pydagman.graph.model import AT_ONCE, Dag
from condor_pydagman.vocabulary import ORDINARY_KINDS, ScriptKind
from tests.oracles import require
from tests.sim.parts import Part

if TYPE_CHECKING:
    from condor_pydagman.engine.state import RunState
    from tests.sim.process import Process
    from tests.sim.world import World

AGAIN_S = 59.0  # before a record that was not read back is written once more


def _members(dag: Dag, rng: Random) -> tuple[str, str]:
    nodes = [node for node in range(len(dag)) if dag.kinds[node] in ORDINARY_KINDS]
    free = [node for node in nodes if not dag.is_decided(node)]
    children = [node for node in free if parents_of(dag, node)]
    if children and rng.random() < 0.6:
        return "PARENTS", dag.names[rng.choice(children)]
    return rng.choice((("CATEGORY", "a"), ("CATEGORY", "b"), ("ALL_NODES", "")))


def _is_reached(world: World) -> bool:
    return "is not needed: ENOUGH" in world.trace_text()


class Enoughs(Part):
    """What is reached.

    Attributes:
        reached_ever: how many have been reached.
    """

    kind = "enough"
    meaning = "the DAGs have ENOUGH lines"
    place = 5
    fresh: ClassVar = {
        "enough": 25,
        "enough steered": 25,
        "enough matched": 25,
        "enough decided braked": 25,
    }
    crashed: ClassVar = ((26, _is_reached), (50, _is_reached))

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self.reached_ever = 0
        self._forget()

    @classmethod
    def add(cls, dag: Dag, rng: Random) -> None:
        """Give a DAG one to three ENOUGH lines."""
        for _ in range(rng.randint(1, 3)):
            enough = Enough(0, *_members(dag, rng), 1, effect=rng.choice(("REMOVE", "WAIT")))
            nodes = len(members(dag, enough))
            if not nodes:
                continue
            percent = rng.random() < 0.3
            limit = rng.choice((10, 50, 90)) if percent else rng.randint(1, nodes)
            if enough.members == "PARENTS":
                EnoughsOfDag.put(dag).enough_of[dag.ids[enough.name]] = len(enoughs_of(dag))
                dag.decided[dag.ids[enough.name]] = AT_ONCE
            EnoughsOfDag.put(dag).enoughs.append(enough._replace(limit=limit, percent=percent))

    def lines(
        self, name: str, parents: Collection[str], rng: Random, before: list[str]
    ) -> list[str]:
        if not parents or any(line.startswith("RUN_IF ") for line in before):
            return []  # a node has one of both
        if rng.random() >= 0.4:
            return []
        limit = rng.choice(("1", "50%", str(len(parents))))
        return [f"ENOUGH PARENTS {name} {limit} {rng.choice(('REMOVE', 'WAIT'))}"]

    def _forget(self) -> None:
        self._heard: set[int] = set()
        self._asked: dict[int, float] = {}  # when its record was written

    def started(self, process: Process, *, recovering: bool) -> None:
        self._forget()

    def input_given(self, process: Process, an_input: inputs.Input) -> None:
        if not isinstance(an_input, LogEvent) or an_input.record != "ENOUGH":
            return
        number = an_input.value
        if number not in self._heard:
            self.reached_ever += 1
            self._heard.add(number)

    def input_done(self, process: Process, an_input: inputs.Input) -> None:
        run = process.engine.run
        if not enoughs_of(run.dag) or not process.idle or run.phase is not Phase.RUNNING:
            return
        unneeded = process.unneeded()
        for number in range(len(enoughs_of(run.dag))):
            if self.is_exact and not (run.is_over or run.halt.by_rule):
                missing = number not in self._heard and self._is_enough(process, number)
                require(not missing, f"O40: ENOUGH {number} is not reached")
        if self.is_exact:
            self._belong(process, unneeded)

    def _belong(self, process: Process, unneeded: set[str]) -> None:
        dag, run = process.dag, process.engine.run
        counts = run.features["enough"].counts
        skipped = {dag.names[node] for node, own in enumerate(run.nodes.marks) if own & SKIPPED}
        for name in unneeded:
            node = dag.ids[name]
            if counts.not_needed[node] == -2:  # of an earlier run
                continue
            member = any(node in members(dag, enoughs_of(dag)[number]) for number in self._heard)
            follows = {dag.names[parent] for parent in parents_of(dag, node)} <= unneeded | skipped
            require(member or follows, f"O41: {name} is not needed")

    def _is_enough(self, process: Process, number: int) -> bool:
        dag, truth = process.dag, self.world.oracles.truth
        enough, unneeded = enoughs_of(dag)[number], process.unneeded()
        names = {dag.names[node] for node in members(dag, enough)}
        wanted, surplus = goal(enough, len(names)), len(names & unneeded)
        if surplus:
            wanted = min(wanted, len(names) - surplus)
        return len(names & truth.done - unneeded) >= max(wanted, 1)

    def action_asked(self, process: Process, action: do.Action) -> None:
        dag = process.dag
        if not enoughs_of(dag) or self.world.ever_garbled:
            return
        starts = [one.node for one in self.world.oracles.submissions(action)]
        if isinstance(action, do.RunScript) and action.kind is ScriptKind.PRE:
            starts.append(action.node)
        for node in starts:
            self._may_start(process, node)
        if isinstance(action, do.AppendJournalRecord) and action.record == "ENOUGH":
            number = action.value
            again = self.world.now - self._asked.get(number, -AGAIN_S) < AGAIN_S
            again |= number in self._heard
            require(not (again and self.is_exact), f"O40: ENOUGH {number} is recorded once more")
            enough = self._is_enough(process, number) or not self.is_exact
            require(enough, f"O40: ENOUGH {number} is recorded too early")
            self._asked[number] = self.world.now

    def _may_start(self, process: Process, node: int) -> None:
        dag, run = process.dag, process.engine.run
        name = dag.names[node]
        if name in self.world.oracles.truth.changed or run.nodes.marks[node] & CLEANING:
            return
        for number in self._heard if self.is_exact else ():
            late = (
                node in members(dag, enoughs_of(dag)[number]) and node != self.world.oracles.goes_on
            )
            require(not late, f"O41: {name} starts, which is not needed")
        number_of_child = EnoughsOfDag.of(dag).enough_of.get(node)
        if number_of_child is not None and self.is_exact:
            known = number_of_child in self._heard
            require(known, f"O41: {name} starts before enough of its parents are done")

    def exited(self, process: Process, code: int) -> None:
        world, run = self.world, process.engine.run
        if code or world.ever_garbled or not enoughs_of(run.dag) or run.end.begun is not None:
            return
        live = [c.node for c in world.schedd.live(world.era) if c.node in run.dag.ids]
        left = [name for name in live if run.dag.kinds[run.dag.ids[name]] in ORDINARY_KINDS]
        require(not left, f"O42: jobs of {left} are left")

    def replayed(self, live: RunState, other: RunState) -> None:
        enough, replayed = live.features.get("enough"), other.features.get("enough")
        if enough is not None and replayed is not None:
            same = enough.reached == replayed.reached
            require(same, f"O7: ENOUGH {enough.reached}, replayed {replayed.reached}")

    def allows(self, run: RunState, parent: int, child: int) -> bool:
        return child in EnoughsOfDag.of(run.dag).enough_of

    def blurs(self, dag: Dag) -> bool:
        return bool(enoughs_of(dag))


PART = Enoughs
