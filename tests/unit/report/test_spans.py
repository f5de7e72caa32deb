"""What attempts did when."""

from __future__ import annotations

from condor_pydagman.report.spans import spans
from condor_pydagman.trace.run_history import Hold
from condor_pydagman.vocabulary import NodeStatus
from tests.unit.report.runs import make_run


def test_parts_of_attempts() -> None:
    found = {(span.node, span.number): span for span in spans(make_run(), 1040.0)}
    assert found["A", 0].parts == (("pre", 1000, 1002), ("idle", 1002, 1004), ("run", 1004, 1010))
    assert found["B", 1].parts[-1] == ("post", 1020, 1024)
    assert (found["B", 1].begin, found["B", 1].end) == (1016, 1024)
    assert [found[key].failed for key in (("B", 0), ("B", 1), ("D", 0))] == [True, False, True]
    assert found["A", 0].seconds("idle") == 2


def test_a_job_that_is_held_and_evicted_does_not_run_meanwhile() -> None:
    """Held while it waits; evicted; held while it runs, released, and removed from the queue."""
    run = make_run()
    (last,) = run.nodes["D"].attempts  # 1025, 1030 to 1040
    last.pauses, last.stopped = ((1032, 1033), (1034, 1038)), 1039
    last.holds = [
        Hold(time, "", 1, 0, "7.0", released)
        for time, released in ((1026, 1027), (1034, 1036), (1039, 1040))
    ]
    (span,) = [span for span in spans(run, 1099.0) if span.node == "D"]
    assert span.parts == (
        ("idle", 1025, 1026), ("held", 1026, 1027), ("idle", 1027, 1030),
        ("run", 1030, 1032), ("idle", 1032, 1033),
        ("run", 1033, 1034), ("held", 1034, 1036), ("idle", 1036, 1038),
        ("run", 1038, 1039), ("held", 1039, 1040),
    )  # fmt: skip


def test_what_goes_on_ends_now() -> None:
    run = make_run()
    (last,) = run.nodes["D"].attempts
    last.ended, last.ended_procs, last.over = 0.0, 0, False
    run.nodes["D"].status = NodeStatus.SUBMITTED
    (span,) = [span for span in spans(run, 1099.0) if span.node == "D"]
    assert (span.end, span.failed) == (1099.0, None)
    last.started = 0.0
    (span,) = [span for span in spans(run, 1099.0) if span.node == "D"]
    assert span.parts == (("idle", 1025, 1099.0),)
