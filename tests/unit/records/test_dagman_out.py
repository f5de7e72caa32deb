"""Lines of `.dagman.out` of both programs, and what they tell of the last run."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from condor_pydagman.follow.local_times import LocalTimes
from condor_pydagman.records import dagman_out
from condor_pydagman.records.dagman_out import OutKind, RunLog, last_run, nodes_log, out_lines
from condor_pydagman.vocabulary import DagStatus

RUNS = Path(__file__).parents[2] / "old_runs" / "runs"
TIMES = LocalTimes(lambda text, utc: 60.0, 2026)
STAMP = "11/21/26 11:56:29 "
TABLE = """\
{0}DAG status: 2 (DAG_STATUS_NODE_FAILED)
{0}Of 9 nodes total:
{0} Done     Pre   Queued    Post   Ready   Un-Ready   Failed   Futile
{0}  ===     ===      ===     ===     ===        ===      ===      ===
{0}    1       2        0       0       0          3        3        0
{0}0 job proc(s) currently held
"""
COUNTS = (9, 1, 2, 0, 0, 0, 3, 3, 0)
END = "**** condor_dagman (condor_DAGMAN) pid 5 EXITING WITH STATUS 1\n"
START = "** condor_dagman (CONDOR_DAGMAN) STARTING UP\n"


def read(text: str) -> list[tuple[OutKind, str, int, str]]:
    lines = out_lines(text.encode(), 0, TIMES.seconds)
    return [(line.what, line.node, line.number, line.text) for line in lines]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("** condor_dagman (CONDOR_DAGMAN) STARTING UP", (OutKind.START, "", 0, "")),
        ("** $CondorVersion: 25.14.1 x $", (OutKind.VERSION, "", 0, "25.14.1 x")),
        ("MultiLogFiles: truncating log file /x", (OutKind.NEW_RUN, "", 0, "")),
        ("Running in RECOVERY mode... >>>", (OutKind.RECOVERY, "", 0, "")),
        ("Found rescue DAG number 3; running x", (OutKind.RESCUE_FROM, "", 3, "")),
        ("USING RESCUE DAG a b.rescue003", (OutKind.RESCUE_READ, "", 0, "a b.rescue003")),
        ("Writing Rescue DAG to a.rescue004...", (OutKind.RESCUE_TO, "", 0, "a.rescue004")),
        ("Running PRE script of Node a b...", (OutKind.SCRIPT_START, "a b", 0, "PRE")),
        ("PRE Script of node A completed successfully.", (OutKind.SCRIPT_END, "A", 0, "PRE")),
        ("PRE Script of Node A failed with status 3", (OutKind.SCRIPT_END, "A", 3, "PRE")),
        ("POST Script of node A died on signal 9", (OutKind.SCRIPT_END, "A", -9, "POST")),
        (
            "Deferring PRE script of node A for 8 seconds (exit status was 4)...",
            (OutKind.SCRIPT_DEFERRED, "A", 4, "PRE"),
        ),
        ("Retrying node A (retry #2 of 5)...", (OutKind.RETRY, "A", 2, "")),
        (
            "Node a+b job proc (86.0.0) failed with status 9.",
            (OutKind.JOB_FAILURE, "a+b", 0, "failed with status 9"),
        ),
        (
            "Node A job proc (7.2.0) failed with signal 11.",
            (OutKind.JOB_FAILURE, "A", 0, "failed with signal 11"),
        ),
        (
            "Event: ULOG_SUBMIT_FAILURE for HTCondor Node F (-1.-1.-1) {11/23/26 00:11:59} no file",
            (OutKind.SUBMIT_FAILURE, "F", 0, "no file"),
        ),
        (
            "The queue of the schedd is full, nodes wait for room: why",
            (OutKind.QUEUE_FULL, "", 0, "why"),
        ),
        ("The queue of the schedd has room again", (OutKind.QUEUE_FULL, "", 0, "")),
        (
            "No site yet for group c: of 1 site, 1 is full (north): wait",
            (OutKind.NO_SITE_YET, "c", 0, "of 1 site, 1 is full (north): wait"),
        ),
        (
            "No site yet for group a:, b+x, c and 12 more: none",
            (OutKind.NO_SITE_YET, "a:, b+x, c", 0, "none"),
        ),
        ("Halting DAGMan progess...", (OutKind.HALT, "", 0, "")),
        ("Halt reason: new calibration", (OutKind.HALT_REASON, "", 0, "new calibration")),
        ("DAG Un-Pause: Resuming work...", (OutKind.RESUME, "", 0, "")),
        ("Resume reason: it is mended", (OutKind.RESUME_REASON, "", 0, "it is mended")),
        (
            "Node S+A is put on hold, as ann wants",
            (OutKind.STEERED, "S+A", 0, "put on hold, as ann wants"),
        ),
        (
            "DAGMAN_MAX_JOBS_IDLE = 7, set in /x/my.config, line 2",
            (OutKind.KNOB_PLACE, "DAGMAN_MAX_JOBS_IDLE", 7, "/x/my.config, line 2"),
        ),
        ("\tMaximum Submitted Nodes-------: 7", (OutKind.LIMIT, "", 7, "DAGMan_MaxJobs")),
        ("DAG status: 2 (DAG_STATUS_NODE_FAILED)", (OutKind.STATUS, "", 2, "")),
        ("Of 11 nodes total:", (OutKind.TOTAL, "", 11, "")),
        ("Default node log file is: </a b/x.log>", (OutKind.NODES_LOG, "", 0, "/a b/x.log")),
        ("ERROR: the following job(s) failed:", (OutKind.FAILED_LIST, "", 0, "")),
        ("      Node Name: S+A", (OutKind.LISTED_NODE, "S+A", 0, "")),
        (
            "          Error: Job proc (86.0.0) failed with status 9",
            (OutKind.LISTED_ERROR, "", 0, "Job proc (86.0.0) failed with status 9"),
        ),
        ("---------------------------------------\t<END>", (OutKind.LIST_END, "", 0, "")),
        ("ERROR: disk full", (OutKind.ERROR, "", 0, "ERROR: disk full")),
        (
            "Error: Failed to execute PRE for Node A: p: [Errno 2] No such file",
            (OutKind.SCRIPT_ERROR, "A", 0, "p: [Errno 2] No such file"),
        ),
        ("Received SIGUSR1", (OutKind.REMOVED, "", 0, "")),
        ("ann asks for the DAG: cancel-all", (OutKind.ASKED, "ann", 0, "cancel-all")),
        ("ann asks for the DAG: halt reason too hot", (OutKind.ASKED, "ann", 0, "halt")),
        ("ann asks for the DAG: resume", (OutKind.ASKED, "ann", 0, "resume")),
        (
            "**** condor_dagman (condor_DAGMAN) pid 31055 EXITING WITH STATUS 1",
            (OutKind.END, "", 1, ""),
        ),
    ],
)
def test_a_line(line: str, told: tuple[OutKind, str, int, str]) -> None:
    assert read(f"{STAMP}{line}\n") == [told]
    assert read(f"{STAMP}(pid:7) (D_ALWAYS) {line}\n") == [told]
    if told[0] is not OutKind.ASKED:  # it begins with any name
        assert read(f"{STAMP}He said: {line}\n") == []


def test_counts() -> None:
    row = "     0       3        0       0       6          2        0        1"
    ((kind, _, _, text),) = read(f"{STAMP}{row}\n")
    assert (kind, text.split()) == (OutKind.COUNTS, ["0", "3", "0", "0", "6", "2", "0", "1"])


def test_offsets_times_and_a_line_that_is_not_whole() -> None:
    first = f"{STAMP}nothing\n"
    data = f"{first}{STAMP}Received SIGUSR1\n{STAMP}Received SIG".encode()
    (line,) = out_lines(data, 10, TIMES.seconds)
    assert line.end == 10 + len(first) * 2 + len("Received SIGUSR1") - len("nothing")
    assert line.time == 89.0


def test_lines_without_a_time_and_bytes_that_are_not_utf_8() -> None:
    data = b"Received SIGUSR1\n" + STAMP.encode() + b"Running PRE script of Node caf\xe9...\n"
    (line,) = out_lines(data, 0, TIMES.seconds)
    assert line.node == "caf\udce9"


@pytest.mark.parametrize("stamp", ["", "11/22/26 09:46:15 ", "1795340775 (pid:12) (D_ALWAYS) "])
def test_the_last_table_counts(stamp: str) -> None:
    text = TABLE.format(stamp).replace(" 9 nodes", " 8 nodes") + TABLE.format(stamp) + stamp + END
    assert last_run(text.encode()) == RunLog(COUNTS, 2, 1)


def test_a_new_start_begins_anew() -> None:
    assert last_run((TABLE.format("") + END + START).encode()) == RunLog()


def test_a_log_that_begins_or_ends_within_a_table() -> None:
    text = TABLE.format(STAMP)
    for cut in range(len(text)):
        found = last_run(text[cut:].encode())
        assert found.counts in ((), COUNTS)
    assert last_run(text[: text.index("    1       2")].encode()).counts == ()


def test_nothing_is_known_of_an_empty_log() -> None:
    assert last_run(b"") == RunLog((), None, None)


@pytest.mark.parametrize(
    ("lines", "status"),
    [
        (["Halting DAGMan progess..."], DagStatus.HALTED),
        (["Halting DAGMan progess...", "Halt reason: x", "Resuming DAG progress..."], None),
        (["Restoring halted state."], DagStatus.HALTED),
        (["DAG Pause: Freezing all work..."], DagStatus.HALTED),
        (["DAG Pause: Freezing all work...", "DAG Un-Pause: Resuming work..."], None),
        (
            ["DAG Un-Pause: Resuming work...", "The DAG stays halted by the halt file"],
            DagStatus.HALTED,
        ),
    ],
)
def test_a_halt_counts_before_the_next_table(lines: list[str], status: DagStatus | None) -> None:
    text = TABLE.format(STAMP) + "".join(f"11/22/26 09:46:15 {line}\n" for line in lines)
    assert last_run(text.encode()) == RunLog(COUNTS, status)


def test_a_table_after_a_halt_counts() -> None:
    assert last_run(("Halting DAGMan progess...\n" + TABLE.format("")).encode()) == RunLog(
        COUNTS, 2
    )


def test_the_nodes_log_that_the_head_names_last() -> None:
    line = "Default node log file is: <{}>\n"
    assert nodes_log((STAMP + line.format("a") + STAMP + line.format("b")).encode()) == "b"
    assert nodes_log(b"") == ""


@pytest.mark.parametrize("seconds", [TIMES.seconds, None])
def test_no_line_that_tells_something_is_passed_over(
    seconds: Callable[[str], float] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = [log.read_bytes() for log in sorted(RUNS.rglob("*.dagman.out"))]
    found = [list(out_lines(log, 0, seconds)) for log in logs]
    monkeypatch.setattr(dagman_out, "_telling", lambda some_ask: re.compile(b"\n"))
    assert found == [list(out_lines(log, 0, seconds)) for log in logs]
    assert len({line.what for told in found for line in told}) > 20
