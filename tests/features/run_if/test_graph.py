"""RUN_IF, PUBLISH, SKIPPED and NODE_RESULT, applied."""

from __future__ import annotations

import pytest

from condor_pydagman.cli.unparse import dag_lines
from condor_pydagman.features.publish.commands import Publish, PublishedOfDag, published_of
from condor_pydagman.features.run_if.commands import RunIf, conditions_of, place_of_condition
from condor_pydagman.features.skipping.commands import SkippedOfDag
from condor_pydagman.graph.apply_rescue import apply_progress
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.model import DONE, Dag
from tests.unit.graph.texts import JOBS, Texts, build_text, error, seen

EDGES = JOBS + "JOB D a.sub\nPARENT A B CHILD C\n"


def test_a_condition_and_what_a_node_publishes() -> None:
    dag = build_text(
        EDGES + "RUN_IF C ELSE DONE Parents.A.n > 1\nPUBLISH A FILE a.ad\n"
        "PUBLISH A ATTRIBUTES x,y\nPUBLISH A ATTRIBUTES y,z\n"
    )
    assert conditions_of(dag) == {dag.ids["C"]: RunIf(0, "", "DONE", "Parents.A.n > 1")}
    assert place_of_condition(dag, dag.ids["C"]).startswith("x.dag:")
    assert published_of(dag) == {dag.ids["A"]: Publish(0, "", "a.ad", ("x", "y", "z"))}


def test_names_in_a_splice_are_those_of_its_file() -> None:
    inner = "JOB A x\nJOB B x\nPARENT A CHILD B\nCATEGORY A c\n"
    inner += "RUN_IF B Parents.A.n > 1 && Category.c.Done == 1\n"
    dag = build_text("JOB Z x\nSPLICE S s.dag\nPARENT Z CHILD S\n", {"s.dag": inner})
    condition = conditions_of(dag)[dag.ids["S+B"]]
    assert condition.expression == "Parents.'S+A'.n > 1 && Category.'S+c'.Done == 1"
    assert place_of_condition(dag, dag.ids["S+B"]) == "s.dag:5"


def test_a_splices_node_can_have_parents_outside_of_it() -> None:
    inner = "JOB A x\nRUN_IF A Parents.Z.n > 1\n"
    dag = build_text("JOB Z x\nSPLICE S s.dag\nPARENT Z CHILD S\n", {"s.dag": inner})
    assert conditions_of(dag)[dag.ids["S+A"]].expression == "Parents.Z.n > 1"


@pytest.mark.parametrize(
    ("line", "said", "hint", "at"),
    [
        (
            "RUN_IF C Done > 0 && Parents.D.n > 1",
            "D is no parent of node C, whose RUN_IF names it",
            "its parents are A, B",
            "D.n",
        ),
        (
            "RUN_IF A Parents.B.n > 1",
            "B is no parent of node A, whose RUN_IF names it",
            "it has no parents",
            "B.n",
        ),
        (
            "RUN_IF C Category.x.Done > 1",
            "There is no category x, which the RUN_IF of node C names",
            "the DAG has no categories",
            "x.Done",
        ),
    ],
)
def test_names_that_are_no_parents(line: str, said: str, hint: str, at: str) -> None:
    found = error(EDGES + line)
    assert (found.message, found.hint, found.file) == (said, hint, "x.dag")
    assert found.line == EDGES.count("\n") + 1
    assert found.text[found.caret - 1 :].startswith(at)


@pytest.mark.parametrize("word", ["RUN_IF F true", "PUBLISH F FILE x", "SKIPPED F"])
def test_special_nodes_decide_nothing(word: str) -> None:
    found = error("JOB A x\nFINAL F x\n" + word)
    assert found.message == f"{word.split()[0]} can't be said of node F"


def _again(dag: Dag) -> Dag:
    text = "".join(line + "\n" for line in dag_lines(dag))
    options = BuildOptions(allow_any_node_name_characters=True, use_join_nodes=False)
    return build(["x.dag"], Texts({"x.dag": text}), options)


def test_it_can_be_written_as_one_file() -> None:
    dag = build_text(
        EDGES + "RUN_IF C Parents.A.n > 1\nRUN_IF B ELSE DONE true\nPUBLISH A FILE a.ad\n"
        "PUBLISH B ATTRIBUTES x\nSKIPPED D\nNODE_RESULT A [ n = 3 ]\n"
    )
    again = _again(dag)
    for field in ("features", "flags"):
        assert seen(again)[field] == seen(dag)[field]


def test_lines_of_a_rescue_file() -> None:
    dag = build_text(EDGES)
    progress = apply_progress(dag, "SKIPPED A\nNODE_RESULT B [ n = 3 ]\nDONE B\n", "r")
    assert progress.done == [dag.ids["A"], dag.ids["B"]]
    assert dag.flags[dag.ids["A"]] == DONE
    assert SkippedOfDag.of(dag).skipped == {dag.ids["A"]: None}
    assert PublishedOfDag.of(dag).results == {dag.ids["B"]: "[ n = 3 ]"}


def test_a_second_line_is_told() -> None:
    dag = build_text(EDGES + "RUN_IF C true\nRUN_IF C false\nPUBLISH A FILE a\nPUBLISH A FILE b\n")
    assert conditions_of(dag)[dag.ids["C"]].expression == "false"
    assert published_of(dag)[dag.ids["A"]].file == "b"
    assert dag.warnings == [
        "Warning: new RUN_IF of node C overrides true",
        "Warning: new PUBLISH FILE b of node A overrides a",
    ]


def test_which_children_wait_for_an_end_only() -> None:
    dag = build_text(JOBS + "JOB D x\nPARENT A CHILD B C\nWEAK PARENT A CHILD D\nRUN_IF C true\n")
    a, b, c, d = (dag.ids[name] for name in "ABCD")
    assert [dag.waits_for_end_only(a, child) for child in (b, c, d)] == [False, True, True]


def test_a_name_with_a_plus_stands_in_quotes() -> None:
    inner = "JOB X x\n"
    text = "SPLICE S s.dag\nJOB C x\nPARENT S CHILD C\nRUN_IF C Parents.S+X.ExitCode == 0\n"
    found = error(text, {"s.dag": inner})
    assert found.hint == "a name with a + stands in single quotes: Parents.'S+X'"


def test_a_value_of_no_parent() -> None:
    found = error(EDGES + "RUN_IF C Parents.ExitCode > 1")
    assert found.hint == "expected Parents.<name>.ExitCode; its parents are A, B"
