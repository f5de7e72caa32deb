"""DAGMan itself, and what another submission begins with."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.explain.dagman_job_state import (
    dagman_findings,
    failed_by_ad,
    rescue_findings,
)
from condor_pydagman.explain.known_facts import DagmanJob, Facts, RescueFile
from condor_pydagman.follow.notice import Notice, Weight
from condor_pydagman.follow.notices.halts import halt_notices
from condor_pydagman.follow.run_model import DagState, Halted, Run
from condor_pydagman.vocabulary import DagStatus, NodeStatus
from tests.unit.explain import NOW, attempt, facts_of, hold, known, texts

TEXT = "JOB A a.sub\nJOB B b.sub\n"
FAILED = {"A": (NodeStatus.ERROR, [attempt(value=1)])}


def said(facts: Facts) -> list[Notice]:
    """What there is to say of DAGMan itself."""
    return [*dagman_findings(facts), *halt_notices(known(facts))]


def found(**fields: Any) -> Notice:
    (one,) = said(facts_of(TEXT, {}, **fields))
    return one


def test_nothing_is_to_be_said_of_a_dagman_that_runs_or_has_succeeded() -> None:
    for state in (DagState.RUNNING, DagState.SUCCEEDED):
        assert not said(facts_of(TEXT, {}, state=state))


@pytest.mark.parametrize(
    ("fields", "cause", "words", "advice"),
    [
        (
            {"state": DagState.NOT_STARTED, "submit_command": "condor_submit_dag t.dag"},
            "dagman.not_started",
            "t.dag has not started: there is no t.dag.dagman.out.",
            "condor_submit_dag t.dag",
        ),
        (
            {"state": DagState.IDLE, "dagman_job": DagmanJob(3, NOW - 70)},
            "dagman.idle",
            "DAGMan's job 3 has been idle for 1 min 10 s",
            "condor_q -better-analyze 3",
        ),
        (
            {"state": DagState.HELD, "dagman_job": DagmanJob(3, NOW, hold("3.0", 1, "by hand"))},
            "dagman.held",
            "DAGMan's job 3 has been held for 30 s, so the DAG is stopped: someone used",
            "condor_release 3",
        ),
        (
            {"state": DagState.INTERRUPTED, "submit_command": "condor_submit_dag x"},
            "dagman.interrupted",
            "DAGMan is gone",
            "condor_submit_dag x",
        ),
        (
            {"state": DagState.INTERRUPTED, "ad": {"JobStatus": 1}},
            "dagman.interrupted",
            "DAGMan is gone",
            "The schedd starts job 3 again",
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
            {"state": DagState.HALTED, "has_halt_file": True, "halt_file": "t.dag.halt"},
            "dag.halted",
            "The DAG is halted: jobs in the queue continue",
            "rm t.dag.halt",
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


def test_the_reason_of_a_halt_is_told() -> None:
    facts = facts_of(TEXT, {}, state=DagState.HALTED)
    facts.run.halts = [Halted(NOW - 9, reason="new calibration")]
    (finding,) = said(facts)
    assert finding.evidence[0].text == "Halt reason: new calibration"


def test_an_interrupted_dag_whose_job_is_queued_goes_on_by_itself() -> None:
    assert found(state=DagState.INTERRUPTED, ad={"JobStatus": 1}).weight is Weight.WAITING
    assert found(state=DagState.INTERRUPTED).weight is Weight.PROBLEM


def test_a_failed_dag_is_explained_by_what_made_it_fail() -> None:
    assert not said(facts_of(TEXT, FAILED, state=DagState.FAILED))
    facts = facts_of(TEXT, {}, state=DagState.FAILED)
    facts.run.aborted = "Aborting DAG because we got the ABORT exit value from a job"
    assert [finding.cause for finding in said(facts)] == ["dag.aborted"]
    facts = facts_of(TEXT, {}, state=DagState.FAILED)
    facts.run.halts, facts.run.ended = [Halted(NOW - 9)], NOW
    (finding,) = said(facts)
    assert "was halted, and DAGMan ended" in finding.sentence
    facts = facts_of(TEXT, {}, state=DagState.FAILED, exit_code=1)
    facts.run.dag_status = DagStatus.CYCLE
    assert "because the DAG has a cycle" in said(facts)[0].sentence


@pytest.mark.parametrize("state", [DagState.IDLE, DagState.UNKNOWN])
@pytest.mark.parametrize("code", [3, 4])
def test_an_abort_after_which_the_schedd_starts_dagman_again(state: DagState, code: int) -> None:
    facts = facts_of(TEXT, FAILED, state=state)
    facts.run.aborted, facts.run.exit_code = "Aborting DAG because of A", code
    (finding,) = said(facts)
    assert f"with exit code {code}, and the schedd starts it again" in finding.sentence
    assert "condor_rm 3, and use RETURN 1" in finding.advice[0]


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


def test_a_dag_that_succeeds_though_nodes_have_failed() -> None:
    (finding,) = said(facts_of(TEXT, FAILED, state=DagState.SUCCEEDED))
    assert (finding.cause, finding.weight) == ("dagman.succeeded", Weight.NOTE)


def test_a_dag_that_was_ended_though_its_job_was_not_removed() -> None:
    facts = facts_of(TEXT, {}, state=DagState.REMOVED)
    facts.run.exit_code = 2
    (finding,) = said(facts)
    assert "removed;" not in finding.sentence
    assert texts(finding) == ["t.dag.dagman.out: exit code 2"]


def test_a_dagman_that_was_removed_and_has_not_ended() -> None:
    """It runs its FINAL node."""
    facts = facts_of(TEXT, FAILED)
    facts.run.removed = True
    (finding,) = said(facts)
    assert "was removed (condor_rm)" in finding.sentence
    assert not rescue_findings(facts)


def test_a_dagman_that_is_started_again() -> None:
    facts = facts_of(TEXT, {}, state=DagState.UNKNOWN)
    facts.run.errors.append("ERROR: disk full")
    assert not said(facts)
    facts.run.exit_code = 3
    (finding,) = said(facts)
    assert finding.evidence[0].lines == ("ERROR: disk full",)


def test_rescue_files() -> None:
    rescue = RescueFile("t.dag.rescue001", 1, NOW)
    about = {"state": DagState.FAILED, "submit_command": "condor_submit_dag t.dag"}
    text = TEXT + "SERVICE S s.sub\n"
    (finding,) = rescue_findings(facts_of(text, FAILED, rescue=rescue, **about))
    assert "continues from t.dag.rescue001: 1 of 2 nodes is done" in finding.sentence
    assert texts(finding) == ["t.dag.rescue001: 1 DONE line"]
    assert finding.advice == ("When you have fixed the cause: condor_submit_dag t.dag",)
    (finding,) = rescue_findings(facts_of(TEXT, FAILED, **about))
    assert "There is no rescue file" in finding.sentence
    final = facts_of(TEXT, FAILED, rescue=rescue, **{**about, "state": DagState.SUCCEEDED})
    assert not rescue_findings(final)
    final.run.rescue_written = "t.dag.rescue001"
    (finding,) = rescue_findings(final)
    assert "continues from t.dag.rescue001" in finding.sentence
    (finding,) = rescue_findings(facts_of(TEXT, FAILED))
    assert "DAGMan continues with the nodes that can run" in finding.sentence
    assert finding.advice == (), "the stock program knows no such command"
    (finding,) = rescue_findings(facts_of(TEXT, FAILED, ad={"PYDAGMAN_OwnPace": True}))
    assert finding.advice[0].startswith(
        "When you have fixed the cause: condor_pydagman steer rerun t.dag "
    )
    assert not rescue_findings(facts_of(TEXT, {}))
    assert not rescue_findings(facts_of(TEXT, FAILED, state=DagState.FAILED))  # a sub-DAG


def test_the_job_ad_alone_tells_how_many_nodes_have_failed() -> None:
    facts = facts_of(None, {}, run=Run(), ad={"DAG_NodesFailed": 2})
    (finding,) = failed_by_ad(facts)
    assert finding.sentence.startswith("2 nodes failed; only the logs")
    assert not failed_by_ad(facts_of(None, {}, ad={"DAG_NodesFailed": 2}))
