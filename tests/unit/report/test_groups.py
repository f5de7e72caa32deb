"""Nodes of one kind: their times, failures and resources."""

from __future__ import annotations

from condor_pydagman.follow.run_model import NodeRun, Run
from condor_pydagman.report.groups import failure_kinds, group_names, groups, resources
from condor_pydagman.report.spans import spans
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.report.runs import make_dag, make_run


def test_groups_by_submit_description_or_by_names() -> None:
    run = make_run()
    assert group_names(run, make_dag())["B"] == "work.sub"
    numbered = Run()
    numbered.nodes = {name: NodeRun(name) for name in ("sim_01", "sim_2")}
    assert set(group_names(numbered, None).values()) == {"sim_#"}


def test_times_of_groups() -> None:
    run = make_run()
    made = {group.name: group for group in
            groups(run, spans(run, 1040.0), group_names(run, make_dag()))}  # fmt: skip
    work = made["work.sub"]
    assert (work.nodes, work.attempts, work.failed) == (2, 3, 0)
    assert work.run == ((4 + 3 + 1) / 3, 4)
    assert work.total_run == 8
    assert made["d.sub"].failed == 1


def test_failures_that_are_alike() -> None:
    run = make_run()
    for number in range(5):
        node = run.nodes[f"x{number}"] = NodeRun(f"x{number}", NodeStatus.ERROR)
        node.attempts = run.nodes["B"].attempts[:1]
    first, second = failure_kinds(run)
    assert (first.how, first.number, first.nodes) == ("exit code 3", 5, ["x0", "x1", "x2"])
    assert (second.how, second.nodes) == ("signal 9 (Killed)", ["D"])


def test_resources() -> None:
    run = make_run()
    rows = {(use.group, use.resource): use for use in
            resources(run, group_names(run, make_dag()))}  # fmt: skip
    memory = rows["work.sub", "Memory (MB)"]
    assert (memory.requested, memory.mean, memory.most, memory.jobs) == (100, 30, 30, 3)
    assert ("work.sub", "GPUs") not in rows
