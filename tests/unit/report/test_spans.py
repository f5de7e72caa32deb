"""What attempts did when: spans, their numbers over time, the chain that made a run as long."""

from __future__ import annotations

from condor_pydagman.report.critical_path import critical_path
from condor_pydagman.report.spans import BUCKETS, PARTS, Span, TimeAxis, concurrency, spans
from tests.unit.report.runs import DAG, make_dag, make_run

# Numbers of attempts over time.


def test_the_greatest_numbers_and_the_sums() -> None:
    found = spans(make_run(), 1040.0)
    seen = concurrency(found, TimeAxis(1000.0, 1040.0))
    assert seen.most == {"pre": 1, "idle": 2, "held": 1, "run": 2, "post": 1}
    for part, values in seen.counts.items():
        assert len(values) == BUCKETS
        total = sum(span.seconds(part) for span in found)
        assert abs(sum(values) * seen.step - total) < 1e-6


def test_an_end_and_a_begin_at_one_time_are_not_two() -> None:
    found = [Span(name, 0, at, at + 1, (("run", at, at + 1),), False) for name, at in
             (("A", 0.0), ("B", 1.0), ("C", 2.0))]  # fmt: skip
    assert concurrency(found, TimeAxis(0.0, 3.0)).most["run"] == 1


def test_nothing_and_no_time() -> None:
    assert concurrency([], TimeAxis(5.0, 5.0)).most == dict.fromkeys(PARTS, 0)


# The chain of nodes that made a run as long as it was.


def by_node() -> dict[str, list[Span]]:
    found: dict[str, list[Span]] = {}
    for span in spans(make_run(), 1040.0):
        found.setdefault(span.node, []).append(span)
    return found


def test_a_parent_that_did_not_run_is_passed_over() -> None:
    found = by_node()
    del found["B"], found["C"]
    path = critical_path(make_dag(), found, 1000.0)
    assert [step.node for step in path] == ["A", "D"]
    assert path[1].before == 15


def test_nodes_without_edges_are_no_part_of_it() -> None:
    lines = f"{DAG}FINAL F f.sub\nPROVISIONER P p.sub\nSERVICE S s.sub\n"
    found = by_node()
    for name in "FPS":
        found[name] = [Span(name, 0, 990.0, 1050.0, (("run", 990.0, 1050.0),), False)]
    path = critical_path(make_dag(lines), found, 1000.0)
    assert [step.node for step in path] == ["A", "B", "D"]
    only = {"F": found["F"]}
    assert critical_path(make_dag("JOB A a.sub\nFINAL F f.sub\n"), only, 1000.0) == []


def test_nothing_has_run() -> None:
    assert critical_path(make_dag(), {}, 1000.0) == []
