"""How the FEEDER of a DAG stands."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.explain.dagman_job_state import dagman_findings, rescue_findings
from condor_pydagman.explain.explain_dag import explain_dag
from condor_pydagman.features.feeder.shown import FeederSeen, notices
from condor_pydagman.follow.notice import Notice, Weight
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.explain import NOW, attempt, facts_of, known, texts

TEXT = "JOB A a.sub\nFEEDER BELOW 1 PROGRAM feed\n"
DONE = {"A": (NodeStatus.DONE, [])}


def found(
    told: str, states: Any = DONE, seen: FeederSeen | None = None, dag: str = TEXT
) -> list[Notice]:
    facts = facts_of(dag, states, ad={"PYDAGMAN_Feeder": told} if told else {})
    facts.run.of["feeder"] = seen or FeederSeen()
    return list(notices(known(facts)))


def test_it_has_failed() -> None:
    (finding,) = found("", seen=FeederSeen(0, "failed", "feeding 1: no table", NOW))
    assert finding.weight is Weight.PROBLEM
    assert texts(finding) == ["t.dag.nodes.log: feeding 1: no table"]


@pytest.mark.parametrize("states", [DONE, {"A": (NodeStatus.ERROR, [attempt(value=1)])}])
def test_it_is_the_first_cause_when_the_dag_has_ended(states: Any) -> None:
    facts = facts_of(TEXT, states, state=DagState.FAILED, exit_code=1)
    facts.run.ended = NOW
    facts.run.of["feeder"] = FeederSeen(0, "failed", "feeding 1: no table", NOW)
    first = explain_dag(facts).findings[0]
    assert first.cause == "dag.feeder"
    assert first.sentence == "The FEEDER failed too often, so the DAG is not complete."


def test_the_dag_waits_for_it() -> None:
    (finding,) = found("runs, 2 feedings, 4 nodes")
    assert finding.sentence.startswith("The DAG is waiting for its FEEDER")
    assert texts(finding) == ["PYDAGMAN_Feeder of job 3: runs, 2 feedings, 4 nodes"]


def test_it_is_tried_again() -> None:
    (finding,) = found("waits, 0 feedings, 0 nodes; exit code 1", {})
    assert finding.sentence == "The FEEDER failed, and DAGMan runs it again."


def test_nothing_is_to_be_said() -> None:
    assert not found("waits, 2 feedings, 4 nodes", {})
    assert not found("ended, 2 feedings, 4 nodes")
    assert not found("")
    assert not found("runs, 2 feedings", seen=FeederSeen(2, "ended"))
    assert not found("runs, 2 feedings", dag="JOB A a.sub\n")


def test_a_dag_with_failed_nodes_does_not_end_before_its_feeder() -> None:
    failed = facts_of(TEXT, {"A": (NodeStatus.ERROR, [attempt(value=1)])})
    (finding,) = rescue_findings(failed)
    assert "When they and the FEEDER have ended, the DAG fails" in finding.sentence
    failed.run.of["feeder"] = FeederSeen(2, "ended")
    (finding,) = rescue_findings(failed)
    assert "When they have ended, the DAG fails" in finding.sentence


def test_a_dag_whose_feeder_has_failed_is_explained_by_that() -> None:
    facts = facts_of(TEXT, {}, state=DagState.FAILED, exit_code=1)
    facts.run.of["feeder"] = FeederSeen(0, "failed", "feeding 1: no table", NOW)
    assert not dagman_findings(facts)
