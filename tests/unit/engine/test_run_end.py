"""How runs end: exit codes, and what happens in which order."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from condor_pydagman import engine
from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.timers import DRAINED_GRACE_S
from condor_pydagman.vocabulary import DagStatus
from tests import make

CLOSING = (do.WriteRescue, do.RemoveJobs, do.KillScripts, do.Publish, do.Exit)


def order(harness: make.EngineHarness) -> list[str]:
    """The closing actions of the last input, in order."""
    return [type(action).__name__ for action in harness.last if isinstance(action, CLOSING)]


FULL = ["WriteRescue", "RemoveJobs", "KillScripts", "Publish", "Exit"]


def test_a_dag_whose_nodes_are_all_done_exits_with_0() -> None:
    harness = make.harness_of("A -> B")
    harness.run_node("A", 1)
    harness.run_node("B", 2)
    assert order(harness) == ["Publish", "Exit"]
    assert harness.asked(do.Exit) == [do.Exit(0)]
    assert harness.asked(do.Publish) == [do.Publish(final=True, outcome="success")]
    assert harness.engine.run.status is DagStatus.OK
    assert harness.said("All jobs Completed!")


def test_a_failed_node_ends_the_dag_when_nothing_can_go_on() -> None:
    harness = make.harness_of("A -> B; C")
    harness.take("A", 1)
    harness.take("C", 2)
    harness.tell(make.terminated(1, value=1))
    assert not harness.asked(do.Exit)
    harness.tell(make.terminated(2))
    assert order(harness) == FULL
    assert harness.asked(do.Exit) == [do.Exit(1)]
    assert harness.engine.run.status is DagStatus.NODE_FAILED
    assert do.SayFailed() in harness.last


@pytest.mark.parametrize(
    ("abort", "value", "code"),
    [("3", 3, 3), ("3 RETURN 9", 3, 9), ("-9", -9, 247), ("0 RETURN 4", 0, 4)],
)
def test_abort_dag_on(abort: str, value: int, code: int) -> None:
    harness = make.harness_of(f"A B\nABORT-DAG-ON A {abort}\nRETRY A 2")
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(make.terminated(1, value=value))
    assert order(harness) == FULL
    assert harness.asked(do.Exit) == [do.Exit(code)]
    assert harness.asked(do.RemoveJobs)[0].cluster == 0
    assert harness.engine.run.status is DagStatus.ABORT
    assert not harness.submits()


def test_abort_with_return_0_is_a_success_without_rescue_file() -> None:
    harness = make.harness_of("A B\nABORT-DAG-ON A 3 RETURN 0")
    harness.take("A", 1)
    harness.tell(make.terminated(1, value=3))
    assert order(harness) == FULL[1:]
    assert harness.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize(("nodes", "outcome"), [("A -> B", "success"), ("A B", "aborted")])
def test_an_abort_with_return_0_is_called_a_success_if_no_node_was_left(
    nodes: str, outcome: str
) -> None:
    harness = make.harness_of(f"{nodes}\nABORT-DAG-ON A 3 RETURN 0")
    harness.take("A", 1)
    harness.tell(make.terminated(1, value=3))
    assert harness.asked(do.Publish)[-1] == do.Publish(final=True, outcome=outcome)


def test_abort_dag_on_looks_at_the_post_script_where_there_is_one() -> None:
    harness = make.harness_of("A B\nSCRIPT POST A q\nABORT-DAG-ON A 3")
    harness.run_node("A", 1, 3)
    assert not harness.asked(do.Exit)
    harness.post_ends("A", 3)
    assert harness.asked(do.Exit) == [do.Exit(3)]


def test_abort_dag_on_looks_at_the_pre_script() -> None:
    harness = make.harness_of("A B\nSCRIPT PRE A p\nABORT-DAG-ON A 3")
    harness.pre_ends("A", 3)
    assert harness.asked(do.Exit) == [do.Exit(3)]


def test_condor_rm() -> None:
    harness = make.harness_of("A B")
    harness.take("A", 1)
    harness.tell(inputs.DagRemoved())
    assert order(harness) == FULL
    assert harness.asked(do.Exit) == [do.Exit(2)]
    assert harness.engine.run.status is DagStatus.RM


def test_condor_rm_may_leave_the_jobs() -> None:
    harness = make.harness_of("A", Config(remove_node_jobs=False))
    harness.tell(inputs.DagRemoved())
    assert order(harness) == ["WriteRescue", "KillScripts", "Publish", "Exit"]


def test_no_rescue_file_where_none_is_allowed() -> None:
    harness = make.harness_of("A", Config(max_rescue_num=0))
    harness.tell(inputs.DagRemoved())
    assert order(harness) == FULL[1:]


def test_condor_hold_leaves_everything_as_it_is() -> None:
    harness = make.harness_of("A B")
    harness.take("A", 1)
    harness.tell(inputs.Shutdown("Got SIGTERM."))
    assert order(harness) == ["Publish", "Exit"]
    assert harness.asked(do.Exit) == [do.Exit(3, keep_lock=True)]
    assert harness.asked(do.Publish) == [do.Publish(final=True, outcome="held")]
    assert harness.engine.run.phase is Phase.ENDED


def test_a_cycle_is_told_when_nothing_can_go_on() -> None:
    harness = make.harness_of("A -> B -> C -> B")
    harness.run_node("A", 1)
    assert harness.asked(do.Exit) == [do.Exit(1)]
    assert order(harness) == FULL
    assert harness.engine.run.status is DagStatus.CYCLE
    assert do.SayFailed(unfinished=True) in harness.last
    assert harness.said("a cycle exists in the dag")


def test_a_dag_that_is_all_cycle_ends_at_once() -> None:
    harness = make.harness_of("A -> B -> A")
    assert harness.asked(do.Exit) == [do.Exit(1)]


@pytest.mark.parametrize(
    "made", [make.dag("A B\nDONE A\nDONE B"), make.dag("A -> B\nDONE A\nDONE B")]
)
def test_an_empty_dag_ends_at_once(made: object) -> None:
    harness = make.EngineHarness(made).begin()  # type: ignore[arg-type]
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_a_log_that_can_not_be_followed() -> None:
    harness = make.harness_of("A")
    harness.take("A", 1)
    harness.tell(inputs.LogBroken("it is gone"))
    assert order(harness) == FULL
    assert harness.asked(do.Exit) == [do.Exit(2)]
    assert harness.engine.run.status is DagStatus.ERROR


def test_a_log_that_breaks_in_recovery() -> None:
    harness = make.EngineHarness("A").begin(recovering=True)
    harness.tell(inputs.LogBroken("it is gone"))
    assert harness.asked(do.Exit) == [do.Exit(2)]


def test_a_log_that_can_not_be_written() -> None:
    harness = make.harness_of("A\nSCRIPT PRE A p")
    harness.tell(inputs.AppendFailed("disk full"))
    assert order(harness) == FULL
    assert harness.asked(do.Exit) == [do.Exit(1)]
    assert harness.said("can't write to the nodes log: disk full")


@pytest.mark.parametrize("removes", [True, False])
def test_lines_about_what_is_removed(removes: bool) -> None:
    harness = make.harness_of("A B\nSCRIPT PRE B p", Config(remove_node_jobs=removes))
    harness.take("A", 1)
    harness.tell(inputs.DagRemoved())
    harness.tell(inputs.RescueWritten())
    said = [line for line in harness.ever(do.Say) if line.text.startswith("Removing")]
    jobs = ["Removing any/all submitted HTCondor jobs..."] * removes
    assert [line.text for line in said] == [
        "Removing submitted jobs...",
        *jobs,
        "Removing running scripts...",
    ]
    assert {line.level for line in said} == {2}


def test_the_first_abort_wins() -> None:
    harness = make.EngineHarness("A B\nABORT-DAG-ON A 3\nABORT-DAG-ON B 4").begin(recovering=True)
    harness.tell(make.submit("A", 1), make.submit("B", 2))
    harness.tell(make.terminated(1, value=3), make.terminated(2, value=4), inputs.LogCaughtUp())
    assert harness.asked(do.Exit) == [do.Exit(3)]


def test_an_abort_in_an_old_log_takes_effect_when_all_of_it_is_read() -> None:
    harness = make.EngineHarness("A B\nABORT-DAG-ON A 3").begin(recovering=True)
    harness.tell(make.submit("A", 1), make.submit("B", 2), make.terminated(1, value=3))
    assert order(harness) == []
    harness.tell(make.terminated(2))
    assert order(harness) == []
    harness.tell(inputs.LogCaughtUp())
    assert order(harness) == FULL
    assert harness.states() == "A=FAILED B=DONE"


# A rescue file that can't be written.


@pytest.mark.parametrize("how", ["failure", "abort", "rm", "halt", "log broken"])
def test_a_rescue_file_that_can_not_be_written_leaves_everything(how: str) -> None:
    harness = make.harness_of("A -> B; C\nSCRIPT PRE C p\nABORT-DAG-ON A 7")
    harness.rescue_error = "can't write t.dag.rescue001: No space left on device"
    harness.take("A", 1)
    if how == "failure":
        harness.pre_ends("C", 1)
        harness.tell(make.terminated(1, value=1))
    elif how == "abort":
        harness.tell(make.terminated(1, value=7))
    elif how == "rm":
        harness.tell(inputs.DagRemoved())
    elif how == "halt":
        harness.tell(inputs.Halt())
        harness.pre_ends("C")
        harness.tell(make.terminated(1))
        harness.wait(DRAINED_GRACE_S)
    else:
        harness.tell(inputs.LogBroken("it is gone"))
    assert harness.said(
        "ERROR: can't write t.dag.rescue001: No space left on device. DAGMan leaves"
    )
    assert harness.ever(do.Exit) == [do.Exit(3, keep_lock=True)]
    assert not harness.ever(do.RemoveJobs)
    assert order(harness)[-2:] == ["Publish", "Exit"]
    assert harness.engine.run.phase is Phase.ENDED
    assert not harness.tell(make.terminated(1))


def test_a_restart_ends_the_run_as_it_was_to_end() -> None:
    harness = make.harness_of("A; C\nABORT-DAG-ON A 7")
    harness.rescue_error = "disk full"
    harness.take("A", 1)
    harness.take("C", 2)
    harness.tell(make.terminated(1, value=7))
    other = harness.restart()
    assert order(other) == FULL
    assert other.ever(do.Exit) == [do.Exit(7)]


def test_a_rescue_answer_that_was_not_asked_for_is_ignored() -> None:
    harness = make.harness_of("A")
    assert not harness.tell(inputs.RescueWritten("disk full"))


def test_inputs_between_rescue_file_and_its_answer_start_nothing() -> None:
    harness = make.harness_of("A; B; C -> D\nABORT-DAG-ON A 7")
    for cluster, name in enumerate("ABC", 1):
        harness.take(name, cluster)
    engine = harness.engine
    assert do.WriteRescue() in engine.handle(make.terminated(1, value=7), harness.now)
    for told in (make.terminated(3), inputs.Wake(), inputs.Resume(), inputs.LogCaughtUp()):
        actions = engine.handle(told, harness.now + 1000)
        assert not [a for a in actions if not isinstance(a, do.Say)], told
    last = engine.handle(inputs.RescueWritten(), harness.now)
    assert do.Exit(7) in last


@pytest.mark.parametrize("submitted", [False, True])
def test_condor_rm_while_the_schedd_is_asked_after_a_restart_with_final_begun(
    submitted: bool,
) -> None:
    harness = make.harness_of("A\nFINAL F n.sub")
    harness.run_node("A", 1)
    harness.read_back()
    if submitted:
        harness.take("F", 2)
    other = harness.replay()
    other.tell(inputs.LogCaughtUp(), inputs.QueueUnknown("down"))
    other.tell(inputs.DagRemoved())
    assert order(other) == FULL
    assert other.ever(do.Exit) == [do.Exit(2)]
    assert not other.ever(do.SubmitNode)
    assert not other.wait(5.0)


def test_condor_rm_while_the_schedd_is_asked_lets_final_run_if_it_has_not_begun() -> None:
    harness = make.harness_of("A\nFINAL F n.sub")
    harness.take("A", 1)
    other = harness.replay()
    other.tell(inputs.LogCaughtUp(), inputs.QueueUnknown("down"), inputs.DagRemoved())
    other.tell(inputs.QueueListed(other.queue()))
    assert other.asked(do.RemoveJobs)
    other.read_back()
    assert other.submits() == ["F"]


# Who decides which of several endings counts.


def test_a_broken_log_ends_a_run_that_waits_to_end_otherwise() -> None:
    harness = make.EngineHarness("A B\nFINAL F n.sub\nABORT-DAG-ON A 3").begin(recovering=True)
    harness.tell(make.submit("A", 1), make.submit("B", 2), make.terminated(1, value=3))
    harness.tell(inputs.LogCaughtUp())
    assert not harness.ever(do.Exit)  # the FINAL node must know what the schedd has
    harness.tell(inputs.LogBroken("it is gone"))
    assert harness.asked(do.Exit) == [do.Exit(2)]
    assert not harness.ever(do.SubmitNode)


def test_a_bad_log_is_not_put_off_by_an_abort_that_came_before() -> None:
    harness = make.EngineHarness("A -> B\nFINAL F n.sub\nABORT-DAG-ON A 3")
    harness.begin(recovering=True)
    harness.tell(make.submit("A", 1), make.submit("B", 2), make.terminated(1, value=3))
    harness.tell(inputs.LogCaughtUp())
    assert harness.ever(do.Exit) == [do.Exit(1, keep_lock=True, concluded=False)]
    assert not harness.ever(do.WriteRescue)
    assert harness.state("F").name == "WAITING"


def test_only_request_end_sets_how_the_run_is_to_end() -> None:
    """Whoever wants an end says so to `run_end.request_end`; only the end itself sets it aside."""
    writers = set()
    for path in Path(engine.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and _sets_ending(node):
                writers.add(f"{path.stem}.{node.name}")
    assert writers == {
        "run_end.request_end",
        "run_end.end",
        "run_end.on_final_started",
        "run_records.__init__",
    }


def _sets_ending(function: ast.FunctionDef) -> bool:
    names = (part for part in ast.walk(function) if isinstance(part, ast.Attribute))
    return any(name.attr == "wanted" and isinstance(name.ctx, ast.Store) for name in names)
