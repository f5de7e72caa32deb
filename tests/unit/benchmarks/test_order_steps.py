"""How late retries and removals come, by the nodes log; and what counts as a connection."""

from __future__ import annotations

import pytest

from benchmarks import events, order_steps
from condor_pydagman.engine.rules import retry_delay_s
from condor_pydagman.graph.model import Retry


def test_lateness_counts_from_the_planned_time() -> None:
    delay = retry_delay_s(Retry(2, delay=order_steps.LIMIT_S), 1, "A")
    log = [
        events.Event(events.SUBMIT, 1, 0.0),
        events.Event(events.SUBMIT, 2, 0.0),
        events.Event(events.EXECUTE, 2, 10.0),
        events.Event(events.TERMINATED, 1, 11.0),
        events.Event(events.ABORTED, 2, 12.25),
        events.Event(events.SUBMIT, 3, 11.0 + delay + 0.5),
        events.Event(events.TERMINATED, 3, 20.0),
    ]
    found = order_steps.lateness(log)
    assert found == {"retry late": [pytest.approx(0.5)], "timeout late": [0.25]}
