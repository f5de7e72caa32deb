"""What people and features have done to a run, in its order."""

from __future__ import annotations

from condor_pydagman.follow.run_model import Halted, Run
from condor_pydagman.report.html_report import interventions


def test_who_has_halted_and_resumed_it() -> None:
    run = Run()
    run.halts = [Halted(1.0, 3.0, by="ann", resumed_by="bob")]
    assert [(one.by, one.what) for one in interventions(run)] == [
        ("ann", "halted"), ("bob", "resumed")
    ]  # fmt: skip


def test_halts_are_among_them() -> None:
    run = Run()
    run.halts = [Halted(1.0, 3.0, "look first"), Halted(9.0)]
    run.interventions.add(2.0, "ann", "hold", node="A")
    found = [(one.time, one.by, one.what, one.why) for one in interventions(run)]
    assert found == [
        (1.0, "", "halted", "look first"),
        (2.0, "ann", "hold", ""),
        (3.0, "", "resumed", ""),
        (9.0, "", "halted", ""),
    ]


def test_what_a_brake_does_is_told_once() -> None:
    run = Run()
    run.halts = [Halted(1.0, 3.0, "brake sick: 2 nodes failed", "it is mended"), Halted(9.0)]
    run.interventions.add(1.0, "brake sick", "HALT", "2 nodes failed")
    found = [(one.time, one.by, one.what, one.why) for one in interventions(run)]
    assert found == [
        (1.0, "brake sick", "HALT", "2 nodes failed"),
        (3.0, "", "resumed", "it is mended"),
        (9.0, "", "halted", ""),
    ]
