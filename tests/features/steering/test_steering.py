"""Commands for single nodes: what they do, what is refused, and that a replay comes to the same."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.node_settings import (
    MAX_BYTES,
    NodeSettings,
    categories_in_force,
    retry_in_force,
    variables_in_force,
)
from condor_pydagman.engine.node_states import Cause, State, shown
from condor_pydagman.engine.nodes import Nodes
from condor_pydagman.engine.state import RunState
from condor_pydagman.features.common import rerun
from condor_pydagman.features.steering.preconditions import Words, obstacle, read_text, record_text
from condor_pydagman.features.steering.run import NodesSteered
from condor_pydagman.features.steering.selection import SelectionError, chosen
from condor_pydagman.features.steering.settings_text import (
    read_settings,
    recorded_bytes,
    settings_text,
)
from condor_pydagman.features.steering.settings_text import shown as shown_settings
from condor_pydagman.features.steering.steer_commands import NodeCommand
from condor_pydagman.features.timeout.commands import Timeout
from condor_pydagman.features.timeout.run import Timeouts, timeout_in_force
from condor_pydagman.graph.model import Retry, Variable
from condor_pydagman.vocabulary import (
    STATE_WORDS,
    DagStatus,
    EventKind,
    NodeStatus,
    ScriptKind,
)
from tests import make
from tests.unit.engine.steered import Steered, steered

C = NodeCommand


def test_a_node_whose_jobs_are_in_the_queue_is_cancelled() -> None:
    harness = steered("A -> B\nRETRY A 3")
    harness.take("A", 1)
    assert harness.ask(C.CANCEL, "A").done == 1
    assert [action.cluster for action in harness.asked(do.RemoveJobs)] == [1]
    assert harness.state("A") is State.SUBMITTED
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 1))
    assert harness.states() == "A=FAILED B=FUTILE"
    assert harness.engine.run.nodes.errors[0].startswith("Cancelled")
    assert harness.replayed() == "A=FAILED B=FUTILE"


def test_what_waits_for_a_node_that_a_person_marks_done_runs_whatever_failed_before() -> None:
    harness = steered("A B; A -> X; X B -> Y -> Z")
    harness.take("A", 1)
    harness.take("B", 2)
    assert harness.ask(C.DONE, "X").done == 1
    harness.tell(make.terminated(1, value=1))
    assert harness.states() == "A=FAILED B=SUBMITTED X=DONE Y=WAITING Z=WAITING"
    harness.tell(make.terminated(2))
    assert harness.submits() == ["Y"]
    harness.replayed()


def test_its_retries_apply_if_that_is_asked_for() -> None:
    harness = steered("A\nRETRY A 3")
    harness.take("A", 1)
    harness.ask(C.CANCEL, "A", "retry")
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 1))
    assert harness.submits() == ["A"]
    assert harness.refusal(C.CANCEL, "A", "retry").startswith("it has no jobs in the queue")


@pytest.mark.parametrize("name", ["A", "B"])
def test_a_node_that_has_not_begun_is_cancelled(name: str) -> None:
    harness = steered("A -> B -> C; D\nSCRIPT PRE A x")
    harness.take("D", 9)
    if name == "A":
        harness.tell(inputs.ScriptEnded(0, ScriptKind.PRE, 0))
        harness.tell(*harness.echo(harness.last))
        harness.engine.run.limits_changed = True
    assert harness.ask(C.CANCEL, "B").done == 1
    assert harness.state("B") is State.FAILED
    assert harness.state("C") is State.FUTILE
    assert "C=FUTILE" in harness.replayed()


def test_one_whose_script_runs_fails_when_that_has_ended() -> None:
    harness = steered("A -> B\nSCRIPT PRE A x\nRETRY A 2")
    assert harness.state("A") is State.PRE_RUN
    assert harness.ask(C.CANCEL, "A").done == 1
    harness.pre_ends("A")
    assert harness.states() == "A=FAILED B=FUTILE"
    assert not harness.ever(do.SubmitNode)
    assert harness.replayed() == harness.states()


def test_one_that_is_being_submitted_is_removed_when_it_is_in_the_queue() -> None:
    harness = steered("A -> B; C")
    assert harness.state("A") is State.SUBMITTING
    assert harness.ask(C.CANCEL, "A").done == 1
    assert not harness.asked(do.RemoveJobs)
    harness.take("A", 1)
    assert [action.cluster for action in harness.asked(do.RemoveJobs)] == [1]
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 1))
    assert harness.state("A") is State.FAILED
    assert "A=FAILED B=FUTILE" in harness.replayed()


def test_one_whose_submission_comes_to_nothing_fails() -> None:
    harness = steered("A -> B; C")
    harness.ask(C.CANCEL, "A")
    harness.happens(inputs.SubmitFailed(0, "no", permanent=False))
    assert harness.state("A") is State.FAILED
    assert "A=FAILED B=FUTILE" in harness.replayed()


def test_a_job_that_ends_well_before_it_is_removed_has_made_its_node_done() -> None:
    harness = steered("A -> B")
    harness.take("A", 1)
    harness.ask(C.CANCEL, "A")
    harness.tell(make.terminated(1))
    assert harness.state("A") is State.DONE
    assert not any(harness.engine.run.nodes.marks)


def test_a_post_script_does_not_save_a_cancelled_node() -> None:
    harness = steered("A -> B\nSCRIPT POST A x")
    harness.take("A", 1)
    harness.ask(C.CANCEL, "A")
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 1))
    harness.post_ends("A", 0)
    assert harness.states() == "A=FAILED B=FUTILE"
    assert harness.replayed() == harness.states()


def test_hold_and_release_are_the_schedds_matter() -> None:
    harness = steered("A B")
    harness.take("A", 1)
    assert harness.ask(C.HOLD, "A").done == 1
    (action,) = harness.asked(do.HoldJobs)
    assert (action.cluster, action.release) == (1, False)
    assert action.reason == "put on hold (condor_pydagman steer)", "the schedd adds by whom"
    harness.ask(C.RELEASE, "A")
    assert harness.asked(do.HoldJobs)[0].release
    assert not [a for a in harness.all if isinstance(a, do.AppendJournalRecord)]


@pytest.mark.parametrize("command", [C.DONE, C.SKIP])
def test_a_node_that_has_not_begun_is_passed_over(command: NodeCommand) -> None:
    harness = steered("A -> B -> C; D")
    harness.take("A", 1)
    harness.take("D", 2)
    assert harness.ask(command, "B").done == 1
    assert harness.state("B") is State.DONE
    harness.tell(make.terminated(1))
    assert harness.submits() == ["C"] or harness.state("C") is State.SUBMITTING
    assert harness.replayed() == "A=DONE B=DONE C=READY D=SUBMITTED"


def test_a_failed_node_is_marked_done() -> None:
    harness = steered("A -> B; D")
    harness.take("D", 2)
    harness.run_node("A", 1, value=1)
    assert harness.refusal(C.SKIP, "A") == "it failed: mark it done, or run it again"
    assert "mark that one done" in harness.refusal(C.DONE, "B")
    harness.ask(C.DONE, "A")
    assert harness.submits() == ["B"]
    assert harness.replayed() == "A=DONE B=READY D=SUBMITTED"
    assert harness.refusal(C.DONE, "A") == "it is done already"


def test_a_priority_counts_for_the_next_submission() -> None:
    harness = steered("A B C; D")
    harness.tell(inputs.Halt())
    harness.take("A", 1)
    harness.ask(C.SET, "C", '{"priority":7}')
    harness.tell(inputs.Resume())
    assert harness.submits() == ["C"]
    assert [action.priority for action in harness.asked(do.SubmitNode)] == [7]


def test_the_dag_does_not_end_while_a_command_is_on_its_way() -> None:
    harness = steered("A -> B; C")
    harness.take("C", 2)
    harness.run_node("A", 1, value=1)
    harness.tell(NodesSteered(1, C.RERUN, [0], "ann"))
    (record,) = harness.echo(harness.last)
    harness.tell(make.terminated(2))
    assert not harness.asked(do.Exit)
    harness.tell(record)
    assert harness.submits() == ["A"]


def test_a_request_in_parts_is_answered_once() -> None:
    harness = steered("A B C")
    harness.happens(NodesSteered(5, C.SKIP, [1], "ann", last=False))
    assert not harness.ever(do.Steered)
    harness.happens(NodesSteered(5, C.SKIP, [2, 0], "ann"))
    (answer,) = harness.ever(do.Steered)
    assert (answer.done, [node for node, _ in answer.refused]) == (2, [0])


def test_the_same_twice_before_the_first_is_in_force() -> None:
    harness = steered("A -> B; C")
    harness.take("C", 1)
    harness.happens(NodesSteered(1, C.SKIP, [1], "ann"), NodesSteered(2, C.CANCEL, [1], "bob"))
    first, second = harness.ever(do.Steered)
    assert (first.done, second.done) == (1, 0)
    assert second.refused == ((1, "it is done"),)


def test_a_record_that_is_lost_is_written_again() -> None:
    harness = steered("A; C")
    harness.take("C", 1)
    harness.tell(NodesSteered(1, C.HOLD, [1], "ann"))
    harness.tell(NodesSteered(2, C.CANCEL, [1], "ann"))
    harness.wait(61)
    (record,) = harness.asked(do.AppendJournalRecord)
    assert record.record == "STEERED"
    harness.read_back()
    assert harness.asked(do.RemoveJobs) or harness.ever(do.RemoveJobs)


def test_what_dagman_needs_is_not_steered() -> None:
    harness = steered("A\nFINAL F n.sub\nSERVICE S n.sub")
    assert harness.refusal(C.CANCEL, "F") == "it is the FINAL node"
    assert harness.refusal(C.SKIP, "S") == "it is a SERVICE node"


def test_a_dag_that_ends_obeys_no_more() -> None:
    harness = steered("A\nFINAL F n.sub")
    harness.run_node("A", 1)
    assert harness.refusal(C.RERUN, "A") == "the DAG is ending"


def test_a_command_of_a_later_version_is_passed_over() -> None:
    harness = steered("A")
    harness.tell(make.record("STEERED", "A")._replace(text="ann teleport"))
    assert harness.said("of a later version")


# What may be asked of a node in which state, and the text of a record.


S = State
BUSY = {S.PRE_RUN, S.PRE_UNCONFIRMED, S.SUBMITTING, S.UNKNOWN, S.SUBMIT_UNCONFIRMED, S.SUBMITTED}
BUSY |= {S.POST_WAIT, S.POST_RUN, S.POST_UNCONFIRMED, S.RESULT, S.GROWING}
WAITS = {S.WAITING, S.PRE_WAIT, S.READY, S.RETRY_WAIT}
ALLOWED = {
    (C.CANCEL, ""): BUSY | WAITS,
    (C.CANCEL, "retry"): {S.SUBMITTED},
    (C.HOLD, ""): {S.SUBMITTED},
    (C.RELEASE, ""): {S.SUBMITTED},
    (C.RERUN, ""): {S.DONE, S.FAILED},
    (C.DONE, ""): WAITS | {S.FAILED},
    (C.SKIP, ""): WAITS,
    (C.REMATCH, ""): set(State),  # its group's state counts
    (C.SET, '{"priority":1}'): WAITS | {S.DONE, S.FAILED, S.FUTILE},
}


def test_every_command_is_in_the_table() -> None:
    assert {command for command, _ in ALLOWED} == set(NodeCommand)


@pytest.mark.parametrize(("asked", "state"), list(itertools.product(ALLOWED, State)))
def test_commands_and_states(asked: tuple[NodeCommand, str], state: State) -> None:
    why = obstacle(asked[0], state, asked[1])
    assert bool(why) == (state not in ALLOWED[asked]), why
    assert (
        not why or shown(state) in why or "already" in why or "ancestor" in why or "it has" in why
    )


@pytest.mark.parametrize("words", [Words("ann", C.CANCEL, "retry begun"), Words("b@c", C.SKIP)])
def test_a_text_is_read_back(words: Words) -> None:
    assert read_text(record_text(words)) == words


@pytest.mark.parametrize("text", ["", "ann", "ann teleport", "cancel"])
def test_other_texts_are_not_known(text: str) -> None:
    assert read_text(text) is None


# Which nodes a person means.


@pytest.fixture
def nodes() -> Nodes:
    found = Nodes(make.dag("align_1 align_2; sum\nCATEGORY align_1 big"))
    found.move(2, Cause.MARKED_DONE, 0.0)
    return found


def test_by_each_kind(nodes: Nodes) -> None:
    assert chosen(nodes, "names", ("sum", "align_1", "sum"), nodes.dag.categories) == [2, 0]
    assert chosen(nodes, "pattern", "align_*", nodes.dag.categories) == [0, 1]
    assert chosen(nodes, "state", "done", nodes.dag.categories) == [2]
    assert chosen(nodes, "state", "failed", nodes.dag.categories) == []
    assert chosen(nodes, "category", "big", nodes.dag.categories) == [0]


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        ("names", ("aling_1",), "no node 'aling_1'; did you mean align_1"),
        ("names", ("x" * 100_000,), "; `add` adds what the DAG files have got since"),
        ("pattern", "b*", "no node's name matches 'b*'"),
        ("pattern", "?" * 100_000, "at most 1000 characters"),
        ("state", "dead", "no state 'dead'; the states are waiting"),
        ("category", "small", "no node has the category 'small'; those with nodes are big"),
    ],
)
def test_what_is_not_there(nodes: Nodes, kind: str, value: Any, words: str) -> None:
    with pytest.raises(SelectionError) as error:
        chosen(nodes, kind, value, nodes.dag.categories)
    assert words in str(error.value)


def test_a_misspelt_name_is_found_among_many() -> None:
    many = Nodes(make.dag("; ".join(f"step{number}" for number in range(300))))
    for name in ("stpe299", "step29g", "tep299", "step2999"):
        with pytest.raises(SelectionError, match="did you mean step29"):
            chosen(many, "names", (name,), {})


def test_what_this_python_takes_for_no_pattern(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python 3.9 makes this of [[-!], which newer ones match."""
    monkeypatch.setattr("fnmatch.translate", lambda _: r"[\[-!]")
    with pytest.raises(SelectionError, match="is no pattern: bad character range"):
        chosen(nodes, "pattern", "[[-!]", nodes.dag.categories)


def test_each_state_has_a_word() -> None:
    assert set(STATE_WORDS.values()) == set(NodeStatus)


# What a person sets for nodes that have not begun: in force at their next start.


SET = NodeCommand.SET


def text(**fields: Any) -> str:
    return json.dumps(fields)


def halted(of: str, **more: Any) -> Steered:
    harness = steered(of, **more)
    harness.tell(inputs.Halt())
    return harness


def test_variables_are_submitted_with_the_next_run() -> None:
    harness = halted("A; B")
    harness.take("A", 1)
    harness.ask(SET, "B", text(variables=[["x", "1"]]))
    harness.ask(SET, "B", text(variables=[["y", "2"]]))
    harness.tell(inputs.Resume())
    (action,) = harness.asked(do.SubmitNode)
    assert action.variables == (("x", "1"), ("y", "2"))


def test_retries_and_limits_in_time() -> None:
    harness = halted("""
        A -> B
        RETRY B 1 DELAY 5
        TIMEOUT B QUEUED 1 RUNNING 2 TOTAL 3
    """)
    harness.ask(SET, "B", text(retries=7, timeout=[None, 0, 60]))
    run = harness.engine.run
    assert run.retry(1) == Retry(7, delay=5)
    timeouts = run.features["timeout"]
    assert isinstance(timeouts, Timeouts)
    assert timeouts.of_node(1) == Timeout(1, 0, 60)
    assert run.retry(0) is None
    assert harness.replay().engine.run.retry(1) == Retry(7, delay=5)
    settings = [report.settings for report in harness.engine.node_reports()]
    assert [one and one.retries for one in settings] == [None, 7]


def test_a_node_leaves_a_full_category() -> None:
    harness = steered("""
        A; B; C
        CATEGORY A a
        CATEGORY B a
        CATEGORY C b
        MAXJOBS a 1
    """)
    assert harness.submits() == ["A"]
    harness.take("A", 1)
    harness.take("C", 3)
    assert harness.submits() == []
    harness.ask(SET, "B", text(category="b"))
    assert harness.submits() == ["B"]
    assert harness.engine.feature("steering").chosen("category", "b") == [1, 2]


def test_a_node_enters_a_full_category() -> None:
    harness = steered("A; B\nCATEGORY A a\nMAXJOBS a 1")
    harness.tell(inputs.Halt())
    harness.take("A", 1)
    harness.ask(SET, "B", text(category="a"))
    harness.tell(inputs.Resume())
    assert harness.submits() == []


def test_what_is_refused() -> None:
    harness = halted("A; B\nCATEGORY A a")
    assert "no category 'x'; the categories are a" in harness.refusal(SET, "B", text(category="x"))
    long = text(variables=[["x", "1" * MAX_BYTES]])
    assert "set fewer at once" in harness.refusal(SET, "B", long)


def test_a_setting_of_a_later_version_is_passed_over() -> None:
    harness = halted("A; B")
    harness.ask(SET, "B", text(retries=7))
    (record,) = harness.echo(harness.last)
    harness.tell(record._replace(text='ann set {"color":"red"}'))
    assert harness.said("is not known to this version")


# What a person sets for nodes: its text in the nodes log, and what is in force then.


_NUMBERS = some.none() | some.integers(0, 9)


@given(
    some.builds(
        NodeSettings,
        priority=some.none() | some.integers(-5, 5),
        retries=_NUMBERS,
        timeout=some.none() | some.tuples(_NUMBERS, _NUMBERS, _NUMBERS),
        category=some.none() | some.text(min_size=1),
        variables=some.lists(some.tuples(some.text(), some.text())).map(tuple),
    )
)
def test_it_is_read_back(settings: NodeSettings) -> None:
    text = settings_text(settings)
    assert text.isascii()
    assert text.isprintable()
    assert read_settings(text) == settings


@pytest.mark.parametrize("text", ["", "{", "[]", "7", '{"color":"red"}', '{"timeout":5}', "null"])
def test_what_a_later_version_says_is_not_read(text: str) -> None:
    assert read_settings(text) is None


def test_what_is_set_later_goes_before() -> None:
    first = NodeSettings(1, 2, (3, None, 5), "a", (("x", "1"), ("y", "2")))
    later = NodeSettings(retries=0, timeout=(None, 4, 0), variables=(("y", "3"), ("z", "4")))
    pairs = (("x", "1"), ("y", "3"), ("z", "4"))
    assert first.merged(later) == NodeSettings(1, 0, (3, 4, 0), "a", pairs)
    assert first.merged(NodeSettings()) == first


def test_what_is_in_force() -> None:
    settings = NodeSettings(retries=0, timeout=(None, 4, 0), category="b")
    assert retry_in_force(Retry(3, delay=7), settings) == Retry(0, delay=7)
    assert retry_in_force(None, NodeSettings()) is None
    assert timeout_in_force(Timeout(1, 2, 3), settings) == Timeout(1, 4, 0)
    assert timeout_in_force(Timeout(1), None) == Timeout(1)
    assert categories_in_force({0: "a", 1: "a"}, {1: settings}) == {0: "a", 1: "b"}
    variables = variables_in_force([Variable("k", "old", True)], [("k", "new"), ("l", "2")])
    assert variables == (Variable("k", "new", True), Variable("l", "2", False))


def test_values_of_vars_are_not_shown() -> None:
    settings = NodeSettings(5, 0, (60, None, None), "big", (("password", "secret"),))
    assert shown_settings(settings) == (
        "priority 5, retries 0, category big, timeout queued 60 s, VARS password"
    )


def test_bytes_of_the_log_are_counted_with_escapes() -> None:
    assert recorded_bytes("ä", 'x"\\') == 2 + 3 + 2


# Nodes that have ended run anew: what is taken back, and what is in the way.


def test_a_failed_node_runs_again_and_what_was_futile_waits() -> None:
    harness = steered("A -> B -> C; D")
    harness.take("D", 9)
    harness.run_node("A", 1, value=1)
    assert harness.states() == "A=FAILED B=FUTILE C=FUTILE D=SUBMITTED"
    assert harness.engine.report().dag_status is DagStatus.NODE_FAILED
    harness.ask(C.RERUN, "A")
    assert harness.submits() == ["A"]
    assert harness.engine.report().dag_status is DagStatus.OK
    assert harness.replayed() == "A=READY B=WAITING C=WAITING D=SUBMITTED"
    harness.run_node("A", 2)
    harness.run_node("B", 3)
    harness.run_node("C", 4)
    assert harness.states() == "A=DONE B=DONE C=DONE D=SUBMITTED"
    assert harness.replayed() == harness.states()
    harness.tell(make.terminated(9))
    assert harness.asked(do.Exit)[0].code == 0


def test_it_has_its_retries_once_more_and_another_number() -> None:
    harness = steered("A; D\nRETRY A 1")
    harness.take("D", 9)
    harness.run_node("A", 1, value=1)
    harness.run_node("A", 2, value=1)
    harness.ask(C.RERUN, "A")
    assert [action.retry for action in harness.asked(do.SubmitNode)] == [2]
    harness.run_node("A", 3, value=1)
    assert [action.retry for action in harness.asked(do.SubmitNode)] == [3]
    harness.run_node("A", 4, value=1)
    assert harness.state("A") is State.FAILED
    assert harness.replayed() == harness.states()


def test_what_another_failure_made_futile_stays_so() -> None:
    harness = steered("A -> C; B -> C -> E; A -> F; D")
    harness.take("D", 9)
    harness.run_node("A", 1, value=1)
    harness.run_node("B", 2, value=1)
    harness.ask(C.RERUN, "A")
    assert "C=FUTILE" in harness.states()
    assert "E=FUTILE" in harness.states()
    assert "F=WAITING" in harness.states()


def test_a_done_node_runs_again_before_its_children_have_begun() -> None:
    harness = steered("A -> C; B -> C")
    harness.take("B", 2)
    harness.run_node("A", 1)
    harness.ask(C.RERUN, "A")
    harness.tell(make.terminated(2))
    assert harness.states() == "A=SUBMITTING C=WAITING B=DONE"
    harness.run_node("A", 3)
    assert harness.submits() == ["C"]
    assert harness.replayed() == "A=DONE C=READY B=DONE"


def test_a_ready_child_waits_again() -> None:
    harness = steered("A -> C; B\nSCRIPT PRE C x")
    harness.take("B", 9)
    harness.tell(inputs.Halt())
    harness.run_node("A", 1)
    assert harness.state("C") is State.PRE_WAIT
    harness.ask(C.RERUN, "A")
    assert "C=WAITING" in harness.states()
    harness.tell(inputs.Resume())
    assert harness.submits() == ["A"]
    assert not harness.ever(do.RunScript)


def test_descendants_run_anew_as_well_or_the_node_does_not() -> None:
    rule = "descendants"
    harness = steered("A -> B C; B C -> D; E")
    harness.take("E", 9)
    for number, name in enumerate("ABCD", 1):
        harness.run_node(name, number, value=name == "D")
    why = harness.refusal(C.RERUN, "A")
    assert why == "its child B has started; it would have to run again too"
    wanted = NodesSteered(0, C.RERUN, [harness.dag.ids[name] for name in "AB"], "ann", rule)
    assert len(harness.engine.feature("steering").descending(wanted, [])) == 4
    answer = harness.ask(C.RERUN, "A", rule)
    assert (answer.done, answer.descendants) == (1, 3)
    assert harness.states() == "A=SUBMITTING B=WAITING C=WAITING D=WAITING E=SUBMITTED"
    assert "B=WAITING C=WAITING D=WAITING" in harness.replayed()
    for number, name in enumerate("ABCD", 11):
        harness.run_node(name, number)
    harness.tell(make.terminated(9))
    assert harness.asked(do.Exit)[0].code == 0


def test_a_descendant_that_runs_is_in_the_way() -> None:
    harness = steered("A -> B")
    harness.run_node("A", 1)
    harness.take("B", 2)
    why = harness.refusal(C.RERUN, "A", "descendants")
    assert why == "its descendant B has not ended: its jobs are in the queue"
    assert harness.refusal(C.RERUN, "B") == "it has not ended: its jobs are in the queue"


def test_the_nodes_of_a_cycle_do_not_run_anew_with_their_descendants() -> None:
    """They have never run: a person has marked them done."""
    harness = steered("A -> B -> C -> B; D")
    harness.take("D", 2)
    harness.run_node("A", 1)
    harness.ask(C.DONE, "B C")
    assert "would wait for itself" in harness.refusal(C.RERUN, "A", "descendants")


def test_weak_children_are_released_once() -> None:
    harness = steered("A ~> B; A -> C; D")
    harness.take("D", 2)
    harness.run_node("A", 1, value=1)
    assert "B=SUBMITTING" in harness.states()
    assert "its child B has started" in harness.refusal(C.RERUN, "A")
    harness.ask(C.DONE, "A")
    assert "C=READY" in harness.states() or "C=SUBMITTING" in harness.states()
    assert "A=DONE" in harness.replayed()


def test_the_final_node_does_not_begin_with_a_rerun() -> None:
    harness = steered("A -> B; C\nFINAL F n.sub")
    harness.take("C", 2)
    harness.run_node("A", 1, value=1)
    harness.ask(C.RERUN, "A")
    assert harness.submits() == ["A"]
    assert harness.state("F") is State.WAITING


def test_a_pre_script_of_a_child_runs_again() -> None:
    """It has seen what is to be made anew; its record is of another run then."""
    harness = steered("A -> C; B\nSCRIPT PRE C x")
    harness.take("B", 9)
    harness.run_node("A", 1)
    harness.tell(inputs.Halt())
    harness.pre_ends("C")
    assert harness.state("C") is State.READY
    harness.ask(C.RERUN, "A")
    harness.tell(inputs.Resume())
    harness.run_node("A", 2)
    assert [action.node for action in harness.asked(do.RunScript)] == [harness.dag.ids["C"]]
    harness.pre_ends("C")
    assert [action.retry for action in harness.asked(do.SubmitNode)] == [1]
    harness.replayed()


def test_a_child_that_waits_for_its_retry_waits_for_its_parent() -> None:
    harness = steered("A -> C; B\nRETRY C 3 DELAY 60")
    harness.take("B", 9)
    harness.run_node("A", 1)
    harness.run_node("C", 2, value=1)
    assert harness.state("C") is State.RETRY_WAIT
    harness.ask(C.RERUN, "A")
    assert harness.state("C") is State.WAITING
    harness.run_node("A", 3)
    assert harness.submits() == ["C"]


@pytest.mark.parametrize("names", ["A B", "B A"])
def test_a_node_and_what_depends_on_it_are_named_together(names: str) -> None:
    harness = steered("A -> B; D")
    harness.take("D", 9)
    harness.run_node("A", 1)
    harness.run_node("B", 2)
    answer = harness.ask(C.RERUN, names, "descendants")
    assert (answer.done, answer.refused) == (2, ())
    assert harness.replayed() == "A=READY B=WAITING D=SUBMITTED"


@pytest.mark.parametrize("end", ["", "the last has not ended"])
def test_of_many_nodes_each_is_looked_at_once(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chain of 2,000 would take seconds, in which nothing else is done."""
    length = 50
    harness = steered(" -> ".join(f"N{number}" for number in range(length)) + "; D")
    harness.take("D", 99)
    for number in range(length - 1):
        harness.run_node(f"N{number}", number + 1)
    if end:
        harness.take(f"N{length - 1}", length)
    else:
        harness.run_node(f"N{length - 1}", length)
    looks: list[int] = []
    released = rerun._released

    def counted(run: RunState, node: int) -> Iterable[int]:
        looks.append(node)
        return released(run, node)

    monkeypatch.setattr(rerun, "_released", counted)
    wanted = NodesSteered(0, C.RERUN, range(length - 1), "ann", "descendants")
    refused = harness.engine.feature("steering").refused(wanted)
    assert len(looks) <= 2 * length
    assert len(refused) == (length - 1 if end else 0)
    assert all(f"its descendant N{length - 1} has not ended" in why for _, why in refused)
