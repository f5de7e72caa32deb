"""The parents of a node, through the nodes that only join PARENT lines."""

from __future__ import annotations

from condor_pydagman.graph.model import JOIN_NAME, Dag


def parents_of(dag: Dag, node: int) -> tuple[int, ...]:
    """The parents of a node, each once; a node that only joins a PARENT line stands for the parents
    of that line."""
    found: dict[int, None] = {}
    todo, seen = [node], {node}
    for one in todo:  # which grows meanwhile
        for parent in dag.parents(one):
            if not joins(dag, parent):
                found[parent] = None
            elif parent not in seen:
                seen.add(parent)
                todo.append(parent)
    return tuple(found)


def joins(dag: Dag, node: int) -> bool:
    """Whether the node was made for a PARENT line, by this reading or by that of a DAG which has
    been written out as one file."""
    return dag.is_noop(node) and is_join_name(dag.names[node])


def is_join_name(name: str) -> bool:
    """Whether such nodes have names of that kind."""
    return name.rpartition("+")[2].startswith(JOIN_NAME)
