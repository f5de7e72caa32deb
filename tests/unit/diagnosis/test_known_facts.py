"""What is known of a DAG."""

from __future__ import annotations

import pytest

from condor_pydagman.trace.run_history import DagState
from tests.unit.diagnosis import facts_of


@pytest.mark.parametrize("state", DagState)
def test_only_a_dag_whose_dagman_runs_is_live(state: DagState) -> None:
    live = (DagState.RUNNING, DagState.HALTED)
    assert facts_of(None, {}, state=state).is_live == (state in live)
