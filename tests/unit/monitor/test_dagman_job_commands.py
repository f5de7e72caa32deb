"""What the schedd is asked to do with a DAGMan job, and what its answers mean."""

from __future__ import annotations

from typing import Any

import htcondor2
import pytest

from condor_pydagman.errors import PoolError
from condor_pydagman.monitor.dagman_job_commands import act_on


class Schedd:
    """Answers what it was told to."""

    answer: dict[str, int] | Exception
    asked: list[Any]

    def act(self, *words: Any) -> dict[str, int]:
        self.asked.append(words)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def schedd(monkeypatch: pytest.MonkeyPatch) -> Schedd:
    made = Schedd()
    made.answer, made.asked = {"TotalSuccess": 1}, []
    monkeypatch.setattr(htcondor2, "Schedd", lambda: made)
    return made


def test_each_has_a_reason(schedd: Schedd) -> None:
    act_on(7, "Hold", "lunch")
    act_on(7, "Release")
    which = "ClusterId == 7 && ProcId == 0 && JobUniverse == 7"
    assert schedd.asked == [
        (htcondor2.JobAction.Hold, which, ("lunch", 0)),
        (htcondor2.JobAction.Release, which, "by condor_pydagman.DagRun"),
    ]


def test_what_is_so_already_is_done(schedd: Schedd) -> None:
    schedd.answer = {"TotalSuccess": 0, "TotalAlreadyDone": 1}
    act_on(7, "Hold")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"TotalPermissionDenied": 1}, "it is somebody else's"),
        ({"TotalBadStatus": 1, "TotalNotFound": 0}, "its state does not allow it"),
        ({}, "it is not in the queue"),
        (htcondor2.HTCondorException("gone"), "gone"),
    ],
)
def test_a_refusal(schedd: Schedd, answer: Any, why: str) -> None:
    schedd.answer = answer
    with pytest.raises(PoolError, match=f"can't remove DAGMan's job 7: {why}") as caught:
        act_on(7, "Remove")
    assert caught.value.transient is isinstance(answer, Exception)


def test_only_jobs_on_hold_can_be_released(schedd: Schedd) -> None:
    schedd.answer = {}
    with pytest.raises(PoolError, match="it is not in the queue, or not on hold"):
        act_on(7, "Release")


def test_any_reason_is_one_line_of_text(schedd: Schedd) -> None:
    """The schedd takes a quote for the end of a ClassAd string, and what follows for more of it."""
    act_on(7, "Hold", 'a "b"\n\0\x1b\udcff ' + "c" * 5000)
    ((_, _, (said, _)),) = schedd.asked
    assert said.startswith("a 'b'\\x0a\\x00\\x1b\\xff ccc")
    assert len(said) < 1100
