"""The knobs of DAGs that grow."""

from __future__ import annotations

from condor_pydagman.config import Config
from condor_pydagman.config.table import GrowthKnobs


def test_they_are_in_the_table() -> None:
    found = Config()
    assert set(vars(GrowthKnobs)) & set(vars(found)) == {
        "max_grown_nodes",
        "kept_grown_nodes",
        "max_piece_mb",
    }
    assert (found.max_grown_nodes, found.max_piece_mb) == (2_000_000, 200)
