"""Cycles, nodes that never run, categories, lines that do nothing."""

from __future__ import annotations

import pytest

from tests.unit.lint.paper import codes, found, linted

ABC = "JOB A a.sub\nJOB B a.sub\nJOB C a.sub\n"
CHAIN = "PARENT A CHILD B\nPARENT B CHILD C\n"


def test_an_ordinary_dag_is_left_alone() -> None:
    dag = ABC + CHAIN + "RETRY A 3\nSCRIPT PRE A pre.sh x\nPRE_SKIP A 2\nPRIORITY B 3\n"
    assert codes(dag + "CATEGORY C big\nMAXJOBS big 2\nABORT-DAG-ON B 1\n") == []


def test_a_cycle_is_shown_as_its_path_at_the_line_that_closes_it() -> None:
    cycle, behind = sorted(
        found("\nJOB D a.sub\n" + ABC + CHAIN + "PARENT C CHILD A D\n"),
        key=lambda finding: finding.code,
    )
    assert cycle.code == "DAG201"
    assert cycle.message.endswith("A -> B -> C -> A")
    assert (cycle.line, cycle.text) == (8, "PARENT C CHILD A D")
    assert (behind.code, behind.node) == ("DAG202", "D")
    assert behind.message == "1 node never runs, on or behind a cycle: D"


def test_nodes_behind_a_cycle_are_told_together() -> None:
    many = "".join(f"JOB N{number} a.sub\nPARENT A CHILD N{number}\n" for number in range(7))
    (one,) = (one for one in found(f"{ABC}{CHAIN}PARENT C CHILD A\n{many}") if not one.words)
    named = "N0, N1, N2, N3, N4 and 2 more"
    assert one.message == f"7 nodes never run, on or behind a cycle: {named}"


def test_a_done_node_breaks_the_wait_of_those_behind_it() -> None:
    dag = "JOB A a.sub DONE\nJOB B a.sub\nPARENT A CHILD B\nPARENT B CHILD A\n"
    assert "DAG202" not in codes(dag)


def test_a_closed_category_and_what_waits_for_it() -> None:
    dag = ABC + CHAIN + "CATEGORY B shut\nMAXJOBS shut 0\n"
    behind, closed = found(dag)
    assert (closed.code, closed.line, closed.node) == ("DAG203", 7, "B")
    assert (behind.code, behind.node) == ("DAG204", "C")


def test_a_done_node_before_its_parents() -> None:
    dag = "JOB A a.sub\nJOB B a.sub DONE\nJOB C a.sub DONE\nPARENT A CHILD B C\n"
    assert codes(dag) == ["DAG205", "DAG205"]
    assert codes("JOB A a.sub DONE\nJOB B a.sub DONE\nPARENT A CHILD B\n") == []


@pytest.mark.parametrize("joins", [True, False])
def test_done_nodes_below_a_wide_line(joins: bool) -> None:
    nodes = "JOB A a.sub DONE\nJOB B a.sub DONE\nJOB C a.sub DONE\nJOB D a.sub DONE\n"
    dag = nodes + "PARENT A B CHILD C D\n"
    assert linted(dag, use_join_nodes=joins).kept == []
    undone = dag.replace("B a.sub DONE", "B a.sub")
    assert linted(undone, use_join_nodes=joins).of_code("DAG205") == 2


def test_categories_without_limit_and_limits_without_category() -> None:
    no_limit, no_node = found("JOB A a.sub\nCATEGORY A c\nMAXJOBS d 3\n")
    assert (no_limit.code, no_limit.line) == ("DAG206", 2)
    assert (no_node.code, no_node.line) == ("DAG207", 3)


@pytest.mark.parametrize(
    "line",
    [
        "ENOUGH CATEGORY c 1",
        "BRAKE b 0 CATEGORY c HALT",
        "SHARED_LIMIT tape CATEGORY c",
        "RUN_IF C Category.c.Done > 0",
    ],
)
def test_what_else_a_category_is_for(line: str) -> None:
    assert codes(ABC + CHAIN + f"CATEGORY B c\n{line}\n") == []


def test_one_lonely_node_is_told_many_are_not() -> None:
    assert codes(ABC + "JOB L a.sub\n" + CHAIN) == ["DAG208"]
    assert codes(ABC + "JOB L a.sub\nJOB M a.sub\n" + CHAIN) == []
    assert codes(ABC) == []
    assert codes(ABC + CHAIN + "FINAL F a.sub\nSERVICE S a.sub\n") == []


def test_lines_that_do_nothing() -> None:
    assert codes("JOB A a.sub\nSCRIPT PRE A pre.sh\nPRE_SKIP A 0\n") == ["DAG403"]
    assert codes("JOB A a.sub\nPRE_SKIP A 1\n") == ["DAG404"]
    assert codes("JOB A a.sub\nRETRY A 0\n") == ["DAG405"]
    assert codes("JOB A a.sub\nABORT-DAG-ON A 0\n") == ["DAG406"]


@pytest.mark.parametrize(
    "options",
    [
        *("BACKOFF 2", "MAX-DELAY 5", "DELAY 0 BACKOFF 2", "DELAY 10 MAX-DELAY 9"),
        *("DELAY 0 MAX-DELAY 5", "ONLY-IF 1,2 UNLESS-EXIT 3"),
    ],
)
def test_options_of_retry_that_change_nothing(options: str) -> None:
    assert codes(f"JOB A a.sub\nRETRY A 1 {options}\n") == ["DAG408", "DAG411"]


def test_a_return_value_that_is_to_be_retried_and_is_not() -> None:
    one, _ = found("JOB A a.sub\nRETRY A 1 ONLY-IF 3,-9,1 UNLESS-EXIT -9,3\n")
    assert one.code == "DAG409"
    assert one.message == "RETRY of node A has -9,3 in ONLY-IF and in UNLESS-EXIT"


def test_what_stock_does_not_know_is_told_once() -> None:
    assert codes(ABC + "RETRY ALL_NODES 2 DELAY 5\n") == ["DAG411"]
    assert codes(ABC + "RETRY A 2 UNLESS-EXIT 1,2\n") == ["DAG411"]
    assert codes(ABC + "RETRY A 2 UNLESS-EXIT 1\nRETRY B 2\nRETRY C 1 DELAY 0\n") == []


def test_warnings_of_dagman_itself() -> None:
    (finding,) = found("JOB A a.sub\nPRIORITY A 1\nPRIORITY A 2\n")
    assert finding.code == "DAG106"
    assert finding.message.startswith("New priority 2 for node A")


# Words of scripts that look like macros.

SWEEP = "JOB Z a.sub\nSWEEP s_{e} a.sub OVER e IN 1 2\nPARENT s_{e} CHILD Z\nVARS Z k=1\n"


def told(line: str) -> list[tuple[int, str]]:
    return [(one.line, one.message) for one in found(SWEEP + line) if one.code == "DAG418"]


@pytest.mark.parametrize("word", ["$(e)", "{e}", "$(JOB)"])
def test_a_key_of_vars(word: str) -> None:
    assert told(f"SCRIPT PRE s_{{e}} pre.sh {word} x\n") == [
        (5, f"the PRE script of node s_1 and 1 other node gets {word} unexpanded")
    ]


def test_other_words() -> None:
    assert told("SCRIPT PRE s_{e} pre.sh $JOB {f} $(k) x{}\nSCRIPT POST Z pre.sh $(e)\n") == []
