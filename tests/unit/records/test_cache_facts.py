"""Facts of nodes with a CACHE command, and which difference is told."""

from __future__ import annotations

import json

import pytest

from condor_pydagman.graph.model import Cached, Script, Variable
from condor_pydagman.records.cache_facts import (
    CachedNode,
    cached_node,
    difference,
    facts_of,
)
from condor_pydagman.vocabulary import ScriptKind
from tests import make

NODE = CachedNode("A", "d", "a.sub", None)


def test_a_node_as_the_dag_has_it() -> None:
    dag = make.dag("A", cached={"A": Cached(True, ("in.$(JOB).$(N)", "$(no)"), ("$(n).out",))})
    dag.directories[0] = "d"
    dag.descriptions["n.sub"] = "executable = x\nqueue\n"
    dag.variables[0] = (Variable("n", "7", False),)
    dag.scripts[0] = {ScriptKind.PRE: Script("p $RETRY")}
    node = cached_node(dag, 0)
    assert node.description == "executable = x\nqueue\n"
    assert (node.inputs, node.outputs) == (("in.A.7", "$(no)"), ("7.out",))
    assert (node.directory, node.checksum, node.variables) == ("d", True, (("n", "7", False),))
    assert node.scripts[0][:2] == ("PRE", "p $RETRY")
    carried = CachedNode(*json.loads(json.dumps(node)))
    assert facts_of(carried, "t", "p") == facts_of(node, "t", "p")


@pytest.mark.parametrize(
    ("node", "text", "parents", "told"),
    [
        (NODE, "u", "p", "its submit description has changed"),
        (NODE._replace(variables=[("a", "b", False)]), "t", "p", "its VARS have changed"),
        (NODE._replace(scripts=[("PRE", "x")]), "t", "p", "its scripts have changed"),
        (NODE._replace(rules=["1"]), "t", "p", "its PRE_SKIP or TOLERANCE has changed"),
        (NODE._replace(directory="e"), "t", "p", "its directory is another one"),
        (NODE, "t", "q", "its parent X has run"),
        (NODE._replace(directory="e"), "u", "q", "its submit description has changed"),
        (NODE, "t", "p", ""),
    ],
)
def test_what_has_changed(node: CachedNode, text: str, parents: str, told: str) -> None:
    old, new = facts_of(NODE, "t", "p"), facts_of(node, text, parents)
    assert difference(old, new, "its parent X has run") == told
    assert (old == new) == (not told)


def test_files_that_have_changed() -> None:
    old = {"input x": "1", "input y": "1", "parents": "p"}
    assert difference(old, {**old, "input y": "2"}, "") == "its input y has changed"
    assert difference(old, {**old, "input z": "2"}, "") == "its input z is new"
    assert difference({**old, "input z": "2"}, old, "") == "z is no input of it any more"
    assert difference(old, {**old, "executable": "e"}, "") == "its executable has changed"
