"""How a run begins: what is done, who starts first, and how a recovery becomes a run."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.vocabulary import NodeKind
from tests import make


def test_first_words() -> None:
    bench = make.Bench(make.dag("A B C", done="B")).begin()
    texts = [say.text for say in bench.asked(do.Say)]
    assert texts[:2] == ["Bootstrapping...", "Number of pre-completed nodes: 1"]
    assert not any("RECOVERY" in text for text in texts)


def test_words_of_a_recovery() -> None:
    bench = make.Bench("A").begin(recovering=True)
    assert bench.said("Running in RECOVERY mode... >>>>>>>>>>")
    bench.tell(inputs.LogCaughtUp())
    assert bench.said("...done with RECOVERY mode <<<<<<<<<<")


def test_services_start_before_the_roots_in_the_order_of_the_dag() -> None:
    kinds = {"S": NodeKind.SERVICE, "T": NodeKind.SERVICE}
    bench = make.Bench(make.dag("A; T; S", kinds=kinds, pre={"S": "p"})).begin()
    starts = [say.text for say in bench.asked(do.Say) if "service node" in say.text]
    assert starts == ["Starting service node T...", "Starting service node S..."]
    assert bench.submits() == ["T"]
    bench.take("T", 1)
    assert bench.submits() == ["A"]


def test_done_nodes_in_every_place() -> None:
    bench = make.Bench(make.dag("A -> B C -> D; E", done="A B C")).begin()
    assert bench.states() == "A=DONE B=DONE C=DONE D=SUBMITTING E=READY"
    assert not bench.said("Warning")


def test_a_done_node_does_not_start_a_child_with_other_parents() -> None:
    bench = make.Bench(make.dag("A B -> C", done="A")).begin()
    assert bench.states() == "A=DONE B=SUBMITTING C=WAITING"


def test_a_done_node_below_a_failure_stays_done() -> None:
    bench = make.Bench(make.dag("A -> B -> C", done="B")).begin()
    bench.take("A", 1)
    bench.tell(make.terminated(1, value=1))
    assert bench.state("B").name == "DONE"
    assert bench.state("C").name == "SUBMITTING"  # its only parent is done


def test_all_done_with_a_final_node() -> None:
    made = make.dag("A -> B; F", done="A B", kinds={"F": NodeKind.FINAL})
    bench = make.Bench(made).begin()
    assert not bench.ever(do.Exit)
    bench.read_back()
    assert bench.submits() == ["F"]


def test_all_done_with_a_provisioner() -> None:
    made = make.dag("A; P", done="A", kinds={"P": NodeKind.PROVISIONER})
    bench = make.Bench(made).begin()
    assert bench.submits() == ["P"]
    assert not bench.ever(do.Exit)


def test_a_recovery_starts_nothing_before_log_and_schedd_have_spoken() -> None:
    kinds = {"S": NodeKind.SERVICE}
    made = make.dag("A; B; S", kinds=kinds, pre={"B": "p"}, saves={"A": "a"}, noop="A")
    bench = make.Bench(made).begin(recovering=True)
    starters = (do.SubmitNode, do.RunScript, do.AppendNoop, do.WriteSavePoint, do.Publish)
    assert not [action for action in bench.all if isinstance(action, starters)]
    assert bench.engine.next_deadline() is None
    assert bench.engine.report().in_recovery
    bench.tell(inputs.LogCaughtUp())
    assert bench.asked(do.QueryQueue)
    assert not bench.engine.report().in_recovery
    assert not [a for a in bench.all if isinstance(a, starters[:-1])]
    bench.tell(inputs.QueueListed([]))
    assert bench.engine.phase is Phase.RUNNING
    assert bench.submits() == ["S"]


def test_a_second_word_that_the_log_is_read_changes_nothing() -> None:
    bench = make.Bench("A").begin(recovering=True)
    bench.tell(inputs.LogCaughtUp())
    assert not bench.tell(inputs.LogCaughtUp())
    bench.tell(inputs.QueueListed([]))
    assert not bench.tell(inputs.LogCaughtUp())
    bench = make.Bench("A").begin()
    assert not bench.tell(inputs.LogCaughtUp())
    assert bench.engine.phase is Phase.RUNNING


def test_a_schedd_that_does_not_answer_is_asked_ever_more_patiently() -> None:
    bench = make.Bench("A").begin(recovering=True)
    bench.tell(inputs.LogCaughtUp())
    waits = []
    for _ in range(8):
        bench.tell(inputs.QueueUnknown("no answer"))
        deadline = bench.engine.next_deadline()
        assert deadline is not None
        waits.append(deadline - bench.now)
        bench.wait(deadline - bench.now)
        assert bench.asked(do.QueryQueue)
        assert not bench.ever(do.SubmitNode)
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60]


def test_while_the_schedd_is_being_asked_no_deadline_passes() -> None:
    """An answer that takes long must not make DAGMan spin."""
    bench = make.Bench("A", Config(check_queue_interval=10, pending_report_interval=0)).begin()
    bench.tell(inputs.SubmitFailed(0, "timeout", permanent=False, unknown=True))
    bench.wait(1.0)
    assert bench.asked(do.QueryQueue)
    bench.take("A", 5)  # the log knows better
    bench.wait(100.0)
    assert not bench.asked(do.QueryQueue)
    assert bench.engine.next_deadline() is None
    bench.tell(inputs.QueueListed(bench.queue()))
    assert bench.engine.next_deadline() == bench.now + 10


@pytest.mark.parametrize("told", [inputs.Stop(), inputs.Leave("Received SIGTERM")])
def test_signals_in_recovery(told: inputs.Input) -> None:
    bench = make.Bench("A").begin(recovering=True)
    bench.tell(make.submit("A", 5))
    bench.tell(told)
    if isinstance(told, inputs.Leave):
        assert bench.asked(do.Exit) == [do.Exit(3, keep_lock=True)]
        return
    assert not bench.ever(do.Exit)  # the rescue file needs the whole log
    bench.tell(make.terminated(5))
    bench.tell(inputs.LogCaughtUp())
    assert bench.ever(do.Exit)[0].code in (0, 2)


def test_everything_done_in_the_old_log() -> None:
    bench = make.Bench("A -> B").begin(recovering=True)
    bench.tell(make.submit("A", 1), make.terminated(1), make.submit("B", 2), make.terminated(2))
    assert not bench.ever(do.Exit)
    bench.tell(inputs.LogCaughtUp(), inputs.QueueListed([]))
    assert bench.ever(do.Exit) == [do.Exit(0)]


def test_a_replay_of_a_replay() -> None:
    """A restart, a little progress, another restart."""
    made = make.dag("A -> B -> C; S", kinds={"S": NodeKind.SERVICE}, pre={"B": "p"})
    bench = make.Bench(made).begin()
    bench.take("S", 9)
    bench.run_node("A", 1)
    other = bench.restart()
    assert other.asked(do.RunScript)
    other.pre_ends("B")
    third = make.Bench(made).begin(recovering=True)
    third.tell(*other.log, inputs.LogCaughtUp())
    third.tell(inputs.QueueListed(third.queue()))
    assert third.submits() == ["B"]
    third.run_node("B", 2)
    third.run_node("C", 3)
    assert third.ever(do.Exit) == [do.Exit(0)]
