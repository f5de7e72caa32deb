"""Makespans with everything bundled against those without, over many kinds of work and of pools.

By hand: `python -m tests.features.bundle.plan_sweep [few]`; some minutes, or some seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from math import exp, log

from condor_pydagman.features.bundle.plan import Limits, Seen, size
from condor_pydagman.named_tuple import NamedTuple
from tests.features.bundle.packed_pool import Pool, Run
from tests.features.bundle.packed_work import SHAPES, TIMES, make

MOST = 1.02
"""A makespan with bundles over the one without, at most."""
SLACK_S = 0.1
"""Over that, for what lasts seconds only: three starts, or one event."""


class Case(NamedTuple):
    """One comparison."""

    shape: str
    times: str
    count: int
    mean: float
    seed: int
    pool: Pool


class Compared(NamedTuple):
    """What has come of it."""

    case: Case
    alone: float
    bundled: float
    jobs: int

    @property
    def ratio(self) -> float:
        return self.bundled / self.alone

    @property
    def is_slower(self) -> bool:
        return self.bundled > MOST * self.alone + SLACK_S


def compare(case: Case) -> Compared:
    """Run it both ways."""
    return compare_by(case, size)


def compare_by(case: Case, rule: Callable[[Seen, Limits], int]) -> Compared:
    """The same by another rule."""
    work = make(*case[:5])
    bundled = Run(work, case.pool, Limits(), rule)
    return Compared(case, Run(work, case.pool, None).makespan(), bundled.makespan(), bundled.jobs)


def many() -> Iterator[Case]:
    """All kinds of work and pools."""
    pools = [
        Pool(slots, known=known) for slots in (1, 8, 64, 500) for known in ("all", "nothing")
    ] + [
        Pool(64, known="learned"),
        Pool(8, ((20.0, 64), (60.0, 4), (200.0, 500)), "learned"),
        Pool(64, ((10.0, 8), (100.0, 200)), "nothing"),
        Pool(64, known="all", match_s=20.0),
        Pool(500, known="nothing", match_s=60.0),
        Pool(64, known="all", told_rate=12.0),
        Pool(64, known="all", told_rate=108.0),
        Pool(8, live_s=0.5),
        Pool(64, live_s=0.5),
        Pool(64, known="nothing", live_s=0.5),
        Pool(8, ((20.0, 64), (60.0, 4), (200.0, 500)), "learned", live_s=0.5),
        Pool(8, live_s=0.5, comes_home=True),
        Pool(64, live_s=0.5, comes_home=True),
        Pool(64, known="nothing", live_s=0.5, comes_home=True),
        Pool(8, ((20.0, 64), (60.0, 4), (200.0, 500)), "learned", live_s=0.5, comes_home=True),
    ]
    means = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)
    for pool, shape, times, count, mean in product(pools, SHAPES, TIMES, (10, 100, 1000), means):
        yield Case(shape, times, count, mean, 0, pool)
    for pool, times, mean in product(pools, ("constant", "lognormal"), means[1:4]):
        yield Case("bag", times, 10000, mean, 0, pool)


def few() -> Iterator[Case]:
    """Some of them: every 11th."""
    for number, case in enumerate(many()):
        if number % 11 == 0 and case.count < 10000:
            yield case


def table(found: Sequence[Compared]) -> str:
    """The best and the worst by each property."""
    lines = ["| | cases | best | mean | worst | slower |", "|---|---:|---:|---:|---:|---:|"]
    for field in (*Case._fields[:4], "pool"):
        groups: dict[object, list[Compared]] = {}
        for one in found:
            key = getattr(one.case, field)
            groups.setdefault(_pool(key) if field == "pool" else key, []).append(one)
        for key, ones in groups.items():
            ratios = [one.ratio for one in ones]
            mean = exp(sum(map(log, ratios)) / len(ratios))
            slower = sum(one.is_slower for one in ones)
            numbers = f"{min(ratios):.3f} | {mean:.3f} | {max(ratios):.3f} | {slower}"
            lines.append(f"| {field} {key} | {len(ones)} | {numbers} |")
    return "\n".join(lines)


def _pool(pool: Pool) -> str:
    parts = [f"{pool.slots} slots", f"known: {pool.known}"]
    parts += ["live"] if pool.live_s else []
    parts += ["outputs come home"] if pool.comes_home else []
    parts += [f"start {pool.start_s:g} s"] if pool.start_s else []
    parts += ["they come and go"] if pool.changes else []
    parts += [f"match {pool.match_s:g} s"] if pool.match_s != Pool(1).match_s else []
    return ", ".join(parts + ([f"rate taken for {pool.told_rate:g}"] if pool.told_rate else []))


def main(words: Sequence[str]) -> None:
    """Run them, and print the table and the slower ones."""
    with ProcessPoolExecutor(2) as processes:
        cases = few() if "few" in words else many()
        found = list(processes.map(compare, cases, chunksize=20))
    say(found)


def say(found: Sequence[Compared]) -> None:
    """Print the table of comparisons, and the slower ones."""
    print(table(found))
    slower = [one for one in found if one.is_slower]
    print(f"{len(slower)} of {len(found)} are slower")
    for one in sorted(slower, key=lambda one: -one.ratio):
        case = one.case
        print(*case[:5], _pool(case.pool), f"{one.alone:.2f} {one.bundled:.2f} {one.ratio:.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
