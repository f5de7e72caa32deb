"""The same fresh seeds each time, and every seed that ever failed, through the simulator.

Of the fresh ones a few of each kind are tried each time; more of what they find is found by the
long run, and by `python -m tests.sim.run`, which tries as many as one likes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from condor_pydagman.vocabulary import ScriptKind
from tests import make
from tests.oracles import Violation
from tests.sim import faults, ledger
from tests.sim.kinds import IN_TURN, MEANINGS, PAIRS, PARTS, in_turn
from tests.sim.parts import FRESH as FRESH_OF_A_KIND
from tests.sim.run import judge, known_seeds
from tests.sim.truth import Truth
from tests.sim.world import World

# How many seeds of worlds of some kinds are tried.
FRESH = {"": 100}
for _part in PARTS:
    FRESH.update(_part.fresh or ({_part.kind: FRESH_OF_A_KIND} if _part.kind else {}))
for _pair in PAIRS:
    if not any(set(kinds.split()) == set(_pair) for kinds in FRESH):
        FRESH[" ".join(_pair)] = 2
SLICE = 25
NEW = 150  # of worlds of one kind, of two, of three: others each time
FEW = 6  # of each kind that are tried in each run of the tests
SLICES = [(kinds, 1, min(FEW, count)) for kinds, count in FRESH.items()]
MORE = [
    (kinds, first, min(SLICE, count + 1 - first))
    for kinds, count in FRESH.items()
    for first in range(FEW + 1, count + 1, SLICE)
]


@pytest.mark.long
@pytest.mark.parametrize("how", IN_TURN)
def test_new_seeds(how: str, notices: list[str]) -> None:
    """Others each time; a notice says how many have passed since one failed."""
    seeds = ledger.new_range(NEW)
    errors = {seed: judge(seed, **in_turn(how, seed)).error for seed in seeds}
    wrong = {seed: error for seed, error in errors.items() if error}
    ledger.add(how, seeds, len(wrong))
    passed = f"{ledger.passed():,} new ones have passed since one failed"
    notices.append(f"seeds: with these {how} {passed}")
    command = f".venv/bin/python -m tests.sim.run --{how} --seed"
    assert not wrong, "\n".join(f"{command} {seed}\n{error}" for seed, error in wrong.items())


def test_seeds_that_pass_are_counted_from_the_last_failure_on(tmp_path: Path) -> None:
    path = tmp_path / "var" / "seeds.txt"
    assert ledger.passed(path) == 0
    for failed in (0, 2, 0, 0):
        ledger.add("pairs", ledger.new_range(5), failed, path)
    assert ledger.passed(path) == 10


# Runs that are made anew with crashes, each with the seed, and what must happen in it.
STEPS = 5  # at about so many of its steps
MORE_STEPS = 25
CRASHED = [(part.kind, *run) for part in PARTS for run in part.crashed]


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


def test_the_places_of_parts_are_known() -> None:
    ordered = [part.place for part in PARTS if part.kind]
    assert ordered == list(range(1, len(MEANINGS) + 1))
    assert {part.kind for part in PARTS if part.crashed} == set(MEANINGS)


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(TypeError, match="no_such_kind"):
        World(1, no_such_kind=True)


@pytest.mark.parametrize("status", [0, 1])
def test_a_run_of_which_only_the_pre_script_went_well_has_yet_to_begin(status: int) -> None:
    truth = Truth(make.dag("A\nSCRIPT PRE A pre"), set(), 0, defaultdict(tuple))
    truth.noted.add(("A", 0, ScriptKind.PRE))
    truth.event(make.record("PRE_ENDED", "A", value=status), None)
    assert truth.has_run("A") is (status != 0)
