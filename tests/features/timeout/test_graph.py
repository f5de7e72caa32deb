"""TIMEOUT: limits of nodes in a Dag."""

from __future__ import annotations

import pytest

from condor_pydagman.cli.unparse import dag_lines
from condor_pydagman.features.timeout.commands import Timeout, TimeoutsOfDag, timeouts_of
from condor_pydagman.graph.problems import DagFileErrors
from tests.unit.graph.texts import JOBS, build_text


def test_limits_of_timeout_stay_until_a_later_line_says_otherwise() -> None:
    dag = build_text(
        JOBS + "FINAL F x\nTIMEOUT all_nodes QUEUED 1h\nTIMEOUT A TOTAL 2h\nTIMEOUT B QUEUED 0\n"
        "TIMEOUT F RUNNING 5\nTIMEOUT C RUNNING 0\n"
    )
    assert timeouts_of(dag) == {0: Timeout(3600, 0, 7200), 2: Timeout(3600), 3: Timeout(0, 5)}


@pytest.mark.parametrize(
    "line", ["FINAL N x", "PROVISIONER N x", "SERVICE N x", "DATA N x", "SUBDAG EXTERNAL N x"]
)
def test_any_kind_of_node_has_a_timeout(line: str) -> None:
    dag = build_text(f"{JOBS}{line}\nTIMEOUT N TOTAL 7\n")
    assert timeouts_of(dag) == {dag.ids["N"]: Timeout(total=7)}


def test_limits_of_nodes_in_a_splice() -> None:
    dag = build_text("SPLICE S s\nJOB X x\n", {"s": f"{JOBS}TIMEOUT A TOTAL 8\n"})
    assert timeouts_of(dag) == {dag.ids["S+A"]: Timeout(total=8)}


def test_limits_with_warn_are_others() -> None:
    dag = build_text(JOBS + "TIMEOUT A RUNNING 7\nTIMEOUT A RUNNING 5 WARN\nTIMEOUT A TOTAL 9\n")
    assert timeouts_of(dag) == {0: Timeout(running=7, total=9, late_running=5)}
    lines = list(TimeoutsOfDag.of(dag).node_lines(dag, 0))
    assert [line[2:] for line in lines] == [("", None, 7, 9, ""), ("", None, 5, None, "WARN")]


def test_limits_of_a_category_are_of_those_that_are_in_it_above_the_line() -> None:
    splice = f"{JOBS}CATEGORY A c\nTIMEOUT CATEGORY c RUNNING 5 WARN\n"
    late = "TIMEOUT CATEGORY c TOTAL 7\n"
    text = f"SPLICE S s\n{JOBS}CATEGORY A c\n{late}CATEGORY B c\n"
    dag = build_text(text, {"s": splice})
    assert timeouts_of(dag) == {
        dag.ids["S+A"]: Timeout(late_running=5),
        dag.ids["A"]: Timeout(total=7),
    }
    assert list(TimeoutsOfDag.of(dag).warnings(dag)) == [
        "Warning: 1 of 2 nodes of category c get their CATEGORY line behind the line TIMEOUT"
        " CATEGORY, which does not mean them"
    ]


def test_a_dag_with_limits_of_a_category_is_written_by_node() -> None:
    dag = build_text(f"{JOBS}CATEGORY A c\nTIMEOUT CATEGORY c TOTAL 7 WARN\n")
    lines = [*dag_lines(dag)]
    assert "TIMEOUT A TOTAL 7 WARN" in lines
    again = build_text("".join(f"{line}\n" for line in lines))
    assert TimeoutsOfDag.of(again) == TimeoutsOfDag.of(dag)


def test_a_category_without_nodes() -> None:
    with pytest.raises(DagFileErrors, match="No node is in category c"):
        build_text(f"{JOBS}TIMEOUT CATEGORY c TOTAL 7\nCATEGORY A c\n")
