"""TIMEOUT: limits of nodes in a Dag."""

from __future__ import annotations

import pytest

from condor_pydagman.features.timeout.commands import Timeout, timeouts_of
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
