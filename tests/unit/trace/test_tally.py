"""Numbers of a run, counted anew and kept up to date."""

from __future__ import annotations

from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.run_history import NodeRun, Run
from condor_pydagman.trace.tally import WINDOW_S, Tally
from condor_pydagman.vocabulary import NodeStatus


def a_run(**states: NodeStatus) -> Run:
    run = Run()
    for number, (name, status) in enumerate(states.items()):
        node = run.nodes[name] = NodeRun(name, status)
        node.since = 100.0 + number
    return run


def change(run: Run, name: str, status: str, time: float = 200.0) -> DagEvent:
    node = run.nodes[name]
    was, node.status, node.since = node.status, NodeStatus[status], time
    return DagEvent("node.state", time, name, 0, data={"status": status, "was": was.name})


def test_changes_give_what_counting_anew_would() -> None:
    run = a_run(A=NodeStatus.NOT_READY, B=NodeStatus.SUBMITTED, C=NodeStatus.ERROR)
    tally = Tally(run)
    assert list(tally.in_queue) == ["B"]
    tally.take(
        [
            change(run, "A", "SUBMITTED"),
            change(run, "B", "DONE"),
            change(run, "C", "READY"),
            DagEvent("node.retry", 200.0, "C"),
            DagEvent("node.state", 200.0, "X", data={"status": "DONE", "was": "READY"}),
        ]
    )
    anew = Tally(run)
    assert +tally.by_status == anew.by_status
    assert list(tally.in_queue) == list(anew.in_queue) == ["A"]
    assert not tally.failures
    tally.take([change(run, "A", "ERROR")])
    assert [node.name for node in tally.failures] == ["A"]


def test_the_rate_is_that_of_the_last_minutes() -> None:
    run = a_run(**{f"n{number}": NodeStatus.DONE for number in range(8)})
    run.begun = 90.0
    tally = Tally(run)
    assert tally.per_second(110.0) == 8 / 20
    assert tally.per_second(100 + WINDOW_S) == 8 / WINDOW_S
    assert tally.per_second(104 + WINDOW_S) == 0.0  # four nodes are too few
    assert Tally(a_run(A=NodeStatus.DONE)).per_second(110.0) == 0.0


def test_nodes_that_wait_for_no_parent_are_ready() -> None:
    lines = [f"JOB {name} a.sub\n" for name in "ABCD"] + ["PARENT A B CHILD C\n"]
    dag = build(["t.dag"], lambda _: iter(lines), BuildOptions())
    run = a_run(**dict.fromkeys("ABCD", NodeStatus.NOT_READY))
    tally = Tally(run, dag)
    assert tally.ready == {"A", "B", "D"}
    tally.take([change(run, "A", "SUBMITTED"), change(run, "A", "DONE")])
    assert tally.ready == {"B", "D"}
    tally.take([change(run, "B", "DONE"), change(run, "B", "DONE")])
    assert tally.ready == Tally(run, dag).ready == {"C", "D"}
    tally.take([change(run, "C", "PRERUN"), change(run, "D", "ERROR")])
    assert tally.ready == Tally(run, dag).ready == set()


def test_service_nodes_are_not_counted() -> None:
    lines = ["JOB A a.sub\n", "SERVICE S a.sub\n"]
    dag = build(["t.dag"], lambda _: iter(lines), BuildOptions())
    run = a_run(A=NodeStatus.NOT_READY, S=NodeStatus.NOT_READY)
    tally = Tally(run, dag)
    tally.take([change(run, "S", "SUBMITTED")])
    for one in (tally, Tally(run, dag)):
        assert +one.by_status == {NodeStatus.NOT_READY: 1}
        assert (one.ready, one.in_queue) == ({"A"}, {})
