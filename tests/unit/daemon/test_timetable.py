"""When output is due: soon after a change, at minimum intervals, and rarely if it is slow."""

from __future__ import annotations

import pytest

from condor_pydagman.daemon.publish import COST_FACTOR, PUBLISH_DELAY_S, Timetable


def test_the_first_change_is_due_at_once() -> None:
    table = Timetable()
    assert table.next() is None
    table.plan("file", 100.0, 60.0)
    assert table.next() == 100.0 + PUBLISH_DELAY_S
    assert table.pop_due(100.0) == []
    assert table.pop_due(100.0 + PUBLISH_DELAY_S) == ["file"]
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
    assert table.next() == 500.0 + PUBLISH_DELAY_S


def test_slow_output_gets_a_longer_interval() -> None:
    table = Timetable()
    table.done("file", 100.0, 102.0)
    table.plan("file", 102.0, 0.0)
    assert table.next() == 102.0 + 2.0 * COST_FACTOR


@pytest.mark.parametrize(("cost", "expected"), [(0.0, 101.0), (2.0, 100.0 + 2.0 * COST_FACTOR)])
def test_a_reminder_does_not_change_a_planned_time(cost: float, expected: float) -> None:
    table = Timetable()
    table.done("file", 100.0 - cost, 100.0)
    table.remind("file", 100.0, 1.0)
    assert table.next() == expected
    table.plan("other", 90.0, 0.0)
    table.remind("other", 90.0, 50.0)
    assert table.next() == 90.0 + PUBLISH_DELAY_S


def test_each_kind_has_its_own_time_and_all_can_be_cleared() -> None:
    table = Timetable()
    table.plan("one", 100.0, 0.0)
    table.plan("two", 200.0, 0.0)
    assert table.pop_due(150.0) == ["one"]
    table.plan("three", 300.0, 0.0)
    table.drop("three")
    assert table.next() == 200.0 + PUBLISH_DELAY_S
    table.clear()
    assert table.next() is None
