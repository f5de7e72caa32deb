"""What is kept of nodes with a CACHE command: the file, and the facts in it."""

from __future__ import annotations

import json

import pytest

from condor_pydagman.features.cache import store
from condor_pydagman.features.cache.adapters.lookup import cached_node
from condor_pydagman.features.cache.facts import CachedNode, difference, facts_of
from condor_pydagman.features.cache.store import (
    HEAD,
    Record,
    began_line,
    done_line,
    read,
    taken_line,
)
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


def test_a_result_that_a_person_has_taken_as_it_is() -> None:
    taken = Record("r1", {"description": "e"}, {"y": "5 bytes of 7"}, "ann on a day")
    kept = read((TEXT + taken_line("A", taken)).encode()).records
    assert kept["A"] == taken
    assert read("".join(store.whole_text(kept)).encode()).records == kept
    again = TEXT + taken_line("A", taken) + began_line("A", "r3", {})
    assert read(again.encode()).records["A"] == Record("r3", {})


@pytest.mark.parametrize("began", [began_line("A", "r1", {}), began_line("A", "r3", {}), ""])
def test_nobody_takes_what_has_begun_to_run_meanwhile(began: str) -> None:
    taken = Record("r1" if began else "r0", {}, {}, "ann on a day")
    before = read((TEXT + began).encode()).records
    assert read((TEXT + began + taken_line("A", taken)).encode()).records == before


@pytest.mark.parametrize("cut", [1, 20, 40])
def test_a_last_line_that_was_cut_short_is_passed_over(cut: int) -> None:
    found = read(TEXT.encode()[:-cut])
    assert found.records == {"A": RECORDS["A"]}
    assert (found.damage, found.size) == ("", len(TEXT) - len(LINES[2]))


def test_what_stands_before_a_damaged_line_is_not_believed() -> None:
    for wrong in ("x", "00000000 DONE {}", LINES[1][:-2].replace("r1", "r2"), "\0\0"):
        found = read(f"{HEAD}\n{LINES[0]}{wrong}\n{LINES[2]}".encode())
        assert found.records == {"B é": RECORDS["B é"]}
        assert found.damage == "line 3 is damaged: what stands before it counts no more"


@pytest.mark.parametrize("body", ["DONE []", 'DONE {"node":1}', "OTHER {}", 'BEGAN {"node":1'])
def test_a_line_of_another_form_is_damaged(body: str) -> None:
    line = f"{store._check(body)} {body}\n"
    assert read(f"{HEAD}\n{line}".encode()).damage.startswith("line 2 is damaged: ")


def test_files_of_others_and_of_later_versions() -> None:
    later = read(HEAD.encode() + b"0\nx\n")
    assert (later.records, later.foreign) == ({}, False)
    assert later.damage == f"another version has written it ({HEAD[2:]}0): it is not used"
    earlier = read(TEXT.replace("version 2", "version 1").encode())
    assert (earlier.records, earlier.foreign) == ({}, False)
    assert earlier.damage == (
        "another version has written it (condor_pydagman cache, version 1): it is not used"
    )
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
    assert node.scripts == (("PRE", "p $RETRY"),)
    carried = CachedNode(*json.loads(json.dumps(node)))
    assert facts_of(carried, "p") == facts_of(node, "p")


@pytest.mark.parametrize(
    ("node", "parents", "told"),
    [
        (NODE._replace(scripts=[("PRE", "x")]), "p", "its PRE script has changed"),
        (NODE._replace(scripts=[("POST", "x")]), "p", "its POST script has changed"),
        (NODE._replace(rules=["1", ""]), "p", "its PRE_SKIP has changed"),
        (NODE._replace(rules=["", "1"]), "p", "its TOLERANCE has changed"),
        (NODE._replace(directory="e"), "p", "its directory is another one"),
        (NODE, "q", "its parent X has run"),
        (NODE._replace(directory="e"), "q", "its directory is another one"),
        (NODE._replace(variables=[("a", "b", False)]), "p", ""),
        (NODE, "p", ""),
    ],
)
def test_what_has_changed(node: CachedNode, parents: str, told: str) -> None:
    old, new = facts_of(NODE, "p"), facts_of(node, parents)
    assert difference(old, new, "its parent X has run") == told
    assert (old == new) == (not told)


@pytest.mark.parametrize(
    ("new", "told"),
    [
        ({"text": "u"}, ""),
        ({"value arguments": "2"}, ""),  # the same text comes to the same
        ({"text": "u", "value arguments": "2"}, "arguments in its submit description has changed"),
        (
            {"text": "u", "value queue": "2", "value executable": "2"},
            "executable and queue in its submit description have changed",
        ),
        (
            {"text": "u", "unread": "why"},
            "its submit description, compared as it is written, has changed (why)",
        ),
        ({"unread": "why"}, ""),
    ],
)
def test_what_of_a_description_has_changed(new: dict[str, str], told: str) -> None:
    old = {"text": "t", "value arguments": "1"}
    assert difference(old, {**old, **new}, "") == told
    assert difference({**old, **new}, old, "") == told


def test_files_that_have_changed() -> None:
    old = {"input x": "1", "input y": "1", "parents": "p"}
    assert difference(old, {**old, "input y": "2"}, "") == "its input y has changed"
    assert difference(old, {**old, "input z": "2"}, "") == "its input z is new"
    assert difference({**old, "input z": "2"}, old, "") == "z is no input of it any more"
    assert difference(old, {**old, "executable": "e"}, "") == "its executable has changed"
