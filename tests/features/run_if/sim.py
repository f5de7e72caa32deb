"""Conditions in a simulated world: nodes with a RUN_IF, files that nodes publish, and the process
that evaluates and reads, which takes its time.

O37: a node with a condition is submitted only if the log says that the condition was true.  O38:
what the log says of a condition is what the outcomes that the log shows come to; no node is decided
before its parents have ended.

They have a random generator of their own, so that what they do changes no draw of anything else.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from random import Random
from typing import TYPE_CHECKING, ClassVar

from condor_pydagman.features.enough.commands import enoughs_of
from condor_pydagman.features.publish.commands import Publish, PublishedOfDag, published_of
from condor_pydagman.features.publish.run import ReadResult, ResultRead
from condor_pydagman.features.run_if.adapters.evaluation import evaluate
from condor_pydagman.features.run_if.commands import ConditionsOfDag, RunIf, conditions_of
from condor_pydagman.features.run_if.run import (
    ConditionResult,
    ConditionsEvaluated,
    EvaluateConditions,
)
from condor_pydagman.graph.joins import parents_of
from condor_pydagman.graph.model import AFTER_ALL, Dag
from condor_pydagman.vocabulary import ORDINARY_KINDS
from tests.features.run_if.decisions import Decisions
from tests.oracles import require
from tests.sim.parts import FakeHelper, Part

if TYPE_CHECKING:
    from condor_pydagman.engine.inputs import LogEvent
    from tests.sim.fake_jobs import Cluster
    from tests.sim.process import Process
    from tests.sim.truth import Truth
    from tests.sim.world import World

MOST = 5  # values that nodes publish are below


def expression(parents: Sequence[str], rng: Random) -> str:
    """A condition of a node with parents of these names."""
    simple = ["true", "false", f"Done >= {rng.randint(0, 3)}", "Skipped > 0"]
    if not parents:
        return rng.choice(simple)
    name = rng.choice(parents)
    how = rng.choice(("DONE", "SKIPPED"))
    simple += [f'Parents.{name}.Outcome == "{how}"'] * 3
    simple += [f"Parents.{name}.n > {rng.randrange(MOST)}"] * 2
    return rng.choice(simple)


class FakeConditions(FakeHelper):
    """What one DAGMan process has done about conditions."""

    def __init__(self, process: Process) -> None:
        world = process.world
        super().__init__(process, Random(f"conditions {world.seed} {world.life}"))

    def _answer(self, request: EvaluateConditions | ReadResult) -> ConditionsEvaluated | ResultRead:
        if isinstance(request, EvaluateConditions):
            return ConditionsEvaluated(
                [
                    ConditionResult(
                        one.node, one.number, *evaluate(one.expression, one.ad, one.shown)
                    )
                    for one in request.wanted
                ]
            )
        world = self._world
        rng = Random(f"{world.seed} {world.era} {request.file} {request.retry}")
        if rng.random() < 0.1:
            return ResultRead(request.node, request.retry, error="it is not there")
        pairs = [("n", str(rng.randrange(MOST)))]
        if rng.random() < 0.1:  # two records
            pairs += [(f"x{number}", '"' + "x" * 300 + '"') for number in range(3)]
        return ResultRead(request.node, request.retry, pairs)


def _decides(world: World) -> bool:
    text = world.trace_text()
    return "is skipped, since RUN_IF" in text and "is to run, since RUN_IF" in text


class Conditions(Part):
    """What is decided, and what nodes publish."""

    kind = "decided"
    meaning = "nodes have conditions"
    place = 3
    stream = "conditions"
    crashed: ClassVar = ((7, _decides), (10, _decides))
    helpers: ClassVar = {"run_if": FakeConditions}

    @classmethod
    def add(cls, dag: Dag, rng: Random) -> None:
        """Give some nodes of the DAG conditions, and let some publish a number `n`."""
        nodes = [node for node in range(len(dag)) if dag.kinds[node] in ORDINARY_KINDS]
        for node in nodes:
            if rng.random() < 0.4:
                PublishedOfDag.put(dag).published[node] = Publish(0, "", f"{dag.names[node]}.ad")
        often = rng.choice((0.2, 0.4, 0.8))
        for node in nodes:
            if rng.random() < often:
                names = [dag.names[parent] for parent in parents_of(dag, node)]
                text = expression(names, rng)
                condition = RunIf(0, "", "SKIP" if rng.random() < 0.7 else "DONE", text)
                ConditionsOfDag.put(dag).conditions[node] = condition
                dag.decided[node] = AFTER_ALL

    def lines(
        self, name: str, parents: Collection[str], rng: Random, before: list[str]
    ) -> list[str]:
        lines = []
        if rng.random() < 0.4:
            lines.append(f"PUBLISH {name} FILE {name}.ad")
        if rng.random() < 0.5:
            how = rng.choice(("SKIP", "DONE"))
            lines.append(f"RUN_IF {name} ELSE {how} {expression(tuple(parents), rng)}")
        return lines

    def started(self, process: Process, *, recovering: bool) -> None:
        if not recovering:
            self._decisions = Decisions(self.world.oracles.truth)

    def cluster_taken(self, process: Process, cluster: Cluster) -> None:
        name, truth = cluster.node, self.world.oracles.truth
        if self.world.ever_garbled or process.dag.ids[name] not in conditions_of(process.dag):
            return
        said = name in self._decisions.true or name in truth.changed
        require(said, f"O37: {name} is submitted, its condition is not true")

    # What the truth knows.

    def learn(self, truth: Truth, event: LogEvent, cluster: Cluster | None) -> None:
        blurred = enoughs_of(truth.dag)  # what the log says of them comes to other outcomes
        self._decisions.event(event, checked=not (truth.changed or truth.unsure or blurred))

    def is_incomplete(self, truth: Truth, name: str, *, ran: bool) -> bool:
        """What it publishes is still to be read."""
        if not ran or name in truth.done or truth.dag.ids[name] not in published_of(truth.dag):
            return False
        self._decisions.ended_well.add(name)
        return True

    def runs_anew(self, name: str) -> None:
        self._decisions.run_anew(name)

    def got_parent(self, name: str) -> None:
        self._decisions.decide_anew(name)


PART = Conditions
