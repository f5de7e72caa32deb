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

from random import Random
from typing import TYPE_CHECKING

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import CLEANING, NOT_NEEDED, SKIPPED, State
from condor_pydagman.features.enough.graph import (
    Enough,
    EnoughsOfDag,
    enoughs_of,
    goal,
    members,
)
from condor_pydagman.graph.joins import parents_of
from condor_pydagman.graph.model import AT_ONCE, Dag
from condor_pydagman.vocabulary import ORDINARY_KINDS, JournalRecord, ScriptKind
from tests.sim.oracles_special import submissions
from tests.sim.verdicts import require

if TYPE_CHECKING:
    from tests.sim.process import Process
    from tests.sim.world import World

AGAIN_S = 59.0  # before a record that was not read back is written once more


def add_enoughs(dag: Dag, rng: Random) -> None:
    """Give a DAG one to three ENOUGH lines."""
    for _ in range(rng.randint(1, 3)):
        enough = Enough(*_members(dag, rng), 1, effect=rng.choice(("REMOVE", "WAIT")))
        nodes = len(members(dag, enough))
        if not nodes:
            continue
        percent = rng.random() < 0.3
        limit = rng.choice((10, 50, 90)) if percent else rng.randint(1, nodes)
        if enough.members == "PARENTS":
            EnoughsOfDag.put(dag).enough_of[dag.ids[enough.name]] = len(enoughs_of(dag))
            dag.decided[dag.ids[enough.name]] = AT_ONCE
        EnoughsOfDag.put(dag).enoughs.append(enough._replace(limit=limit, percent=percent))


def _members(dag: Dag, rng: Random) -> tuple[str, str]:
    nodes = [node for node in range(len(dag)) if dag.kinds[node] in ORDINARY_KINDS]
    free = [node for node in nodes if not dag.is_decided(node)]
    children = [node for node in free if parents_of(dag, node)]
    if children and rng.random() < 0.6:
        return "PARENTS", dag.names[rng.choice(children)]
    return rng.choice((("CATEGORY", "a"), ("CATEGORY", "b"), ("ALL_NODES", "")))


class EnoughOracle:
    """Watches a world, as `Oracles` does, which calls it.

    Attributes:
        reached_ever: how many have been reached.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.reached_ever = 0
        self._exact = not (world.kinds.steered or world.kinds.matched or world.kinds.growing)
        self._forget()

    def _forget(self) -> None:
        self._heard: set[int] = set()
        self._asked: dict[int, float] = {}  # when its record was written

    def started(self) -> None:
        """A process begins: it reads the log anew."""
        self._forget()

    def input_given(self, process: Process, an_input: inputs.Input) -> None:
        """The engine is about to be told something."""
        if not isinstance(an_input, LogEvent) or an_input.record is not JournalRecord.ENOUGH:
            return
        number = an_input.value
        if number not in self._heard:
            self.reached_ever += 1
            self._heard.add(number)

    def input_done(self, process: Process, an_input: inputs.Input) -> None:
        """All actions for an input have been done."""
        run = process.engine.run
        if not enoughs_of(run.dag) or not process.idle or run.phase is not Phase.RUNNING:
            return
        unneeded = unneeded_names(process)
        for number in range(len(enoughs_of(run.dag))):
            if self._exact and not (run.is_over or run.halt.by_rule):
                missing = number not in self._heard and self._is_enough(process, number)
                require(not missing, f"O40: ENOUGH {number} is not reached")
        if self._exact:
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
        dag, truth = process.dag, self._world.oracles.truth
        enough, unneeded = enoughs_of(dag)[number], unneeded_names(process)
        names = {dag.names[node] for node in members(dag, enough)}
        wanted, spare = goal(enough, len(names)), len(names & unneeded)
        if spare:
            wanted = min(wanted, len(names) - spare)
        return len(names & truth.done - unneeded) >= max(wanted, 1)

    def action_asked(self, process: Process, action: do.Action) -> None:
        """An action is about to be done."""
        dag = process.dag
        if not enoughs_of(dag) or self._world.ever_garbled:
            return
        starts = [one.node for one in submissions(action)]
        if isinstance(action, do.RunScript) and action.kind is ScriptKind.PRE:
            starts.append(action.node)
        for node in starts:
            self._may_start(process, node)
        if isinstance(action, do.AppendJournalRecord) and action.record is JournalRecord.ENOUGH:
            number = action.value
            again = self._world.now - self._asked.get(number, -AGAIN_S) < AGAIN_S
            again |= number in self._heard
            require(not (again and self._exact), f"O40: ENOUGH {number} is recorded once more")
            enough = self._is_enough(process, number) or not self._exact
            require(enough, f"O40: ENOUGH {number} is recorded too early")
            self._asked[number] = self._world.now

    def _may_start(self, process: Process, node: int) -> None:
        dag, run = process.dag, process.engine.run
        name = dag.names[node]
        if name in self._world.oracles.truth.steered or run.nodes.marks[node] & CLEANING:
            return
        for number in self._heard if self._exact else ():
            late = (
                node in members(dag, enoughs_of(dag)[number])
                and node != self._world.oracles.goes_on
            )
            require(not late, f"O41: {name} starts, which is not needed")
        number_of_child = EnoughsOfDag.of(dag).enough_of.get(node)
        if number_of_child is not None and self._exact:
            known = number_of_child in self._heard
            require(known, f"O41: {name} starts before enough of its parents are done")

    def exited(self, process: Process, code: int) -> None:
        """O42: a process has ended by itself."""
        world, run = self._world, process.engine.run
        if code or world.ever_garbled or not enoughs_of(run.dag) or run.end.begun is not None:
            return
        live = [c.node for c in world.schedd.live(world.era) if c.node in run.dag.ids]
        left = [name for name in live if run.dag.kinds[run.dag.ids[name]] in ORDINARY_KINDS]
        require(not left, f"O42: jobs of {left} are left")


def unneeded_names(process: Process) -> set[str]:
    """The nodes that the engine takes for not needed."""
    run = process.engine.run
    return {run.dag.names[node] for node, own in enumerate(run.nodes.marks) if own & NOT_NEEDED}


def is_on_its_way(want: State, have: State) -> bool:
    """Whether a node that is not needed may have begun, as no log shows."""
    return have is State.WAITING and want in _BEGUN


_BEGUN = (
    *(State.READY, State.PRE_WAIT, State.PRE_RUN, State.PRE_UNCONFIRMED, State.SUBMITTING),
    *(State.UNKNOWN, State.SUBMIT_UNCONFIRMED),
)
