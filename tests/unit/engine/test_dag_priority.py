"""The priority of the whole DAG: of nodes, of jobs in the queue, and behind a restart."""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.vocabulary import NodeCommand
from tests import make
from tests.unit.engine.steered import Steered, steered

SET_7 = '{"priority":7}'


def of_priority_2() -> Steered:
    dag = make.dag("A B -> C", priorities={"A": 3, "B": 2, "C": 2})
    dag.priority = 2
    return steered(dag)


def test_jobs_and_nodes_get_it_on_top_of_their_own() -> None:
    harness = of_priority_2()
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(inputs.PriorityWanted(10, "ann"))
    assert harness.asked(do.PublishPriority) == [do.PublishPriority(10)]
    found = sorted(harness.asked(do.SetJobPriorities))
    assert found == [
        do.SetJobPriorities(10, ((2, -1),)),
        do.SetJobPriorities(11, ((1, -1),)),
    ]
    assert harness.engine.report().priority == 10
    harness.ask(NodeCommand.SET, "C", SET_7)
    assert harness.engine.run.priority(2) == 17


def test_a_job_that_is_being_submitted_gets_it_when_its_number_is_known() -> None:
    harness = of_priority_2()
    harness.tell(inputs.PriorityWanted(0, "ann"))
    assert harness.asked(do.SetJobPriorities) == []
    harness.take("A", 1)
    assert do.SetJobPriorities(1, ((1, -1),)) in harness.asked(do.SetJobPriorities)


def test_a_restarted_dagman_tells_all_jobs_once_more() -> None:
    harness = of_priority_2()
    harness.take("A", 1)
    harness.tell(inputs.PriorityWanted(10, "ann"))
    other = harness.replay()
    other.tell(inputs.PriorityWanted(10, restored=True))
    assert other.asked(do.PublishPriority) == []
    other.tell(inputs.LogCaughtUp())
    assert other.engine.run.steering.unprioritized == {0}
