"""The command SHARED_LIMIT: which nodes keep to which limit that DAGs share.

It is ours.  In a splice, ALL_NODES are the splice's nodes, and a category is its own.  A node of
another DAG (SUBDAG) keeps to no limit itself: the nodes of its DAG would wait for places that it
holds.  Its DAG file may have limits of its own.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.limit_lines import ALL_NODES, CATEGORY, NODES
from condor_pydagman.graph.building import STRICT_MIDDLE, Building, fail
from condor_pydagman.graph.model import Dag, LimitUse
from condor_pydagman.graph.modify import category_name
from condor_pydagman.vocabulary import NodeKind

_LIMITED = (NodeKind.JOB, NodeKind.DATA)


def shared_limit(building: Building, command: commands.SharedLimit) -> None:
    """SHARED_LIMIT."""
    dag, limit = building.dag, building.text(command.limit)
    if command.members == CATEGORY:
        name = building.text(category_name(building, command.names[0]))
        dag.limit_uses.append(LimitUse(limit, name))
    elif command.members == NODES:
        nodes = sorted({node for name in command.names for node in _named(building, name)})
        dag.limit_uses.append(LimitUse(limit, nodes=tuple(nodes)))
    elif building.scope.outer is None:
        dag.limit_uses.append(LimitUse(limit))
    else:
        dag.limit_uses.append(LimitUse(limit, nodes=tuple(building.nodes(ALL_NODES))))


def _named(building: Building, name: str) -> Sequence[int]:
    nodes = building.named(name)
    kind = NodeKind(building.dag.kinds[nodes[0]])  # those of a sweep are alike
    if kind not in _LIMITED:
        hint = "only nodes that run a job of their own do: JOB and DATA"
        fail(f"{kind.name} node {name} can't keep to a shared limit", hint, at=name)
    return nodes


def warn_of_empty_limits(building: Building) -> None:
    """After all files: limits that no node keeps to."""
    dag = building.dag
    if not dag.limit_uses:
        return
    used = set(dag.categories.values())
    for use in dag.limit_uses:
        if use.category and use.category not in used:
            building.warn(
                f"Warning: category {use.category} has no assigned nodes, so SHARED_LIMIT"
                f" {use.limit} CATEGORY {use.category} will have no effect",
                STRICT_MIDDLE,
            )


def classes(dag: Dag) -> tuple[list[tuple[str, ...]], array[int]]:
    """Nodes by the limits that they keep to.

    Returns:
        The names of limits by number of a class, and the class of each node; 0 has no limits.
    """
    found: dict[tuple[str, ...], int] = {(): 0}
    of = array("H", bytes(2 * len(dag)))
    for use in dag.limit_uses:
        with_it = {
            number: found.setdefault(_and(limits, use.limit), len(found))
            for limits, number in list(found.items())
        }
        for node in _nodes(dag, use):
            of[node] = with_it[of[node]]
    for node, kind in enumerate(dag.kinds):
        if kind not in _LIMITED:
            of[node] = 0
    return list(found), of


def _and(limits: tuple[str, ...], more: str) -> tuple[str, ...]:
    return limits if more.lower() in map(str.lower, limits) else (*limits, more)


def _nodes(dag: Dag, use: LimitUse) -> Iterable[int]:
    if use.nodes is not None:
        return use.nodes
    if use.category:
        return [node for node, name in dag.categories.items() if name == use.category]
    return range(len(dag))
