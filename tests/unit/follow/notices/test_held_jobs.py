"""Jobs on hold, and HoldReasonCode."""

from __future__ import annotations

import pytest

from condor_pydagman.follow.notices.facts import HELD, QueuedJob
from condor_pydagman.follow.notices.held_jobs import (
    HOLD_CODES,
    held_job_notices,
    hold_advice,
    hold_code,
)
from tests.unit.explain import NOW, facts_of

TEXT = "JOB A a.sub\n"


def test_jobs_are_told_by_the_code_of_their_hold() -> None:
    jobs = [QueuedJob(f"{n}.0", f"N{n}", HELD, NOW - n, "by hand", 1) for n in range(1, 10)]
    jobs.append(QueuedJob("50.0", "X", HELD, NOW, "?", 999))
    one, other = held_job_notices(facts_of(TEXT, {}, held=jobs))
    assert one.sentence == (
        "9 jobs of 9 nodes (N1, N2, N3 and 6 more) are held, the longest for 9 s: someone used"
        " condor_hold (HoldReasonCode 1)."
    )
    assert len(one.evidence) == 3
    assert one.advice == (
        "Release them: condor_release -constraint 'DAGManJobId == 3 && HoldReasonCode == 1'",
    )
    assert "see the reason (HoldReasonCode 999)" in other.sentence


def test_jobs_that_were_held_by_steering_and_others() -> None:
    by = "put on hold (condor_pydagman steer) (by user ann)"
    jobs = [QueuedJob(f"{n}.0", f"N{n}", HELD, NOW, "by hand", 1) for n in range(2)]
    jobs += [QueuedJob(f"{n}.0", f"N{n}", HELD, NOW, by, 1) for n in range(2, 4)]
    hand, steer = held_job_notices(facts_of(TEXT, {}, held=jobs))
    assert "someone used condor_hold (" in hand.sentence
    assert (hand.nodes, hand.command) == (("N0", "N1"), "condor_release 0.0 1.0")
    assert "someone used condor_pydagman steer hold (" in steer.sentence
    assert steer.command == "condor_pydagman steer release t.dag N2 N3"
    many = [QueuedJob(f"{n}.0", f"N{n}", HELD, NOW, by if n % 2 else "?", 1) for n in range(20)]
    hand, steer = held_job_notices(facts_of(TEXT, {}, held=many))
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


@pytest.mark.parametrize("code", [21, 34])
def test_memory_that_grows_is_proposed_for_jobs_that_had_too_little(code: int) -> None:
    advice = " ".join(hold_advice(code, "condor_release 7.0", 102))
    assert "retry_request_memory_increase = RequestMemory * 2" in advice
    assert "condor_qedit 7.0 RequestMemory N" in advice
    assert hold_code(code, 102).meaning == "it used more memory than it was given"
    assert "retry_request_memory" not in " ".join(hold_advice(code, "condor_release 7.0", 104))
