"""Which changes a client gets that knows some version."""

from __future__ import annotations

from condor_pydagman.web.live_dag import MAX_AT_ONCE, MAX_KEPT, ChangeRing


def test_each_client_gets_what_it_does_not_know() -> None:
    ring = ChangeRing(10)
    ring.add([(0, 3), (1, 4)])
    ring.add([(0, 8)])
    assert ring.since(10) == (13, [(0, 8), (1, 4)])
    assert ring.since(12) == (13, [(0, 8)])
    assert ring.since(13) == (13, [])


def test_a_version_that_never_was_or_is_long_past() -> None:
    ring = ChangeRing(10)
    assert ring.since(9) is None
    assert ring.since(11) is None
    ring.add((number, 1) for number in range(MAX_KEPT + 5))
    assert ring.since(14) is None
    assert ring.since(15) is not None


def test_many_changes_come_in_pieces() -> None:
    ring = ChangeRing(0)
    ring.add((number, number % 11) for number in range(3 * MAX_AT_ONCE + 1))
    version, found = 0, {}
    pieces = 0
    while version != ring.version:
        answer = ring.since(version)
        assert answer is not None
        version, changes = answer
        assert len(changes) <= MAX_AT_ONCE
        found.update(changes)
        pieces += 1
    assert pieces == 4
    assert found == {number: number % 11 for number in range(3 * MAX_AT_ONCE + 1)}


def test_after_another_beginning_all_is_asked_anew() -> None:
    ring = ChangeRing(5)
    ring.add([(0, 1)])
    ring.forget()
    assert ring.since(6) is None
    assert ring.since(7) == (7, [])
    assert ring.first == 7
