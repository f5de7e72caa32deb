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
from condor_pydagman.lint.outline_graph import OutlineGraph
from condor_pydagman.lint.references import Names
from condor_pydagman.vocabulary import NodeKind


def add_sweep(graph: OutlineGraph, scope: Names, command: Sweep, text: str) -> str:
    """Add the nodes of a sweep; the result is why that can't be done, or ''.

    Raises:
        UsageError: the sweep or its table, whose text is given, is wrong.
    """
    if command.name in scope.sets:
        return f"Sweep {command.name} is already defined in the DAG"
    table = table_of(command, text)
    names = node_names(command, table)
    for name in names:
        if scope.prefix + name in graph.dag.ids or name in scope.splices:
            return f"Node {name} is already defined in the DAG"
    first = len(graph.dag)
    for name in names:
        graph.add_node(scope.prefix + name, NodeKind.JOB, 0)
    scope.sets[command.name] = Swept(range(first, first + len(names)), table.columns)
    return ""


def join_sweeps(graph: OutlineGraph, scope: Names, command: SweepParent, text: str) -> str:
    """Add the edges of a SWEEP_PARENT; the result as of `add_sweep`.

    Raises:
        UsageError: the sweeps do not fit.
    """
    swept = []
    for name in (command.parent, command.child):
        found = scope.sets.get(name)
        if not isinstance(found, Swept):
            return f"References undefined sweep {name}"
        swept.append(found)
    for parents, children in matched(command, *swept):
        graph.add_edges(list(parents), list(children))
    return ""


ADDED = {Sweep: add_sweep, SweepParent: join_sweeps}
