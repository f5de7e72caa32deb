"""A DAGMan that sleeps wherever it may does the same as one that never sleeps."""

from __future__ import annotations

import pytest

from tests.sim.run import judge

SEEDS = 20
# Others have helpers that know what the engine does not: they do not sleep.
KINDS = ("", "steered", "decided", "braked", "enough", "cached")


@pytest.mark.parametrize("kind", KINDS)
def test_sleep_changes_nothing(kind: str) -> None:
    slept = 0
    for seed in range(1, 1 + (SEEDS if not kind else SEEDS // 5)):
        how = {kind: True} if kind else {}
        awake, asleep = judge(seed, **how), judge(seed, sleepy=True, **how)
        assert (awake.error, asleep.error) == ("", ""), seed
        assert asleep.world.trace_text() == awake.world.trace_text(), seed
        slept += asleep.world.slept
    assert slept
