"""Every input has a handler, and an ended engine hears none."""

from __future__ import annotations

from typing import get_args

import pytest

from condor_pydagman.engine import engine as module
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from tests import make


def test_every_input_has_a_handler() -> None:
    assert set(get_args(inputs.Input)) == set(module._HANDLERS)


@pytest.mark.parametrize(
    "an_input",
    [
        make.submit("A", 5),
        inputs.LogCaughtUp(),
        inputs.LogBroken("gone"),
        inputs.Submitted(0, 5, 1),
        inputs.SubmitFailed(0, "no", permanent=True),
        inputs.QueueListed([]),
        inputs.QueueUnknown("no"),
        inputs.AppendFailed("full"),
        inputs.DagRemoved(),
        inputs.Shutdown("bye"),
        inputs.Wake(),
    ],
)
def test_an_ended_engine_ignores_all_inputs(an_input: inputs.Input) -> None:
    harness = make.EngineHarness("A").begin()
    harness.tell(inputs.Shutdown("bye"))
    assert harness.engine.run.phase is Phase.ENDED
    assert harness.tell(an_input) == []
    assert harness.engine.next_deadline() is None
