"""Chains in a model of a pool: hardly ever slower than without, much faster if steps are short."""

from __future__ import annotations

import pytest

from condor_pydagman.features.bundle.plan import Limits
from tests.features.bundle.chains_sweep import compare, few
from tests.features.bundle.packed_pool import Pool, Run
from tests.features.bundle.packed_work import CHAINED, make
from tests.features.bundle.plan_sweep import Case


@pytest.mark.parametrize("shape", ["short_chains", "long_chains", "unequal_chains", "trees"])
@pytest.mark.parametrize("comes_home", [False, True])
def test_hardly_slower(shape: str, comes_home: bool) -> None:
    for slots in (1, 8, 64):
        for mean in (0.01, 1.0, 20.0):
            pool = Pool(slots, start_s=1.5, live_s=0.5, comes_home=comes_home)
            found = compare(Case(shape, "constant", 100, mean, 0, pool))
            # Chains are not cut before times are known: of 20 with steps of 1 s, 8 go whole.
            assert found.bundles.ratio < 1.09, found


def test_a_long_chain_of_short_steps() -> None:
    pool = Pool(8, start_s=1.5, live_s=0.5)
    found = compare(Case("long_chains", "constant", 50, 0.01, 0, pool))
    assert found.bundles.ratio < 0.1
    assert found.bundles.jobs == 1


def test_long_chains_are_cut_towards_the_end() -> None:
    """100 chains of 5 steps of 10 s on 8 slots: as long as without, and not a chain longer."""
    pool = Pool(8, start_s=2.0, live_s=0.5, comes_home=True)
    assert compare(Case("short_chains", "constant", 500, 10.0, 0, pool)).bundles.ratio < 1.01


def test_others_do_not_wait_for_files_of_those_before_a_chain() -> None:
    pool = Pool(8, live_s=0.5, comes_home=True)
    assert compare(Case("neighbours", "lognormal", 50, 10.0, 0, pool)).bundles.ratio < 1.01


def test_all_nodes_run_once() -> None:
    for shape in CHAINED:
        work = make(shape, "bimodal", 100, 1.0, 0)
        run = Run(work, Pool(8, chains=True, live_s=0.5), Limits())
        run.makespan()
        assert run.left == 0, shape
        assert len(run.done) == len(work.seconds), shape


def test_some_of_the_sweep_are_compared() -> None:
    cases = list(few())
    assert {case.shape for case in cases} == set(CHAINED)
    assert compare(cases[0]).alone.case == cases[0]
