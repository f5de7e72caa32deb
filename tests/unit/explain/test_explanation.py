"""Findings: their order, their form as JSON, parts of sentences, and the facts behind them."""

from __future__ import annotations

import json

import pytest

from condor_pydagman.explain.explanation import Explanation
from condor_pydagman.follow.notice import Evidence, Notice, Weight, in_order
from condor_pydagman.follow.run_model import DagState
from tests.unit.explain import facts_of


def test_problems_come_first_and_then_what_concerns_most_nodes() -> None:
    findings = [
        Notice("job.idle", Weight.WAITING, "idle"),
        Notice("unknown", Weight.NOTE, "unknown"),
        Notice("node.exit", Weight.PROBLEM, "one", ("A",)),
        Notice("node.exit", Weight.PROBLEM, "two", ("B", "C")),
        Notice("dagman.held", Weight.PROBLEM, "held"),
    ]
    order = [finding.sentence for finding in in_order(findings)]
    assert order == ["held", "two", "one", "idle", "unknown"]


def test_json_has_evidence_and_explanations_of_sub_dags() -> None:
    inner = Explanation("in.dag", "in.dag runs.")
    evidence = Evidence("t.dag:3", "node A", lines=("x",))
    finding = Notice(
        "node.subdag", Weight.PROBLEM, "It failed.", ("A",), (evidence,), ("Try.",), (inner,)
    )
    explanation = Explanation("t.dag", "t.dag failed.", (finding,))
    assert (explanation.is_wrong, inner.is_wrong) == (True, False)
    read = json.loads(json.dumps(explanation.to_json()))
    assert read["wrong"] is True
    assert read["findings"][0]["weight"] == "problem"
    assert read["findings"][0]["evidence"] == [
        {"source": "t.dag:3", "text": "node A", "lines": ["x"]}
    ]
    assert read["findings"][0]["inner"][0]["headline"] == "in.dag runs."


# What is known of a DAG.


@pytest.mark.parametrize("state", DagState)
def test_only_a_dag_whose_dagman_runs_is_live(state: DagState) -> None:
    live = (DagState.RUNNING, DagState.HALTED)
    assert facts_of(None, {}, state=state).is_live == (state in live)
