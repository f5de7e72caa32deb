"""A Dag written as a DAG file and built again is the same Dag."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from condor_pydagman.cli.unparse import dag_lines
from condor_pydagman.graph.apply_rescue import apply_progress
from condor_pydagman.graph.build import BuildOptions, DagFileErrors, build
from condor_pydagman.graph.model import DONE, JOIN, NOOP, USER_DONE, Dag
from condor_pydagman.vocabulary import NodeKind
from tests.corpora import by_topic, check_each, dag_cases
from tests.examples import EXAMPLES, IN_NO_DAG_FILE, SPLICE
from tests.fuzz.grammar import generate
from tests.fuzz.round_trip import differences, rebuilt
from tests.fuzz.sample import Files
from tests.unit.graph.texts import JOBS
from tests.unit.test_corpus import ours

TOPICS = by_topic(dag_cases())
FILES = {
    "x.dag": """\
JOB A a.sub DIR d NOOP
JOB B {
executable = b
} DONE
SUBDAG EXTERNAL C c.dag
SPLICE S s.dag DIR sub
FINAL F f.sub
VARS A z="1" a="2 \\"q\\""
VARS A APPEND b="3" +x="4"
SCRIPT DEFER 1 60 DEBUG "o p" ALL PRE A pre.sh  $JOB
RETRY A 3 UNLESS-EXIT 2
RETRY B 3 MAX-DELAY 2h DELAY 10m ONLY-IF 1,-9 BACKOFF 1.50
ABORT-DAG-ON A 1 RETURN 0
PRIORITY A 5
PRE_SKIP A 7
TOLERANCE A 20 % WAIT
TIMEOUT A RUNNING 2h QUEUED 90
CATEGORY A cat
MAXJOBS cat 2
SAVE_POINT_FILE A
EXTEND A "more of it.dag" ANYWHERE
SCATTER B list run-{item} x.sub VARS n={number} what={item}
FEEDER TIMEOUT 60 AT-MOST 100 BELOW 5 PROGRAM feed.sh $FEEDING  x
PARENT A B CHILD C
PARENT A B CHILD S C
WEAK PARENT C CHILD S
DONE C
DOT "x y.dot" UPDATE INCLUDE h
NODE_STATUS_FILE s.txt 30 ALWAYS-UPDATE
JOBSTATE_LOG j.log
""",
    "sub/s.dag": "JOB A a.sub\nJOB B b.sub\nCATEGORY A own\nMAXJOBS own 1\n",
}
LINES = """\
DOT "x y.dot" UPDATE INCLUDE h
NODE_STATUS_FILE s.txt 30 ALWAYS-UPDATE
JOBSTATE_LOG j.log
SUBMIT-DESCRIPTION B-InlineDesc0 {
executable = b
}
JOB A a.sub DIR d NOOP
JOB B B-InlineDesc0 DONE
SUBDAG EXTERNAL C c.dag
FINAL F f.sub
JOB S+A a.sub DIR sub
JOB S+B b.sub DIR sub
VARS A a="2 \\"q\\"" z="1"
VARS A APPEND My.x="4" b="3"
SCRIPT DEFER 1 60 DEBUG "o p" ALL PRE A pre.sh  $JOB
RETRY A 3 UNLESS-EXIT 2
ABORT-DAG-ON A 1 RETURN 0
PRIORITY A 5
PRE_SKIP A 7
TOLERANCE A 20% WAIT
TIMEOUT A QUEUED 90 RUNNING 7200
CATEGORY A cat
SAVE_POINT_FILE A A-x.dag.save
EXTEND A "more of it.dag" ANYWHERE
RETRY B 3 ONLY-IF 1,-9 DELAY 600 BACKOFF 1.5 MAX-DELAY 7200
SCATTER B list run-{item} x.sub VARS n={number} what={item}
DONE C
CATEGORY S+A S+own
FEEDER BELOW 5 AT-MOST 100 TIMEOUT 60 PROGRAM feed.sh $FEEDING  x
MAXJOBS cat 2
MAXJOBS S+own 1
PARENT A CHILD C
PARENT B CHILD C
PARENT A B CHILD C S+A S+B
WEAK PARENT C CHILD S+A S+B
"""


def built(files: dict[str, str], **options: Any) -> Dag:
    return build(["x.dag"], lambda file: files[file], BuildOptions(**options))


def test_the_lines() -> None:
    dag = built(FILES, use_join_nodes=False)
    assert "\n".join(dag_lines(dag)) + "\n" == LINES
    assert differences(dag, rebuilt(dag)) == []


def test_a_join_node_becomes_a_node() -> None:
    dag = built(FILES)
    other = rebuilt(dag)
    join = dag.ids["_condor_join_node0"]
    assert differences(dag, other) == []
    assert (dag.flags[join], other.flags[join]) == (NOOP | JOIN, NOOP)


def test_lines_in_disorder() -> None:
    jobs = "JOB A a\nJOB B b\nJOB C c\nJOB D d\n"
    lines = "PARENT C CHILD D\nPARENT A CHILD D\nPARENT A CHILD B\nPARENT B CHILD D\n"
    dag = built({"x.dag": jobs + lines})
    assert list(dag.parents(3)) == [2, 0, 1]
    text = list(dag_lines(dag))[4:]
    assert text == ["PARENT C CHILD D", "PARENT A CHILD D", "PARENT A CHILD B", "PARENT B CHILD D"]


def test_junctions_keep_their_order() -> None:
    jobs = "".join(f"JOB {name} a\n" for name in "ABCDEF")
    lines = "PARENT E F CHILD A B\nPARENT C D CHILD A B\nPARENT E C CHILD B D\n"
    dag = built({"x.dag": jobs + lines}, use_join_nodes=False)
    assert list(dag_lines(dag))[6:] == [
        "PARENT E F CHILD A B",
        "PARENT C D CHILD A B",
        "PARENT C E CHILD B D",
    ]


def test_done_of_a_rescue_file() -> None:
    dag = built({"x.dag": "JOB A a DONE\nJOB B b\nJOB C c\n"})
    apply_progress(dag, "DONE B\nRETRY C 1\n", "r")
    other = rebuilt(dag)
    assert differences(dag, other) == []
    assert list(other.flags) == [DONE | USER_DONE, DONE, 0]


@pytest.mark.parametrize(
    ("files", "options"),
    [
        ({"x.dag": "JOB B b\nJOB A\\ a\nPARENT B CHILD A\\ B\n"}, {}),
        ({"x.dag": "FINAL F f\n"}, {"priority": 3}),
        ({"x.dag": "JOB A a\n"}, {"priority": 1 << 32}),
        (
            {
                "x.dag": "SPLICE T t\nSPLICE S t\nJOB A a\nJOB B b\nPARENT S T CHILD A B\n",
                "t": "JOB A a\n",
            },
            {"use_join_nodes": False},
        ),
    ],
    ids=["backslash-at-the-end", "priority-of-final", "priority-too-big", "junction-in-disorder"],
)
def test_what_can_not_be_written_is_refused(files: dict[str, str], options: Any) -> None:
    dag = built(files, **options)
    with pytest.raises(ValueError, match="can't be written in a DAG file") as caught:
        list(dag_lines(dag))
    assert "line=0" not in str(caught.value)


def test_a_feeder_of_one_of_several_dag_files_is_refused() -> None:
    files = {"x.dag": "JOB A a\nFEEDER BELOW 1 PROGRAM f\n", "y.dag": "JOB A a\n"}
    dag = build(list(files), files.__getitem__, BuildOptions())
    with pytest.raises(ValueError, match="can't be written in a DAG file: the FEEDER of one"):
        list(dag_lines(dag))


@pytest.mark.parametrize("word", sorted(set(EXAMPLES) - IN_NO_DAG_FILE))
def test_every_command(word: str) -> None:
    dag = built({"x.dag": JOBS + EXAMPLES[word] + "\n", **SPLICE})
    assert differences(dag, rebuilt(dag)) == []


@pytest.mark.parametrize("topic", TOPICS)
def test_the_corpus(topic: str) -> None:
    def check(name: str) -> None:
        dag, _, _ = ours(dag_cases()[name])
        if dag is None:
            return
        try:
            other = rebuilt(dag)
        except ValueError as error:
            special = [NodeKind.FINAL, NodeKind.SERVICE, NodeKind.PROVISIONER]
            assert "priority of a" in str(error) and any(map(dag.of_kind, special))
            return
        assert differences(dag, other) == []

    check_each(TOPICS[topic], check)


NODES = st.lists(st.integers(0, 6), min_size=1, max_size=4, unique=True).map(sorted)
EDGES = st.lists(st.tuples(NODES, NODES, st.booleans()), max_size=10)


@given(EDGES)
def test_edges_in_any_order(lines: list[tuple[list[int], list[int], bool]]) -> None:
    dag = Dag()
    for number in range(7):
        dag.add_node(f"N{number}", "x.sub")
    for parents, children, weak in lines:
        dag.add_edges(parents, children, weak=weak)
    dag.finish()
    assert differences(dag, rebuilt(dag)) == []


@settings(max_examples=150)
@given(st.integers(0, 1 << 32))
def test_random_dags_are_written_and_built_again(seed: int) -> None:
    sample = generate(Random(seed))
    try:
        dag = build(sample.dags, Files(sample).read, sample.options)
    except DagFileErrors:
        return
    try:
        other = rebuilt(dag)
    except ValueError as error:
        assert "can't be written in a DAG file" in str(error)
        return
    assert differences(dag, other) == []
