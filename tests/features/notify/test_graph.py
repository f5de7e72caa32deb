"""NOTIFY: what a Dag holds of it."""

from __future__ import annotations

from condor_pydagman.cli.unparse import dag_lines
from condor_pydagman.features.notify.commands import Notification, notifications_of
from tests.unit.graph.texts import JOBS, build_text

LINES = "NOTIFY dag.end PROGRAM x a\nNOTIFY * URL http://a/\n"


def test_each_line_adds_one() -> None:
    dag = build_text(JOBS + LINES)
    assert notifications_of(dag) == [
        Notification(0, "dag.end", "PROGRAM", "x a"),
        Notification(0, "*", "URL", "http://a/"),
    ]


def test_the_lines_stand_before_the_nodes() -> None:
    dag = build_text(f"{JOBS}{LINES}JOBSTATE_LOG j\n")
    assert list(dag_lines(dag))[:4] == ["JOBSTATE_LOG j", *LINES.splitlines(), "JOB A a.sub"]


def test_those_of_a_splice_have_no_effect() -> None:
    files = {"s.dag": JOBS + LINES}
    assert build_text("SPLICE S s.dag\n", files).features == {}
