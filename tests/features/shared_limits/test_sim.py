"""Seeds of several DAGs that share limits, and two that show that the oracles see a mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from condor_pydagman.features.shared_limits.fair_shares import Outcome, decide
from tests.features.shared_limits import sim

FEW = 10
FRESH = 80


# The rest is more of the same.
@pytest.mark.parametrize(
    ("first", "last"), [(1, FEW), pytest.param(FEW + 1, FRESH, marks=pytest.mark.long)]
)
def test_fresh_seeds(first: int, last: int) -> None:
    found = [sim.judge(seed) for seed in range(first, last + 1)]
    assert not "\n".join(filter(None, found))


def test_a_round_that_overlooks_others_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def blind(own: Any, others: Sequence[Any], *rest: Any) -> Outcome:
        return decide(own, [], *rest)

    monkeypatch.setattr(sim, "decide", blind)
    assert any(sim.judge(seed) for seed in range(1, 4))


def test_a_killed_dagman_whose_jobs_do_not_count_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(part: Any, queued: Any) -> Any:
        places: Mapping[Any, Any] = part.places
        none = {kind: claim._replace(held=0, granted=0, wanted=0) for kind, claim in places.items()}
        return part._replace(places=none)

    monkeypatch.setattr(sim, "_left", nothing)
    assert any(sim.judge(seed) for seed in range(1, 12))
