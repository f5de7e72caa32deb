"""Limits: whose counts, the pace of submits, and categories."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine.throttles import Categories, SubmitPace, Throttles, throttles


@pytest.mark.parametrize(
    ("user", "administrator", "want"),
    [(None, 1000, 1000), (5, 1000, 5), (2000, 1000, 1000), (0, 1000, 1000), (5, 0, 5), (0, 0, 0)],
)
def test_the_administrator_caps_the_user(user: int | None, administrator: int, want: int) -> None:
    config = Config(max_jobs_idle=administrator, max_submits_per_interval=7)
    got = throttles(config, idle=user)
    assert got.idle == want
    assert (got.submits, got.interval, got.jobs, got.pre) == (7, 5.0, 0, 20)


def test_back_off_doubles_up_to_a_minute_and_ends_with_a_success() -> None:
    pace = SubmitPace(Throttles())
    assert [pace.failed(100.0) for _ in range(8)] == [1, 2, 4, 8, 16, 32, 60, 60]
    assert pace.blocked_until(159.9) == 160.0
    assert pace.blocked_until(160.0) <= 160.0
    pace.submitted(160.0)
    assert pace.blocked_until(160.0) <= 160.0
    assert pace.failed(161.0) == 1.0


def test_submits_in_an_interval() -> None:
    pace = SubmitPace(Throttles(submits=2, interval=5.0))
    pace.submitted(100.0)
    assert pace.blocked_until(101.0) <= 101.0
    pace.submitted(103.0)
    assert pace.blocked_until(103.0) == 105.0
    assert pace.blocked_until(105.0) <= 105.0
    pace.submitted(106.0)
    pace.submitted(106.0)
    assert pace.blocked_until(106.0) == 111.0


def test_a_full_category_sets_aside_in_order() -> None:
    categories = Categories({1: "a", 2: "a", 3: "a", 4: "b"}, {"a": 1})
    assert categories.room(1)
    categories.enter(1)
    assert not categories.room(2)
    assert categories.room(4)  # no limit was given
    categories.set_aside(3)
    categories.set_aside(2)
    assert categories.waiting() == [3, 2]
    assert categories.leave(4) == []
    assert categories.leave(2) == []  # it was never in
    assert categories.leave(1) == [3, 2]
    assert categories.leave(1) == []
    assert categories.room(2)


def test_entering_twice_counts_once() -> None:
    categories = Categories({1: "a", 2: "a"}, {"a": 2})
    categories.enter(1)
    categories.enter(1)
    assert categories.room(2)
