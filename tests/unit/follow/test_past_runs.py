"""Earlier runs, by what `.dagman.out` says of them."""

from __future__ import annotations

import heapq
from operator import attrgetter

from condor_pydagman.follow.local_times import LocalTimes
from condor_pydagman.follow.past_runs import CUT_OFF, PastRuns
from condor_pydagman.follow.run_model import Halted, Hold, Run, ScriptRun
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


def test_halts() -> None:
    (run,) = runs(
        (0, START), (0, NEW), (1, "Halting DAGMan progess..."), (1, "Halt reason: look first"),
        (2, "DAG status: 6 (DAG_STATUS_HALTED)"), (3, "Resuming DAG progress..."),
        (4, "DAG status: 6 (DAG_STATUS_HALTED)"), (5, "DAG status: 0 (DAG_STATUS_OK)"),
    )  # fmt: skip
    assert run.halts == [Halted(6001, 6003, "look first"), Halted(6004, 6005)]


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


def times(script: ScriptRun | None) -> tuple[object, ...]:
    return () if script is None else (script.started, script.ended, script.value)


def test_all_that_happens_to_nodes() -> None:
    """A DAGMan that is killed, and one that recovers, and tells again what it reads."""
    (run,) = runs(
        (0, START), (0, NEW),
        (1, "Running PRE script of Node A..."), (2, "PRE script of Node A failed with status 1"),
        (3, "Deferring PRE script of node A for 5 seconds (exit status was 1)"),
        (8, "Running PRE script of Node A..."), (9, "PRE script of Node A completed successfully."),
        (10, "Event: ULOG_SUBMIT_FAILURE for HTCondor Node A (-1.-1.-1) {x} no such file"),
        event(11, "SUBMIT", "A", "5.0"), event(11, "SUBMIT", "A", "5.1"),
        event(12, "EXECUTE", "A", "5.0"), event(13, "EXECUTE", "A", "5.1"),
        event(14, "JOB_EVICTED", "A", "5.0"), event(16, "SHADOW_EXCEPTION", "A", "5.1"),
        event(18, "EXECUTE", "A", "5.0"), event(18, "EXECUTE", "A", "5.0"),
        event(19, "JOB_HELD", "A", "5.0"), event(20, "JOB_RELEASED", "A", "5.0"),
        event(21, "EXECUTE", "A", "5.0"), event(22, "JOB_TERMINATED", "A", "5.0"),
        (22, "Node A job proc (5.0.0) failed with status 3."),
        event(23, "EXECUTE", "A", "5.1"),
        event(24, "JOB_EVICTED", "A", "5.1"), event(24, "JOB_ABORTED", "A", "5.1"),
        (25, "Running POST script of Node A..."), (26, "HOLD script of Node A died on signal 9"),
        (27, "POST script of Node A failed with status 2"),
        (28, "Running PRE script of Node B..."), event(29, "SUBMIT", "C", "6.0"),
        event(30, "EXECUTE", "C", "6.0"), event(31, "JOB_HELD", "C", "6.0"),
        (32, "**** condor_dagman (condor_DAGMAN) pid 1 EXITING WITH STATUS 1"),
        (33, START), (34, "Running in RECOVERY mode..."),
        event(29, "SUBMIT", "C", "6.0"), event(31, "JOB_HELD", "C", "6.0"),
        event(36, "JOB_ABORTED", "C", "6.0"),
        event(37, "SUBMIT", "D", "7.0"), event(38, "EXECUTE", "D", "7.0"),
        (40, "**** condor_dagman (condor_DAGMAN) pid 1 EXITING WITH STATUS 2"),
    )  # fmt: skip
    assert (run.ended, run.exit_code, len(run.starts)) == (6040, 2, 2)
    attempts = [one for node in run.nodes.values() for one in node.attempts]
    assert [(times(one.pre), times(one.post), one.reason) for one in attempts] == [
        ((6008, 6009, 0), (), "no such file"),
        ((), (6025, 6027, 2), ""),
        ((6028, 6040, None), (), ""),
        ((), (), ""),
        ((), (), CUT_OFF),
    ]
    pauses = ((6016, 6018), (6019, 6021), (6022, 6023))
    assert [
        (one.procs, one.submitted, one.started, one.pauses, one.stopped, one.ended, one.value)
        for one in attempts
        if one.cluster
    ] == [
        (2, 6011, 6012, pauses, 6024, 6024, 3),
        (1, 6029, 6030, (), 6031, 6036, RETURN_JOB_ABORTED),
        (1, 6037, 6038, (), 6040, 6040, None),
    ]
    assert [(one.running, one.ended_procs, one.evictions) for one in attempts[1::2]] == [
        (0, 2, 2), (0, 1, 0)
    ]  # fmt: skip
    assert [hold for one in attempts for hold in one.holds] == [
        Hold(6019, "", 0, 0, "5.0", 6020), Hold(6031, "", 0, 0, "6.0", 6036)
    ]  # fmt: skip
