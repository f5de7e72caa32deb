"""The PROVISIONER node: nothing else starts before it says so."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import ProvisionerSays
from condor_pydagman.graph.model import Dag, Timeout
from condor_pydagman.vocabulary import EventKind, NodeKind, Note, ScriptKind
from tests import make

KINDS = {"P": NodeKind.PROVISIONER, "S": NodeKind.SERVICE, "F": NodeKind.FINAL}
P = 5  # cluster of its job
SLOW = Config(check_queue_interval=0, pending_report_interval=0)


def dag(text: str = "A -> B; P", **more: object) -> Dag:
    names = text.replace(";", " ").split()
    kinds = {name: kind for name, kind in KINDS.items() if name in names}
    return make.dag(text, kinds=kinds, **more)  # type: ignore[arg-type]


def asked(text: str = "A -> B; P", **more: object) -> make.Bench:
    """Its job is in the queue and is asked for."""
    bench = make.Bench(dag(text, **more), SLOW).begin()
    bench.take("P", P)
    return bench


def go(bench: make.Bench) -> make.Bench:
    """It gives the go-ahead."""
    bench.tell(ProvisionerSays(2))
    bench.read_back()
    return bench


def test_it_starts_alone_and_the_others_when_it_says_so() -> None:
    bench = make.Bench(dag()).begin()
    assert bench.said("Starting provisioner node...")
    assert bench.submits() == ["P"]
    assert not bench.asked(do.AskProvisioner)
    bench.take("P", P)
    assert bench.asked(do.AskProvisioner) == [do.AskProvisioner(P)]
    bench.tell(ProvisionerSays(2))
    assert bench.asked(do.AppendNote) == [do.AppendNote(Note.PROVISIONED, 2, 0, 2)]
    assert not bench.submits()
    bench.read_back()
    assert bench.submits() == ["A"]


@pytest.mark.parametrize("state", [None, 0, 1, 3, 4])
def test_any_other_state_is_no_go_ahead(state: int | None) -> None:
    bench = asked()
    bench.tell(ProvisionerSays(state))
    assert bench.said(f"Provisioner job state: <{-1 if state is None else state}>")
    assert not bench.asked(do.AppendNote)
    assert not bench.submits()


def test_it_is_asked_at_a_bounded_pace_until_it_has_said_so() -> None:
    bench = asked()
    step = bench.engine.config.user_log_scan_interval
    assert not bench.wait(0.1)
    for _ in range(3):
        assert bench.engine.next_deadline() is not None
        bench.now = bench.engine.next_deadline() or 0.0
        assert bench.wait(0.0) == [do.AskProvisioner(P)]
        assert bench.engine.next_deadline() == bench.now + step
        bench.tell(ProvisionerSays(None))
    go(bench)
    bench.wait(step)
    assert not bench.asked(do.AskProvisioner)
    assert bench.engine.next_deadline() is None


def test_a_second_answer_while_the_note_is_on_its_way() -> None:
    bench = asked()
    first = bench.tell(ProvisionerSays(2))
    assert not bench.tell(ProvisionerSays(2))
    bench.tell(*bench.echo(first))
    bench.tell(ProvisionerSays(2))
    assert len(bench.ever(do.AppendNote)) == 1
    assert len(bench.ever(do.SubmitNode)) == 2


def test_an_answer_before_its_job_is_in_the_queue() -> None:
    bench = make.Bench(dag()).begin()
    bench.tell(ProvisionerSays(2))
    assert not bench.asked(do.AppendNote)


def test_nothing_of_the_others_starts_before_not_even_pre_scripts() -> None:
    bench = make.Bench(dag("A B; S; P", pre={"A": "p", "S": "s", "P": "q"})).begin()
    started = [bench.dag.names[run.node] for run in bench.asked(do.RunScript)]
    assert started == ["S", "P"]
    assert bench.said("Starting service node S...")
    bench.pre_ends("S")
    assert bench.submits() == ["S"]
    bench.take("S", 6)
    bench.pre_ends("P")
    bench.take("P", P)
    assert bench.states() == "A=WAITING B=WAITING S=SUBMITTED P=SUBMITTED"
    go(bench)
    assert bench.states() == "A=PRE_RUN B=SUBMITTING S=SUBMITTED P=SUBMITTED"


def test_the_dag_waits_for_its_end() -> None:
    bench = go(asked("A; P"))
    bench.run_node("A", 7)
    assert not bench.ever(do.Exit)
    assert not bench.ever(do.RemoveJobs)
    bench.tell(make.terminated(P))
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_final_waits_for_its_end() -> None:
    bench = go(asked("A; P; F"))
    bench.run_node("A", 7)
    assert not bench.asked(do.AppendNote)
    bench.tell(make.terminated(P))
    assert [note.note for note in bench.asked(do.AppendNote)] == [Note.FINAL_STARTED]


def test_it_fails_after_the_go_ahead() -> None:
    bench = go(asked())
    bench.tell(make.terminated(P, value=3))
    assert not bench.ever(do.Exit)
    bench.run_node("A", 7)
    bench.run_node("B", 8)
    assert bench.states() == "A=DONE B=DONE P=FAILED"
    assert bench.asked(do.Exit) == [do.Exit(1)]


@pytest.mark.parametrize("value", [0, 3])
def test_it_ends_before_the_go_ahead(value: int) -> None:
    bench = asked()
    bench.tell(make.terminated(P, value=value))
    assert bench.said("Provisioner node P job exited before giving DAGMan the go ahead!")
    assert bench.asked(do.Exit) == [do.Exit(1)]
    assert bench.asked(do.WriteRescue)
    assert len(bench.ever(do.SubmitNode)) == 1


def test_a_noop_gives_no_go_ahead() -> None:
    bench = make.Bench(dag(noop="P")).begin()
    bench.read_back()
    assert bench.asked(do.Exit) == [do.Exit(1)]


@pytest.mark.parametrize("how", ["pre", "submit"])
def test_it_can_not_start(how: str) -> None:
    bench = make.Bench(dag("A; P", pre={"P": "p"} if how == "pre" else {})).begin()
    if how == "pre":
        bench.pre_ends("P", 1)
    else:
        bench.tell(inputs.SubmitFailed(1, "no such file", permanent=True))
        bench.read_back()
    assert bench.states() == "A=WAITING P=FAILED"
    assert bench.ever(do.Exit) == [do.Exit(1)]
    assert bench.ever(do.WriteRescue)
    assert not bench.said("exited before giving")


@pytest.mark.parametrize("by", ["reply", "log"])
def test_more_than_one_proc(by: str) -> None:
    bench = make.Bench(dag()).begin()
    if by == "reply":
        bench.tell(inputs.Submitted(2, P, 2))
    else:
        bench.tell(make.submit("P", P, 0), make.submit("P", P, 1))
    assert bench.said("Provisioner node P submitted more than one job")
    assert bench.asked(do.Exit) == [do.Exit(1)]
    assert bench.asked(do.RemoveJobs)


def test_a_post_script_before_the_go_ahead_does_not_give_it() -> None:
    bench = asked(post={"P": "q"})
    bench.tell(make.terminated(P))
    assert bench.asked(do.RunScript) == [do.RunScript(2, ScriptKind.POST, ("q",))]
    bench.wait(10.0)
    assert not bench.asked(do.AskProvisioner)  # there is nobody to ask
    bench.post_ends("P")
    assert bench.asked(do.Exit) == [do.Exit(1)]


def test_a_restart_before_the_go_ahead_asks_again() -> None:
    other = asked().restart()
    assert other.asked(do.AskProvisioner) == [do.AskProvisioner(P)]
    assert not other.submits()
    go(other)
    assert other.submits() == ["A"]


def test_a_restart_between_go_ahead_and_note() -> None:
    bench = asked()
    bench.tell(ProvisionerSays(2))  # the note never reaches the log
    other = bench.restart()
    assert other.asked(do.AskProvisioner)
    assert not other.submits()


def test_a_restart_after_the_note_asks_nobody() -> None:
    bench = go(asked())
    other = bench.restart()
    assert other.submits() == ["A"]
    assert not other.ever(do.AskProvisioner)
    assert bench.same_replay().engine.provisioner.ready


def test_a_log_of_stock_shows_the_go_ahead_by_what_started() -> None:
    bench = make.Bench(dag("A -> B; C; P")).begin(recovering=True)
    bench.tell(make.submit("P", P), make.submit("A", 6), make.terminated(6))
    bench.tell(inputs.LogCaughtUp(), inputs.QueueListed([inputs.QueuedJob(P, 0, "P", 0)]))
    assert bench.states() == "A=DONE B=READY C=SUBMITTING P=SUBMITTED"
    assert not bench.ever(do.AskProvisioner)


def test_services_in_an_old_log_are_no_go_ahead() -> None:
    bench = make.Bench(dag("A; S; P")).begin(recovering=True)
    bench.tell(make.submit("S", 4), make.submit("P", P))
    assert not bench.engine.provisioner.ready


def test_it_is_done_in_a_rescue_file() -> None:
    bench = make.Bench(dag("A; P", done="P")).begin()
    assert bench.submits() == ["A"]


def test_condor_rm_before_the_go_ahead() -> None:
    bench = asked("A; P; F")
    bench.tell(inputs.Stop())
    bench.read_back()
    assert bench.submits() == ["F"]
    bench.take("F", 9)
    bench.tell(make.of_job(EventKind.JOB_ABORTED, P), make.terminated(9))
    assert bench.ever(do.Exit) == [do.Exit(0)]
    assert bench.state("A").name == "WAITING"


def test_paused_it_is_not_asked() -> None:
    bench = asked()
    bench.tell(inputs.Halt(pause=True))
    bench.wait(100.0)
    assert not bench.asked(do.AskProvisioner)
    assert bench.engine.next_deadline() is None  # else DAGMan would spin
    bench.tell(inputs.Resume())
    assert bench.asked(do.AskProvisioner)


def test_halted_its_go_ahead_starts_nothing_yet() -> None:
    bench = asked()
    bench.tell(inputs.Halt())
    go(bench)
    assert bench.state("A").name == "READY"
    bench.tell(inputs.Resume())
    assert bench.submits() == ["A"]


def test_its_timeout_may_fire_while_its_note_is_on_its_way() -> None:
    bench = asked(timeouts={"P": Timeout(total=30)})
    bench.wait(29.0)
    bench.tell(ProvisionerSays(2))
    late = bench.echo(bench.last)
    bench.wait(1.0)
    bench.tell(*late)
    bench.wait(1.0)
    notes = [note.note for note in bench.ever(do.AppendNote)]
    assert notes == [Note.PROVISIONED, Note.TIMED_OUT]


def test_its_timeout_before_the_go_ahead_ends_the_dag() -> None:
    bench = asked(timeouts={"P": Timeout(queued=30)})
    bench.wait(30.0)
    bench.read_back()
    assert [removal.cluster for removal in bench.asked(do.RemoveJobs)] == [P]
    bench.tell(make.of_job(EventKind.JOB_ABORTED, P))
    assert bench.asked(do.Exit) == [do.Exit(1)]


def test_a_replayed_final_node_is_no_go_ahead() -> None:
    bench = make.Bench(dag("A; P; F"), SLOW).begin(recovering=True)
    bench.tell(make.submit("P", P), make.note(Note.FINAL_STARTED, "F", value=2))
    bench.tell(make.submit("F", 9))
    assert not bench.engine.provisioner.ready


def test_too_many_jobs_end_the_run_once_and_leave_the_final_node_alone() -> None:
    bench = make.Bench(dag("A; P; F"), SLOW).begin()
    bench.take("P", P, 3)
    bench.read_back()
    assert len(bench.ever(do.WriteRescue)) == 1
    bench.take("F", 9)
    bench.tell(make.submit("P", P, 4))
    assert not bench.ever(do.Exit)


def test_it_is_not_asked_any_more_when_it_has_ended() -> None:
    bench = make.Bench(dag("A; P; F"), SLOW).begin()
    bench.run_node("P", P, value=1)
    bench.read_back()
    assert bench.engine.provisioner.ask_at is None
