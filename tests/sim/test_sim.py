"""Fresh seeds, and every seed that ever failed, through the simulator."""

from __future__ import annotations

import pytest

from tests.sim import faults
from tests.sim.run import judge, known_seeds
from tests.sim.verdicts import Violation
from tests.sim.world import World

# `python -m tests.sim.run` tries as many more as one likes.
FRESH = 200
STEERED = 100
MATCHED = 100
DECIDED = 100
BRAKED = 100
GROWING = 100
FED = 100
CACHED = 100
ENOUGH = 50
ENOUGH_AT_EVERY_STEP = [26, 50]
SLICE = 50
STEPS = 60  # about how many steps of a run are tried


def verdicts(seeds: list[int], *, together: bool = True, **kinds: bool) -> str:
    """What is wrong with these seeds, with the command that shows it."""
    found = ((seed, judge(seed, together=together, **kinds)) for seed in seeds)
    errors = ((seed, verdict.error) for seed, verdict in found)
    more = "".join(f" --{kind}" for kind in kinds)
    return "\n".join(
        f"python -m tests.sim.run --seed {seed}{more}: {error}" for seed, error in errors if error
    )


def some_steps(seed: int, boundaries: int) -> range:
    """Steps at which a run with so many of them is to crash; other ones for another seed."""
    stride = max(1, boundaries // STEPS)
    return range(seed % stride, boundaries, stride)


@pytest.mark.parametrize("first", range(1, FRESH + 1, SLICE))
def test_fresh_seeds(first: int) -> None:
    assert not verdicts(list(range(first, first + SLICE)))


@pytest.mark.parametrize("first", range(1, STEERED + 1, SLICE))
def test_fresh_seeds_with_people_who_steer(first: int) -> None:
    assert not verdicts(list(range(first, first + SLICE)), steered=True)


@pytest.mark.parametrize("first", range(1, MATCHED + 1, SLICE))
def test_fresh_seeds_with_groups_at_sites(first: int) -> None:
    assert not verdicts(list(range(first, first + SLICE)), matched=True)


@pytest.mark.parametrize("first", range(1, DECIDED + 1, SLICE))
def test_fresh_seeds_with_conditions(first: int) -> None:
    assert not verdicts(list(range(first, first + SLICE)), decided=True)


@pytest.mark.parametrize("first", range(1, DECIDED + 1, SLICE))
def test_fresh_seeds_with_conditions_and_people_who_steer(first: int) -> None:
    assert not verdicts(list(range(first, first + SLICE)), decided=True, steered=True)


@pytest.mark.parametrize("seed", [7, 10])
def test_crashes_at_many_steps_of_a_run_that_decides(seed: int) -> None:
    quiet = faults.Faults(until=300.0)
    calm = World(seed, faults=quiet, decided=True)
    calm.run()
    assert "is skipped, since RUN_IF" in calm.trace_text()
    assert "is to run, since RUN_IF" in calm.trace_text()
    for step in some_steps(seed, calm.boundaries):
        World(seed, faults=quiet, decided=True, crash_at={step}).run()


@pytest.mark.parametrize("first", range(1, BRAKED + 1, SLICE))
def test_fresh_seeds_with_brakes(first: int) -> None:
    assert not verdicts(list(range(first, first + SLICE)), braked=True)


def test_fresh_seeds_with_brakes_and_all_else() -> None:
    everything = {"steered": True, "matched": True, "decided": True, "braked": True}
    assert not verdicts(list(range(1, SLICE + 1)), **everything)


@pytest.mark.parametrize(
    ("seed", "acts"), [(125, "HoldJobs"), (139, "'BRAKES_OFF'"), (223, "because of brake")]
)
def test_crashes_at_many_steps_of_a_run_that_brakes_stop(seed: int, acts: str) -> None:
    quiet = faults.Faults(until=300.0)
    calm = World(seed, faults=quiet, braked=True)
    calm.run()
    assert calm.brakes.acted > 1
    assert acts in calm.trace_text()
    for step in some_steps(seed, calm.boundaries):
        World(seed, faults=quiet, braked=True, crash_at={step}).run()


@pytest.mark.parametrize("kinds", [(), ("steered",), ("matched",), ("decided", "braked")])
def test_fresh_seeds_of_which_not_all_is_needed(kinds: tuple[str, ...]) -> None:
    chosen = dict.fromkeys((*kinds, "enough"), True)
    assert not verdicts(list(range(1, ENOUGH + 1)), **chosen)


@pytest.mark.parametrize("seed", ENOUGH_AT_EVERY_STEP)
def test_a_crash_at_every_step_of_a_run_of_which_not_all_is_needed(seed: int) -> None:
    quiet = faults.Faults(until=300.0)
    calm = World(seed, faults=quiet, enough=True)
    calm.run()
    assert "is not needed: ENOUGH" in calm.trace_text()
    for step in range(seed % 3, calm.boundaries, 3):
        World(seed, faults=quiet, enough=True, crash_at={step}).run()


@pytest.mark.parametrize("first", range(1, GROWING + 1, SLICE))
def test_fresh_seeds_with_dags_that_grow(first: int) -> None:
    assert not verdicts(list(range(first, first + SLICE)), growing=True)


@pytest.mark.parametrize("seed", [3, 13])
def test_crashes_at_many_steps_of_a_dag_that_grows(seed: int) -> None:
    quiet = faults.Faults(until=300.0)
    calm = World(seed, faults=quiet, growing=True)
    calm.run()
    assert calm.trace_text().count("The DAG has grown by") > 2
    for step in some_steps(seed, calm.boundaries):
        World(seed, faults=quiet, growing=True, crash_at={step}).run()


@pytest.mark.parametrize("first", range(1, FED + 1, SLICE))
def test_fresh_seeds_with_a_feeder(first: int) -> None:
    assert not verdicts(list(range(first, first + SLICE)), fed=True)


@pytest.mark.parametrize("first", range(1, FED + 1, SLICE))
def test_fresh_seeds_with_a_feeder_and_dags_that_grow(first: int) -> None:
    assert not verdicts(list(range(first, first + SLICE)), fed=True, growing=True)


@pytest.mark.parametrize("seed", [1, 7])
def test_crashes_at_many_steps_of_a_dag_that_is_fed(seed: int) -> None:
    quiet = faults.Faults(until=300.0)
    calm = World(seed, faults=quiet, fed=True)
    calm.run()
    assert calm.trace_text().count("The DAG has grown by") > 2
    for step in some_steps(seed, calm.boundaries):
        World(seed, faults=quiet, fed=True, crash_at={step}).run()


@pytest.mark.parametrize("first", range(1, CACHED + 1, SLICE))
def test_fresh_seeds_with_nodes_that_do_not_run_again(first: int) -> None:
    assert not verdicts(list(range(first, first + SLICE)), cached=True)


def test_fresh_seeds_with_nodes_that_do_not_run_again_and_all_else() -> None:
    for kinds in ({"steered", "decided"}, {"matched", "growing"}, {"braked", "steered"}):
        assert not verdicts(list(range(1, SLICE + 1)), cached=True, **dict.fromkeys(kinds, True))


@pytest.mark.parametrize("seed", [8, 19])
def test_crashes_at_many_steps_of_runs_in_which_little_changes(seed: int) -> None:
    quiet = faults.Faults(until=300.0)
    calm = World(seed, faults=quiet, cached=True)
    calm.run()
    assert calm.caches.hits > 3
    for step in some_steps(seed, calm.boundaries):
        World(seed, faults=quiet, cached=True, crash_at={step}).run()


@pytest.mark.parametrize("seed", [15, 59])
def test_crashes_at_many_steps_of_groups_that_leave_their_sites(seed: int) -> None:
    quiet = faults.Faults(until=300.0)
    calm = World(seed, faults=quiet, matched=True)
    calm.run()
    assert "is taken back from site" in calm.trace_text()
    for step in some_steps(seed, calm.boundaries):
        World(seed, faults=quiet, matched=True, crash_at={step}).run()


@pytest.mark.parametrize("seed", [4, 34])
def test_crashes_at_many_steps_of_a_run_that_is_steered(seed: int) -> None:
    quiet = faults.Faults(until=300.0)
    calm = World(seed, faults=quiet, steered=True)
    calm.run()
    assert calm.users.steerers.asked > 3
    for step in some_steps(seed, calm.boundaries):
        World(seed, faults=quiet, steered=True, crash_at={step}).run()


@pytest.mark.parametrize("together", [False, True])
def test_seeds_that_ever_failed(together: bool) -> None:
    assert not verdicts(known_seeds(), together=together)


@pytest.mark.parametrize("seed", [3, 8, 21])
def test_the_same_seed_gives_the_same_trace(seed: int) -> None:
    first, second = judge(seed).world, judge(seed).world
    assert first.trace_text() == second.trace_text()
    assert len(first.lines) > 20


def test_rates_are_drawn_one_by_one() -> None:
    drawn = [judge(seed).world.faults for seed in range(1, 40)]
    assert any(rates.crash for rates in drawn)
    assert any(rates.lose_job and not rates.crash for rates in drawn)
    assert "crash=" in " ".join(map(str, drawn))


def test_a_stuck_run_reports_what_is_pending() -> None:
    class NeverAnswers(World):
        """Its schedd's jobs stay in the queue for ever."""

        def after(self, delay: float, what: object) -> None:
            if getattr(what, "__name__", "") != "<lambda>":
                super().after(delay, what)  # type: ignore[arg-type]

    quiet = faults.Faults()
    stuck = next(
        world
        for world in (NeverAnswers(seed, faults=quiet) for seed in range(1, 50))
        if len(world.workload.build()) > 3 and not any(world.workload.build().flags)
    )
    with pytest.raises(Violation, match=r"O12: .* Node N\d+, HTCondor ID .*STATUS_"):
        stuck.run()
