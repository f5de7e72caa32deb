"""Makespans with CHAINS against those of bundles without it, and of nodes alone.

By hand: `python -m tests.features.bundle.chains_sweep [few]`; two minutes, or some seconds.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product

from condor_pydagman.features.bundle.plan import Limits
from condor_pydagman.named_tuple import NamedTuple
from tests.features.bundle.packed_pool import Pool, Run
from tests.features.bundle.packed_work import BY_STEP, CHAINED, make
from tests.features.bundle.plan_sweep import Case, Compared, say


class Chained(NamedTuple):
    """CHAINS against bundles without it, and against nodes alone."""

    bundles: Compared
    alone: Compared


def compare(case: Case) -> Chained:
    """Run it in three ways."""
    work = make(*case[:5])
    chained = Run(work, case.pool._replace(chains=True), Limits())
    seconds = chained.makespan()
    bundles, alone = (Run(work, case.pool, limits).makespan() for limits in (Limits(), None))
    return Chained(
        Compared(case, bundles, seconds, chained.jobs), Compared(case, alone, seconds, chained.jobs)
    )


def many() -> Iterator[Case]:
    """Kinds of work and pools, the results of whose tasks are known twice a second."""
    pools = [
        Pool(slots, known=known, start_s=start_s, live_s=0.5, comes_home=comes_home)
        for slots, known in ((1, "all"), (8, "all"), (64, "all"), (500, "all"), (64, "nothing"))
        for start_s in (0.0, 2.0)
        for comes_home in (False, True)
    ]
    times, means = ("constant", "lognormal", "bimodal", BY_STEP), (0.01, 0.1, 1.0, 10.0)
    for pool, shape, time, mean in product(pools, CHAINED, times, means):
        yield Case(shape, time, 200, mean, 0, pool)


def few() -> Iterator[Case]:
    """Some of them: every 37th."""
    for number, case in enumerate(many()):
        if number % 37 == 0:
            yield case


def main(words: Sequence[str]) -> None:
    """Run them, and print the tables and the slower ones."""
    with ProcessPoolExecutor(2) as processes:
        cases = few() if "few" in words else many()
        found = list(processes.map(compare, cases, chunksize=20))
    for title, ones in zip(("bundles without CHAINS", "nodes alone"), zip(*found)):
        print(f"\nCHAINS against {title}\n")
        say(ones)


if __name__ == "__main__":
    main(sys.argv[1:])
