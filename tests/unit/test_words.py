"""Numbers, results and events in words."""

from __future__ import annotations

import pytest

from condor_pydagman import feature_table
from condor_pydagman.follow.dag_events import NAMES, DagEvent
from condor_pydagman.report.event_words import _WORDS, event_words
from condor_pydagman.words import duration, number, rate, result


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-1, "0 s"), (0.4, "0 s"), (59.6, "1 min"), (61, "1 min 1 s"), (3600, "1 h"),
     (11520, "3 h 12 min"), (90061, "1 d 1 h"), (3601, "1 h")],
)  # fmt: skip
def test_durations(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("value", "reason", "words"),
    [
        (3, "", "exit code 3"),
        (-9, "", "signal 9 (Killed)"),
        (-1002, "via condor_rm", "removed: via condor_rm"),
        (-1001, "", "could not be submitted"),
        (2, "PRE script", "PRE script: exit code 2"),
        (None, "no such file", "no such file"),
        (None, "", "unknown"),
    ],
)
def test_results(value: int | None, reason: str, words: str) -> None:
    assert result(value, reason) == words


def test_numbers_and_rates() -> None:
    assert [number(value) for value in (0, 3, 2.5, 12345.6)] == ["0", "3", "2.5", "12,346"]
    assert [rate(value) for value in (35, 0.2, 0.01)] == [
        "35 nodes/s", "12 nodes/min", "36 nodes/h"
    ]  # fmt: skip


# Events in words.


def test_every_event_has_words() -> None:
    tables = [_WORDS, *feature_table.told("shown", "EVENTS")]
    assert sorted(name for table in tables for name in table) == sorted(NAMES)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (DagEvent("dag.end", 0, data={"exit_code": 1}), "DAGMan ended, exit code 1"),
        (DagEvent("dag.limits", 0, data={"DAGMan_MaxJobs": 7}), "throttle DAGMan_MaxJobs = 7"),
        (
            DagEvent("dag.status", 0, data={"status": 0, "total": 3, "done": 2, "failed": 0}),
            "nodes: 2 done of 3",
        ),
        (
            DagEvent("node.state", 0, "A", 1, data={"was": "READY", "status": "ERROR", "value": 3}),
            "A (attempt 2): READY -> ERROR, exit code 3",
        ),
        (
            DagEvent("job.hold", 0, "A\n", 0, "7.0", {"reason": "no\x1b", "code": 13}),
            "A\n: job 7.0 is held: no\x1b (code 13)",  # safe when it is printed
        ),
        (
            DagEvent("job.terminate", 0, "N", 0, data={"value": -9}),
            "N: job ended, signal 9 (Killed)",
        ),
    ],
)
def test_words(event: DagEvent, words: str) -> None:
    assert event_words(event) == words


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("", "skipped by its PRE script"),
        ("RUN_IF is false", "skipped: RUN_IF is false"),
        ("skipped by ann", "skipped by ann"),
    ],
)
def test_a_node_that_is_skipped(reason: str, words: str) -> None:
    data = {"was": "PRERUN", "status": "DONE", "skipped": True, "reason": reason}
    event = DagEvent("node.state", 0, "A", data=data)
    assert event_words(event) == f"A: PRERUN -> DONE, {words}"
