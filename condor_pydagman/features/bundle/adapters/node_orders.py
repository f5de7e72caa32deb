"""What those who read the descriptions of nodes have to know of them."""

from __future__ import annotations

import os.path
from collections.abc import Sequence
from typing import TYPE_CHECKING

from condor_pydagman.engine.node_settings import variables_in_force
from condor_pydagman.features.bundle.tasks import NodeOrder, before_and_after

if TYPE_CHECKING:
    from condor_pydagman.graph.model import Dag, Variable


def order_of(
    dag: Dag,
    cwd: str,
    node: int,
    retry: int,
    priority: int,
    settings: Sequence[tuple[str, str]] = (),
) -> NodeOrder:
    """A node with what the DAG says of it, and a person (`settings`)."""
    variables: Sequence[Variable] = dag.variables.get(node, ())
    if settings:
        variables = variables_in_force(variables, settings)
    return NodeOrder(
        node,
        dag.names[node],
        retry,
        os.path.join(cwd, dag.directories.get(node, "")),
        dag.submits[node],
        *before_and_after(variables),
        [priority],
    )


def texts_of(dag: Dag, nodes: Sequence[int]) -> dict[str, str]:
    """The descriptions in the DAG file that nodes name."""
    names = {dag.submits[node] for node in nodes} & dag.descriptions.keys()
    return {name: dag.descriptions[name] for name in names}
