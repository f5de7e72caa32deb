"""The DOT file: a picture of the DAG for Graphviz, with the state of every node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from condor_pydagman.graph.model import Dag
from condor_pydagman.records.node_status import asctime
from condor_pydagman.vocabulary import NodeKind, NodeStatus

# Shape, letter in the label, and further attributes of a node; all others look untouched.
_LOOKS = {
    NodeStatus.PRERUN: ("ellipse", "Pre", " style=dotted"),
    NodeStatus.SUBMITTED: ("ellipse", "R", " peripheries=2"),
    NodeStatus.POSTRUN: ("ellipse", "Post", " style=dotted"),
    NodeStatus.DONE: ("ellipse", "Done", " style=bold"),
    NodeStatus.ERROR: ("box", "E", ""),
}
_UNTOUCHED = ("ellipse", "I", "")


def dot_text(
    dag: Dag,
    statuses: Iterable[tuple[int, NodeStatus]],
    *,
    now_local: Sequence[int],
    include_text: str | None = None,
) -> Iterator[str]:
    """Pieces of the file's text: all nodes, then all edges (manual: "Visualizing DAGs").

    Args:
        statuses: of all nodes, each with its node.
        now_local: broken-down local time.
        include_text: what stands in the file that DOT's INCLUDE names, None if it is not there.
    """
    yield f'digraph DAG {{\n    label="DAGMan Job status at {asctime(now_local)}";\n\n'
    if dag.dot is not None and include_text is not None:
        yield from _included(dag.dot.include, include_text)
    for node, status in statuses:
        if dag.kinds[node] != NodeKind.SERVICE:
            shape, letter, more = _LOOKS.get(status, _UNTOUCHED)
            name = _escaped(dag.names[node])
            yield f'    "{name}" [shape={shape} label="{name} ({letter})"{more}];\n'
    yield "\n"
    for parent, name in dag.named():
        tail = _escaped(name)
        for child in dict.fromkeys(dag.children(parent)):
            yield f'    "{tail}" -> "{_escaped(dag.names[child])}";\n'
    yield "}\n"


def file_name(name: str, overwrite: bool, existing: Iterable[int]) -> str:
    """Name of the DOT file to write: `name`, or without OVERWRITE `name.<first unused number>`."""
    if overwrite:
        return name
    used = set(existing)
    number = 0
    while number in used:
        number += 1
    return f"{name}.{number}"


def _included(file: str, text: str) -> Iterator[str]:
    yield f"// Beginning of commands included from {file}.\n"
    yield text if not text or text.endswith("\n") else text + "\n"
    yield f"// End of commands included from {file}.\n\n"


def _escaped(name: str) -> str:
    return name.replace('"', '\\"')
