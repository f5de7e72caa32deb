"""What a name stands for that is no node, where a node was to be named: advice for messages."""

from __future__ import annotations

import re
from itertools import islice

from condor_pydagman.dagfile.growth_lines import PLACE
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.scope import Scope

_ALL_NODES = "ALL_NODES"
_MAX_LOOKED_AT = 1000  # of the nodes that add to the DAG
_ANY = {"item": ".+", "number": "[0-9]+"}  # a word, too, is `.+`


def advice(dag: Dag, scope: Scope, name: str) -> str:
    """What to write instead of `name`, which is no node in this scope; '' if nothing is known."""
    own = scope.munge + name
    if own in scope.splices:
        return (
            f"{name} is a splice, which can be named as parent and child only: for its nodes, put"
            f" the command into {scope.splices[own].file}"
        )
    if own in scope.sweeps:
        nodes = scope.sweeps[own].nodes
        return f"{name} is a sweep, and this names one node, such as {dag.names[nodes[0]]}"
    if name.upper() == _ALL_NODES:
        return "this can't be said of ALL_NODES: name a node"
    if "," in name and all(scope.full(one) in dag.ids for one in name.split(",") if one):
        return "blanks stand between names, not commas"
    if "{" in name and scope.sweeps:
        return f"the sweeps of this file are {', '.join(sorted(scope.sweeps)[:5])}"
    if name.upper() == "BY":
        return "BY is for SWEEP_PARENT, which joins nodes with equal values"
    if "*" in name:
        return "names are no patterns here: ALL_NODES, a splice or a sweep stand for many nodes"
    return _to_be_added(dag, scope, name)


def _to_be_added(dag: Dag, scope: Scope, name: str) -> str:
    """Whether a SCATTER may add a node of that name while the DAG runs."""
    full = scope.full(name)
    for node, how in islice(dag.extensions.items(), _MAX_LOOKED_AT):
        if how.pattern and re.fullmatch(_regular(how.prefix + how.pattern), full):
            return (
                f"it is to be added by the SCATTER of node {dag.names[node]}, while the DAG runs:"
                " lines here can't name it. A file that EXTEND names can have such lines"
            )
    return ""


def _regular(pattern: str) -> str:
    """A regular expression for the names that a pattern gives."""
    pieces = PLACE.split(pattern)  # texts, and between them what their places ask for
    return "".join(
        _ANY.get(piece, ".+") if number % 2 else re.escape(piece)
        for number, piece in enumerate(pieces)
    )
