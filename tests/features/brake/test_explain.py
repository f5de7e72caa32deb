"""DAGs that brakes have halted or ended."""

from __future__ import annotations

import pytest

from condor_pydagman.features.brake.run import BrakeRecord
from condor_pydagman.features.brake.shown import ActingBrake, BrakesSeen
from condor_pydagman.follow.notice import Weight
from condor_pydagman.follow.run_model import DagState, Halted
from tests.unit.explain import NOW, facts_of, texts
from tests.unit.explain.test_dagman_job_state import FAILED, TEXT, said


def test_a_brake_that_halts_or_ends_the_dag() -> None:
    facts = facts_of(TEXT, {}, state=DagState.HALTED, cluster=3)
    BrakesSeen.put(facts.run).acting["sick"] = ActingBrake(
        BrakeRecord("0", "HALT", "sick", "2 nodes failed, more than 1: A, B"), NOW
    )
    (finding,) = said(facts)
    assert "brake sick: 2 nodes failed, more than 1: A, B" in str(finding.evidence)
    assert finding.advice == ("It was halted by a brake; to resume it: htcondor dag resume 3",)
    facts = facts_of(TEXT, {}, state=DagState.FAILED)
    facts.run.aborted = "Aborting DAG because of brake sick: 2 nodes failed"
    BrakesSeen.put(facts.run).acting["sick"] = ActingBrake(
        BrakeRecord("0", "ABORT", "sick", "2 nodes failed"), NOW
    )
    (finding,) = said(facts)
    assert finding.sentence.startswith("A brake ended the DAG: Aborting DAG because of brake")


@pytest.mark.parametrize("state", [DagState.FAILED, DagState.SUCCEEDED])
def test_a_brake_that_has_halted_a_dag_which_has_ended(state: DagState) -> None:
    facts = facts_of(TEXT, FAILED, state=state, exit_code=0)
    reason = "2 nodes failed, more than 1: A, B"
    facts.run.halts, facts.run.ended = [Halted(NOW - 9, reason=f"brake sick: {reason}")], NOW
    for name in ("sick", "ill"):
        BrakesSeen.put(facts.run).acting[name] = ActingBrake(
            BrakeRecord("0", "HALT", name, reason), NOW
        )
    finding, *more = said(facts)[::-1]
    assert (finding.cause, finding.weight) == ("dag.halted", Weight.PROBLEM)
    by_final = "; the exit code is that of the FINAL node" * (state is DagState.SUCCEEDED)
    assert finding.sentence == (
        "Brakes sick and ill halted the DAG, and DAGMan ended when nothing was left to wait"
        f" for{by_final}."
    )
    assert f"t.dag.nodes.log: brake sick: {reason}" in texts(finding)
    assert not finding.advice
    assert [one.cause for one in more] == ["dagman.succeeded"] * bool(by_final)
