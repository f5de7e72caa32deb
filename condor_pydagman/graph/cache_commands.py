"""The command CACHE: nodes that are not run again while nothing of them has changed.

It is ours.  Several lines about a node add up.  Nodes whose end means more than that they are done
can't have it: ALL_NODES passes them over, and a line that names one is refused.
"""

from __future__ import annotations

from condor_pydagman.dagfile import commands
from condor_pydagman.graph.building import ALL_NODES, Building, fail
from condor_pydagman.graph.model import Cached, Dag
from condor_pydagman.graph.problems import ProcessingError
from condor_pydagman.vocabulary import NodeKind

_NOTHING = Cached()
_WRONG = "CACHE can't be said of node {}: {}"
_FOR_JOBS = "CACHE is for JOB nodes; CACHE ALL_NODES passes all others over"


def cache(building: Building, command: commands.Cache) -> None:
    """CACHE."""
    dag = building.dag
    inputs = tuple(map(building.text, command.inputs))
    outputs = tuple(map(building.text, command.outputs))
    named = command.node.upper() != ALL_NODES or building.find(command.node) is not None
    for node in building.nodes(command.node):
        why = _unfit(dag, node)
        if why and named:
            _refuse(building.shown(node), why, command.node)
        if not why:
            old = dag.cached.get(node, _NOTHING)
            new = Cached(
                old.checksum or command.checksum,
                _united(old.inputs, inputs),
                _united(old.outputs, outputs),
                old.named or named,
            )
            dag.cached[node] = building.share(new)


def _united(old: tuple[str, ...], new: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*old, *new))) if old else new


def _unfit(dag: Dag, node: int) -> str:
    kind = NodeKind(dag.kinds[node])
    if kind is not NodeKind.JOB:
        return f"it is a {kind.name} node"
    return "it is a NOOP node, which runs nothing" if dag.is_noop(node) else ""


def leave_out(building: Building) -> None:
    """After all files: nodes that publish something, or add to the DAG.

    What they do for the run would be missing if they did not run.

    Raises:
        ProcessingError: a line names one.
    """
    dag = building.dag
    for node in [one for one in dag.cached if one in dag.published or one in dag.extensions]:
        if dag.cached[node].named:
            what = "it has a PUBLISH" if node in dag.published else "it adds to the DAG"
            file, _, line = dag.place(node).rpartition(":")
            text = _WRONG.format(dag.names[node], f"{what}, which must be done in each run")
            error = ProcessingError(text, file=file, line=int(line or 0), hint=_FOR_JOBS)
            error.place = error.line
            raise error
        del dag.cached[node]


def _refuse(name: str, why: str, at: str) -> None:
    fail(_WRONG.format(name, why), _FOR_JOBS, at=at)
