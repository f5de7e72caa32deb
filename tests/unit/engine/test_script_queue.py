"""Scripts that wait for a place, and those put off."""

from __future__ import annotations

from condor_pydagman.engine.script_queue import ScriptQueue


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


def test_clear() -> None:
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
