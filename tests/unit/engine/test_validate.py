"""The recount finds what is wrong; otherwise it would guard nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.jobs import ENDED, IDLE
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.engine.validate import validate
from tests import make


def harness() -> make.EngineHarness:
    made = make.dag("A -> B; C D; E", pre={"C": "p", "D": "p"})
    ready = make.EngineHarness(made, limits=Throttles(pre=1)).begin()
    ready.take("A", 5)
    return ready


def set_state(engine: Engine, node: int, state: State) -> None:
    """Change a state together with the counts, so that only what follows from it is wrong."""
    engine.run.nodes.counts[engine.run.nodes.states[node]] -= 1
    engine.run.nodes.states[node] = state
    engine.run.nodes.counts[state] += 1


def miscount(engine: Engine) -> None:
    engine.run.nodes.counts[State.DONE] += 1


def idle(engine: Engine) -> None:
    engine.run.job_table.idle += 1


def idle_after_end(engine: Engine) -> None:
    engine.run.job_table.by_node[0].procs[0] = IDLE | ENDED


def wrong_cluster(engine: Engine) -> None:
    engine.run.job_table.by_cluster[77] = 0


def ready_not_queued(engine: Engine) -> None:
    set_state(engine, engine.run.dag.ids["A"], State.READY)


def queued_not_ready(engine: Engine) -> None:
    engine.run.ready.add(engine.run.dag.ids["B"], 0)


def ran_ahead(engine: Engine) -> None:
    set_state(engine, engine.run.dag.ids["B"], State.SUBMITTED)


def too_many_scripts(engine: Engine) -> None:
    set_state(engine, engine.run.dag.ids["D"], State.PRE_RUN)


def test_all_is_well_at_first() -> None:
    validate(harness().engine.run)


@pytest.mark.parametrize(
    "spoil",
    [
        miscount,
        idle,
        idle_after_end,
        wrong_cluster,
        ready_not_queued,
        queued_not_ready,
        ran_ahead,
        too_many_scripts,
    ],
)
def test_what_is_wrong_is_found(spoil: Callable[[Engine], None]) -> None:
    engine = harness().engine
    spoil(engine)
    with pytest.raises(AssertionError):
        validate(engine.run)
