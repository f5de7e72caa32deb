"""What is published when: at once after a quiet time, not too often, and never all the time."""

from __future__ import annotations

import pytest

from condor_pydagman.daemon.timetable import SETTLE, SHARE, Timetable


def test_the_first_change_is_due_at_once() -> None:
    table = Timetable()
    assert table.next() is None
    table.plan("file", 100.0, 60.0)
    assert table.next() == 100.0 + SETTLE
    assert table.take(100.0) == []
    assert table.take(100.0 + SETTLE) == ["file"]
    assert table.next() is None


def test_changes_within_the_interval_wait_for_its_end_and_no_longer() -> None:
    table = Timetable()
    table.done("file", 100.0, 100.0)
    table.plan("file", 110.0, 60.0)
    table.plan("file", 150.0, 60.0)
    assert table.next() == 160.0


def test_a_change_after_the_interval_is_due_at_once() -> None:
    table = Timetable()
    table.done("file", 100.0, 100.0)
    table.plan("file", 500.0, 60.0)
    assert table.next() == 500.0 + SETTLE


def test_what_takes_long_comes_rarely() -> None:
    table = Timetable()
    table.done("file", 100.0, 102.0)
    table.plan("file", 102.0, 0.0)
    assert table.next() == 102.0 + 2.0 * SHARE


@pytest.mark.parametrize(("cost", "expected"), [(0.0, 101.0), (2.0, 100.0 + 2.0 * SHARE)])
def test_a_reminder_changes_no_plan(cost: float, expected: float) -> None:
    table = Timetable()
    table.done("file", 100.0 - cost, 100.0)
    table.remind("file", 100.0, 1.0)
    assert table.next() == expected
    table.plan("other", 90.0, 0.0)
    table.remind("other", 90.0, 50.0)
    assert table.next() == 90.0 + SETTLE


def test_each_has_its_own_time_and_all_can_be_forgotten() -> None:
    table = Timetable()
    table.plan("one", 100.0, 0.0)
    table.plan("two", 200.0, 0.0)
    assert table.take(150.0) == ["one"]
    table.plan("three", 300.0, 0.0)
    table.drop("three")
    assert table.next() == 200.0 + SETTLE
    table.clear()
    assert table.next() is None
