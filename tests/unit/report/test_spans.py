"""What attempts did when: spans, their numbers over time, the chain that made a run as long."""

from __future__ import annotations

from condor_pydagman.follow.run_model import Hold
from condor_pydagman.report.critical_path import critical_path
from condor_pydagman.report.spans import BUCKETS, PARTS, Span, TimeAxis, concurrency, spans
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.report.runs import DAG, make_dag, make_run


def test_parts_of_attempts() -> None:
    found = {(span.node, span.number): span for span in spans(make_run(), 1040.0)}
    assert found["A", 0].parts == (("pre", 1000, 1002), ("idle", 1002, 1004), ("run", 1004, 1010))
    assert found["B", 1].parts[-1] == ("post", 1020, 1024)
    assert (found["B", 1].begin, found["B", 1].end) == (1016, 1024)
    assert [found[key].failed for key in (("B", 0), ("B", 1), ("D", 0))] == [True, False, True]
    assert found["A", 0].seconds("idle") == 2


def test_a_job_that_is_held_and_evicted_does_not_run_meanwhile() -> None:
    """Held while it waits; evicted; held while it runs, released, and removed from the queue."""
    run = make_run()
    (last,) = run.nodes["D"].attempts  # 1025, 1030 to 1040
    last.pauses, last.stopped = ((1032, 1033), (1034, 1038)), 1039
    last.holds = [
        Hold(time, "", 1, 0, "7.0", released)
        for time, released in ((1026, 1027), (1034, 1036), (1039, 1040))
    ]
    (span,) = [span for span in spans(run, 1099.0) if span.node == "D"]
    assert span.parts == (
        ("idle", 1025, 1026), ("held", 1026, 1027), ("idle", 1027, 1030),
        ("run", 1030, 1032), ("idle", 1032, 1033),
        ("run", 1033, 1034), ("held", 1034, 1036), ("idle", 1036, 1038),
        ("run", 1038, 1039), ("held", 1039, 1040),
    )  # fmt: skip


def test_what_goes_on_ends_now() -> None:
    run = make_run()
    (last,) = run.nodes["D"].attempts
    last.ended, last.ended_procs, last.over = 0.0, 0, False
    run.nodes["D"].status = NodeStatus.SUBMITTED
    (span,) = [span for span in spans(run, 1099.0) if span.node == "D"]
    assert (span.end, span.failed) == (1099.0, None)
    last.started = 0.0
    (span,) = [span for span in spans(run, 1099.0) if span.node == "D"]
    assert span.parts == (("idle", 1025, 1099.0),)


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
