"""DAGMan's own events reach the nodes log in order, possibly late, and never twice."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import Any

import pytest

from condor_pydagman.adapters.joblog import IncompleteEvent
from condor_pydagman.daemon import nodes_log as nodes_log_writer
from condor_pydagman.daemon.nodes_log import MAX_APPEND_TRIES, NodesLogWriter
from condor_pydagman.engine.actions import AppendPreSkip
from condor_pydagman.engine.inputs import AppendFailed, Input, LogRepaired
from condor_pydagman.errors import FileError

A, B = AppendPreSkip(0, 1), AppendPreSkip(1, 2)


class Bench:
    """A log on a disk that may be full, a clock, and the writer."""

    def __init__(self, *, full: bool) -> None:
        self.full, self.now = full, 100.0
        self.tries = 0
        self.under_way = False  # somebody else writes an event
        self.log: list[str] = []
        self.said: list[str] = []
        self.inputs: deque[Input] = deque()
        log: Any = SimpleNamespace(append=self._append)
        clock: Any = SimpleNamespace(monotonic=lambda: self.now)
        out: Any = SimpleNamespace(say=lambda text, _: self.said.append(text), flush=lambda: None)
        self.writer = NodesLogWriter(log, self.inputs, clock, out)

    def _append(self, text: str) -> None:
        self.tries += 1
        if self.under_way:
            raise IncompleteEvent("t")
        if self.full:
            raise FileError("can't write the nodes log t: disk full")
        self.log.append(text)

    def wait(self) -> None:
        """Advance the clock to the next retry."""
        until = self.writer.next_deadline()
        assert until is not None
        self.writer.work(until - 0.001)
        self.now = until
        self.writer.work(until)


def test_an_event_is_written_at_once() -> None:
    bench = Bench(full=False)
    bench.writer.append(A, "a")
    assert bench.log == ["a"]
    assert not bench.writer
    assert bench.writer.next_deadline() is None


def test_failed_writes_are_retried_in_order() -> None:
    bench = Bench(full=True)
    bench.writer.append(A, "a")
    bench.writer.append(B, "b")
    assert bench.writer
    for _ in range(5):
        bench.wait()
    assert bench.tries == 6
    bench.full = False
    bench.wait()
    assert bench.log == ["a", "b"]
    assert not bench.writer
    assert list(bench.inputs) == [LogRepaired()]
    assert bench.said[0].endswith("trying again (free some space)")


def test_retries_come_within_a_second() -> None:
    bench = Bench(full=True)
    bench.writer.append(A, "a")
    times = [bench.now]
    for _ in range(10):
        bench.wait()
        times.append(bench.now)
    gaps = [later - time for time, later in zip(times, times[1:])]
    assert gaps == sorted(gaps)
    assert gaps[-1] == nodes_log_writer.APPEND_RETRY_S


def test_a_disk_that_stays_full_is_reported_once_and_the_rest_dropped() -> None:
    bench = Bench(full=True)
    behind: list[str] = []
    bench.writer.append(A, "a")
    bench.writer.append(B, "b")
    bench.writer.call_when_written(lambda: behind.append("submitted"))
    for _ in range(MAX_APPEND_TRIES - 1):
        bench.wait()
    assert list(bench.inputs) == [AppendFailed("can't write the nodes log t: disk full")]
    assert not bench.writer
    assert not behind
    assert bench.now - 100.0 < 60.0  # else the engine would have asked for the event once more
    bench.full = False
    bench.writer.append(B, "b")
    assert bench.log == ["b"]


def test_a_submission_waits_for_the_events_before_it() -> None:
    bench = Bench(full=True)
    order = bench.log
    bench.writer.append(A, "a")
    bench.writer.call_when_written(lambda: order.append("submitted"))
    bench.writer.append(B, "b")
    assert order == []
    bench.full = False
    bench.wait()
    assert order == ["a", "submitted", "b"]
    bench.writer.call_when_written(lambda: order.append("at once"))
    assert order[-1] == "at once"


def test_a_waiting_submission_can_be_cancelled() -> None:
    bench = Bench(full=True)
    assert not bench.writer.drop_calls()
    bench.writer.append(A, "a")
    bench.writer.call_when_written(lambda: bench.log.append("submitted"))
    bench.writer.append(B, "b")
    assert bench.writer.drop_calls()
    assert not bench.writer.drop_calls()
    bench.full = False
    bench.wait()
    assert bench.log == ["a", "b"]


def test_a_repeated_append_is_written_once() -> None:
    bench = Bench(full=True)
    bench.writer.append(A, "a")
    bench.writer.append(A, "a, a minute later")
    bench.full = False
    bench.wait()
    assert bench.log == ["a"]
    bench.writer.append(A, "lost in the log")
    assert bench.log == ["a", "lost in the log"]


def test_an_event_of_another_writer_delays_ours_silently() -> None:
    bench = Bench(full=False)
    bench.under_way = True
    bench.writer.append(A, "a")
    bench.writer.append(B, "b")
    for _ in range(2 * MAX_APPEND_TRIES):
        before = bench.now
        bench.wait()
        assert bench.now - before < 0.1
    assert not bench.log
    bench.under_way = False
    bench.wait()
    assert bench.log == ["a", "b"]
    assert not bench.said
    assert not bench.inputs


@pytest.mark.parametrize(
    "most, log",
    [(99, ["a;b;c;"]), (4, ["a;b;", "c;"]), (3, ["a;", "b;", "c;"]), (1, ["a;", "b;", "c;"])],
)
def test_events_of_a_block_are_written_together(
    most: int, log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nodes_log_writer, "MAX_WRITE", most)
    bench = Bench(full=False)
    with bench.writer.gathered():
        for action, text in ((A, "a;"), (B, "b;"), (AppendPreSkip(2, 3), "c;")):
            bench.writer.append(action, text)
        assert bench.log == []
    assert bench.log == log
    assert not bench.writer


def test_a_block_that_the_disk_has_no_room_for_is_written_later() -> None:
    bench = Bench(full=True)
    with bench.writer.gathered():
        bench.writer.append(A, "a;")
        bench.writer.append(B, "b;")
    bench.full = False
    bench.wait()
    assert bench.log == ["a;b;"]
