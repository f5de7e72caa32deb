"""A DAGMan that will be started again leaves at once, or after pending requests to the schedd."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from condor_pydagman.daemon.end_notice import Leaving
from condor_pydagman.engine.inputs import DagRemoved, Shutdown, Wake
from condor_pydagman.timers import LEAVE_TIMEOUT_S


class Bench:
    """A run at its end; `left` counts how often it was left."""

    def __init__(self, *, busy: bool) -> None:
        self.now, self.left = 100.0, 0
        self.schedd = SimpleNamespace(busy=busy)
        run = SimpleNamespace(schedd=self.schedd, clock=SimpleNamespace(monotonic=lambda: self.now))
        self.leaving = Leaving(cast(Any, run), self._leave)

    def _leave(self) -> None:
        self.left += 1


def test_without_pending_requests_dagman_leaves_at_once() -> None:
    assert Bench(busy=False).left == 1


def test_a_reply_ends_the_wait() -> None:
    bench = Bench(busy=True)
    assert bench.left == 0
    bench.leaving.work(bench.now + LEAVE_TIMEOUT_S / 2)
    assert bench.left == 0
    bench.schedd.busy = False
    bench.leaving.work(bench.now + LEAVE_TIMEOUT_S / 2)
    assert bench.left == 1
    bench.leaving.work(bench.now + LEAVE_TIMEOUT_S)
    assert bench.left == 1


def test_a_schedd_that_hangs_is_not_waited_for() -> None:
    bench = Bench(busy=True)
    assert bench.leaving.next_deadline() == bench.now + LEAVE_TIMEOUT_S
    bench.leaving.work(bench.now + LEAVE_TIMEOUT_S)
    assert bench.left == 1
    assert LEAVE_TIMEOUT_S < 1


@pytest.mark.parametrize(("told", "left"), [(Shutdown("again"), 1), (DagRemoved(), 1), (Wake(), 0)])
def test_a_second_signal_ends_the_wait(told: Any, left: int) -> None:
    bench = Bench(busy=True)
    bench.leaving.handle_input(told)
    assert bench.left == left
