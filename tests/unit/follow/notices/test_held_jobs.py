"""Jobs on hold, and HoldReasonCode."""

from __future__ import annotations

from condor_pydagman.follow.notices.held_jobs import (
    HOLD_CODES,
    held_job_notices,
    hold_advice,
    hold_code,
)
from condor_pydagman.follow.notices.known import HELD, IDLE, QueuedJob
from condor_pydagman.follow.run_model import DagState
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.explain import NOW, attempt, facts_of, hold, known, texts

HELD_ONE = {"A": (NodeStatus.SUBMITTED, [attempt(held=1, holds=[hold()])])}
TEXT = "JOB A a.sub\n"


def test_as_the_nodes_log_has_it() -> None:
    (found,) = held_job_notices(known(facts_of(TEXT, HELD_ONE)))
    assert found.sentence == (
        "1 job of node A has been held for 30 s: its input files could not be transferred"
        " (HoldReasonCode 13)."
    )
    assert texts(found) == ["t.dag.nodes.log: job 7.0 of A: no such file"]
    assert found.advice[-1] == "Then release them: condor_release 7.0"


def test_released_jobs_and_those_of_a_dag_that_has_ended_are_not_held() -> None:
    released = hold()._replace(released=NOW)
    states = {"A": (NodeStatus.SUBMITTED, [attempt(held=0, holds=[released])])}
    assert not held_job_notices(known(facts_of(TEXT, states)))
    assert not held_job_notices(known(facts_of(TEXT, HELD_ONE, state=DagState.FAILED)))


def test_the_schedd_knows_better() -> None:
    assert not held_job_notices(known(facts_of(TEXT, HELD_ONE, jobs=())))
    jobs = [QueuedJob(f"{n}.0", f"N{n}", HELD, NOW - n, "by hand", 1) for n in range(1, 10)]
    jobs += [QueuedJob("50.0", "X", HELD, NOW, "?", 999), QueuedJob("60.0", "Y", IDLE)]
    one, other = held_job_notices(known(facts_of(TEXT, {}, jobs=tuple(jobs))))
    assert one.sentence == (
        "9 jobs of 9 nodes (N1, N2, N3 and 6 more) are held, the longest for 9 s: someone used"
        " condor_hold (HoldReasonCode 1)."
    )
    assert len(one.evidence) == 3
    assert one.advice == (
        "Release them: condor_release -constraint 'DAGManJobId == 3 && HoldReasonCode == 1'",
    )
    assert "see the reason (HoldReasonCode 999)" in other.sentence


def test_a_person_who_has_steered() -> None:
    by = "put on hold (condor_pydagman steer)"
    job = QueuedJob("5.0", "A", HELD, NOW, by, 1)
    (one,) = held_job_notices(known(facts_of(TEXT, {}, jobs=(job,))))
    assert "someone used condor_pydagman steer hold" in one.sentence
    release = "condor_pydagman steer release t.dag A"
    assert (one.command, one.advice) == (release, (f"Release them: {release}",))
    stopped = facts_of(TEXT, {}, jobs=(job,), state=DagState.HELD)
    (one,) = held_job_notices(known(stopped))
    assert one.command == "condor_release 5.0"


def test_jobs_that_were_held_by_steering_and_others() -> None:
    by = "put on hold (condor_pydagman steer) (by user ann)"
    jobs = [QueuedJob(f"{n}.0", f"N{n}", HELD, NOW, "by hand", 1) for n in range(2)]
    jobs += [QueuedJob(f"{n}.0", f"N{n}", HELD, NOW, by, 1) for n in range(2, 4)]
    hand, steer = held_job_notices(known(facts_of(TEXT, {}, jobs=tuple(jobs))))
    assert "someone used condor_hold (" in hand.sentence
    assert (hand.nodes, hand.command) == (("N0", "N1"), "condor_release 0.0 1.0")
    assert "someone used condor_pydagman steer hold (" in steer.sentence
    assert steer.command == "condor_pydagman steer release t.dag N2 N3"
    many = [QueuedJob(f"{n}.0", f"N{n}", HELD, NOW, by if n % 2 else "?", 1) for n in range(20)]
    hand, steer = held_job_notices(known(facts_of(TEXT, {}, jobs=tuple(many))))
    which = "condor_release -constraint 'DAGManJobId == 3 && HoldReasonCode == 1 && "
    assert steer.command == f'{which}regexp("[(]condor_pydagman steer[)]", HoldReason)\''
    assert hand.command == f'{which}!regexp("[(]condor_pydagman steer[)]", HoldReason)\''


# HoldReasonCode.


def test_each_code_has_a_meaning_and_advice_that_names_the_jobs() -> None:
    for code, told in HOLD_CODES.items():
        assert told.meaning and not told.meaning.endswith(".")
        assert "condor_release 7.0" in hold_advice(code, "condor_release 7.0")[-1]
        assert not told.advice or told.advice.endswith((".", "?"))
    assert hold_code(12345).meaning == "see the reason"
