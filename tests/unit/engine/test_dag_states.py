"""Phases of a run: which may follow which."""

from __future__ import annotations

import pytest

from condor_pydagman.engine.dag_states import MOVES, Phase
from tests import make


@pytest.mark.parametrize("old", Phase)
@pytest.mark.parametrize("new", Phase)
def test_a_phase_follows_only_where_the_table_says(old: Phase, new: Phase) -> None:
    engine = make.EngineHarness("A").engine
    engine.run.phase = old
    if new in MOVES[old]:
        engine.run.enter(new)
        assert engine.run.phase is new
        return
    with pytest.raises(AssertionError):
        engine.run.enter(new)


def test_the_end_is_the_end_and_can_be_reached_from_everywhere() -> None:
    assert MOVES[Phase.ENDED] == frozenset()
    assert all(Phase.ENDED in MOVES[phase] for phase in Phase if phase is not Phase.ENDED)
