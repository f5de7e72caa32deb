"""CHOOSE: which nodes are left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.cli.unparse import dag_lines
from condor_pydagman.errors import UsageError
from condor_pydagman.features.choose.commands import Choose, choices_of, chosen, leave_out, listed
from condor_pydagman.graph.apply_rescue import apply_progress
from condor_pydagman.graph.model import DONE, LEFT_OUT, Dag
from tests.unit.graph.texts import JOBS, build_text, error

# A -> B1, B2 -> C -> D, and E beside them.
TEXT = (
    "JOB A x\nJOB B1 x\nJOB B2 x\nJOB C x\nJOB D x\nJOB E x\nFINAL F x\nSERVICE V x\n"
    "PARENT A CHILD B1 B2\nPARENT B1 B2 CHILD C\nPARENT C CHILD D\n"
)


def runs(dag: Dag) -> str:
    return " ".join(name for name, flags in zip(dag.names, dag.flags) if not flags & DONE)


@pytest.mark.parametrize(
    ("choices", "which"),
    [
        ([("FROM", "C")], "C D F V"),
        ([("FROM", "B1")], "B1 C D F V"),
        ([("FROM", "B1", "E")], "B1 C D E F V"),
        ([("FROM", "B1"), ("FROM", "E")], "B1 C D E F V"),
        ([("FROM", "B?")], "B1 B2 C D F V"),
        ([("UNTIL", "C")], "A B1 B2 C E F V"),
        ([("UNTIL", "A")], "A E F V"),
        ([("UNTIL", "A", "C")], "A B1 B2 C E F V"),
        ([("ONLY", "C")], "A B1 B2 C F V"),
        ([("ONLY", "E")], "E F V"),
        ([("FROM", "B1"), ("ONLY", "C")], "B1 C F V"),
        ([("FROM", "B1"), ("UNTIL", "C")], "B1 C F V"),
        ([("FROM", "A"), ("UNTIL", "B1")], "A B1 B2 F V"),
    ],
)
def test_which_nodes_run(choices: list[tuple[str, ...]], which: str) -> None:
    dag = build_text(TEXT)
    left = leave_out(
        dag, [Choose(0, kind, names) for kind, *rest in choices for names in [(*rest,)]]
    )
    assert runs(dag) == which
    assert left == sum(bool(flags & LEFT_OUT) for flags in dag.flags) == 8 - len(which.split())


def test_wide_lines_are_followed_through_their_junctions() -> None:
    text = "JOB A x\nJOB B x\nJOB C x\nJOB D x\nPARENT A B CHILD C D\n"
    dag = build_text(text, use_join_nodes=False)
    assert dag.vertex_count > len(dag)
    leave_out(dag, [Choose(0, "FROM", ("A",)), Choose(0, "ONLY", ("C",))])
    assert runs(dag) == "A C"


def test_nodes_that_are_done_are_not_left_out() -> None:
    dag = build_text(TEXT)
    apply_progress(dag, "DONE A\nDONE C\nCHOOSE FROM C\n", "r")
    assert choices_of(dag) == [Choose(0, "FROM", ("C",))]
    assert leave_out(dag, choices_of(dag)) == 3
    assert runs(dag) == "D F V"
    assert not dag.flags[dag.ids["A"]] & LEFT_OUT


def test_a_choice_of_the_command_line_replaces_those_of_files() -> None:
    dag = build_text(TEXT + "CHOOSE FROM C\n")
    leave_out(dag, listed("ONLY", ["E, A", " ,"]))
    assert runs(dag) == "A E F V"
    assert choices_of(dag) == [Choose(0, "ONLY", ("E", "A"))]
    assert leave_out(build_text(TEXT), listed("FROM", [" "])) == 0


def test_lines_are_kept_when_the_dag_is_written_out() -> None:
    dag = build_text("SPLICE S u\nCHOOSE ONLY S+A E*\nJOB E1 x\n", {"u": JOBS})
    leave_out(dag, choices_of(dag))
    text = "\n".join(dag_lines(dag))
    assert "CHOOSE ONLY S+A E*" in text
    assert "DONE" not in text


@pytest.mark.parametrize(
    ("text", "files", "message"),
    [
        (JOBS + "CHOOSE FROM AA\n", {}, "No node is called AA; did you mean A?"),
        (JOBS + "CHOOSE FROM q*\n", {}, "No node is called q*"),
        (TEXT + "CHOOSE FROM F\n", {}, "FINAL node F runs in any case"),
        ("SPLICE S u\n", {"u": JOBS + "CHOOSE FROM A\n"}, "CHOOSE can't be used in a splice"),
    ],
)
def test_mistakes(text: str, files: dict[str, str], message: str) -> None:
    assert message in str(error(text, files))


def test_nothing_is_chosen() -> None:
    dag = build_text(TEXT)
    with pytest.raises(UsageError, match="No node is chosen by all of FROM D; ONLY E"):
        leave_out(dag, [Choose(0, "FROM", ("D",)), Choose(0, "ONLY", ("E",))])


def test_a_name_goes_before_a_pattern() -> None:
    dag = build_text("JOB a[1] x\nJOB a1 x\n")
    assert list(chosen(dag, "a[1]")) == [0]
    assert list(chosen(dag, "a?")) == [1]


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20), st.integers(0, 7))
def test_what_runs_is_closed(pairs: list[tuple[int, int]], node: int) -> None:
    """Of the nodes of ONLY all parents run; of those of FROM all children."""
    edges = "".join(f"PARENT N{low} CHILD N{high}\n" for low, high in pairs if low < high)
    text = "".join(f"JOB N{number} x\n" for number in range(8)) + edges
    for kind in ("ONLY", "FROM"):
        dag = build_text(text)
        leave_out(dag, [Choose(0, kind, (f"N{node}",))])
        for each in range(8):
            if not dag.flags[each] & DONE:
                near = dag.parents(each) if kind == "ONLY" else dag.children(each)
                assert not any(dag.flags[other] & DONE for other in near)


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        ("S", "S is a splice: write S+* for its nodes"),
        ("w_{e}", "w_{e} is a sweep: write w_* for its nodes"),
        ("A UNTIL C", "UNTIL begins a line of its own: CHOOSE UNTIL ..."),
        ("A,B", "blanks stand between names, not commas"),
        ("Q", "a name, or a pattern with *, ? and [...]"),
    ],
)
def test_what_to_write_instead(names: str, hint: str) -> None:
    text = JOBS + f"SPLICE S s\nSWEEP w_{{e}} x OVER e IN 1 2\nCHOOSE FROM {names}\n"
    assert error(text, {"s": "JOB X x\n"}).hint == hint
