"""Earlier runs, by what `.dagman.out` says of them."""

from __future__ import annotations

import heapq
from operator import attrgetter

from condor_pydagman.follow.local_times import LocalTimes
from condor_pydagman.follow.past_runs import PastRuns
from condor_pydagman.follow.run_model import Halted, Run
from condor_pydagman.records.dagman_out import job_lines, out_lines

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
