"""Evaluates conditions and reads what nodes publish, in a process: an expression that does not end,
needs much memory or kills the bindings, and a file system that hangs, hold up nothing else.

If the process dies or takes too long, conditions that were asked for together are asked for one by
one, and the one that fails then is told to have no value.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Union

from condor_pydagman.adapters.classad_values import mistake
from condor_pydagman.adapters.helper_process import Helper
from condor_pydagman.daemon.helpers import Foreseen
from condor_pydagman.features.publish.adapters.result_file import read_result
from condor_pydagman.features.publish.run import ReadResult, ResultRead
from condor_pydagman.features.run_if.adapters.evaluation import UNKNOWN, evaluate
from condor_pydagman.features.run_if.commands import conditions_of, place_of_condition
from condor_pydagman.features.run_if.run import (
    ConditionResult,
    ConditionsEvaluated,
    ConditionWanted,
    EvaluateConditions,
)
from condor_pydagman.graph.model import DONE
from condor_pydagman.graph.stepwise import Steps
from condor_pydagman.printable import number_of

if TYPE_CHECKING:
    from condor_pydagman.config import Config
    from condor_pydagman.daemon.helpers import Helpers
    from condor_pydagman.graph.building import BuildOptions
    from condor_pydagman.graph.model import Dag

STEP = 500  # conditions that are looked at in one step
Order = Union[EvaluateConditions, ReadResult]


class ConditionHelper(Helper):
    """See `Helper`."""

    purpose = "evaluate conditions"
    died = "its process has died: it may take {megabytes} MB of memory"
    late = "it took more than {seconds} s"
    kinds = (
        *(EvaluateConditions, ConditionWanted, ConditionsEvaluated, ConditionResult),
        *(ReadResult, ResultRead),
    )
    timeout_s, stays_s, max_bytes = 10.0, 10.0, 256 << 20

    def __init__(self, dag: Dag) -> None:
        self._dag = dag

    def orders(self, request: Order) -> Sequence[Order]:
        """The request; of a file with its directory."""
        if isinstance(request, ReadResult):
            directory = self._dag.directories.get(request.node, "")
            request = request._replace(file=os.path.join(directory, request.file))
        return (request,)

    def instead(self, order: Order, reason: str) -> Sequence[Order]:
        """One by one what was asked for together."""
        if isinstance(order, ReadResult) or len(order.wanted) == 1:
            return ()
        return [EvaluateConditions((one,)) for one in order.wanted]

    def failed(self, order: Order, reason: str) -> ConditionsEvaluated | ResultRead:
        """It has no value."""
        if isinstance(order, ReadResult):
            return ResultRead(order.node, order.retry, error=reason)
        results = [ConditionResult(*one[:2], UNKNOWN, reason) for one in order.wanted]
        return ConditionsEvaluated(results)

    def serve(self, order: Order) -> ConditionsEvaluated | ResultRead:
        """In the process."""
        if isinstance(order, EvaluateConditions):
            return ConditionsEvaluated(
                [ConditionResult(*one[:2], *evaluate(*one[2:])) for one in order.wanted]
            )
        return ResultRead(order.node, order.retry, read_result(order.file))


def open_helper(helpers: Helpers) -> ConditionHelper:
    """The helper of a DAG that decides."""
    return ConditionHelper(helpers.run.dag)


def foresee(dag: Dag, config: Config, how: BuildOptions, *, checks_only: bool = False) -> Foreseen:
    """How many nodes have conditions; it is taken that all are true."""
    nodes = sum(not dag.flags[node] & DONE for node in conditions_of(dag))
    line = f"Conditions: {number_of(nodes, 'node')} with RUN_IF, to run only if it is true"
    return Foreseen([line] * bool(nodes), {})


def obstacle(dag: Dag, admin: Config) -> Steps[str]:
    """What HTCondor can't read of the DAG's conditions; '' if it can read all."""
    nodes = {one.expression: node for node, one in conditions_of(dag).items()}
    for count, (expression, node) in enumerate(nodes.items(), 1):
        why = mistake(expression)
        if why:
            name, place = dag.names[node], place_of_condition(dag, node)
            return f"{place}: RUN_IF of node {name}: {expression}: {why}"
        if not count % STEP:
            yield
    return ""
