"""What is said of a DAG in which little happens; `test_known_run.py` has more of it."""

from __future__ import annotations

from condor_pydagman.follow.notices.collect import standstill_notices
from condor_pydagman.follow.notices.known import Known, Nodes
from condor_pydagman.follow.run_model import DagState, Run

NOW = 1000.0


def said(state: DagState, **more: object) -> list[str]:
    known = Known("t.dag", state, NOW, Run(), 7)._replace(**more)  # type: ignore[arg-type]
    return [one.sentence for one in standstill_notices(known)]


def test_nodes_that_wait_for_their_next_attempt() -> None:
    some = Nodes(2, ["A", "B"])
    failed = "Nodes A and B failed and are waiting for the delay of RETRY"
    assert said(DagState.RUNNING, retrying=some, next_retry=NOW + 5) == [
        f"{failed}; the next attempt begins in 5 s."
    ]
    assert said(DagState.RUNNING, retrying=some) == [f"{failed}."]
    assert not said(DagState.FAILED, retrying=some)


def test_a_dag_in_which_no_node_has_finished_for_long() -> None:
    run = Run()
    run.begun = 10.0
    run.ends.extend([20.0] * 40)
    assert said(DagState.RUNNING, run=run)[0].startswith("No node has finished for 16 min")
    assert not said(DagState.RUNNING, run=run, now=70.0)
    run.halt(500.0)
    assert not said(DagState.RUNNING, run=run)
