"""What oracles take for skipped in simulated worlds."""

from __future__ import annotations

from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.apply_rescue import apply_progress
from condor_pydagman.graph.model import Dag
from tests import make
from tests.sim.faults import Faults
from tests.sim.workload import Ends, Workload
from tests.sim.world import World


def _rescue_dag() -> Dag:
    dag = make.dag("A -> B\nRUN_IF A false\nFINAL F n.sub")
    apply_progress(dag, "SKIPPED A\n", "t.dag.rescue001")
    return dag


def test_nodes_may_follow_before_the_log_has_any_event() -> None:
    ends = Ends({"job F 0 0": 1})
    workload = Workload(_rescue_dag, make.quiet(), Throttles(), ends)
    world = World(5, workload=workload, faults=Faults())
    world.run()
    trace = world.trace_text()
    assert trace.index("Node B is skipped") < trace.index("FINAL_STARTED") < trace.index("Rescue")
