"""All measurements by name, and the order in which they are taken."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from subprocess import SubprocessError

from benchmarks import (
    crowd_steps,
    curve_steps,
    idle_steps,
    offline_steps,
    order_steps,
    peers_steps,
    pool_steps,
)
from benchmarks.place import Failed, Place
from benchmarks.sizes import Numbers, Sizes
from benchmarks.subjects import (
    ALL,
    BUNDLES,
    DAGMANS,
    EVERYONE,
    FLOOR,
    ONE_BY_ONE,
    OURS,
    PEERS,
    STOCK,
    TOGETHER,
    TUNED,
)

Results = dict[str, Numbers]  # by subject
WORKFLOWS = {"montage": 3, "1000genome": 4, "cybershake": 4}  # and how often they run in a round


@dataclass(frozen=True)
class Step:
    """One measurement.

    Attributes:
        take: gives the numbers.
        subjects: what it is taken of.
        turns: how often in a round.
        stock_turns: how often the stock DAGMan, tuned or not; where it is slow, once is enough,
            since it waits most of the time, and so varies little.
    """

    take: Callable[[Place, str, Sizes], Numbers]
    subjects: tuple[str, ...]
    turns: int = 1
    stock_turns: int = 1

    def plan(self, turn: int, subjects: Collection[str]) -> list[str]:
        """Who is measured in a turn, of those wanted."""
        wanted = [one for one in self.subjects if one in subjects]
        return [one for one in wanted if one != STOCK or turn < self.stock_turns]


STEPS: dict[str, Step] = {
    "chain": Step(pool_steps.chain, ONE_BY_ONE),
    "held": Step(pool_steps.held, ALL, turns=8),
    "held-curve": Step(curve_steps.held, ALL),
    "noop": Step(pool_steps.noop, (*ONE_BY_ONE, TOGETHER)),
    "crowd": Step(crowd_steps.crowd, (TUNED, OURS, TOGETHER)),
    "fan": Step(pool_steps.fan, (*ONE_BY_ONE, TOGETHER), turns=3),
    "product": Step(pool_steps.product, (*ONE_BY_ONE, TOGETHER), turns=3),
    **{
        shape: Step(functools.partial(pool_steps.workflow, shape=shape), ONE_BY_ONE, turns)
        for shape, turns in WORKFLOWS.items()
    },
    "submit": Step(pool_steps.submit_dag, (STOCK, OURS), turns=2, stock_turns=2),
    "obeying": Step(order_steps.obeying, (OURS,), turns=4),
    "punctual": Step(order_steps.punctual, (OURS,), turns=4),
    "idle": Step(idle_steps.idle, (STOCK, OURS)),
    "many-idle": Step(idle_steps.many_idle, (STOCK, OURS)),
    "many-run": Step(idle_steps.many_run, DAGMANS),
    "load": Step(offline_steps.load, (STOCK, OURS)),
    "load-curve": Step(curve_steps.load, (STOCK, OURS)),
    "recovery": Step(offline_steps.recovery, DAGMANS, turns=2, stock_turns=2),
    "recovery-curve": Step(curve_steps.recovery, (STOCK, OURS)),
    "engine": Step(offline_steps.engine, (OURS,)),
    "engine-curve": Step(curve_steps.engine, (OURS,)),
    "look-curve": Step(curve_steps.look, (OURS,)),
    "peers": Step(peers_steps.take, (*ONE_BY_ONE, *BUNDLES, *PEERS), turns=2),
}


# What fits into three minutes.
QUICK_STEPS = ("chain", "held", "1000genome", "submit", "many-idle", "load", "recovery", "engine")


def order(steps: Iterable[str], subjects: Collection[str], turns: int) -> Iterator[tuple[str, str]]:
    """Pairs of step and subject; who comes first changes from turn to turn and step to step.

    Args:
        turns: how often each is taken, at most.
    """
    turned = False
    for name in steps:
        step = STEPS[name]
        for turn in range(min(step.turns, turns)):
            now = step.plan(turn, subjects)
            yield from ((name, one) for one in (reversed(now) if turned else now))
            turned = not turned


def repeated(plan: list[tuple[str, str]], rounds: int) -> list[tuple[str, str]]:
    """The plan as often as that, every other time from its end to its begin."""
    return [one for number in range(rounds) for one in (reversed(plan) if number % 2 else plan)]


def _clear(place: Place, say: Callable[[str], None]) -> None:
    """Remove what a failed measurement has left."""
    try:
        place.remove_all()
    except (Failed, OSError) as error:
        say(f"  can't remove its jobs: {error}")


def everything(
    place: Place,
    sizes: Sizes,
    plan: Iterable[tuple[str, str]],
    say: Callable[[str], None],
) -> tuple[Results, list[str]]:
    """Take the measurements named.

    A pool that has just come up is slow, so a small bag goes before, which does not count.

    Args:
        plan: as of `order`.
        say: told what goes on.

    Returns:
        Numbers by subject, and what failed; of that the numbers are missing.
    """
    results: Results = {subject: {} for subject in EVERYONE}
    failures: list[str] = []
    say("warming up")
    pool_steps.noop(place, FLOOR, replace(sizes, noop=min(sizes.noop, 100)))
    plan = list(plan)
    for number, (name, subject) in enumerate(plan, 1):
        say(f"{number}/{len(plan)} {name}, {subject}")
        try:
            place.require(subject)
            found = STEPS[name].take(place, subject, sizes)
        except (Failed, OSError, SubprocessError, ValueError, LookupError) as error:
            failures.append(f"{name}, {subject}: {error}")
            say(f"  failed: {type(error).__name__}: {error}")
            _clear(place, say)
            found = error.found if isinstance(error, Failed) else {}
        for key, values in found.items():
            results[subject].setdefault(key, []).extend(values)
    return results, failures
