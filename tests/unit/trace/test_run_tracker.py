"""What is known of a run, from its logs."""

from __future__ import annotations

from condor_pydagman.trace.out_log_text import OutKind, OutLine
from condor_pydagman.trace.run_history import Attempt, Halted, NodePlan, Run
from condor_pydagman.trace.run_tracker import RunTracker, order
from condor_pydagman.vocabulary import NodeStatus


def line(
    what: OutKind, time: float = 1.0, node: str = "", number: int = 0, text: str = ""
) -> OutLine:
    return OutLine(what, time, node, number, text, 0)


def names(tracker: RunTracker, *lines: OutLine) -> list[str]:
    return [event.name for one in lines for event in tracker.take(one)]


def test_what_follows_from_an_event_stands_behind_those_of_its_second() -> None:
    assert order(line(OutKind.START)) < order(line(OutKind.RETRY)) < 2.0
    assert order(line(OutKind.SCRIPT_START, text="PRE")) < order(
        line(OutKind.SCRIPT_START, text="POST")
    )
    assert order(line(OutKind.END, 1.25)) == 1.25  # the log has fractions of seconds


def test_a_new_run_forgets_the_last() -> None:
    tracker = RunTracker({"A": NodePlan(done=True), "B": NodePlan()})
    names(
        tracker, line(OutKind.START), line(OutKind.NEW_RUN), line(OutKind.SUBMIT_FAILURE, node="B")
    )
    assert tracker.run.nodes["B"].attempts
    names(tracker, line(OutKind.END, 2.0, number=1))
    assert (tracker.run.exit_code, tracker.run.ended) == (1, 2.0)
    again = [
        line(OutKind.START, 3.0),
        line(OutKind.VERSION, 3.0, text="25"),
        line(OutKind.TOLERANCE, 3.0, number=2),
        line(OutKind.RESCUE_FROM, 3.0, number=4),
        line(OutKind.RESCUE_READ, 3.0, text="x.rescue004"),
        line(OutKind.NEW_RUN, 3.0),
    ]
    assert names(tracker, *again) == ["dag.start"]
    run = tracker.run
    assert (run.begun, run.exit_code, run.ended) == (3.0, None, 0.0)
    assert (run.rescued_from, run.rescue_read) == (4, "x.rescue004")
    assert [start.version for start in run.starts] == ["25"]
    assert run.failures_allowed == 2
    assert run.nodes["A"].status is NodeStatus.DONE
    assert not run.nodes["B"].attempts


def test_a_recovery_goes_on_with_the_run() -> None:
    tracker = RunTracker()
    names(tracker, line(OutKind.START), line(OutKind.NEW_RUN))
    names(tracker, line(OutKind.START, 2.0), line(OutKind.RECOVERY, 2.0))
    assert [start.recovering for start in tracker.run.starts] == [False, True]
    assert tracker.run.begun == 1.0


def test_halts_by_file_of_which_stock_writes_only_the_state() -> None:
    tracker = RunTracker()
    lines = [line(OutKind.STATUS, float(at), number=n) for at, n in enumerate((0, 6, 6, 2, 6, 4))]
    told = [name for one in lines for name in names(tracker, one)]
    assert told == ["dag.halt", "dag.resume", "dag.halt"]
    assert tracker.run.halts == [Halted(1.0, 3.0), Halted(4.0)]


def test_halts() -> None:
    tracker = RunTracker()
    halt = line(OutKind.HALT)
    reason = line(OutKind.HALT_REASON, text="new calibration")
    assert names(
        tracker, halt, reason, halt, line(OutKind.RESUME, 5.0), line(OutKind.RESUME, 5.0)
    ) == [
        "dag.halt",
        "dag.resume",
    ]
    assert tracker.run.halts == [Halted(1.0, 5.0, "new calibration")]
    assert not tracker.run.halted


def test_limits_and_counts_are_told_when_they_change() -> None:
    tracker = RunTracker()
    limit = line(OutKind.LIMIT, text="DAGMan_MaxJobs", number=7)
    assert names(tracker, limit, limit) == ["dag.limits"]
    total, counts = line(OutKind.TOTAL, number=9), line(OutKind.COUNTS, text=" 1 2 3 0 0 3 0 0")
    assert names(tracker, line(OutKind.STATUS, number=2), total, counts, counts) == ["dag.status"]
    assert tracker.run.counts == (9, 1, 2, 3, 0, 0, 3, 0, 0)
    assert tracker.run.dag_status == 2


def test_a_pre_script_whose_end_only_this_log_has() -> None:
    tracker = RunTracker({"A": NodePlan(has_pre=True)})
    began = names(tracker, line(OutKind.SCRIPT_START, node="A", text="PRE"))
    assert began == ["script.start", "node.state"]
    assert tracker.run.nodes["A"].status is NodeStatus.PRERUN
    ended = line(OutKind.SCRIPT_END, 3.0, "A", 0, "PRE")
    assert names(tracker, ended, ended) == ["script.end", "node.state"]
    pre = tracker.run.nodes["A"].attempts[0].pre
    assert pre is not None
    assert (pre.started, pre.ended, pre.value) == (1.0, 3.0, 0)


def test_submit_failures_without_a_retry() -> None:
    tracker = RunTracker()
    refused = line(OutKind.SUBMIT_FAILURE, node="A", text="no file")
    assert names(tracker, refused, line(OutKind.NO_RETRY, node="A")) == [
        "node.submit_failed",
        "node.state",
    ]
    node = tracker.run.nodes["A"]
    assert (node.status, len(node.attempts)) == (NodeStatus.ERROR, 1)


def test_a_retry_that_a_condition_forbids() -> None:
    tracker = RunTracker({"A": NodePlan(retries=3, has_pre=True)})
    names(tracker, line(OutKind.SCRIPT_START, node="A", text="PRE"))
    names(tracker, line(OutKind.SCRIPT_END, 2.0, "A", 1, "PRE"))
    assert tracker.run.nodes["A"].status is NodeStatus.READY
    names(tracker, line(OutKind.NO_RETRY, 2.0, "A"))
    assert tracker.run.nodes["A"].status is NodeStatus.ERROR


def test_the_end_of_a_dag() -> None:
    tracker = RunTracker()
    told = names(
        tracker,
        line(OutKind.REMOVED),
        line(OutKind.ABORT, text="Aborting DAG because ..."),
        line(OutKind.RESCUE_TO, text="x.rescue001"),
        line(OutKind.END, 2.0, number=2),
    )
    assert told == ["dag.rescue", "dag.end"]
    run = tracker.run
    assert (run.removed, run.aborted, run.rescue_written) == (
        True, "Aborting DAG because ...", "x.rescue001"
    )  # fmt: skip


def test_events_can_be_left_out() -> None:
    tracker = RunTracker()
    tracker.hear(wanted=False)
    assert names(tracker, line(OutKind.START), line(OutKind.NEW_RUN), line(OutKind.HALT)) == []
    assert tracker.run.halted
    tracker.hear(wanted=True)
    assert names(tracker, line(OutKind.RESUME)) == ["dag.resume"]


def test_a_script_that_is_deferred_does_not_run_meanwhile() -> None:
    tracker = RunTracker({"A": NodePlan(has_pre=True)})
    begin = line(OutKind.SCRIPT_START, node="A", text="PRE")
    names(tracker, begin)
    deferred = line(OutKind.SCRIPT_DEFERRED, 2.0, "A", 4, "PRE")
    assert names(tracker, deferred) == ["script.end", "node.state"]
    node = tracker.run.nodes["A"]
    assert (node.status, node.attempts[0].pre) == (NodeStatus.READY, None)
    assert names(tracker, begin) == ["script.start", "node.state"]
    assert (node.status, len(node.attempts)) == (NodeStatus.PRERUN, 1)


def test_an_attempt_names_its_first_job_if_it_has_one() -> None:
    attempt = Attempt(0)
    assert (attempt.job, attempt.in_queue) == ("", False)
    attempt.procs, attempt.cluster = 2, 7
    assert (attempt.job, attempt.in_queue) == ("7.0", True)
    attempt.ended_procs = 2
    assert not attempt.in_queue
    attempt.cluster = 0  # NOOP
    assert attempt.job == ""


def test_a_run_is_halted_until_it_is_resumed() -> None:
    run = Run()
    assert not run.halted
    run.halts = [Halted(1.0, 2.0), Halted(3.0)]
    assert run.halted
