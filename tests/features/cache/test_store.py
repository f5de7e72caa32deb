"""What is kept of nodes with a CACHE command: the file, and the facts in it."""

from __future__ import annotations

import json

import pytest

from condor_pydagman.features.cache import store
from condor_pydagman.features.cache.facts import CachedNode, cached_node, difference, facts_of
from condor_pydagman.features.cache.store import HEAD, Record, began_line, done_line, read
from condor_pydagman.graph.model import Script, Variable
from condor_pydagman.vocabulary import ScriptKind
from tests import make

LINES = (
    began_line("A", "r1", {"description": "d", "input x": "3 bytes of 5"}),
    done_line("A", "r1", {"y": "4 bytes of 6"}),
    began_line("B é", "r2", {}),
)
TEXT = "".join((HEAD + "\n", *LINES))
RECORDS = {
    "A": Record("r1", {"description": "d", "input x": "3 bytes of 5"}, {"y": "4 bytes of 6"}),
    "B é": Record("r2", {}),
}


def test_what_is_written_is_read() -> None:
    assert read(TEXT.encode()) == (RECORDS, 3, "", len(TEXT), False)
    assert "".join(store.whole_text(RECORDS)) == TEXT
    assert read(b"") == ({}, 0, "", 0, False)


def test_a_node_that_is_to_run_has_no_earlier_result() -> None:
    text = TEXT + began_line("A", "r3", {"a": "b"}) + done_line("A", "r1", {})
    assert read(text.encode()).records["A"] == Record("r3", {"a": "b"})


@pytest.mark.parametrize("cut", [1, 20, 40])
def test_a_last_line_that_was_cut_short_is_passed_over(cut: int) -> None:
    found = read(TEXT.encode()[:-cut])
    assert found.records == {"A": RECORDS["A"]}
    assert (found.damage, found.size) == ("", len(TEXT) - len(LINES[2]))


def test_what_stands_before_a_damaged_line_is_not_believed() -> None:
    for wrong in ("x", "00000000 DONE {}", LINES[1][:-2].replace("r1", "r2"), "\0\0"):
        found = read(f"{HEAD}\n{LINES[0]}{wrong}\n{LINES[2]}".encode())
        assert found.records == {"B é": RECORDS["B é"]}
        assert found.damage == "line 3 is damaged"


@pytest.mark.parametrize("body", ["DONE []", 'DONE {"node":1}', "OTHER {}", 'BEGAN {"node":1'])
def test_a_line_of_another_form_is_damaged(body: str) -> None:
    line = f"{store._check(body)} {body}\n"
    assert read(f"{HEAD}\n{line}".encode()).damage == "line 2 is damaged"


def test_files_of_others_and_of_later_versions() -> None:
    later = read(HEAD.encode() + b"0\nx\n")
    assert (later.records, later.foreign) == ({}, False)
    assert later.damage.startswith("it does not begin with '# condor_pydagman cache, version 1'")
    for data in (b"my cache\n", b"x", b"\0" * 100):
        assert read(data).foreign
    assert not read(HEAD.encode()[:5]).foreign


# Facts of nodes with a CACHE command, and which difference is told.


NODE = CachedNode("A", "d", "a.sub", None)


def test_a_node_as_the_dag_has_it() -> None:
    dag = make.dag("""
        A
        CACHE A CHECKSUM INPUTS in.$(JOB).$(N) $(no) OUTPUTS $(n).out
    """)
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
