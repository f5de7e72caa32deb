"""What kept the nodes of a path from being submitted."""

from __future__ import annotations

from condor_pydagman.follow.run_model import Halted, NodeRun, Run
from condor_pydagman.report.critical_path import critical_path
from condor_pydagman.report.groups import held_back
from condor_pydagman.report.spans import spans
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.report.runs import attempt, make_dag

DAG = """\
JOB A a.sub
JOB B b.sub
JOB C c.sub
"""


def in_turn() -> Run:
    """A, B and C, each for 10 s, one behind the other."""
    run = Run()
    run.begun, run.ended = 1000.0, 1030.0
    for number, name in enumerate("ABC"):
        begin = 1000.0 + 10 * number
        run.nodes[name] = NodeRun(name, NodeStatus.DONE)
        run.nodes[name].attempts = [attempt(0, begin, begin + 1, begin + 10)]
    return run


def found(run: Run, lines: str = "") -> list[tuple[str, float]]:
    dag, seen = make_dag(DAG + lines), spans(run, 1030.0)
    path = critical_path(dag, {span.node: [span] for span in seen}, 1000.0)
    assert [step.node for step in path] == ["C"]
    return held_back(run, dag, seen, path, 1030.0)


def test_a_category_that_is_full() -> None:
    lines = "CATEGORY A big\nCATEGORY B big\nCATEGORY C big\nMAXJOBS big 1\n"
    assert found(in_turn(), lines) == [("MAXJOBS big 1 full", 20.0)]
    assert found(in_turn(), lines.replace("big 1", "big 2")) == []


def test_a_category_of_others() -> None:
    assert found(in_turn(), "CATEGORY A big\nCATEGORY B big\nMAXJOBS big 1\n") == []


def test_throttles_of_the_whole_dag() -> None:
    run = in_turn()
    run.limits = {"DAGMan_MaxJobs": 1, "DAGMan_MaxIdle": 1000, "DAGMan_MaxPreScripts": 0}
    assert found(run) == [("MaxJobs 1 reached", 20.0)]


def test_what_is_longest_counts() -> None:
    run = in_turn()
    run.limits = {"DAGMan_MaxIdle": 1}  # A and B are idle for a second each
    assert found(run) == [("MaxIdle 1 reached", 2.0)]
    run.halts = [Halted(1002.0, 1005.0), Halted(1015.0)]
    assert found(run) == [("the DAG halted", 8.0)]
