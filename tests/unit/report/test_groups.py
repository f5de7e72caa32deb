"""Nodes of one kind: their times, failures and resources."""

from __future__ import annotations

from condor_pydagman.follow.run_model import NodeRun, Run
from condor_pydagman.report.groups import group_names
from tests.unit.report.runs import make_dag, make_run


def test_groups_by_submit_description_or_by_names() -> None:
    run = make_run()
    assert group_names(run, make_dag())["B"] == "work.sub"
    numbered = Run()
    numbered.nodes = {name: NodeRun(name) for name in ("sim_01", "sim_2")}
    assert set(group_names(numbered, None).values()) == {"sim_#"}
