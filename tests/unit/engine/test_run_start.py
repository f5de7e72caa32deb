"""How a run begins: what is done, who starts first, and how a recovery becomes a run."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from tests import make


def test_first_lines() -> None:
    harness = make.harness_of("A B C\nDONE B")
    texts = [say.text for say in harness.asked(do.Say)]
    assert texts[:2] == ["Bootstrapping...", "Number of pre-completed nodes: 1"]
    assert not any("RECOVERY" in text for text in texts)


def test_lines_of_a_recovery() -> None:
    harness = make.EngineHarness("A").begin(recovering=True)
    assert harness.said("Running in RECOVERY mode... >>>>>>>>>>")
    assert not harness.asked(do.SayStatus)
    harness.tell(inputs.LogCaughtUp())
    assert [say.text for say in harness.asked(do.Say)] == [
        "    ------------------------------",
        "       HTCondor Recovery Complete",
        "    ------------------------------",
        "...done with RECOVERY mode <<<<<<<<<<<<<<<<<<<<<<<<<<<<<<",
    ]
    assert harness.asked(do.SayStatus)


def test_lines_of_a_recovery_with_jobs_in_the_queue() -> None:
    harness = make.harness_of("A B")
    harness.take("A", 1)
    other = harness.replay()
    other.tell(inputs.LogCaughtUp())
    assert other.said("1 nodes claim to have jobs submitted to queue. Verifying...")
    assert other.said("Querying local schedd for associated jobs in queue")
    assert not other.said("All pending job states validated")
    other.tell(inputs.QueueListed(other.queue()))
    assert other.said("All pending job states validated")


def test_lines_of_a_recovery_if_the_schedd_misses_a_job() -> None:
    harness = make.harness_of("A B")
    harness.take("A", 1)
    other = harness.replay()
    other.tell(inputs.LogCaughtUp(), inputs.QueueListed(()))
    assert not other.said("All pending job states validated")


def test_services_start_before_the_roots_in_the_order_of_the_dag() -> None:
    harness = make.harness_of("A\nSERVICE T n.sub\nSERVICE S n.sub\nSCRIPT PRE S p")
    starts = [say.text for say in harness.asked(do.Say) if "service node" in say.text]
    assert starts == ["Starting service node T...", "Starting service node S..."]
    assert harness.submits() == ["T"]
    harness.take("T", 1)
    assert harness.submits() == ["A"]


def test_done_nodes_in_every_place() -> None:
    harness = make.harness_of("""
        A -> B C -> D; E
        DONE A
        DONE B
        DONE C
    """)
    assert harness.states() == "A=DONE B=DONE C=DONE D=SUBMITTING E=READY"
    assert not harness.said("Warning")


def test_a_done_node_does_not_start_a_child_with_other_parents() -> None:
    harness = make.harness_of("A B -> C\nDONE A")
    assert harness.states() == "A=DONE B=SUBMITTING C=WAITING"


def test_a_done_node_below_a_failure_stays_done() -> None:
    harness = make.harness_of("A -> B -> C\nDONE B")
    harness.take("A", 1)
    harness.tell(make.terminated(1, value=1))
    assert harness.state("B").name == "DONE"
    assert harness.state("C").name == "SUBMITTING"  # its only parent is done


def test_all_done_with_a_final_node() -> None:
    harness = make.harness_of("""
        A -> B
        FINAL F n.sub
        DONE A
        DONE B
    """)
    assert not harness.ever(do.Exit)
    harness.read_back()
    assert harness.submits() == ["F"]


def test_all_done_with_a_provisioner() -> None:
    harness = make.harness_of("A\nPROVISIONER P n.sub\nDONE A")
    assert harness.submits() == ["P"]
    assert not harness.ever(do.Exit)


def test_a_recovery_starts_nothing_before_log_and_schedd_have_spoken() -> None:
    harness = make.EngineHarness("""
        A; B
        JOB A n.sub NOOP
        SERVICE S n.sub
        SCRIPT PRE B p
        SAVE_POINT_FILE A a
    """).begin(recovering=True)
    starters = (do.SubmitNode, do.RunScript, do.AppendNoop, do.WriteSavePoint, do.Publish)
    assert not [action for action in harness.all if isinstance(action, starters)]
    assert harness.engine.next_deadline() is None
    assert harness.engine.report().in_recovery
    harness.tell(inputs.LogCaughtUp())
    assert harness.asked(do.QueryQueue)
    assert not harness.engine.report().in_recovery
    assert not [a for a in harness.all if isinstance(a, starters[:-1])]
    harness.tell(inputs.QueueListed([]))
    assert harness.engine.run.phase is Phase.RUNNING
    assert harness.submits() == ["S"]


def test_a_second_word_that_the_log_is_read_changes_nothing() -> None:
    harness = make.EngineHarness("A").begin(recovering=True)
    harness.tell(inputs.LogCaughtUp())
    assert not harness.tell(inputs.LogCaughtUp())
    harness.tell(inputs.QueueListed([]))
    assert not harness.tell(inputs.LogCaughtUp())
    harness = make.harness_of("A")
    assert not harness.tell(inputs.LogCaughtUp())
    assert harness.engine.run.phase is Phase.RUNNING


def test_a_schedd_that_does_not_answer_is_asked_ever_more_patiently() -> None:
    harness = make.EngineHarness("A").begin(recovering=True)
    harness.tell(inputs.LogCaughtUp())
    waits = []
    for _ in range(8):
        harness.tell(inputs.QueueUnknown("no answer"))
        deadline = harness.engine.next_deadline()
        assert deadline is not None
        waits.append(deadline - harness.now)
        harness.wait(deadline - harness.now)
        assert harness.asked(do.QueryQueue)
        assert not harness.ever(do.SubmitNode)
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


def test_while_the_schedd_is_being_asked_no_deadline_passes() -> None:
    """An answer that takes long must not make DAGMan spin."""
    harness = make.harness_of("A", Config(check_queue_interval=10, pending_report_interval=0))
    harness.tell(inputs.SubmitFailed(0, "timeout", permanent=False, unknown=True))
    harness.wait(1.0)
    assert harness.asked(do.QueryQueue)
    harness.take("A", 5)  # the log knows better
    harness.wait(100.0)
    assert not harness.asked(do.QueryQueue)
    assert harness.engine.next_deadline() is None
    harness.tell(inputs.QueueListed(harness.queue()))
    assert harness.engine.next_deadline() == harness.now + 10


@pytest.mark.parametrize("told", [inputs.DagRemoved(), inputs.Shutdown("Got SIGTERM.")])
def test_signals_in_recovery(told: inputs.Input) -> None:
    harness = make.EngineHarness("A").begin(recovering=True)
    harness.tell(make.submit("A", 5))
    harness.tell(told)
    if isinstance(told, inputs.Shutdown):
        assert harness.asked(do.Exit) == [do.Exit(3, keep_lock=True)]
        return
    assert not harness.ever(do.Exit)  # the rescue file needs the whole log
    harness.tell(make.terminated(5))
    harness.tell(inputs.LogCaughtUp())
    assert harness.ever(do.Exit)[0].code in (0, 2)


def test_everything_done_in_the_old_log() -> None:
    harness = make.EngineHarness("A -> B").begin(recovering=True)
    harness.tell(make.submit("A", 1), make.terminated(1), make.submit("B", 2), make.terminated(2))
    assert not harness.ever(do.Exit)
    harness.tell(inputs.LogCaughtUp(), inputs.QueueListed([]))
    assert harness.ever(do.Exit) == [do.Exit(0)]


def test_a_replay_of_a_replay() -> None:
    """A restart, a little progress, another restart."""
    made = make.dag("A -> B -> C\nSERVICE S n.sub\nSCRIPT PRE B p")
    harness = make.EngineHarness(made).begin()
    harness.take("S", 9)
    harness.run_node("A", 1)
    other = harness.restart()
    assert other.asked(do.RunScript)
    other.pre_ends("B")
    third = make.EngineHarness(made).begin(recovering=True)
    third.tell(*other.log, inputs.LogCaughtUp())
    third.tell(inputs.QueueListed(third.queue()))
    assert third.submits() == ["B"]
    third.run_node("B", 2)
    third.run_node("C", 3)
    assert third.ever(do.Exit) == [do.Exit(0)]
