"""How many nodes go into the next bundles; and what comes of it, in a model of a pool."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from condor_pydagman.features.bundle import plan
from condor_pydagman.features.bundle.plan import (
    MAX_SECONDS,
    MAX_SIZE,
    SAMPLES,
    SHORTEST_S,
    Limits,
    Seen,
    Times,
    is_late,
    longest_of,
)
from tests.features.bundle.packed_pool import Pool, Run, Work
from tests.features.bundle.packed_work import TIMES, make
from tests.features.bundle.plan_sweep import MOST, SLACK_S, Case, compare, compare_by, table


def sizes(seen: Seen, limits: Limits) -> list[int]:
    """Of the bundles that are made, one after the other, as each waits in the queue."""
    found: list[int] = []
    while size := plan.size(seen, limits):
        found.append(size)
        seen = seen._replace(ready=seen.ready - size, idle=seen.idle + 1)
    return found


NONE = Limits()
SHORT = Seen(2000, slots=8, task_s=0.003, longest_s=0.003, ended=80)


def test_nothing_is_known_of_times_or_slots() -> None:
    assert sizes(Seen(20), NONE) == [1] * 20
    assert sizes(Seen(1000), NONE) == [1] * 500, "there may be as many slots"
    assert sizes(Seen(1000, idle=30), NONE) == [1] * 470
    assert sizes(Seen(1000, running=600, idle=30), NONE) == [1] * 570, "as many as run"
    assert sizes(Seen(1000, 100), NONE) == [1] * 100
    assert sizes(Seen(100, 8), NONE) == [1] * 36, "as many as start in a second"


def test_the_first_ones_are_small_bundles_if_each_slot_gets_many() -> None:
    assert sizes(Seen(2000, 8), NONE) == [10] * 36
    assert sizes(Seen(200, 8), NONE)[0] == 3
    assert sizes(Seen(100, 500), NONE) == [1] * 100
    assert sizes(Seen(2000, 500), NONE) == [1] * 500, "a match for each slot must be asked for"


def test_long_chains_do_not_go_all_at_once() -> None:
    """They are cut when fewer are left."""
    long = Seen(90, slots=8, running=8, idle=3, task_s=50.0, longest_s=50.0, ended=40)
    assert sizes(long, NONE) == [1] * 90
    assert sizes(long._replace(steps=5), NONE) == [1] * 6
    assert sizes(long._replace(steps=5, slots=64), NONE) == [1] * 61
    assert sizes(long._replace(steps=5, slots=0), NONE) == [1] * 90
    assert sizes(long._replace(steps=5, task_s=4.0), NONE) == [1] * 90, "jobs take as long to start"


def test_few_chains_go_as_long_as_nothing_is_known_of_times() -> None:
    """Whole ones: they may turn out to be long, and the others are cut then."""
    chains = Seen(30, slots=8, steps=5)
    assert sizes(chains, NONE) == [1] * 8
    assert sizes(chains._replace(running=8), NONE) == [1] * 4, "slots that are free soon"
    assert sizes(chains._replace(slots=0), NONE) == [1] * 30
    assert sizes(chains, Limits(size=2)) == [2] * 15, "a person has said how long they are"


def test_short_tasks_fill_bundles() -> None:
    found = sizes(SHORT, NONE)
    assert found == [125, 117, 109, 103, 96, 90, 85, 79, 74]
    assert sizes(SHORT._replace(slots=0), NONE)[0] == 136, "the square root of 2000 / (36 * 0.003)"


def test_they_get_shorter_towards_the_end() -> None:
    found = sizes(Seen(400, 8, task_s=0.1, longest_s=0.1, ended=80), NONE)
    assert found[0] == 10
    assert found == sorted(found, reverse=True)


def test_long_tasks_go_alone() -> None:
    known = Seen(1000, 500, ended=80, task_s=20.0, longest_s=20.0)
    assert set(sizes(known, NONE)) == {1}
    assert set(sizes(known._replace(slots=8), NONE)) == {1}
    assert set(sizes(known._replace(slots=0), NONE)) == {1}
    assert sizes(known._replace(idle=900), NONE) == [1] * 1000, "none waits for company"


def test_one_long_task_among_short_ones() -> None:
    assert set(sizes(SHORT._replace(longest_s=30.0), NONE)) == {1}
    assert sizes(SHORT._replace(longest_s=1.0), NONE)[0] > 100


def test_jobs_that_are_late_count_before_they_have_ended() -> None:
    assert sizes(SHORT._replace(running=8, late=1), NONE)[0] > 100
    assert set(sizes(SHORT._replace(running=8, late=2), NONE)) == {1}
    assert sizes(SHORT._replace(running=8, late=2, ended=101), NONE)[0] > 100


def test_what_few_tasks_took_does_not_count_while_more_run() -> None:
    few = Seen(1000, task_s=0.1, longest_s=0.1, ended=20, running=10)
    assert set(sizes(few, NONE)) == {1}
    assert sizes(few._replace(ended=21), NONE)[0] > 10


def test_it_waits_if_enough_are_idle_or_none_is_ready() -> None:
    assert sizes(SHORT._replace(idle=9), NONE) == []
    assert sizes(SHORT._replace(idle=9, running=10), NONE) == [125]
    assert sizes(SHORT._replace(ready=0), NONE) == []


def test_what_the_author_says_wins() -> None:
    assert sizes(Seen(25, 8), Limits(size=10)) == [10, 10, 5]
    assert sizes(Seen(25, 8, task_s=100.0, longest_s=100.0, ended=19), Limits(10)) == [10, 10, 5]
    known = Seen(250, 8, task_s=1.0, longest_s=1.0, ended=19)
    assert sizes(known, Limits(seconds=100)) == [100, 100, 50]
    assert sizes(known, Limits(30, 100)) == [30] * 8 + [10]
    assert sizes(known, Limits(200, 100)) == [100, 100, 50]
    assert sizes(known, Limits(seconds=0.1))[0] == 1
    assert sizes(known, Limits(seconds=100, parallel=4)) == [250], "as long, four at a time"
    assert sizes(known._replace(idle=9), Limits(size=10)) == []


def test_the_places_side_by_side_are_filled() -> None:
    found = sizes(SHORT._replace(slots=0), Limits(parallel=8))
    assert found[0] == 248
    known = Seen(100, task_s=0.5, longest_s=0.5, ended=19)
    assert sizes(known, NONE)[0] == 2
    assert sizes(known, Limits(parallel=3))[0] == 3
    assert sizes(known, Limits(parallel=64))[0] == 1


@given(
    seen=st.builds(
        Seen,
        ready=st.integers(0, 20000),
        slots=st.integers(0, 2000),
        running=st.integers(0, 500),
        idle=st.integers(0, 500),
        late=st.integers(0, 5),
        task_s=st.floats(SHORTEST_S, 1e6),
        longest_s=st.floats(SHORTEST_S, 1e7),
        ended=st.integers(1, 10000),
        starts_per_s=st.floats(0.01, 1000),
        job_s=st.floats(0, 100),
    ),
    limits=st.builds(
        Limits, st.sampled_from([0, 1, 7, 1000]), st.floats(0, 1000), st.integers(1, 64)
    ),
)
def test_whatever_is_known(seen: Seen, limits: Limits) -> None:
    found = sizes(seen, limits)
    assert sum(found) <= seen.ready
    assert all(size > 0 for size in found)
    assert not found or max(found) <= (limits.size or MAX_SIZE)
    if not limits.size and not limits.seconds and found and max(found) > 10:
        assert max(found) * seen.task_s / limits.parallel <= MAX_SECONDS * 1.0001
    if len(found) == 0 and seen.ready:
        assert seen.idle > 0, "nothing to wait for"


def test_times() -> None:
    times = Times()
    assert (times.task_s, times.longest_s, times.ended) == (0.0, 0.0, 0)
    times.add()
    assert times.ended == 0
    times.add(1.0, 2.0, 3.0, 4.0)
    assert (times.task_s, times.longest_s, times.ended) == (3.5, 4.0, 4)
    times.add(-1.0, 0.0)
    assert times.longest_s == 4.0
    times.add(*[0.0] * SAMPLES)
    assert times.task_s == pytest.approx(SHORTEST_S)
    assert (times.longest_s, times.ended) == (SHORTEST_S, SAMPLES + 6)


def test_one_outlier_is_forgotten() -> None:
    times = Times()
    times.add(1000.0, *[0.1] * (SAMPLES - 1))
    assert times.task_s == pytest.approx(20, abs=0.2)
    times.add(0.1)
    assert times.task_s == pytest.approx(0.1)


def test_late_jobs() -> None:
    times = Times()
    assert not is_late(1000.0, 1, times)
    times.add(1.0)
    assert is_late(2.2, 1, times)
    assert not is_late(2.0, 1, times)
    assert not is_late(19.0, 10, times)
    assert is_late(7.0, 10, times, parallel=4)
    assert longest_of(7.0, 10, times) == 0.0
    assert longest_of(15.0, 10, times) == 6.0
    assert longest_of(15.0, 10, times, parallel=4) == 13.0


# Makespans


def bag(count: int, seconds: float) -> Work:
    return Work([seconds] * count, [()] * count)


@pytest.mark.parametrize("known", ["all", "learned", "nothing"])
def test_gains_of_short_tasks(known: str) -> None:
    pool = Pool(8, known=known)
    alone = Run(bag(2000, 0.001), pool, None).makespan()
    gain = alone / Run(bag(2000, 0.001), pool, NONE).makespan()
    assert gain > (15 if known == "all" else 3)
    assert Run(bag(10000, 1.0), pool, NONE).makespan() < 1250 * 1.05


@pytest.mark.parametrize("times", ["constant", "even", "lognormal", "heavy"])
@pytest.mark.parametrize("known", ["all", "nothing"])
@pytest.mark.parametrize("shape", ["bag", "layers", "diamonds", "chains", "random_dag"])
def test_never_slower(shape: str, known: str, times: str) -> None:
    for slots in (1, 8, 64):
        for mean in (0.01, 1.0, 20.0, 1000.0):
            found = compare(Case(shape, times, 150, mean, 1, Pool(slots, known=known)))
            assert not found.is_slower, found


def test_slots_that_come_and_go() -> None:
    for times in ("constant", "lognormal"):
        for mean in (0.1, 1.0, 20.0):
            pool = Pool(8, ((5.0, 64), (30.0, 2), (60.0, 100)), "learned")
            found = compare(Case("bag", times, 400, mean, 1, pool))
            assert not found.is_slower, found


def test_two_idle_bundles_would_be_too_few() -> None:
    """Slots are given to jobs that are idle when the pool looks for some."""

    def two(seen: Seen, limits: Limits) -> int:
        return plan.size(seen, limits) if seen.idle < 2 else 0

    case = Case("bag", "constant", 300, 20.0, 0, Pool(64))
    assert compare_by(case, two).ratio > 1.15
    assert compare(case).ratio <= MOST


def test_a_pool_that_looks_for_slots_once_a_minute() -> None:
    for known in ("all", "learned", "nothing"):
        pool = Pool(500, known=known, match_s=60.0)
        for mean in (1.0, 20.0, 100.0):
            assert not compare(Case("bag", "constant", 500, mean, 0, pool)).is_slower


def test_too_many_slots_are_told() -> None:
    def told(seen: Seen, limits: Limits) -> int:
        return plan.size(seen._replace(slots=500), limits)

    for mean in (0.1, 1.0, 10.0):
        found = compare_by(Case("bag", "lognormal", 600, mean, 0, Pool(8)), told)
        assert not found.is_slower, found


def test_the_model_of_a_pool() -> None:
    """One slot: a match, then starts, overheads and tasks one after the other."""
    assert Run(bag(1, 5.0), Pool(1), None).makespan() == pytest.approx(6.05, abs=0.01)
    assert Run(bag(10, 5.0), Pool(1), None).makespan() == pytest.approx(51.3, abs=0.1)
    assert Run(bag(360, 0.01), Pool(100), None).makespan() == pytest.approx(11.0, abs=0.2)
    gone = Pool(1, ((3.0, 0), (10.0, 1)))
    assert Run(bag(1, 5.0), gone, None).makespan() == pytest.approx(16.05, abs=0.1)
    kept = Run(bag(4, 1.0), gone, Limits(size=4)).makespan()
    assert kept == pytest.approx(14.1, abs=0.2), "of four tasks one had ended"


def test_the_table_of_a_sweep() -> None:
    found = [compare(Case("bag", times, 20, 1.0, 0, Pool(8))) for times in TIMES]
    assert "| times lognormal | 1 |" in table(found)
    assert "| pool 8 slots, known: all | 6 |" in table(found)
    assert len(make("bag", "even", 20, 1.0, 0).seconds) == 20
    assert SLACK_S > 3 / 36


def test_the_time_of_one_task_tells_little() -> None:
    """It may be of another program than the many that follow it."""
    one = Seen(300, 16, task_s=0.001, longest_s=0.001, ended=1, is_live=True)
    assert sizes(one, NONE)[:2] == [19, 19]
    assert sizes(one._replace(is_live=False), NONE)[0] == 2


def test_the_last_slot_gets_its_part_too() -> None:
    left = Seen(62, 16, running=15, is_live=True)
    assert sizes(left, NONE)[0] == 62
