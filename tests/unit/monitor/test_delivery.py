"""Deliveries: together, again after a while, and given up in the end."""

from __future__ import annotations

from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.monitor import notifier
from condor_pydagman.monitor.notifier import Delivery

EVENTS = [DagEvent("job.submit", 0.0, id=str(number)) for number in range(250)]


def test_what_waits_goes_together() -> None:
    made = Delivery()
    made.add(EVENTS, 0.0)
    sizes = []
    while batch := made.batch(1.0):
        sizes.append(len(batch))
        made.succeeded(len(batch))
    assert sizes == [100, 100, 50]
    assert (made.delivered, made.empty) == ("249", True)


def test_tries_come_at_growing_intervals() -> None:
    made = Delivery()
    made.add(EVENTS[:1], 0.0)
    now, times = 0.0, []
    for _ in range(9):
        assert made.batch(now)
        times.append(made.failed(now) - now)
        assert not made.batch(now + times[-1] - 0.1)
        now += times[-1]
    assert times == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    made.add(EVENTS[1:2], now)
    assert len(made.batch(now)) == 2
    made.succeeded(2)
    assert made.failures == 0


def test_what_is_never_taken_is_given_up() -> None:
    made = Delivery()
    made.add(EVENTS[:2], 0.0)
    made.failed(0.0)
    made.add(EVENTS[2:3], 100.0)
    assert [event.id for event in made.batch(notifier.GIVE_UP_S)] == ["2"]
    assert (made.given_up, made.delivered) == (2, "1")
    made.end(notifier.GIVE_UP_S)
    made.go_on()
    made.end(notifier.GIVE_UP_S + 10)
    assert made.batch(notifier.GIVE_UP_S + 60)
    assert not made.batch(notifier.GIVE_UP_S + 70)
    assert made.empty


def test_no_more_wait_than_there_is_room_for() -> None:
    made = Delivery()
    made.add(EVENTS * 50, 0.0)
    assert made.given_up == 250 * 50 - notifier.MAX_WAITING
