"""The knobs of data placement are part of the table."""

from __future__ import annotations

from condor_pydagman.config import Config, knobs
from condor_pydagman.config.knob import TRANSFER, Knob
from condor_pydagman.config.table import PlacementKnobs


def test_every_knob_of_it_is_in_the_table() -> None:
    ours = [row for row in vars(PlacementKnobs).values() if isinstance(row, Knob)]
    assert len(ours) > 15
    assert set(ours) <= set(knobs())
    for row in ours:
        assert row.name.startswith("PYDAGMAN_PLACEMENT_")
        assert TRANSFER in row.programs
        assert not row.label  # `.dagman.out` stays as it is for DAGs without DATA nodes


def test_a_configuration_has_their_values() -> None:
    assert Config().placement_max == 10
    assert Config().but(placement_max=3).placement_max == 3
