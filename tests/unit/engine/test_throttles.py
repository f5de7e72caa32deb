"""Limits: whose counts, the pace of submits, and categories."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import LimitsWanted
from condor_pydagman.engine.throttles import (
    Categories,
    RestartPace,
    SubmitPace,
    Throttles,
    burst_of,
    throttles,
)
from tests import make


@pytest.mark.parametrize(
    ("user", "administrator", "want"),
    [(None, 1000, 1000), (5, 1000, 5), (2000, 1000, 1000), (0, 1000, 1000), (5, 0, 5), (0, 0, 0)],
)
def test_the_administrator_caps_the_user(user: int | None, administrator: int, want: int) -> None:
    config = Config(max_jobs_idle=administrator, max_submits_per_interval=7)
    got = throttles(config, idle=user)
    assert got.idle == want
    assert (got.submits, got.interval_s, got.jobs, got.pre) == (7, 5.0, 0, 20)


KNOB = "DAGMAN_MAX_SUBMITS_PER_INTERVAL"
UNSET, HUNDRED, NONE = (
    Config(),
    Config(explicit=frozenset({KNOB})),
    Config(max_submits_per_interval=0),
)
THIRTY, MANY = Config(max_submits_per_interval=30), Config(max_submits_per_interval=500)


@pytest.mark.parametrize(
    ("user", "administrator", "asked", "shown", "kept"),
    [
        # Nobody has set anything: our own pace, shown as stock's 100.
        (UNSET, UNSET, None, 100, 0),
        (UNSET, UNSET, 50, 50, 50),
        (UNSET, UNSET, 100, 100, 100),
        (UNSET, UNSET, 200, 100, 100),
        (UNSET, UNSET, 0, 100, 0),
        # A CONFIG file.
        (HUNDRED, UNSET, None, 100, 100),
        (THIRTY, UNSET, None, 30, 30),
        (THIRTY, UNSET, 0, 100, 0),
        (MANY, UNSET, None, 100, 100),
        (NONE, UNSET, None, 100, 0),
        # The administrator.
        (HUNDRED, HUNDRED, None, 100, 100),
        (HUNDRED, HUNDRED, 0, 100, 100),
        (MANY, MANY, 200, 200, 200),
        (MANY, MANY, 600, 500, 500),
        (UNSET, NONE, 200, 200, 200),
        (NONE, NONE, None, 0, 0),
        (NONE, NONE, 0, 0, 0),
    ],
)
def test_submits_in_an_interval_are_shown_as_by_stock(
    user: Config, administrator: Config, asked: int | None, shown: int, kept: int
) -> None:
    got = throttles(user, administrator, submits=asked)
    assert (got.submits, 0 if got.own_pace else got.submits) == (shown, kept)


def test_our_own_pace_outlives_a_change_of_another_throttle() -> None:
    harness = make.harness_of("A B", limits=throttles(Config()))
    harness.tell(LimitsWanted(idle=5))
    assert (harness.engine.run.limits.submits, harness.engine.run.limits.own_pace) == (100, True)
    harness.tell(LimitsWanted(submits=200))
    assert (harness.engine.run.limits.submits, harness.engine.run.limits.own_pace) == (100, False)


def test_our_own_pace_is_not_kept_to_the_number_that_is_shown() -> None:
    limits, pace = Throttles(submits=1, own_pace=True, interval_s=5.0), SubmitPace()
    pace.submitted(100.0, limits)
    pace.submitted(100.0, limits)
    assert pace.blocked_until(100.0, limits) <= 100.0


def test_submits_in_an_interval() -> None:
    limits, pace = Throttles(submits=2, interval_s=5.0), SubmitPace()
    pace.submitted(100.0, limits)
    assert pace.blocked_until(101.0, limits) <= 101.0
    pace.submitted(103.0, limits)
    assert pace.blocked_until(103.0, limits) == 105.0
    assert pace.blocked_until(105.0, limits) <= 105.0
    pace.submitted(106.0, limits)
    pace.submitted(106.0, limits)
    assert pace.blocked_until(106.0, limits) == 111.0


def test_back_off_doubles_up_to_a_minute_and_ends_with_a_success() -> None:
    limits, pace = Throttles(), SubmitPace()
    now = 0.0
    for wait in (1, 2, 4, 8, 16, 32, 60, 60):
        assert pace.failed(now) == wait
        now = pace.blocked_until(now, limits)
    assert pace.blocked_until(now - 0.1, limits) == now
    assert pace.blocked_until(now, limits) <= now
    pace.submitted(now, limits)
    assert pace.blocked_until(now, limits) <= now
    assert pace.failed(now + 1) == 1.0


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


# Changes while running.


@pytest.mark.parametrize("field", ["jobs", "idle", "pre", "post", "hold", "submits"])
def test_one_limit_is_changed_and_the_others_stay(field: str) -> None:
    harness = make.harness_of("A B C D", limits=Throttles(11, 12, 13, 14, 15, 16))
    before = {name: getattr(harness.engine.run.limits, name) for name in LimitsWanted._fields}
    harness.tell(LimitsWanted(**{field: 5}))
    after = {name: getattr(harness.engine.run.limits, name) for name in LimitsWanted._fields}
    assert after == {**before, field: 5}


# Nodes that are submitted in a minute.


@pytest.mark.parametrize(("rate", "step"), [(0, 0.0), (1, 1.0), (4, 0.25)])
def test_pre_scripts_that_waited_start_one_after_the_other(rate: int, step: float) -> None:
    pace = RestartPace(rate)
    pace.begin(2)
    assert pace.allows(10.0)
    pace.started(10.0)
    assert pace.next_time() == (10.0 + step if step else None)
    assert pace.allows(9.99 + step) is not bool(step)
    assert pace.allows(10.0 + step)
    pace.started(10.0 + step)
    assert pace.next_time() is None


def test_starts_are_spread_over_the_minute() -> None:
    assert burst_of(600) == (10, 1.0)
    assert burst_of(6) == (1, 10.0)


@pytest.mark.parametrize("most", [1, 7, 60, 130])
def test_one_dag_starts_so_many_nodes_a_minute(most: int) -> None:
    harness = make.EngineHarness(
        "; ".join(f"N{n}" for n in range(2 * most)), make.quiet(max_starts_per_minute=most)
    ).begin()
    times: list[float] = []
    for _ in range(1000):
        while len(harness.ever(do.SubmitNode)) > len(times):
            node = harness.ever(do.SubmitNode)[len(times)].node
            times.append(harness.now)
            harness.run_node(harness.dag.names[node], len(times))
        deadline = harness.engine.next_deadline()
        if deadline is None or len(times) == 2 * most:
            break
        harness.now = max(harness.now, deadline)
        harness.tell(inputs.Wake())
    assert len(times) == 2 * most
    for begin in times:
        assert sum(begin <= when < begin + 60 for when in times) <= most
    assert times[-1] - times[0] <= 120.1
