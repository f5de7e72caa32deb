"""Nodes with a RUN_IF: when they are decided, what follows, and that a replay comes to the same."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.node_states import State
from condor_pydagman.graph.model import SKIPPED, Condition, Retry
from condor_pydagman.vocabulary import JournalRecord, NodeCommand, NodeKind
from tests import make
from tests.make import QUIET
from tests.unit.engine.decided import Decided, decided

GOOD = 'Parents.A.Outcome == "DONE"'


def test_a_node_runs_if_its_condition_is_true() -> None:
    dag = decided("A -> X", conditions={"X": "Parents.A.ExitCode == 0"})
    dag.run("A", 1)
    assert dag.states() == "A=DONE X=SUBMITTING"
    assert dag.said(
        "Node X is to run, since RUN_IF Parents.A.ExitCode == 0 is true: Parents.A.ExitCode is 0"
    )
    dag.run("X", 2)
    assert dag.asked(do.Exit) == [do.Exit(0)]


def test_it_is_skipped_if_not_and_counts_as_done() -> None:
    dag = decided("A -> X -> Y -> Z; A -> B", conditions={"X": "Parents.A.ExitCode > 0"})
    dag.run("A", 1)
    assert dag.states() == "A=DONE X=DONE Y=DONE Z=DONE B=SUBMITTING"
    assert dag.said("Node X is skipped, since RUN_IF Parents.A.ExitCode > 0 is false")
    assert dag.said("Node Y is skipped: all its parents were skipped")
    dag.run("B", 2)
    assert dag.asked(do.Exit) == [do.Exit(0)]


def test_nothing_is_in_force_before_the_record_has_been_read() -> None:
    dag = Decided(make.dag("A -> X", conditions={"X": "true"}), QUIET)
    dag.begin()
    dag.run_node("A", 1)
    (action,) = dag.asked(do.EvaluateConditions)
    (wanted,) = action.wanted
    dag.tell(inputs.ConditionsEvaluated([inputs.ConditionResult(*wanted[:2], 1, "x")]))
    (record,) = dag.asked(do.AppendJournalRecord)
    assert (record.record, record.value, record.text) == (JournalRecord.CONDITION, 1, "x")
    assert dag.state("X") == State.WAITING
    assert not dag.asked(do.Exit)
    assert dag.wait(61)[0] == record  # it was lost
    dag.read_back()
    assert dag.state("X") == State.SUBMITTING


def test_without_a_record_it_is_evaluated_again_after_a_restart() -> None:
    dag = Decided(make.dag("A -> X", conditions={"X": "true"}), QUIET)
    dag.begin()
    dag.run_node("A", 1)
    again = dag.restart()
    assert len(again.asked(do.EvaluateConditions)) == 1


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("Parents.A.n > 3", "it is undefined, not true or false; Parents.A.n is undefined"),
        ("error", "it is an error, not true or false"),
        ("Done + 1", "it is 2, not true or false; Done is 1"),
        ("Parents.A.ExitCode", "it is 0, not true or false; Parents.A.ExitCode is 0"),
    ],
)
def test_what_is_neither_true_nor_false_fails_the_node(expression: str, why: str) -> None:
    dag = decided("A -> X -> Y", conditions={"X": expression})
    dag.dag.places.enter("d.dag")
    dag.dag.places.note_condition(dag.dag.ids["X"], 5)
    dag.run("A", 1)
    assert dag.states() == "A=DONE X=FAILED Y=FUTILE"
    assert dag.why("X") == f"RUN_IF {expression} at d.dag:5 can't be evaluated: {why}"
    assert dag.asked(do.Exit)[0].code == 1


def test_it_waits_until_all_parents_have_ended_however_they_do() -> None:
    condition = "Failed == 1 && Futile == 1 && Total == 3 && Done == 1"
    dag = decided("A -> B; A B C -> X; X -> Y", conditions={"X": condition})
    dag.run("A", 1, value=3)
    assert dag.states() == "A=FAILED B=FUTILE C=SUBMITTED X=WAITING Y=WAITING".replace(
        "SUBMITTED", dag.state("C").name
    )
    dag.run("C", 2)
    assert dag.state("X") == State.SUBMITTING
    dag.run("X", 3)
    dag.run("Y", 4)
    assert dag.asked(do.Exit)[0].code == 1  # A has failed all the same


@pytest.mark.parametrize(
    ("value", "expression"),
    [
        (7, 'Parents.A.Outcome == "FAILED" && Parents.A.ExitCode == 7'),
        (-9, "Parents.A.Signal == 9 && Parents.A.ExitCode =?= undefined"),
        (0, "Parents.A.ExitCode == 0 && Parents.A.Signal =?= undefined && Retries == 0"),
    ],
)
def test_what_is_known_of_a_parent(value: int, expression: str) -> None:
    dag = decided("A -> X", conditions={"X": expression})
    dag.run("A", 1, value)
    assert dag.state("X") == State.SUBMITTING


def test_a_parent_between_two_runs_has_not_ended() -> None:
    dag = decided("A -> X", conditions={"X": "Parents.A.Retries == 1"}, retries={"A": Retry(1)})
    dag.run("A", 1, value=1)
    assert dag.state("X") == State.WAITING
    dag.run("A", 2)
    assert dag.state("X") == State.SUBMITTING


def test_else_done_lets_children_go_on() -> None:
    dag = decided("A -> X -> Y", conditions={"X": Condition("false", skips_children=False)})
    dag.run("A", 1)
    assert dag.states() == "A=DONE X=DONE Y=SUBMITTING"


def test_a_child_is_skipped_only_if_all_its_parents_were() -> None:
    dag = decided("A -> X Y B; X Y -> S; X B -> R", conditions={"X": "false", "Y": "false"})
    dag.run("A", 1)
    assert (dag.state("S"), dag.state("R")) == (State.DONE, State.WAITING)
    dag.run("B", 2)
    assert dag.state("R") == State.SUBMITTING


def test_a_child_with_a_condition_of_its_own_decides_itself() -> None:
    conditions = {"X": "false", "E": "Skipped == 1", "F": 'Parents.E.Outcome == "SKIPPED"'}
    dag = decided("A -> X -> E -> F", conditions=conditions)
    dag.run("A", 1)
    assert dag.state("E") == State.SUBMITTING
    dag.run("E", 2)
    assert dag.state("F") == State.DONE


def test_a_long_chain_is_skipped_without_recursion() -> None:
    names = [f"N{number}" for number in range(3000)]
    chain = "; ".join(f"{one} -> {two}" for one, two in zip(names, names[1:]))
    dag = Decided(make.dag(chain, conditions={"N0": "false"}), QUIET)
    dag.engine.check = False
    dag.files = {}
    dag.begin()
    (wanted,) = dag.asked(do.EvaluateConditions)[0].wanted
    dag.tell(inputs.ConditionsEvaluated([inputs.ConditionResult(*wanted[:2], 0, "")]))
    assert dag.read_back()[-1] == do.Exit(0)


def test_names_that_differ_in_case_only() -> None:
    dag = decided("A a -> X", conditions={"X": "Parents.A.ExitCode > Parents.a.ExitCode"})
    dag.run("A", 1, value=2)
    dag.run("a", 2)
    assert dag.state("X") == State.SUBMITTING


def test_words_in_texts_are_not_shown() -> None:
    dag = decided("A -> X", conditions={"X": GOOD})
    dag.run("A", 1)
    assert dag.said('is true: Parents.A.Outcome is "DONE"')
    assert not dag.said("DONE is")


def test_categories() -> None:
    expression = "Category.c.Done == 1 && Category.c.Total == 2"
    dag = decided("A -> X; B", conditions={"X": expression}, categories={"A": "c", "B": "c"})
    dag.run("A", 1)
    assert dag.state("X") == State.READY


def test_a_category_is_counted_for_each_time_that_it_is_asked_for() -> None:
    conditions = dict.fromkeys("XYZ", "Category.c.Done == 1")
    dag = decided("A -> X Y; B -> Z", conditions=conditions, categories={"A": "c", "B": "c"})
    dag.run("A", 1)
    assert [dag.state(name) for name in "XYZ"] == [State.READY, State.READY, State.WAITING]
    dag.run("B", 2)
    assert dag.said("Node Z is skipped, since RUN_IF Category.c.Done == 1 is false")


def test_weak_edges_are_as_good_as_others() -> None:
    dag = decided("A ~> X", conditions={"X": GOOD})
    dag.run("A", 1, value=1)
    assert dag.states() == "A=FAILED X=DONE"


def test_a_halted_dag_decides_nothing() -> None:
    dag = decided("A -> X", conditions={"X": "true"})
    dag.take("A", 1)
    dag.tell(inputs.Halt())
    dag.tell(make.terminated(1))
    assert not dag.ever(do.EvaluateConditions)
    dag.tell(inputs.Resume())
    dag.settle()
    assert dag.state("X") == State.SUBMITTING


def test_a_provisioner_that_never_is_ready_is_not_waited_for() -> None:
    dag = decided(
        "P; A -> X; B -> X", kinds={"P": NodeKind.PROVISIONER}, done="A B", conditions={"X": "true"}
    )
    dag.run("P", 1, value=1)
    assert dag.asked(do.Exit)[0].code == 1


def test_a_dry_run_takes_conditions_for_true() -> None:
    from condor_pydagman.config import Config
    from condor_pydagman.engine.engine import Engine
    from condor_pydagman.engine.state import Mode
    from condor_pydagman.engine.throttles import Throttles

    dag = make.dag("A -> X", conditions={"X": "Parents.A.n > 3"})
    engine = Engine(dag, Config(), Throttles(), mode=Mode.DRY_RUN, check=True)
    actions = engine.handle(inputs.Begin(recovering=False), 0.0)
    assert [a.text for a in actions if isinstance(a, do.Say) and "Processing" in a.text] == [
        "Processing node: A",
        "Processing node: X",
    ]


# People.


def test_a_person_skips_or_marks_done_what_was_not_decided() -> None:
    dag = decided("A -> X -> Y; A -> B", conditions={"X": "true"})
    dag.ask(NodeCommand.SKIP, "X")
    dag.run("A", 1)
    assert (dag.state("X"), dag.state("Y")) == (State.DONE, State.SUBMITTING)


def test_a_parent_runs_again_and_the_condition_is_evaluated_anew() -> None:
    dag = decided("A -> X; A -> B; C", conditions={"X": "Parents.A.Retries == 1"})
    dag.run("A", 1)
    dag.take("C", 9)
    assert dag.state("X") == State.DONE
    assert "its child X has begun" in dag.refusal(NodeCommand.RERUN, "A")
    dag.run("B", 2)
    dag.ask(NodeCommand.RERUN, "A", "descendants")
    assert dag.states() == "A=SUBMITTING X=WAITING B=WAITING C=SUBMITTED"
    dag.run("A", 3)
    assert dag.state("X") == State.READY


def test_a_failed_parent_does_not_run_again_when_a_decided_node_has_begun() -> None:
    dag = decided("A -> B -> X; C", conditions={"X": "Futile == 1 || Done == 1"})
    dag.take("C", 2)
    dag.run("A", 1, value=1)
    assert dag.state("X") == State.SUBMITTING
    dag.take("X", 3)
    assert "its child X has begun" in dag.refusal(NodeCommand.RERUN, "A")


def test_a_decision_is_taken_back_with_what_it_was_taken_by() -> None:
    dag = decided("A -> B -> X; C", conditions={"X": "Futile == 1"})
    dag.tell(inputs.Halt())
    dag.take("A", 1)
    dag.tell(make.terminated(1, value=1))
    dag.tell(inputs.Resume())
    (action,) = dag.asked(do.EvaluateConditions)
    dag.tell(inputs.NodesSteered(9, NodeCommand.RERUN, [dag.dag.ids["A"]], "ann", ""))
    steered = dag.echo(dag.last)
    (wanted,) = action.wanted
    dag.tell(inputs.ConditionsEvaluated([inputs.ConditionResult(*wanted[:2], 1, "")]))
    assert not dag.asked(do.AppendJournalRecord)  # it may be about to change
    dag.tell(*steered)
    dag.settle()
    assert dag.states() == "A=READY B=WAITING X=WAITING C=SUBMITTING"


# Sites.


def test_a_group_gets_a_site_when_the_condition_is_true() -> None:
    dag = decided("A -> X -> Y", conditions={"X": "Parents.A.ExitCode > 0"}, groups={"g": "X Y"})
    dag.run("A", 1)
    assert not dag.ever(do.MatchSites)
    assert dag.asked(do.Exit) == [do.Exit(0)]


# Reports.


def test_what_a_rescue_file_is_told() -> None:
    dag = decided(
        "A B -> X -> Y; A -> Z; Z -> W",
        conditions={"X": "Failed == 0", "Z": "false", "W": "Parents.Z.Outcome == 'x'"},
    )
    dag.run("A", 1)
    dag.run("B", 2, value=1)
    reports = {one.name: one for one in dag.engine.node_reports()}
    assert {name for name, one in reports.items() if one.skipped} == {"X", "Y", "Z"}
    assert {name for name, one in reports.items() if one.anew} == {"X", "Y"}
    assert reports["A"].result == "[ ExitCode = 0; Retries = 0 ]"
    assert reports["B"].result == reports["X"].result == ""
    assert reports["X"].details == "skipped: RUN_IF is false: Failed is 1"
    assert reports["Y"].details == "skipped"


def test_what_a_rescue_file_says_counts() -> None:
    made = make.dag(
        "A -> X; B -> Y -> Z; C",
        conditions={"X": "Parents.A.n == 3 && Parents.A.ExitCode == 0", "Z": "Skipped == 1"},
        done="A B Y",
    )
    made.flags[made.ids["B"]] |= SKIPPED
    made.results[made.ids["A"]] = "[ n = 3; ExitCode = 0; ]"
    dag = Decided(made, QUIET)
    dag.files = {}
    dag.begin()
    dag.settle()
    assert dag.state("X") == State.READY
    assert dag.state("Z") == State.DONE  # Y is done, and was not skipped
