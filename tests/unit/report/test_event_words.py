"""Events in words."""

from __future__ import annotations

import pytest

from condor_pydagman.report.event_words import _WORDS, event_words
from condor_pydagman.trace.dag_events import NAMES, DagEvent


def test_every_event_has_words() -> None:
    assert set(_WORDS) == set(NAMES)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (DagEvent("dag.end", 0, data={"exit_code": 1}), "DAGMan has ended, exit code 1"),
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
            "A\\x0a: job 7.0 is held: no\\x1b (code 13)",
        ),
        (
            DagEvent("job.terminate", 0, "N", 0, data={"value": -9}),
            "N: job ended, signal 9 (Killed)",
        ),
    ],
)
def test_words(event: DagEvent, words: str) -> None:
    assert event_words(event) == words
