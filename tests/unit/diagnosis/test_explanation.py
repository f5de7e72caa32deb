"""Findings: their order, and their form as JSON."""

from __future__ import annotations

import json

from condor_pydagman.diagnosis.explanation import Evidence, Explanation, Finding, Weight, in_order


def test_problems_come_first_and_then_what_concerns_most_nodes() -> None:
    findings = [
        Finding("job.idle", Weight.WAITING, "idle"),
        Finding("unknown", Weight.NOTE, "unknown"),
        Finding("node.exit", Weight.PROBLEM, "one", ("A",)),
        Finding("node.exit", Weight.PROBLEM, "two", ("B", "C")),
        Finding("dagman.held", Weight.PROBLEM, "held"),
    ]
    order = [finding.sentence for finding in in_order(findings)]
    assert order == ["held", "two", "one", "idle", "unknown"]


def test_json_has_evidence_and_explanations_of_sub_dags() -> None:
    inner = Explanation("in.dag", "in.dag runs.")
    evidence = Evidence("t.dag:3", "node A", lines=("x",))
    finding = Finding(
        "node.subdag", Weight.PROBLEM, "It failed.", ("A",), (evidence,), ("Try.",), (inner,)
    )
    explanation = Explanation("t.dag", "t.dag has failed.", (finding,))
    assert (explanation.is_wrong, inner.is_wrong) == (True, False)
    read = json.loads(json.dumps(explanation.to_json()))
    assert read["wrong"] is True
    assert read["findings"][0]["weight"] == "problem"
    assert read["findings"][0]["evidence"] == [
        {"source": "t.dag:3", "text": "node A", "lines": ["x"]}
    ]
    assert read["findings"][0]["inner"][0]["headline"] == "in.dag runs."
