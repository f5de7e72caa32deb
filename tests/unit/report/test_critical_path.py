"""The chain of nodes that made a run as long as it was."""

from __future__ import annotations

from condor_pydagman.report.critical_path import critical_path
from condor_pydagman.report.spans import Span, spans
from tests.unit.report.runs import make_dag, make_run


def by_node() -> dict[str, list[Span]]:
    found: dict[str, list[Span]] = {}
    for span in spans(make_run(), 1040.0):
        found.setdefault(span.node, []).append(span)
    return found


def test_the_path() -> None:
    path = critical_path(make_dag(), by_node(), 1000.0)
    assert [step.node for step in path] == ["A", "B", "D"]
    assert sum(step.seconds for step in path) == 40
    second = path[1]
    assert (second.before, second.idle, second.run, second.scripts, second.between) == (
        0, 2, 7, 4, 1
    )  # fmt: skip


def test_a_parent_that_did_not_run_is_passed_over() -> None:
    found = by_node()
    del found["B"], found["C"]
    path = critical_path(make_dag(), found, 1000.0)
    assert [step.node for step in path] == ["A", "D"]
    assert path[1].before == 15


def test_nothing_has_run() -> None:
    assert critical_path(make_dag(), {}, 1000.0) == []
