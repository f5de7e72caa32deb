"""Rescue files."""

from __future__ import annotations

import pytest

from condor_pydagman.features.timeout.commands import Timeout, timeouts_of
from condor_pydagman.graph.apply_rescue import apply_progress, read_saved
from condor_pydagman.graph.build import BuildOptions, DagFileErrors, build
from condor_pydagman.graph.model import DONE, Dag, Retry
from condor_pydagman.language.keywords import manual
from tests.unit.graph.texts import build_text

WORDS = [row.word for row in manual() if row.in_rescue]
ONLY = f"ERROR: A rescue or save file can hold {', '.join(WORDS[:-1])} and {WORDS[-1]} lines only"


@pytest.fixture
def dag() -> Dag:
    text = "JOB A x\nJOB B x\nRETRY A 3 UNLESS-EXIT 2\n"
    return build(["a.dag", "b.dag"], lambda _: text, BuildOptions())


def test_done_and_retries(dag: Dag) -> None:
    text = "# Rescue\n\nDONE 0.B\nDONE 1.A\nDONE 0.B\nRETRY 0.A 1\nRETRY 1.B 4 UNLESS-EXIT 5\n"
    progress = apply_progress(dag, text, "a.dag.rescue001")
    assert progress.done == [1, 2]
    assert progress.retries == {0: Retry(1, (2,)), 3: Retry(4, (5,))}
    assert dag.retries[0] == Retry(1, (2,))
    assert [bool(flag & DONE) for flag in dag.flags] == [False, True, True, False]


def test_nodes_of_splices_have_their_full_names() -> None:
    dag = build_text("SPLICE S s\nSERVICE V x\nFINAL F x\n", {"s": "JOB A x\nJOB B x\n"})
    progress = apply_progress(dag, "DONE S+B\nRETRY ALL_NODES 2\n", "r")
    assert [dag.names[node] for node in progress.done] == ["S+B"]
    assert {dag.names[node] for node in progress.retries} == {"S+A", "S+B"}


def test_what_a_person_had_set_goes_before_what_the_dag_file_says() -> None:
    options = BuildOptions(priority=10)
    text = 'JOB A x\nVARS A x="1" y="2"\nTIMEOUT A TOTAL 9\nCATEGORY A c\nPRIORITY A 1\n'
    dag = build(["a.dag"], lambda _: text, options)
    rescue = 'PRIORITY A 5\nTIMEOUT A RUNNING 7\nCATEGORY A s+d\nVARS A PREPEND y="3"\n'
    apply_progress(dag, rescue, "r", options)
    assert dag.priorities == {0: 15}
    assert timeouts_of(dag) == {0: Timeout(0, 7, 9)}
    assert dag.categories == {0: "s+d"}
    assert [(one.key, one.value) for one in dag.variables[0]] == [("x", "1"), ("y", "3")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nDONE Z", "ERROR: Unknown node Z referenced"),
        ("DONE", "ERROR: r:1 Failed to parse DONE command: No node name specified"),
        ("JOB C x", ONLY),
        ("SCRIPT PRE 0.A x", ONLY),
        ('VARS Z x="1"', "ERROR: Unknown node Z referenced"),
        ("PRIORITY Z 1", "ERROR: Unknown node Z referenced"),
        ("FINAL F x", ONLY),
        ("CONFIG x", ONLY),
        ("SUBMIT-DESCRIPTION d {\nx = 1\n}", ONLY),
        ("JOB 0.A x", "ERROR: Node 0.A already exists in DAG."),
        ("SUBDAG EXTERNAL C x", ONLY),
        ("SPLICE C x", ONLY),
        ("INCLUDE x", ONLY),
        ("PARENT 0.A CHILD 0.B", ONLY),
        ("DUNE 0.A", "ERROR: r:1 'DUNE' is not a valid DAG command"),
        ("REJECT", "DAG marked as rejected at r:1"),
    ],
)
def test_errors_have_their_place(dag: Dag, text: str, message: str) -> None:
    with pytest.raises(DagFileErrors) as caught:
        apply_progress(dag, text, "r")
    assert str(caught.value) == message
    (found,) = caught.value.errors
    assert (found.file, found.line) == ("r", 2 if text[0] == "\n" else 1)


def test_a_rescue_file_that_is_a_whole_dag_is_told_what_it_is(dag: Dag) -> None:
    with pytest.raises(DagFileErrors) as caught:
        apply_progress(dag, "JOB 0.A x\nJOB 0.B x DONE\n", "r")
    assert len(caught.value.errors) == 2
    assert "7.7.2" in caught.value.errors[0].hint


def test_errors_are_counted(dag: Dag) -> None:
    with pytest.raises(DagFileErrors) as caught:
        apply_progress(dag, "DONE Z\n" * 1500, "r")
    assert len(caught.value.errors) == 1000


def test_retries_left_keep_the_options_of_the_dag() -> None:
    dag = build_text("JOB A x\nRETRY A 3 DELAY 5 ONLY-IF 1\nTIMEOUT A TOTAL 9\n")
    progress = apply_progress(dag, "RETRY A 2\n", "r")
    assert progress.retries == {0: Retry(2, (), (1,), 5)}
    assert timeouts_of(dag) == {0: Timeout(total=9)}


def test_a_final_node_is_never_done_before() -> None:
    dag = build_text("JOB A x\nFINAL F x\n")
    progress = apply_progress(dag, "DONE F\n", "r", BuildOptions(strict=0))
    assert progress.done == []
    assert list(dag.flags) == [0, 0]


def test_strictness_is_that_of_the_dag() -> None:
    dag = build(["a.dag"], lambda _: "JOB A x\nFINAL F x\n", BuildOptions())
    with pytest.raises(DagFileErrors, match="Warning is fatal"):
        apply_progress(dag, "DONE F\n", "r", BuildOptions(strict=1))
    assert apply_progress(dag, "DONE F\n", "r", BuildOptions(strict=0)).done == []


def test_a_rescue_file_is_read_without_its_dag() -> None:
    text = "# Rescue\n\nDONE 0.B\nDONE S+A\nDONE 0.B\nRETRY 0.A 1 DELAY 3\n"
    assert read_saved(text, "r") == (["0.B", "S+A"], {"0.A": 1})


def test_names_that_end_as_continued_lines_are_read_without_their_dag() -> None:
    assert sorted(read_saved("DONE A\\\nDONE B\nDONE C\v\n", "r").done) == ["A\\", "B", "C\v"]


def test_other_lines_are_refused_without_their_dag() -> None:
    with pytest.raises(DagFileErrors) as caught:
        read_saved("DONE A\nJOB B b\nRETRY C many\n", "r")
    assert [error.line for error in caught.value.errors] == [2, 3]
    assert str(caught.value) == ONLY


@pytest.mark.parametrize("name", ["c\\", "c\v", "c\f"])
@pytest.mark.parametrize("word", ["DONE", "SKIPPED", "NOT_NEEDED", "NOT_DONE"])
def test_lines_that_end_with_odd_names(name: str, word: str) -> None:
    dag = make_odd(name)
    text = f"{word} {name}\nDONE Z\n"
    done = [node for node in (0, 1) if node or word != "NOT_DONE"]
    assert apply_progress(dag, text, "r").done == done
    assert read_saved(text, "r").done == [(name, "Z")[node] for node in done]


def make_odd(name: str) -> Dag:
    dag = Dag(["t.dag"])
    dag.add_node(name, "x")
    dag.add_node("Z", "x")
    dag.finish()
    return dag
