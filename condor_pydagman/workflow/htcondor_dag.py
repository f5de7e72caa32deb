"""What an `htcondor2.dags.DAG` says, said to a Workflow.

HTCondor's package writes its DAG file, which is read.  Its submit descriptions become those of the
Workflow, and the nodes that it puts between layers the edges that they stand for.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any

from condor_pydagman.adapters.files import text_of
from condor_pydagman.api.dag_errors import DagError
from condor_pydagman.language import commands
from condor_pydagman.language.parser import Reading, iter_commands
from condor_pydagman.workflow import values
from condor_pydagman.workflow.program_edges import Edge, without_joins

_JOIN = "__JOIN__:"  # how the names of nodes between layers begin


def take(flow: Any, dag: Any) -> None:
    """Add to a Workflow all that a DAG says.

    Raises:
        DagError: a Workflow can't say it, or DAGMan would refuse it.
        TypeError: it is no DAG of htcondor2.dags.
    """
    from htcondor2 import dags

    if not isinstance(dag, dags.DAG):
        raise TypeError(f"a Workflow begins with an htcondor2.dags.DAG, not {dag!r}")
    edges, joins = [], set()
    nodes = [*dag.nodes, *filter(None, [dag._final_node])]
    described = {node.name: getattr(node, "submit_description", None) for node in nodes}
    for one in _said(flow, dag):
        if isinstance(one, commands.ParentChild):
            edges.append(Edge(one.parents, one.children))
        elif isinstance(one, commands.Job) and one.name.startswith(_JOIN):
            joins.add(one.name)
        else:
            _take(flow, one, described)
    for edge in without_joins(edges, joins):
        flow._making.nodes_of(edge.parents).before(edge.children)
    if len(flow) != sum(map(len, nodes)):
        raise _refused(flow, "a cycle exists in it, whose nodes htcondor2.dags does not write")


def _said(flow: Any, dag: Any) -> list[Any]:
    """The commands of its file."""
    from htcondor2 import dags

    if dag.dagman_config:
        raise _refused(flow, "dagman_config: write a file, name it by config(), leave this out")
    with tempfile.TemporaryDirectory() as directory:
        text = text_of(os.fspath(dags.write_dag(dag, directory)), "DAG file")
    reading = Reading("")
    said = list(iter_commands(text, reading))
    if reading.errors:
        first = reading.errors[0]
        raise _refused(flow, f"htcondor2.dags writes a wrong {first.command}: {first.message}")
    return said


def _refused(flow: Any, why: str) -> DagError:
    return values.refused(f"a Workflow can't begin with this DAG: {why}", flow._making.here())


def _take(flow: Any, one: Any, described: dict[str, Any]) -> None:
    """A command of the file, but for edges; `described`: submit descriptions of layers."""
    making = flow._making
    if isinstance(one, (commands.Job, commands.Subdag)):
        layer = one.name if one.name in described else one.name.rpartition(":")[0]
        submit = one[2] if described[layer] is None else described[layer]
        submit = os.path.abspath(submit) if isinstance(submit, os.PathLike) else submit
        if hasattr(submit, "items") and layer != one.name:  # those of a layer share it
            submit = layer if layer in making.described else flow.description(layer, submit)
        word = one.kind.name if isinstance(one, commands.Job) else "SUBDAG EXTERNAL"
        options = one.directory, one.noop, one.done
        flow._one(word, one.name, submit, None, options)
    elif isinstance(one, commands.Category) and one.node not in flow:
        flow.maxjobs(one.node, int(one.category))  # CATEGORY is what it writes for it
    elif hasattr(one, "node"):
        flow[one.node].keep(one, making.places.here())
    else:
        making.say(one, making.places.here())
