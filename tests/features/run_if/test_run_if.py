"""RUN_IF and PUBLISH: when nodes are decided, on what, and that a replay comes to the same."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.gated_nodes import GATE
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_settings import NodeSettings
from condor_pydagman.engine.node_states import Anew, Cause, State
from condor_pydagman.engine.nodes import Nodes
from condor_pydagman.features.brake.commands import Brake, BrakesOfDag
from condor_pydagman.features.publish.commands import PublishedOfDag
from condor_pydagman.features.publish.run import (
    JobAttributes,
    Publish,
    ReadResult,
    ResultRead,
    read_pairs,
)
from condor_pydagman.features.run_if.commands import ConditionsOfDag
from condor_pydagman.features.run_if.run import (
    ConditionResult,
    ConditionsEvaluated,
    EvaluateConditions,
)
from condor_pydagman.features.sites.messages import MatchSites
from condor_pydagman.features.skipping.commands import SkippedOfDag
from condor_pydagman.features.steering.run import NodesSteered
from condor_pydagman.features.steering.settings_text import settings_text
from condor_pydagman.features.steering.steer_commands import NodeCommand
from condor_pydagman.graph.model import Variable
from condor_pydagman.timers import DRAINED_GRACE_S
from condor_pydagman.vocabulary import RETURN_NO_RESULT, EventKind
from tests import make
from tests.make import QUIET
from tests.sim.invariants import validate
from tests.unit.engine.decided import Decided, decided


def test_a_node_runs_if_its_condition_is_true() -> None:
    dag = decided("A -> X\nRUN_IF X Parents.A.ExitCode == 0")
    dag.run("A", 1)
    assert dag.states() == "A=DONE X=SUBMITTING"
    assert dag.said(
        "Node X is to run, since RUN_IF Parents.A.ExitCode == 0 is true: Parents.A.ExitCode is 0"
    )
    dag.run("X", 2)
    assert dag.asked(do.Exit) == [do.Exit(0)]


def test_it_is_skipped_if_not_and_counts_as_done() -> None:
    dag = decided("A -> X -> Y -> Z; A -> B\nRUN_IF X Parents.A.ExitCode > 0")
    dag.run("A", 1)
    assert dag.states() == "A=DONE X=DONE Y=DONE Z=DONE B=SUBMITTING"
    assert dag.said("Node X is skipped, since RUN_IF Parents.A.ExitCode > 0 is false")
    assert dag.said("Node Y is skipped: all its parents were skipped")
    dag.run("B", 2)
    assert dag.asked(do.Exit) == [do.Exit(0)]


def test_nothing_is_in_force_before_the_record_has_been_read() -> None:
    dag = Decided(make.dag("A -> X\nRUN_IF X true"), QUIET)
    dag.begin()
    dag.run_node("A", 1)
    (action,) = dag.asked(EvaluateConditions)
    (wanted,) = action.wanted
    earlier = ConditionResult(wanted[0], wanted[1] - 1, 0, "")
    dag.tell(ConditionsEvaluated([earlier, ConditionResult(*wanted[:2], 1, "x")]))
    (record,) = dag.asked(do.AppendJournalRecord)
    assert (record.record, record.value, record.text) == ("CONDITION", 1, "x")
    assert dag.state("X") == State.WAITING
    assert not dag.asked(do.Exit)
    assert dag.wait(61)[0] == record  # it was lost
    dag.read_back()
    assert dag.state("X") == State.SUBMITTING


def test_without_a_record_it_is_evaluated_again_after_a_restart() -> None:
    dag = Decided(make.dag("A -> X\nRUN_IF X true"), QUIET)
    dag.begin()
    dag.run_node("A", 1)
    again = dag.restart()
    assert len(again.asked(EvaluateConditions)) == 1


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
    dag = decided(f"A -> X -> Y\nRUN_IF X {expression}")
    ConditionsOfDag.of(dag.dag).lines_at[dag.dag.ids["X"]] = "d.dag:5"
    dag.run("A", 1)
    assert dag.states() == "A=DONE X=FAILED Y=FUTILE"
    assert dag.why("X") == f"RUN_IF {expression} at d.dag:5 can't be evaluated: {why}"
    assert dag.asked(do.Exit)[0].code == 1


def test_it_waits_until_all_parents_have_ended_however_they_do() -> None:
    condition = "Failed == 1 && Futile == 1 && Total == 3 && Done == 1"
    dag = decided(f"A -> B; A B C -> X; X -> Y\nRUN_IF X {condition}")
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
    dag = decided(f"A -> X\nRUN_IF X {expression}")
    dag.run("A", 1, value)
    assert dag.state("X") == State.SUBMITTING


def test_a_parent_between_two_runs_has_not_ended() -> None:
    dag = decided("A -> X\nRETRY A 1\nRUN_IF X Parents.A.Retries == 1")
    dag.run("A", 1, value=1)
    assert dag.state("X") == State.WAITING
    dag.run("A", 2)
    assert dag.state("X") == State.SUBMITTING


def test_a_child_is_skipped_only_if_all_its_parents_were() -> None:
    dag = decided("A -> X Y B; X Y -> S; X B -> R\nRUN_IF X false\nRUN_IF Y false")
    dag.run("A", 1)
    assert (dag.state("S"), dag.state("R")) == (State.DONE, State.WAITING)
    dag.run("B", 2)
    assert dag.state("R") == State.SUBMITTING


def test_a_child_with_a_condition_of_its_own_decides_itself() -> None:
    dag = decided("""
        A -> X -> E -> F
        RUN_IF X false
        RUN_IF E Skipped == 1
        RUN_IF F Parents.E.Outcome == "SKIPPED"
    """)
    dag.run("A", 1)
    assert dag.state("E") == State.SUBMITTING
    dag.run("E", 2)
    assert dag.state("F") == State.DONE


def test_a_long_chain_is_skipped_without_recursion() -> None:
    names = [f"N{number}" for number in range(3000)]
    chain = "; ".join(f"{one} -> {two}" for one, two in zip(names, names[1:]))
    dag = Decided(make.dag(f"{chain}\nRUN_IF N0 false"), QUIET)
    dag.engine.check = None
    dag.files = {}
    dag.begin()
    (wanted,) = dag.asked(EvaluateConditions)[0].wanted
    dag.tell(ConditionsEvaluated([ConditionResult(*wanted[:2], 0, "")]))
    assert dag.read_back()[-1] == do.Exit(0)


def test_names_that_differ_in_case_only() -> None:
    dag = decided("A a -> X\nRUN_IF X Parents.A.ExitCode > Parents.a.ExitCode")
    dag.run("A", 1, value=2)
    dag.run("a", 2)
    assert dag.state("X") == State.SUBMITTING


def test_words_in_texts_are_not_shown() -> None:
    dag = decided('A -> X\nRUN_IF X Parents.A.Outcome == "DONE"')
    dag.run("A", 1)
    assert dag.said('is true: Parents.A.Outcome is "DONE"')
    assert not dag.said("DONE is")


def test_a_category_is_counted_for_each_time_that_it_is_asked_for() -> None:
    dag = decided("""
        A -> X Y; B -> Z
        CATEGORY A c
        CATEGORY B c
        RUN_IF X Category.c.Done == 1
        RUN_IF Y Category.c.Done == 1
        RUN_IF Z Category.c.Done == 1
    """)
    dag.run("A", 1)
    assert [dag.state(name) for name in "XYZ"] == [State.READY, State.READY, State.WAITING]
    dag.run("B", 2)
    assert dag.said("Node Z is skipped, since RUN_IF Category.c.Done == 1 is false")


@pytest.mark.parametrize(
    ("text", "value", "states"),
    [
        ("A -> X -> Y\nRUN_IF X ELSE DONE false", 0, "A=DONE X=DONE Y=SUBMITTING"),
        (
            "A -> X; B\nCATEGORY A c\nCATEGORY B c\n"
            "RUN_IF X Category.c.Done == 1 && Category.c.Total == 2",
            *(0, "A=DONE X=READY B=SUBMITTING"),
        ),
        ('A ~> X\nRUN_IF X Parents.A.Outcome == "DONE"', 1, "A=FAILED X=DONE"),
    ],
    ids=["children of ELSE DONE go on", "categories", "weak edges are as good as others"],
)
def test_what_becomes_of_nodes(text: str, value: int, states: str) -> None:
    dag = decided(text)
    dag.run("A", 1, value)
    assert dag.states() == states


def test_a_halted_dag_decides_nothing() -> None:
    dag = decided("A -> X\nRUN_IF X true")
    dag.take("A", 1)
    dag.tell(inputs.Halt())
    dag.tell(make.terminated(1))
    assert not dag.ever(EvaluateConditions)
    dag.tell(inputs.Resume())
    dag.settle()
    assert dag.state("X") == State.SUBMITTING


def test_a_halted_dag_does_not_go_on_because_of_a_condition() -> None:
    dag = decided("A -> X\nRUN_IF X true")
    dag.take("A", 1)
    dag.tell(inputs.Halt(), make.terminated(1))
    dag.wait(DRAINED_GRACE_S)
    assert dag.asked(do.Exit)


def test_a_provisioner_that_never_is_ready_is_not_waited_for() -> None:
    dag = decided("""
        P; A -> X; B -> X
        PROVISIONER P n.sub
        RUN_IF X true
        DONE A
        DONE B
    """)
    dag.run("P", 1, value=1)
    assert dag.asked(do.Exit)[0].code == 1


def test_a_dry_run_takes_conditions_for_true() -> None:
    from condor_pydagman.config import Config
    from condor_pydagman.engine.engine import Engine
    from condor_pydagman.engine.state import Mode
    from condor_pydagman.engine.throttles import Throttles

    dag = make.dag("A -> X\nRUN_IF X Parents.A.n > 3")
    engine = Engine(dag, Config(), Throttles(), mode=Mode.DRY_RUN, check=validate)
    actions = engine.handle(inputs.Begin(recovering=False), 0.0)
    assert [a.text for a in actions if isinstance(a, do.Say) and "Processing" in a.text] == [
        "Processing node: A",
        "Processing node: X",
    ]


# People.


def test_a_person_skips_or_marks_done_what_was_not_decided() -> None:
    dag = decided("A -> X -> Y; A -> B\nRUN_IF X true")
    dag.ask(NodeCommand.SKIP, "X")
    dag.run("A", 1)
    assert (dag.state("X"), dag.state("Y")) == (State.DONE, State.SUBMITTING)


def test_a_parent_runs_again_and_the_condition_is_evaluated_anew() -> None:
    dag = decided("A -> X; A -> B; C\nRUN_IF X Parents.A.Retries == 1")
    dag.run("A", 1)
    dag.take("C", 9)
    assert dag.state("X") == State.DONE
    assert "its child X has started" in dag.refusal(NodeCommand.RERUN, "A")
    dag.run("B", 2)
    dag.ask(NodeCommand.RERUN, "A", "descendants")
    assert dag.states() == "A=SUBMITTING X=WAITING B=WAITING C=SUBMITTED"
    dag.run("A", 3)
    assert dag.state("X") == State.READY


def test_a_failed_parent_does_not_run_again_when_a_decided_node_has_begun() -> None:
    dag = decided("A -> B -> X; C\nRUN_IF X Futile == 1 || Done == 1")
    dag.take("C", 2)
    dag.run("A", 1, value=1)
    assert dag.state("X") == State.SUBMITTING
    dag.take("X", 3)
    assert "its child X has started" in dag.refusal(NodeCommand.RERUN, "A")


def test_a_decision_is_taken_back_with_what_it_was_taken_by() -> None:
    dag = decided("A -> B -> X; C\nRUN_IF X Futile == 1")
    dag.tell(inputs.Halt())
    dag.take("A", 1)
    dag.tell(make.terminated(1, value=1))
    dag.tell(inputs.Resume())
    (action,) = dag.asked(EvaluateConditions)
    dag.tell(NodesSteered(9, NodeCommand.RERUN, [dag.dag.ids["A"]], "ann", ""))
    steered = dag.echo(dag.last)
    (wanted,) = action.wanted
    dag.tell(ConditionsEvaluated([ConditionResult(*wanted[:2], 1, "")]))
    assert not dag.asked(do.AppendJournalRecord)  # it may be about to change
    dag.tell(*steered)
    dag.settle()
    assert dag.states() == "A=READY B=WAITING X=WAITING C=SUBMITTING"


# Sites.


def test_a_group_gets_a_site_when_the_condition_is_true() -> None:
    dag = decided("""
        A -> X -> Y
        RUN_IF X Parents.A.ExitCode > 0
        SITE_GROUP g NODES X Y
    """)
    dag.run("A", 1)
    assert not dag.ever(MatchSites)
    assert dag.asked(do.Exit) == [do.Exit(0)]


# Reports.


def test_what_a_rescue_file_is_told() -> None:
    dag = decided("""
        A B -> X -> Y; A -> Z; Z -> W
        RUN_IF X Failed == 0
        RUN_IF Z false
        RUN_IF W Parents.Z.Outcome == 'x'
    """)
    dag.run("A", 1)
    dag.run("B", 2, value=1)
    reports = {one.name: one for one in dag.engine.node_reports()}
    assert {name for name, one in reports.items() if one.skipped} == {"X", "Y", "Z"}
    assert {name for name, one in reports.items() if one.anew} == {"X", "Y"}
    assert reports["A"].rescue_lines == ("NODE_RESULT A [ ExitCode = 0; Retries = 0 ]",)
    assert reports["B"].rescue_lines == reports["X"].rescue_lines == ()
    assert reports["X"].details == "skipped: RUN_IF is false: Failed is 1"
    assert reports["Y"].details == "skipped"


def test_what_a_rescue_file_says_counts() -> None:
    made = make.dag("""
        A -> X; B -> Y -> Z; C
        RUN_IF X Parents.A.n == 3 && Parents.A.ExitCode == 0
        RUN_IF Z Skipped == 1
        DONE A
        DONE B
        DONE Y
    """)
    SkippedOfDag.put(made).skipped[made.ids["B"]] = None
    PublishedOfDag.put(made).results[made.ids["A"]] = "[ n = 3; ExitCode = 0; ]"
    dag = Decided(made, QUIET)
    dag.files = {}
    dag.begin()
    dag.settle()
    assert dag.state("X") == State.READY
    assert dag.state("Z") == State.DONE  # Y is done, and was not skipped


# What nodes publish: in force before the node is done, by content, live and in a replay.


FILE, ATTRIBUTES = "FILE a.ad", "ATTRIBUTES Memory,Host"


def dag(publish: str = FILE, expression: str = "Parents.A.n > 3", commands: str = "") -> Decided:
    text = f"A -> X; C\nRUN_IF X {expression}\nPUBLISH A {publish}\n{commands}"
    harness = Decided(text, QUIET)
    harness.files = {"a.ad": [("n", "5"), ("s", '"x"')]}
    harness.begin()
    harness.settle()
    return harness


def job_ad(cluster: int, text: str, trigger: int = EventKind.JOB_TERMINATED) -> LogEvent:
    """Event 028."""
    return LogEvent(EventKind.JOB_AD_INFORMATION, cluster, 0, 0, value=trigger, text=text)


def test_a_file_is_read_and_written_into_the_log_before_the_node_is_done() -> None:
    harness = dag()
    harness.run_node("A", 1)
    assert harness.asked(ReadResult) == [ReadResult(0, 0, "a.ad")]
    assert harness.state("A") == State.RESULT
    harness.tell(ResultRead(0, 0, [("n", "5")]))
    assert harness.state("A") == State.RESULT
    harness.settle()
    assert harness.state("A") == State.DONE
    assert harness.state("X") == State.READY
    assert harness.said("is true: Parents.A.n is 5")


def named(file: str) -> Decided:
    made = make.dag(f"P -> A; A -> X\nPUBLISH A FILE {file}\nRETRY A 1")
    made.variables[made.ids["A"]] = (Variable("Key", "v$(JOB)", False),)
    harness = Decided(made, QUIET)
    harness.files = {"A-vA-0.ad": "no", "A-vA-1.ad": [("n", "5")], "A-w-0.ad": [("n", "5")]}
    harness.begin()
    harness.settle()
    return harness


def test_the_name_of_a_file_has_macros() -> None:
    harness = named("$(JOB)-$(key)-$(RETRY).ad")
    harness.run("P", 1)
    harness.run("A", 2)
    harness.run("A", 3)
    asked = [one.file for one in harness.ever(ReadResult)]
    assert asked == ["A-vA-0.ad", "A-vA-1.ad"]
    assert harness.state("A") == State.DONE


def test_a_macro_that_a_person_has_set() -> None:
    harness = named("$(JOB)-$(key)-$(RETRY).ad")
    harness.ask(NodeCommand.SET, "A", settings_text(NodeSettings(variables=(("Key", "w"),))))
    harness.run("P", 1)
    harness.run("A", 2)
    assert [one.file for one in harness.ever(ReadResult)] == ["A-w-0.ad"]


def test_a_macro_that_nothing_sets() -> None:
    harness = named("$(typo)-$(JOB).ad")
    harness.files = {"$(typo)-A.ad": "No such file or directory"}
    harness.run("P", 1)
    harness.run("A", 2)
    harness.run("A", 3)
    why = "what it publishes can't be read: $(typo)-A.ad: no VARS of the node sets $(typo)"
    why += " (after 1 node retries)"
    assert harness.why("A") == why


def test_many_values_take_several_records() -> None:
    harness = dag()
    harness.files["a.ad"] = [(f"n{number}", '"' + "x" * 300 + '"') for number in range(5)]
    harness.files["a.ad"].append(("n", "7"))
    harness.run("A", 1)
    records = [one for one in harness.ever(do.AppendJournalRecord) if one.record == "NODE_RESULT"]
    assert [record.value for record in records] == [103, 203, 303]
    assert harness.said("is true: Parents.A.n is 7")


def test_too_many_values_are_refused() -> None:
    harness = dag()
    harness.files["a.ad"] = [(f"n{number}", '"' + "x" * 400 + '"') for number in range(200)]
    harness.run("A", 1)
    assert "there is too much in it: 200 values" in harness.why("A")


def test_a_lost_record_is_written_again_with_the_others() -> None:
    harness = dag()
    harness.run_node("A", 1)
    harness.tell(ResultRead(0, 0, [(f"n{n}", '"' + "x" * 400 + '"') for n in range(2)]))
    first, second = harness.asked(do.AppendJournalRecord)
    harness.tell(*harness.echo([second]))
    again = harness.wait(61)
    assert [one for one in again if isinstance(one, do.AppendJournalRecord)] == [first, second]


def test_a_file_that_cannot_be_read_makes_the_run_fail() -> None:
    harness = dag(commands="RETRY A 1")
    harness.files["a.ad"] = "No such file or directory"
    harness.run("A", 1)
    assert harness.state("A") == State.READY  # its retry
    harness.run("A", 2)
    assert harness.state("A") == State.FAILED
    assert harness.why("A") == (
        "what it publishes can't be read: a.ad: No such file or directory (after 1 node retries)"
    )
    assert harness.engine.run.nodes.values[0] == RETURN_NO_RESULT
    assert harness.state("X") == State.FAILED  # Parents.A.n is undefined


def test_a_brake_counts_once_a_run_whose_result_can_not_be_read() -> None:
    made = make.dag("A; B\nPUBLISH A FILE a.ad")
    brake = Brake(0, "b", 40, percent=True, last=2, alike="EXIT_CODE")
    BrakesOfDag.put(made).brakes.append(brake)
    harness = Decided(made, QUIET)
    harness.files = {"a.ad": "No such file or directory"}
    harness.begin()
    harness.run("A", 1)
    assert harness.state("A") == State.FAILED
    brakes = harness.engine.run.features["brake"]
    assert not brakes.due
    harness.run_node("B", 2)
    assert brakes.due == {
        0: (
            1,
            "1 node published nothing that could be read in the last 2 runs, more than 40% OF 2: A",
        )
    }


def test_what_a_person_has_run_again_publishes_anew() -> None:
    harness = dag(expression="Parents.A.n > 9")
    harness.take("C", 9)
    harness.run("A", 1)
    assert harness.state("X") == State.DONE
    harness.files["a.ad"] = [("n", "10")]
    harness.ask(NodeCommand.RERUN, "A", "descendants")
    harness.run("A", 2)
    assert harness.state("X") == State.SUBMITTING


def test_attributes_of_the_job_come_after_its_end() -> None:
    harness = dag(ATTRIBUTES, "Parents.A.Memory > 3")
    harness.take("A", 1)
    harness.tell(job_ad(1, "Memory=1\nOther=2\n", EventKind.EXECUTE))
    harness.tell(make.terminated(1))
    harness.settle()
    assert harness.state("A") == State.RESULT
    harness.tell(job_ad(1, 'memory=4\nHost="h"\n'))
    harness.settle()
    assert harness.state("A") == State.DONE
    harness.tell(job_ad(1, "Memory=5\n"))  # too late
    assert harness.engine.run.features["publish"].values == {0: {"Memory": "4", "Host": '"h"'}}
    assert harness.state("X") == State.READY


def test_attributes_that_do_not_come_are_not_waited_for_for_ever() -> None:
    harness = dag(ATTRIBUTES, "Parents.A.Memory =?= undefined")
    harness.run("A", 1)
    assert harness.state("A") == State.RESULT
    harness.wait(61)
    assert harness.said("the nodes log has no attributes of the last job of node A")
    harness.settle()
    assert harness.state("X") == State.READY


def test_a_node_without_a_job_has_no_attributes() -> None:
    harness = dag(ATTRIBUTES, "true", commands="JOB A n.sub NOOP")
    harness.settle()
    assert harness.state("A") == State.DONE


@pytest.mark.parametrize("recovered", ["before", "after"])
def test_a_restart_while_a_file_is_read(recovered: str) -> None:
    harness = dag()
    harness.run_node("A", 1)
    if recovered == "after":
        harness.tell(ResultRead(0, 0, [("n", "5")]))
    again = harness.restart()
    assert again.asked(ReadResult) == [ReadResult(0, 0, "a.ad")]


def test_a_node_that_its_pre_script_skips_publishes_nothing() -> None:
    harness = dag(FILE, "Parents.A.n =?= undefined", commands="SCRIPT PRE A x\nPRE_SKIP A 3")
    harness.last = harness.pre_ends("A", 3)
    harness.settle()
    assert harness.state("A") == State.DONE


def test_pairs_of_a_text() -> None:
    assert read_pairs('a=1\nb="x=y"\n\nrubbish\n') == [("a", "1"), ("b", '"x=y"')]


# What is known of conditions and of what nodes have published.


def publishing() -> Publish:
    found = Decided("A -> X\nPUBLISH A ATTRIBUTES Memory", QUIET).engine.run.features["publish"]
    assert isinstance(found, Publish)
    return found


def test_whose_attributes_an_event_has() -> None:
    known = publishing()
    shared = known.run.job_table.open(0, 6, 0, 3)
    known.jobs_seen(0, shared)
    event = make.of_job(EventKind.JOB_AD_INFORMATION, 6, 3)
    assert (known.node_of(event), known.node_of(event._replace(proc=4))) == (0, None)


def test_attributes_of_jobs_are_those_of_the_last_event() -> None:
    known = publishing()
    known.add(0, 0, JobAttributes((("MEMORY", "1"), ("x", "2")), False), ("Memory",))
    known.add(0, 0, JobAttributes((("memory", "3"),), True), ("Memory",))
    assert known.values == {0: {"Memory": "3"}}
    known.begins_anew(0, Anew.RUN)
    assert known.values == {}


# The countdown of nodes whose turn is decided by more than that all their parents are done.


def nodes() -> Nodes:
    return Nodes(make.dag("A B -> X -> Y; A -> Z\nRUN_IF X true"))


def test_parents_are_counted_however_they_end() -> None:
    found = nodes()
    a, b, x = (found.dag.ids[name] for name in "ABX")
    assert found.gated.pop_changed() == [x]
    assert (found.unfinished_parents(x), found.waiting[x]) == (2, GATE + 2)
    found.move(a, Cause.MARKED_DONE, 0)
    found.move(b, Cause.ANCESTOR_FAILED, 0)
    assert found.unfinished_parents(x) == 0
    assert found.gated.pop_changed() == [x]
    found.move(b, Cause.FREED, 0)
    assert found.unfinished_parents(x) == 1


def test_it_starts_when_its_turn_has_come() -> None:
    found = nodes()
    x = found.dag.ids["X"]
    assert x not in found.roots()
    found.gated.open(x)
    assert found.may_start(x)
    found.gated.close(x)
    assert not found.may_start(x)


def test_a_failed_parent_makes_nothing_futile_behind_it() -> None:
    found = nodes()
    a = found.dag.ids["A"]
    found.move(a, Cause.FAILED, 0)
    assert found.mark_futile(a, 0) == 1
    assert found.states[found.dag.ids["X"]] == found.states[found.dag.ids["Y"]] == 0


def test_without_such_nodes_there_is_nothing_to_count() -> None:
    found = Nodes(make.dag("A -> B"))
    assert not found.gated.watched
    assert found.gated.pop_changed() == []
