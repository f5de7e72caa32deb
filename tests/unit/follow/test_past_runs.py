"""Earlier runs, by what `.dagman.out` says of them."""

from __future__ import annotations

import heapq
from operator import attrgetter

from condor_pydagman.follow.local_times import LocalTimes
from condor_pydagman.follow.past_runs import CUT_OFF, PastRuns
from condor_pydagman.follow.run_model import Attempt, Halted, Run
from condor_pydagman.records.dagman_out import job_lines, out_lines
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED

TIMES = LocalTimes(lambda text, utc: 0.0 + 60 * int(text[-2:]) + 6000, 2026)
START = "** condor_dagman (CONDOR_DAGMAN) STARTING UP"
NEW = "MultiLogFiles: truncating log file t.dag.nodes.log"


def stamp(second: int) -> str:
    return f"11/26/26 17:{second // 60:02d}:{second % 60:02d}"


def event(second: int, what: str, node: str, job: str, more: str = "") -> tuple[int, str]:
    text = f"Event: ULOG_{what} for HTCondor Node {node} ({job}.0) {{{stamp(second)}}}{more}"
    return second, text


def runs(*lines: tuple[int, str]) -> list[Run]:
    """Of a log with these lines, seconds from its begin."""
    data = "".join(f"{stamp(second)} {text}\n" for second, text in lines).encode()
    past = PastRuns()
    told = out_lines(data, 0, TIMES.seconds), job_lines(data, 0, TIMES.seconds)
    past.take(heapq.merge(*told, key=attrgetter("end")))
    return past.close()


def times(attempt: Attempt) -> tuple[float, ...]:
    found = attempt.submitted, attempt.started, attempt.stopped, attempt.ended
    return tuple(time - 6000 for time in found)


def test_runs_and_their_ends() -> None:
    first, second = runs(
        (0, START), (1, NEW),
        (5, "Writing Rescue DAG to t.dag.rescue001..."),
        (5, "Of 4 nodes total:"), (5, "1 0 0 0 0 2 1 0"),
        (6, "**** condor_dagman (condor_DAGMAN) pid 7 EXITING WITH STATUS 1"),
        (8, START), (8, "**** condor_dagman (condor_DAGMAN) pid 8 EXITING WITH STATUS 3"),
        (10, START), (11, "USING RESCUE DAG t.dag.rescue001"), (11, NEW),
        (20, START), (21, "Running in RECOVERY mode... "), (22, "Received SIGUSR1"),
        (30, "**** condor_dagman (condor_DAGMAN) pid 9 EXITING WITH STATUS 2"),
    )  # fmt: skip
    assert (first.begun, first.ended, first.exit_code) == (6000, 6006, 1)
    assert (first.rescue_read, first.rescue_written) == ("", "t.dag.rescue001")
    assert first.counts == (4, 1, 0, 0, 0, 0, 2, 1, 0)
    assert (second.begun, second.ended, second.exit_code) == (6010, 6030, 2)
    assert (second.rescue_read, second.removed) == ("t.dag.rescue001", True)
    assert [start.recovering for start in second.starts] == [False, True]


def test_halts() -> None:
    (run,) = runs(
        (0, START), (0, NEW), (1, "Halting DAGMan progess..."), (1, "Halt reason: look first"),
        (2, "DAG status: 6 (DAG_STATUS_HALTED)"), (3, "Resuming DAG progress..."),
        (4, "DAG status: 6 (DAG_STATUS_HALTED)"), (5, "DAG status: 0 (DAG_STATUS_OK)"),
    )  # fmt: skip
    assert run.halts == [Halted(6001, 6003, "look first"), Halted(6004, 6005)]


def test_attempts_and_what_a_recovery_tells_again() -> None:
    again = " [recovery mode]"
    (run,) = runs(
        (0, START), (0, NEW),
        (1, "Running PRE script of Node A..."),
        (2, "PRE Script of Node A completed successfully."),
        event(3, "SUBMIT", "A", "7.0"), event(3, "SUBMIT", "A", "7.1"),
        event(4, "EXECUTE", "A", "7.0"), event(5, "JOB_HELD", "A", "7.0"),
        (6, START), (6, "Running in RECOVERY mode... "),
        event(3, "SUBMIT", "A", "7.0", again), event(3, "SUBMIT", "A", "7.1", again),
        event(4, "EXECUTE", "A", "7.0", again), event(5, "JOB_HELD", "A", "7.0", again),
        event(8, "JOB_RELEASED", "A", "7.0"), event(9, "EXECUTE", "A", "7.0"),
        event(12, "JOB_TERMINATED", "A", "7.0"),
        (12, "Node A job proc (7.0.0) failed with status 3."),
        event(12, "JOB_ABORTED", "A", "7.1"),
        event(13, "SUBMIT", "A", "8.0"), event(14, "EXECUTE", "A", "8.0"),
        event(15, "JOB_EVICTED", "A", "8.0"), event(16, "EXECUTE", "A", "8.0"),
        event(18, "JOB_TERMINATED", "A", "8.0"),
        (18, "Node A job proc (8.0.0) completed successfully."),
        (18, "Running POST script of Node A..."),
        (20, "POST Script of Node A completed successfully."),
    )  # fmt: skip
    first, second = run.nodes["A"].attempts
    assert (first.number, first.noop, first.job, first.procs) == (0, 0, "7.0", 2)
    assert first.value == 3
    assert times(first) == (3, 4, 12, 12)
    assert [(hold.time - 6000, hold.released - 6000) for hold in first.holds] == [(5, 8)]
    assert first.pauses == ((6005, 6009),)
    assert first.pre is not None
    assert (first.pre.started, first.pre.ended, first.pre.value) == (6001, 6002, 0)
    assert (second.number, second.value, second.evictions, second.over) == (1, 0, 1, True)
    assert second.pauses == ((6015, 6016),)
    assert second.post is not None
    assert (second.post.ended, second.post.value) == (6020, 0)


def test_what_had_not_ended_when_dagman_did() -> None:
    (run,) = runs(
        (0, START), (0, NEW),
        event(1, "SUBMIT", "A", "7.0"), event(2, "EXECUTE", "A", "7.0"),
        event(3, "SUBMIT", "B", "8.0"), event(4, "JOB_HELD", "B", "8.0"),
        (5, "Running PRE script of Node C..."),
        (9, "**** condor_dagman (condor_DAGMAN) pid 7 EXITING WITH STATUS 2"),
    )  # fmt: skip
    a, b, c = (node.attempts[0] for node in run.nodes.values())
    assert (times(a), a.reason, a.value, a.in_queue) == ((1, 2, 9, 9), CUT_OFF, None, False)
    assert (b.ended - 6000, b.holds[0].released - 6000) == (9, 9)
    assert c.pre is not None
    assert (c.pre.ended, c.pre.value) == (6009, None)


def test_a_failed_script_or_submission_ends_an_attempt() -> None:
    failure = "Event: ULOG_SUBMIT_FAILURE for HTCondor Node A (-1.-1.-1) {x} no such file"
    (run,) = runs(
        (0, START), (0, NEW),
        (1, "Running PRE script of Node A..."), (2, "PRE Script of Node A failed with status 4"),
        (3, "Running PRE script of Node A..."),
        (4, "Deferring PRE script of node A for 5 seconds (exit status was 1)"),
        (5, failure), event(6, "SUBMIT", "A", "7.0"), event(7, "JOB_ABORTED", "A", "7.0"),
    )  # fmt: skip
    attempts = run.nodes["A"].attempts
    assert [attempt.reason for attempt in attempts] == ["", "no such file", ""]
    assert [attempt.pre and attempt.pre.value for attempt in attempts] == [4, None, None]
    assert attempts[2].value == RETURN_JOB_ABORTED


def test_procs_without_a_cluster_and_lines_before_the_first_run() -> None:
    submit = "Event: ULOG_SUBMIT for HTCondor Node A (0.2147483647.{}) {{11/26/26 17:00:02}}"
    (run,) = runs(
        event(0, "SUBMIT", "Z", "5.0"), (1, NEW), (2, submit.format(1)), (3, submit.format(2)),
        (3, "Deferring POST script of node A for 5 seconds (exit status was 1)"),
    )  # fmt: skip
    assert list(run.nodes) == ["A"]
    assert [(attempt.noop, attempt.job) for attempt in run.nodes["A"].attempts] == [
        (1, ""), (2, "")
    ]  # fmt: skip


def test_a_job_that_is_removed_while_it_runs_is_not_evicted() -> None:
    begin = [(0, START), (0, NEW), event(1, "SUBMIT", "A", "7.0"), event(2, "EXECUTE", "A", "7.0"),
             event(5, "JOB_EVICTED", "A", "7.0")]  # fmt: skip
    for end, count in ((6, 0), (40, 1)):
        (run,) = runs(*begin, event(end, "JOB_ABORTED", "A", "7.0"))
        assert run.nodes["A"].attempts[-1].evictions == count
