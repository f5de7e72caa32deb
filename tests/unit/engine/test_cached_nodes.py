"""Questions about nodes with a CACHE command."""

from __future__ import annotations

import pytest

from condor_pydagman.engine.cached_nodes import is_open, result_of, waits
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.node_states import Cause
from condor_pydagman.engine.state import Mode
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import DONE, USER_DONE
from tests.make import QUIET
from tests.unit.engine.cached import all_cached


def engine(mode: Mode = Mode.RUN) -> Engine:
    return Engine(
        all_cached("A -> B; X", but="X"), QUIET, Throttles(), mode=mode, cached={"A": "r"}
    )


def test_which_nodes_are_looked_up_first() -> None:
    run = engine().run
    assert [waits(run, node) for node in range(3)] == [True, True, False]
    assert [is_open(run, node) for node in range(3)] == [True, False, False]
    run.cache.run_unasked(0)
    assert not waits(run, 0)
    assert not waits(engine(Mode.DRY_RUN).run, 0)


@pytest.mark.parametrize(("flags", "result"), [(DONE, "r"), (DONE | USER_DONE, ""), (0, "")])
def test_what_a_node_has_made(flags: int, result: str) -> None:
    run = engine().run
    assert result_of(run, 0) == ""
    run.nodes.move(0, Cause.MARKED_DONE, 0.0)
    run.dag.flags[0] |= flags
    assert result_of(run, 0) == result
    run.conditions.skip(0, True)
    assert result_of(run, 0) == "skipped r"
    run.nodes.move(2, Cause.MARKED_DONE, 0.0)
    assert result_of(run, 2) == ""
