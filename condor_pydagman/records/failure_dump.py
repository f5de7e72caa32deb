"""The dump of failed nodes in `.dagman.out`, when a DAG ends without success."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from condor_pydagman.engine.report import NodeReport
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import NodeKind, NodeStatus, ScriptKind

_MAX_LIST_LENGTH = 1024  # no further name is listed once a list has this many characters
_FOOT = "---------------------------------------\t<END>"
_NOT_SUBMITTED = "[not yet submitted]"


def failure_dump(dag: Dag, nodes: Iterable[NodeReport]) -> Iterator[str]:
    """Lines about all failed nodes among `nodes`; none if no node failed.

    The headline says "Node(s)" while a FINAL node is still to run, "job(s)" otherwise: stock
    DAGMan has both.
    """
    failed = [node for node in nodes if node.status == NodeStatus.ERROR]
    if not failed:
        return
    final_failed = any(dag.kinds[node.node] == NodeKind.FINAL for node in failed)
    word = "Node" if NodeKind.FINAL in dag.kinds and not final_failed else "job"
    yield f"ERROR: the following {word}(s) failed:"
    for node in failed:
        yield from node_dump(dag, node)
    yield _FOOT


def node_dump(dag: Dag, node: NodeReport) -> Iterator[str]:
    """Lines about one node, without the line that ends a list of them."""
    yield "---------------------- Node ----------------------"
    yield f"      Node Name: {node.name}"
    yield f"           Noop: {'true' if dag.is_noop(node.node) else 'false'}"
    yield f"         NodeID: {node.node}"
    yield f"    Node Status: STATUS_{node.status.name:<9}"
    yield f"Node return val: {node.return_value}"
    if node.error:
        yield f"          Error: {node.error}"
    yield f"Job Submit File: {dag.submits[node.node]}"
    yield from _scripts(dag, node.node)
    if node.node in dag.retries:
        yield f"          Retry: {node.retries_done}"
    yield f" HTCondor Job ID: {f'({node.job})' if node.job else _NOT_SUBMITTED}"
    parents = _names(dag, dag.parents(node.node))
    children = _names(dag, dag.children(node.node))
    yield f"PARENTS: {parents} WAITING: {node.waiting_parents} CHILDREN: {children}"


def _scripts(dag: Dag, node: int) -> Iterator[str]:
    for kind in (ScriptKind.PRE, ScriptKind.POST, ScriptKind.HOLD):
        script = dag.script(node, kind)
        if script is not None:
            yield f"{kind.value + ' Script':>15}: {script.command}"


def _names(dag: Dag, nodes: Iterable[int]) -> str:
    names: dict[str, None] = {}
    length = -1
    for node in nodes:
        name = dag.names[node]
        if name not in names:
            names[name] = None
            length += len(name) + 1
            if length >= _MAX_LIST_LENGTH:
                break
    return " ".join(names)
