"""ENOUGH: whom it means, how many are enough, and what is wrong with it."""

from __future__ import annotations

import pytest

from condor_pydagman.cli.unparse import dag_lines
from condor_pydagman.features.enough.commands import (
    Enough,
    EnoughsOfDag,
    enoughs_of,
    goal,
    members,
)
from condor_pydagman.graph.build import BuildOptions
from condor_pydagman.graph.model import DONE
from condor_pydagman.lint.partial import build_partial
from tests.unit.graph.texts import Texts, build_text, error

TEXT = (
    "JOB A x\nJOB B x\nSUBDAG EXTERNAL C c.dag\nDATA D d\nFINAL F x\nSERVICE V x\n"
    "PARENT A B C CHILD D\nCATEGORY A c\nCATEGORY B c\n"
)


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("ALL_NODES 1", "A B C D"),
        ("CATEGORY c 1", "A B"),
        ("PARENTS D 1", "A B C"),
    ],
)
def test_whom_it_means(line: str, names: str) -> None:
    dag = build_text(f"{TEXT}ENOUGH {line}\n")
    found = [dag.names[node] for node in members(dag, enoughs_of(dag)[0])]
    assert found == names.split()
    splice = f"{TEXT}ENOUGH {line}\n".replace("FINAL F x\n", "")
    inner = build_text("JOB Z x\nSPLICE S s\n", {"s": splice})
    assert [inner.names[node] for node in members(inner, enoughs_of(inner)[0])] == [
        f"S+{name}" for name in names.split()
    ]
    again = build_text("\n".join(dag_lines(inner)), allow_any_node_name_characters=True)
    assert enoughs_of(again) == enoughs_of(inner)


def test_a_share_is_rounded_up() -> None:
    half = Enough(0, "ALL_NODES", "", 50, percent=True)
    assert [goal(half, nodes) for nodes in (0, 1, 2, 3)] == [1, 1, 1, 2]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("ALL_NODES 5", "5 nodes are to be enough, but there are 4: all nodes of the DAG"),
        ("CATEGORY d 1", "No node is meant by category d"),
        ("CATEGORY c 3", "3 nodes are to be enough, but there are 2: category c"),
        ("PARENTS A 1", "No node is meant by the parents of node A"),
        ("PARENTS Q 1", "Unknown node Q referenced"),
        ("PARENTS F 1", "ENOUGH PARENTS can't be said of node F"),
        ("ALL_NODES OF S 1", "No node is meant by the nodes of splice S"),
        ("PARENTS D 1\nENOUGH PARENTS D 2", "Node D has an ENOUGH PARENTS already"),
        ("PARENTS D 1\nRUN_IF D true", "Node D has a RUN_IF and an ENOUGH PARENTS"),
    ],
)
def test_mistakes_have_their_place(line: str, message: str) -> None:
    text = f"{TEXT}ENOUGH {line}\n"
    found = error(text)
    assert message in str(found)
    assert (found.file, found.line) == ("x.dag", 11 if "already" in message else 10)
    (seen,) = build_partial(["x.dag"], Texts({"x.dag": text}), BuildOptions())[1].kept
    assert str(seen) == str(found)


def test_the_splices_there_are() -> None:
    found = error("SPLICE T s\nENOUGH ALL_NODES OF S 1\n", {"s": "JOB X x\n"})
    assert found.hint == "the splices are T"


def test_in_a_dag_that_grows_there_may_be_more_nodes() -> None:
    dag = build_text(f"{TEXT}EXTEND A more.dag\nENOUGH CATEGORY later 9\n")
    assert not members(dag, enoughs_of(dag)[0])


def test_a_rescue_file_says_what_was_not_needed() -> None:
    dag = build_text(f"{TEXT}NOT_NEEDED A\n")
    assert dag.flags[0] & DONE
    assert list(EnoughsOfDag.of(dag).not_needed) == [0]
    assert "NOT_NEEDED A" in list(dag_lines(dag))
