"""Sweeps as the checker's outline has them: nodes and edges, without what else a SWEEP says."""

from __future__ import annotations

from condor_pydagman.features.sweep.commands import (
    Sweep,
    SweepParent,
    Swept,
    matched,
    node_names,
    table_of,
)
from condor_pydagman.graph import define
from condor_pydagman.graph.building import Building
from condor_pydagman.vocabulary import NodeKind


def add_sweep(building: Building, command: Sweep, text: str) -> str:
    """Add the nodes of a sweep; the result is why that can't be done, or ''.

    Raises:
        UsageError: the sweep or its table, whose text is given, is wrong.
    """
    scope = building.scope
    if command.name in scope.sets:
        return f"Sweep {command.name} is already defined in the DAG"
    table = table_of(command, text)
    names = node_names(command, table)
    for name in names:
        if building.find(name) is not None or name in scope.splices:
            return f"Node {name} is already defined in the DAG"
    first = len(building.dag)
    for name in names:
        building.add_node(scope.full(name), "", NodeKind.JOB, 0, 0)
    scope.sets[command.name] = Swept(range(first, first + len(names)), table.columns)
    return ""


def join_sweeps(building: Building, command: SweepParent, text: str) -> str:
    """Add the edges of a SWEEP_PARENT; the result as of `add_sweep`.

    Raises:
        UsageError: the sweeps do not fit.
    """
    swept = []
    for name in (command.parent, command.child):
        found = building.scope.sets.get(name)
        if not isinstance(found, Swept):
            return f"References undefined sweep {name}"
        swept.append(found)
    for parents, children in matched(command, *swept):
        define.join(building, parents, children)
    return ""


ADDED = {Sweep: add_sweep, SweepParent: join_sweeps}
