"""What DAGMan does about conditions: has them evaluated, and files read that nodes publish.  DAGs
without them do not load it.
"""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from typing import TYPE_CHECKING

from condor_pydagman.adapters.condition_evaluation import mistake
from condor_pydagman.adapters.condition_process import (
    Condition,
    ConditionProcess,
    Evaluate,
    ReadPublished,
)
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.graph.stepwise import Steps

if TYPE_CHECKING:
    from condor_pydagman.adapters.schedd_process import ScheddProcess
    from condor_pydagman.daemon.run import DagRun
    from condor_pydagman.graph.model import Dag

STEP = 500  # conditions that are looked at in one step
Tell = Callable[[inputs.Input], None]


class ConditionDesk:
    """Hands requests over, and gives their results back as inputs."""

    def __init__(self, run: DagRun) -> None:
        self._run = run

    def take(self, action: do.EvaluateConditions | do.ReadResult, tell: Tell) -> None:
        """Do what the engine asks for; `tell` is given the answer later."""
        if isinstance(action, do.EvaluateConditions):
            self._evaluate(action, tell)
        else:
            self._read(action, tell)

    def _evaluate(self, action: do.EvaluateConditions, tell: Tell) -> None:
        wanted = action.wanted
        conditions = tuple(Condition(one.expression, one.ad, one.shown) for one in wanted)

        def told(verdicts: list[tuple[int, str]]) -> None:
            results = [
                inputs.ConditionResult(one.node, one.number, value, text)
                for one, (value, text) in zip(wanted, verdicts)
            ]
            tell(inputs.ConditionsEvaluated(results))

        self._run.schedd.ask(Evaluate(conditions), told)  # type: ignore[arg-type]

    def _read(self, action: do.ReadResult, tell: Tell) -> None:
        directory = self._run.dag.directories.get(action.node, "")
        path = os.path.join(directory, action.file)

        def told(result: list[tuple[str, str]] | str) -> None:
            pairs, error = ((), result) if isinstance(result, str) else (result, "")
            tell(inputs.ResultRead(action.node, action.retry, pairs, error))

        self._run.schedd.ask(ReadPublished(path), told)  # type: ignore[arg-type]


def refuse_bad_conditions(dag: Dag) -> Steps[str]:
    """What HTCondor can't read of the DAG's conditions; '' if it can read all."""
    nodes = {one.expression: node for node, one in dag.conditions.items()}
    for count, (expression, node) in enumerate(nodes.items(), 1):
        why = mistake(expression)
        if why:
            name, place = dag.names[node], dag.places.of_condition(node)
            return f"{place}: RUN_IF of node {name}: {expression}: {why}"
        if not count % STEP:
            yield
    return ""


def open_desk(run: DagRun, schedd: ScheddProcess) -> ConditionDesk:
    """The desk of a DAG that decides, and the process that does its requests."""

    def make(epoll: select.epoll) -> ConditionProcess:
        return ConditionProcess(epoll, run.clock.monotonic, lambda text: run.out.say(text, 0))

    schedd.add_helper(Evaluate, make)
    schedd.share_helper(Evaluate, ReadPublished)
    return ConditionDesk(run)
