"""What DAGMan does about conditions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from condor_pydagman.adapters.condition_process import Condition, Evaluate, ReadPublished
from condor_pydagman.daemon.condition_desk import ConditionDesk, refuse_bad_conditions
from condor_pydagman.daemon.desks import decides
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.graph.stepwise import at_once
from tests import make


class Schedd:
    """Keeps what it is asked, and gives an answer at once."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[Any] = []

    def ask(self, request: Any, then: Any) -> None:
        self.asked.append(request)
        then(self.answer)


def told(action: Any, answer: Any, **directories: str) -> tuple[list[Any], list[Any]]:
    dag = make.dag("A -> X")
    dag.directories = {dag.ids[name]: where for name, where in directories.items()}
    schedd, inbox = Schedd(answer), list[Any]()
    run: Any = SimpleNamespace(dag=dag, schedd=schedd)
    ConditionDesk(run).take(action, inbox.append)
    return schedd.asked, inbox


def test_conditions_are_evaluated() -> None:
    wanted = do.ConditionWanted(1, 7, "x", "[]", (("x", "x"),))
    asked, inbox = told(do.EvaluateConditions((wanted,)), [(0, "x is 1")])
    assert asked == [Evaluate((Condition("x", "[]", (("x", "x"),)),))]
    assert inbox == [inputs.ConditionsEvaluated([inputs.ConditionResult(1, 7, 0, "x is 1")])]


def test_files_are_read_in_the_directory_of_the_node() -> None:
    asked, inbox = told(do.ReadResult(0, 2, "a.ad"), [("n", "3")], A="d")
    assert asked == [ReadPublished("d/a.ad")]
    assert inbox == [inputs.ResultRead(0, 2, [("n", "3")])]
    _, inbox = told(do.ReadResult(0, 2, "a.ad"), "no")
    assert inbox == [inputs.ResultRead(0, 2, (), "no")]


def test_what_htcondor_cannot_read_is_told_with_its_place() -> None:
    dag = make.dag("A -> X\nRUN_IF X 1 ; 2")
    dag.places.enter("d.dag")
    dag.places.note_condition(dag.ids["X"], 5)
    assert at_once(refuse_bad_conditions(dag)).startswith("d.dag:5: RUN_IF of node X: 1 ; 2: ")
    good = make.dag("A -> X\nRUN_IF X true")
    assert at_once(refuse_bad_conditions(good)) == ""


def test_which_dags_decide() -> None:
    assert not decides(make.dag("A -> X"))
    assert decides(make.dag("A -> X\nRUN_IF X true"))
    assert decides(make.dag("A -> X\nPUBLISH A FILE a"))
