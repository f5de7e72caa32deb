"""Lines of `.dagman.out` of both programs that tell what the nodes log does not."""

from __future__ import annotations

import pytest

from condor_pydagman.trace.local_times import LocalTimes
from condor_pydagman.trace.out_log_text import OutKind, out_lines

TIMES = LocalTimes(lambda text, utc: 60.0, 2026)
STAMP = "11/21/26 11:56:29 "


def read(text: str) -> list[tuple[OutKind, str, int, str]]:
    return [tuple(line)[:1] + tuple(line)[2:5] for line in out_lines(text.encode(), 0, TIMES)]  # type: ignore[misc]


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
            "Aborting further retries of node A (last attempt returned 3)",
            (OutKind.NO_RETRY, "A", 0, ""),
        ),
        (
            "Event: ULOG_SUBMIT_FAILURE for HTCondor Node F (-1.-1.-1) {11/23/26 00:11:59} no file",
            (OutKind.SUBMIT_FAILURE, "F", 0, "no file"),
        ),
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
        ("\tMaximum Submitted Nodes-------: 7", (OutKind.LIMIT, "", 7, "DAGMan_MaxJobs")),
        ("DAG status: 2 (DAG_STATUS_NODE_FAILED)", (OutKind.STATUS, "", 2, "")),
        ("Of 11 nodes total:", (OutKind.TOTAL, "", 11, "")),
        ("Received SIGUSR1", (OutKind.REMOVED, "", 0, "")),
        (
            "**** condor_dagman (condor_DAGMAN) pid 31055 EXITING WITH STATUS 1",
            (OutKind.END, "", 1, ""),
        ),
    ],
)
def test_a_line(line: str, told: tuple[OutKind, str, int, str]) -> None:
    assert read(f"{STAMP}{line}\n") == [told]
    assert read(f"{STAMP}(pid:7) (D_ALWAYS) {line}\n") == [told]
    assert read(f"{STAMP}He said: {line}\n") == []


def test_counts() -> None:
    row = "     0       3        0       0       6          2        0        1"
    ((kind, _, _, text),) = read(f"{STAMP}{row}\n")
    assert (kind, text.split()) == (OutKind.COUNTS, ["0", "3", "0", "0", "6", "2", "0", "1"])


def test_offsets_times_and_a_line_that_is_not_whole() -> None:
    first = f"{STAMP}nothing\n"
    data = f"{first}{STAMP}Received SIGUSR1\n{STAMP}Received SIG".encode()
    (line,) = out_lines(data, 10, TIMES)
    assert line.end == 10 + len(first) * 2 + len("Received SIGUSR1") - len("nothing")
    assert line.time == 89.0


def test_lines_without_a_time_and_bytes_that_are_not_utf_8() -> None:
    data = b"Received SIGUSR1\n" + STAMP.encode() + b"Running PRE script of Node caf\xe9...\n"
    (line,) = out_lines(data, 0, TIMES)
    assert line.node == "caf\udce9"


@pytest.mark.parametrize(
    ("text", "node", "why"),
    [
        (
            "Node X is skipped, since RUN_IF n > 3 is false: n is 2",
            "X",
            "RUN_IF n > 3 is false: n is 2",
        ),
        (
            "Node S+Y is skipped: all its parents were skipped",
            "S+Y",
            "all its parents were skipped",
        ),
    ],
)
def test_nodes_that_are_skipped(text: str, node: str, why: str) -> None:
    assert read(f"{STAMP}{text}\n") == [(OutKind.SKIPPED, node, 0, why)]
