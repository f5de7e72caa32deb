"""Conditions in a simulated world: nodes with a RUN_IF, files that nodes publish, and the process
that evaluates and reads, which takes its time.

O37: a node with a condition is submitted only if the log says that the condition was true.  O38:
what the log says of a condition is what the outcomes that the log shows come to; no node is decided
before its parents have ended.

They have a random generator of their own, so that what they do changes no draw of anything else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from condor_pydagman.features.publish.graph import Published, PublishedOfDag
from condor_pydagman.features.publish.requests import ReadResult, ResultRead
from condor_pydagman.features.run_if.adapters.evaluation import evaluate
from condor_pydagman.features.run_if.graph import Condition, ConditionsOfDag
from condor_pydagman.features.run_if.requests import (
    ConditionResult,
    ConditionsEvaluated,
    EvaluateConditions,
)
from condor_pydagman.graph.joins import parents_of
from condor_pydagman.graph.model import AFTER_ALL, Dag
from condor_pydagman.vocabulary import ORDINARY_KINDS

if TYPE_CHECKING:
    from tests.sim.process import Process

MAX_DELAY_S = 20.0  # seconds that an answer may take
MOST = 5  # values that nodes publish are below


def add_conditions(dag: Dag, rng: Random) -> None:
    """Give some nodes of the DAG conditions, and let some publish a number `n`."""
    nodes = [node for node in range(len(dag)) if dag.kinds[node] in ORDINARY_KINDS]
    for node in nodes:
        if rng.random() < 0.4:
            PublishedOfDag.put(dag).published[node] = Published(f"{dag.names[node]}.ad")
    often = rng.choice((0.2, 0.4, 0.8))
    for node in nodes:
        if rng.random() < often:
            names = [dag.names[parent] for parent in parents_of(dag, node)]
            condition = Condition(expression(names, rng), rng.random() < 0.7)
            ConditionsOfDag.put(dag).conditions[node] = condition
            dag.decided[node] = AFTER_ALL


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


def comes_to(expression: str, outcomes: dict[str, str], numbers: dict[str, int]) -> int:
    """What an expression comes to, by parents' outcomes and what they have published."""
    if expression in ("true", "false"):
        return int(expression == "true")
    found = re.fullmatch(r"(Done >=|Skipped >) (\d)", expression)
    if found:
        wanted = "DONE" if found[1] == "Done >=" else "SKIPPED"
        count = list(outcomes.values()).count(wanted)
        return int(count >= int(found[2]) if wanted == "DONE" else count > int(found[2]))
    found = re.fullmatch(r'Parents\.(\w+)\.Outcome == "(\w+)"', expression)
    if found:
        return int(outcomes[found[1]] == found[2])
    found = re.fullmatch(r"Parents\.(\w+)\.n > (\d)", expression)
    assert found, expression
    number = numbers.get(found[1]) if outcomes[found[1]] == "DONE" else None
    return -1 if number is None else int(number > int(found[2]))


class FakeConditions:
    """What one DAGMan process has done about conditions."""

    def __init__(self, process: Process) -> None:
        self._world = world = process.world
        self._process = process
        self._rng = Random(f"conditions {world.seed} {world.life}")

    def ask(self, request: EvaluateConditions | ReadResult, then: Callable[[Any], None]) -> None:
        world, process = self._world, self._process
        world.boundary()
        process.requests.pending += 1
        delay = self._rng.choice((0.0, 0.0, self._rng.uniform(0.0, MAX_DELAY_S)))

        def obey() -> None:
            if world.process is process and process.exit is None:
                process.requests._answer_at(world.now, then, self._answer(request))

        world.at(world.now + delay, obey)

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
