"""The end of a run in the real loop: what the schedd is asked meanwhile, and what no longer."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.adapters import schedd_requests as ask
from condor_pydagman.config import Config
from condor_pydagman.engine.inputs import DagRemoved, Shutdown
from condor_pydagman.graph.model import StatusFile
from tests import make
from tests.unit.daemon.simulated_daemon import SimulatedDaemon

SEEDS = (1, 2, 4)


def running_for(daemon: SimulatedDaemon, seconds: float) -> None:
    """Let each job run for so long."""
    daemon.outcomes.seconds = lambda node, retry: seconds  # type: ignore[method-assign]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_dagman_that_leaves_between_the_requests_of_a_removal_does_not_end_it(seed: int) -> None:
    """Its successor does: the log says why."""

    def with_timeout() -> Any:
        return make.dag("A\nTIMEOUT A TOTAL 60")

    daemon = SimulatedDaemon(with_timeout, seed=seed)
    running_for(daemon, 1e6)
    daemon.at(59.9, lambda: daemon.hang_schedd(0.5))
    daemon.input_at(60.05, Shutdown("Got SIGTERM."))
    assert daemon.run_to_end() == 3
    assert daemon.requests(ask.ListRemovable)
    assert not daemon.requests(ask.Remove)


def aborted_with_final() -> Any:
    return make.dag("A; B\nFINAL F n.sub\nABORT-DAG-ON A 7 RETURN 1")


def ends_of_a(daemon: SimulatedDaemon) -> None:
    """A aborts the DAG after 10 s, B runs for long."""
    daemon.outcomes.seconds = (  # type: ignore[method-assign]
        lambda node, retry: {"A": 10.0, "B": 1e4, "F": 100.0}[node]
    )
    daemon.outcomes.job = (  # type: ignore[method-assign]
        lambda era, node, retry, proc: 7 if node == "A" else 0
    )


def test_a_submission_that_waits_for_a_removal_is_dropped_at_the_end() -> None:
    """condor_rm removes no jobs here, so that nothing else cancels it."""
    daemon = SimulatedDaemon(aborted_with_final, config=Config(remove_node_jobs=False))
    ends_of_a(daemon)
    daemon.at(8.0, lambda: daemon.hang_schedd(22.0))
    daemon.input_at(20.0, DagRemoved())
    assert daemon.run_to_end() == 2
    assert daemon.requests(ask.ListRemovable)
    assert [request.action.node for request in daemon.requests(ask.Submit)] == [0, 1]


def test_the_last_status_file_stays_while_the_job_ad_is_told_again() -> None:
    def always_updated() -> Any:
        made = make.dag("A")
        made.status_file = StatusFile("t.status", interval=1, always=True)
        return made

    daemon = SimulatedDaemon(always_updated)
    running_for(daemon, 10.0)
    daemon.at(5.0, lambda: daemon.faults(lost_answer=1.0))
    daemon.at(1000.0, lambda: daemon.faults(lost_answer=0.0))
    assert daemon.run_to_end() == 0
    assert daemon.world.now > 1000.0
    assert "STATUS_DONE (success)" in daemon.world.files["t.status"]
    assert 'NextUpdate = 0; /* "none" */' in daemon.world.files["t.status"]
