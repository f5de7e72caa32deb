"""The knobs of shared limits."""

from __future__ import annotations

from condor_pydagman.config import Config
from condor_pydagman.config.table import LimitKnobs


def test_they_are_in_the_table_and_limit_nothing_unless_they_are_set() -> None:
    found = Config()
    ours = {"shared_limits", "limits_dir", "max_starts_per_minute", "all_restart_pre_rate"}
    assert set(vars(LimitKnobs)) & set(vars(found)) == ours
    assert not any(getattr(found, name) for name in ours)
