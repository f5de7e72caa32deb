"""Order of the ready queue."""

from __future__ import annotations

import pytest

from condor_pydagman.engine.queues import ReadyQueue


def drain(queue: ReadyQueue) -> list[int]:
    order = []
    while (node := queue.pop()) is not None:
        order.append(node)
    return order


def test_first_come_first_served_among_equals() -> None:
    queue = ReadyQueue()
    for node in (3, 1, 2):
        queue.add(node, 0)
    assert drain(queue) == [3, 1, 2]


def test_higher_priority_first_negative_last() -> None:
    queue = ReadyQueue()
    for node, priority in ((1, 0), (2, -1), (3, 5), (4, 0)):
        queue.add(node, priority)
    assert drain(queue) == [3, 1, 4, 2]


def test_prepended_nodes_go_first_last_come_first_but_not_over_priority() -> None:
    queue = ReadyQueue()
    queue.add(1, 0)
    queue.add(2, 0, first=True)
    queue.add(3, 0, first=True)
    queue.add(4, 1)
    assert drain(queue) == [4, 3, 2, 1]


def test_a_discarded_node_never_comes_and_may_come_back() -> None:
    queue = ReadyQueue()
    queue.add(1, 0)
    queue.add(2, 0)
    queue.discard(1)
    queue.discard(9)
    assert 1 not in queue
    assert len(queue) == 1
    queue.add(1, 0)
    assert drain(queue) == [2, 1]


def test_a_node_is_queued_once() -> None:
    queue = ReadyQueue()
    queue.add(1, 0)
    with pytest.raises(AssertionError):
        queue.add(1, 0)


def test_what_left_early_does_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = ReadyQueue()
    monkeypatch.setattr(ReadyQueue, "MIN_COMPACT_LENGTH", 20)
    most = 0
    for node in range(500):  # a replay: every node is ready, then its submit event comes
        queue.add(node, node % 3)
        queue.discard(node)
        most = max(most, len(queue._heap))
    assert most <= 21


def test_those_that_stay_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = ReadyQueue()
    monkeypatch.setattr(ReadyQueue, "MIN_COMPACT_LENGTH", 20)
    for node in range(100):
        queue.add(node, node % 3)
    for node in range(100):
        if node % 10:
            queue.discard(node)
    assert len(queue._heap) <= 2 * len(queue) + 1
    assert drain(queue) == [20, 50, 80, 10, 40, 70, 0, 30, 60, 90]
