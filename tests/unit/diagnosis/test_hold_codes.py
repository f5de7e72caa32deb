"""HoldReasonCode."""

from __future__ import annotations

from condor_pydagman.diagnosis.held_jobs import hold_advice
from condor_pydagman.diagnosis.hold_codes import HOLD_CODES, hold_code


def test_each_code_has_a_meaning_and_advice_that_names_the_jobs() -> None:
    for code, known in HOLD_CODES.items():
        assert known.meaning and not known.meaning.endswith(".")
        assert "condor_release 7.0" in hold_advice(code, "7.0")[-1]
        assert not known.advice or known.advice.endswith((".", "?"))
    assert hold_code(12345).meaning == "see the reason"
