"""Scripts that wait for a place, and those put off."""

from __future__ import annotations

from condor_pydagman.engine.queues import ScriptQueue


def test_first_come_first_served() -> None:
    queue = ScriptQueue()
    queue.add(2)
    queue.add(1)
    assert [queue.pop(0.0), queue.pop(0.0), queue.pop(0.0)] == [2, 1, None]


def test_a_deferred_script_joins_when_its_time_has_come() -> None:
    queue = ScriptQueue()
    queue.defer(1, 10.0)
    queue.add(2)
    assert queue.next_time() == 10.0
    assert queue.pop(9.9) == 2
    assert queue.pop(9.9) is None
    assert queue.pop(10.0) == 1
    assert queue.next_time() is None


def test_a_discarded_script_is_not_started() -> None:
    queue = ScriptQueue()
    queue.add(1)
    queue.defer(2, 5.0)
    queue.discard(1)
    queue.discard(2)
    assert queue.next_time() is None
    assert queue.pop(99.0) is None


def test_added_again_after_a_discard_it_comes_once() -> None:
    queue = ScriptQueue()
    queue.add(1)
    queue.discard(1)
    queue.add(1)
    assert [queue.pop(0.0), queue.pop(0.0)] == [1, None]


def test_no_script_starts_after_clear() -> None:
    queue = ScriptQueue()
    queue.add(1)
    queue.defer(2, 1.0)
    queue.clear()
    assert queue.pop(2.0) is None


def test_length_is_of_those_that_want_to_start() -> None:
    queue = ScriptQueue()
    queue.add(1)
    queue.defer(2, 5.0)
    assert len(queue) == 1
    assert queue.pop(5.0) == 1
    assert len(queue) == 1
    queue.discard(2)
    assert len(queue) == 0


def test_what_was_put_off_and_is_needed_no_longer_does_not_count() -> None:
    queue = ScriptQueue()
    queue.defer(1, 50.0)
    queue.defer(2, 60.0)
    queue.clear()
    queue.add(3)
    assert len(queue) == 1
    assert queue.next_time() is None
    assert queue.pop(100.0) == 3
    queue.defer(1, 150.0)
    queue.discard(1)
    queue.add(4)
    assert len(queue) == 1


def test_a_node_put_off_anew_waits_for_the_new_time() -> None:
    queue = ScriptQueue()
    queue.defer(1, 50.0)
    queue.discard(1)  # an old log showed its job; now its retry
    queue.defer(1, 90.0)
    assert queue.next_time() == 90.0
    assert queue.pop(60.0) is None
    assert queue.pop(90.0) == 1
    assert queue.pop(99.0) is None


def test_a_place_of_an_earlier_time_starts_no_script_that_is_put_off() -> None:
    queue = ScriptQueue()
    queue.add(1)
    queue.discard(1)
    queue.add(1)
    assert queue.pop(0.0) == 1
    queue.defer(1, 50.0)
    assert queue.pop(10.0) is None
    assert len(queue) == 0
    assert queue.pop(50.0) == 1
