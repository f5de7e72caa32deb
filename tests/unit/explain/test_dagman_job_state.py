"""DAGMan itself, and what another submission begins with."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.explain.dagman_job_state import (
    dagman_findings,
    failed_by_ad,
)
from condor_pydagman.follow.notice import Notice, Weight
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.notices.halts import halt_notices
from condor_pydagman.follow.run_model import DagState, Run
from condor_pydagman.vocabulary import DagStatus, NodeStatus
from tests.unit.explain import NOW, attempt, facts_of

TEXT = "JOB A a.sub\nJOB B b.sub\n"
FAILED = {"A": (NodeStatus.ERROR, [attempt(value=1)])}


def said(facts: Facts) -> list[Notice]:
    """What there is to say of DAGMan itself."""
    return [*dagman_findings(facts), *halt_notices(facts)]


def found(**fields: Any) -> Notice:
    (one,) = said(facts_of(TEXT, {}, **fields))
    return one


@pytest.mark.parametrize(
    ("fields", "cause", "words", "advice"),
    [
        (
            {"state": DagState.INTERRUPTED, "submit_command": "condor_submit_dag x"},
            "dagman.interrupted",
            "DAGMan is gone",
            "condor_submit_dag x",
        ),
        (
            {"state": DagState.REMOVED, "ad": {"RemoveReason": "via condor_rm"}},
            "dagman.removed",
            "DAGMan's job was removed: via condor_rm; DAGMan removed",
            "",
        ),
        (
            {"state": DagState.FAILED, "exit_code": 1},
            "dagman.failed",
            "condor_dagman ended with exit code 1, and no node failed.",
            "condor_dag_checker -lint t.dag",
        ),
        (
            {"state": DagState.HALTED},
            "dag.halted",
            "The DAG is halted",
            "htcondor dag resume 3",
        ),
    ],
)
def test_states(fields: dict[str, Any], cause: str, words: str, advice: str) -> None:
    finding = found(**fields)
    assert finding.cause == cause
    assert words in finding.sentence
    assert advice in " ".join(finding.advice)


def test_a_failed_dag_is_explained_by_what_made_it_fail() -> None:
    assert not said(facts_of(TEXT, FAILED, state=DagState.FAILED))
    facts = facts_of(TEXT, {}, state=DagState.FAILED, exit_code=1)
    facts.run.dag_status = DagStatus.CYCLE
    assert "because the DAG has a cycle" in said(facts)[0].sentence


def test_an_idle_dagman_that_could_not_go_on() -> None:
    facts = facts_of(TEXT, {}, state=DagState.IDLE)
    facts.run.exit_code = 3
    facts.run.errors.append("ERROR: no space left")
    (finding,) = said(facts)
    assert "it could not continue, and the schedd starts it again" in finding.sentence
    finding, cooling = said(facts._replace(ad={"JobCoolDownExpiration": NOW + 60}))
    assert (finding.cause, cooling.cause) == ("dagman.failed", "dagman.idle")


@pytest.mark.parametrize("errors", [[], ["ERROR: long ago"]])
def test_a_dagman_that_was_held_and_released_waits_for_the_cool_down(errors: list[str]) -> None:
    ad = {"LastJobStatus": 5, "JobCoolDownExpiration": NOW + 130}
    facts = facts_of(TEXT, {}, state=DagState.IDLE, ad=ad)
    facts.run.exit_code = 3
    facts.run.errors.extend(errors)
    (finding,) = said(facts)
    assert finding.sentence.startswith(
        "DAGMan's job 3 waits for the schedd's cool-down, which ends in 2 min 10 s; then"
    )
    assert (finding.weight, finding.evidence[0].time) == (Weight.WAITING, NOW + 130)
    (finding,) = said(facts._replace(now=NOW + 130))
    assert "the schedd has not started it" in finding.sentence


def test_a_dagman_that_is_started_again() -> None:
    facts = facts_of(TEXT, {}, state=DagState.UNKNOWN)
    facts.run.errors.append("ERROR: disk full")
    assert not said(facts)
    facts.run.exit_code = 3
    (finding,) = said(facts)
    assert finding.evidence[0].lines == ("ERROR: disk full",)


def test_the_job_ad_alone_tells_how_many_nodes_have_failed() -> None:
    facts = facts_of(None, {}, run=Run(), ad={"DAG_NodesFailed": 2})
    (finding,) = failed_by_ad(facts)
    assert finding.sentence.startswith("2 nodes failed; only the logs")
    assert not failed_by_ad(facts_of(None, {}, ad={"DAG_NodesFailed": 2}))
