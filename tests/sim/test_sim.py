"""The same fresh seeds each time, and every seed that ever failed, through the simulator.

Of the fresh ones a few of each kind are tried each time; more of what they find is found by the
long run, and by `python -m tests.sim.run`, which tries as many as one likes.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.sim import faults
from tests.sim.kinds import PAIRS
from tests.sim.run import judge, known_seeds
from tests.sim.verdicts import Violation
from tests.sim.world import World

# How many seeds of worlds of some kinds (`Kinds`) are tried.
FRESH = {
    "": 100,
    "steered": 25,
    "matched": 25,
    "decided": 25,
    "decided steered": 25,
    "braked": 25,
    "steered matched decided braked": 25,
    "enough": 25,
    "enough steered": 25,
    "enough matched": 25,
    "enough decided braked": 25,
    "growing": 25,
    "fed": 25,
    "fed growing": 25,
    "cached": 25,
    "cached steered decided": 25,
    "cached matched growing": 25,
    "cached braked steered": 25,
}
for _pair in PAIRS:
    if not any(set(kinds.split()) == set(_pair) for kinds in FRESH):
        FRESH[" ".join(_pair)] = 2
SLICE = 25
FEW = 6  # of each kind that are tried in each run of the tests
SLICES = [(kinds, 1, min(FEW, count)) for kinds, count in FRESH.items()]
MORE = [
    (kinds, first, min(SLICE, count + 1 - first))
    for kinds, count in FRESH.items()
    for first in range(FEW + 1, count + 1, SLICE)
]


def has(words: str, times: int = 1) -> Callable[[World], bool]:
    """Whether the trace of a world has words so often."""
    return lambda world: world.trace_text().count(words) >= times


def decides(world: World) -> bool:
    """Whether conditions of both outcomes were evaluated in a world."""
    return has("is skipped, since RUN_IF")(world) and has("is to run, since RUN_IF")(world)


def brakes(words: str) -> Callable[[World], bool]:
    """Whether brakes acted more than once in a world, with these words in its trace."""
    return lambda world: world.brakes.acted > 1 and has(words)(world)


# Runs that are made anew with crashes, each with the seed, and what must happen in it.
STEPS = 5  # at about so many of its steps
MORE_STEPS = 25
CRASHED: list[tuple[str, int, Callable[[World], bool]]] = [
    ("decided", 7, decides),
    ("decided", 10, decides),
    ("braked", 125, brakes("HoldJobs")),
    ("braked", 139, brakes("'BRAKES_OFF'")),
    ("braked", 223, brakes("because of brake")),
    ("enough", 26, has("is not needed: ENOUGH")),
    ("enough", 50, has("is not needed: ENOUGH")),
    ("growing", 3, has("The DAG has grown by", 3)),
    ("growing", 13, has("The DAG has grown by", 3)),
    ("fed", 1, has("The DAG has grown by", 3)),
    ("fed", 7, has("The DAG has grown by", 3)),
    ("cached", 8, lambda world: world.caches.hits > 3),
    ("cached", 19, lambda world: world.caches.hits > 3),
    ("matched", 15, has("has to leave site")),
    ("matched", 59, has("has to leave site")),
    ("steered", 4, lambda world: world.users.steerers.asked > 3),
    ("steered", 34, lambda world: world.users.steerers.asked > 3),
]


def check(seeds: list[int], kinds: str = "", *, together: bool = True) -> None:
    """Fail if something is wrong with these seeds: with each, and the command that shows it."""
    chosen = dict.fromkeys(kinds.split(), True)
    found = ((seed, judge(seed, together=together, **chosen)) for seed in seeds)
    errors = ((seed, verdict.error) for seed, verdict in found)
    more = "".join(f" --{kind}" for kind in chosen) + ("" if together else " --apart")
    command = f".venv/bin/python -m tests.sim.run{more} --seed"
    wrong = [f"{command} {seed}\n{error}" for seed, error in errors if error]
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)


@pytest.mark.parametrize(("kinds", "first", "count"), SLICES)
def test_fresh_seeds(kinds: str, first: int, count: int) -> None:
    check(list(range(first, first + count)), kinds)


@pytest.mark.long  # the same as above with other seeds, four times as long
@pytest.mark.parametrize(("kinds", "first", "count"), MORE)
def test_more_fresh_seeds(kinds: str, first: int, count: int) -> None:
    check(list(range(first, first + count)), kinds)


# At more steps of the same runs it finds more of the same.
@pytest.mark.parametrize("steps", [STEPS, pytest.param(MORE_STEPS, marks=pytest.mark.long)])
@pytest.mark.parametrize(("kind", "seed", "happens"), CRASHED)
def test_crashes_at_many_steps(
    kind: str, seed: int, happens: Callable[[World], bool], steps: int
) -> None:
    quiet = faults.Faults(until=300.0)
    calm = World(seed, faults=quiet, **{kind: True})
    calm.run()
    assert happens(calm)
    stride = max(1, calm.boundaries // steps)
    for step in range(seed % stride, calm.boundaries, stride):
        World(seed, faults=quiet, crash_at={step}, **{kind: True}).run()


@pytest.mark.parametrize("together", [False, True])
def test_seeds_that_ever_failed(together: bool) -> None:
    check(known_seeds(), together=together)


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
