"""The PROVISIONER node: nothing else starts before it says so."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import ProvisionerAnswer
from condor_pydagman.graph.model import DONE, Dag, Retry
from condor_pydagman.vocabulary import EventKind, JournalRecord, ScriptKind
from tests import make
from tests.make import QUIET

TEXT = "A -> B\nPROVISIONER P n.sub"
TEXT_WITH_FINAL = "A\nPROVISIONER P n.sub\nFINAL F n.sub"
P = 5  # cluster of its job


def asked(of: Dag | str = TEXT) -> make.EngineHarness:
    """Its job is in the queue and is asked for."""
    harness = make.EngineHarness(of, QUIET).begin()
    harness.take("P", P)
    return harness


def go(harness: make.EngineHarness) -> make.EngineHarness:
    """It gives the go-ahead."""
    harness.happens(ProvisionerAnswer(2))
    return harness


def test_the_provisioner_starts_alone_and_the_others_at_its_go_ahead() -> None:
    harness = make.harness_of(TEXT)
    assert harness.said("Starting provisioner node...")
    assert harness.submits() == ["P"]
    assert not harness.asked(do.QueryProvisioner)
    harness.take("P", P)
    assert harness.asked(do.QueryProvisioner) == [do.QueryProvisioner(P)]
    harness.tell(ProvisionerAnswer(2))
    assert harness.asked(do.AppendJournalRecord) == [
        do.AppendJournalRecord(JournalRecord.PROVISIONED, 2, 0, 2)
    ]
    assert not harness.submits()
    harness.read_back()
    assert harness.submits() == ["A"]


@pytest.mark.parametrize("state", [None, 0, 1, 3, 4])
def test_any_other_state_is_no_go_ahead(state: int | None) -> None:
    harness = asked()
    harness.tell(ProvisionerAnswer(state))
    assert harness.said(f"Provisioner job state: <{-1 if state is None else state}>")
    assert not harness.asked(do.AppendJournalRecord)
    assert not harness.submits()


def test_the_provisioner_is_asked_at_a_bounded_pace_until_its_go_ahead() -> None:
    harness = asked()
    step = harness.engine.run.config.user_log_scan_interval
    assert not harness.wait(0.1)
    for _ in range(3):
        harness.tell(ProvisionerAnswer(None))
        assert harness.engine.next_deadline() is not None
        harness.now = harness.engine.next_deadline() or 0.0
        assert harness.wait(0.0) == [do.QueryProvisioner(P)]
        assert harness.engine.next_deadline() == harness.now + step
    go(harness)
    harness.wait(step)
    assert not harness.asked(do.QueryProvisioner)
    assert harness.engine.next_deadline() is None


def test_it_is_not_asked_again_before_it_has_answered() -> None:
    harness = asked()
    for _ in range(3):
        harness.wait(100.0)
        assert not harness.asked(do.QueryProvisioner)
    harness.tell(ProvisionerAnswer(None))
    harness.wait(100.0)
    assert harness.ever(do.QueryProvisioner) == [do.QueryProvisioner(P)] * 2


def test_a_late_answer_of_an_attempt_that_has_failed_is_no_go_ahead() -> None:
    of = make.dag(TEXT)
    of.retries[of.ids["P"]] = Retry(1)  # no file says that today
    harness = asked(of)
    harness.tell(make.terminated(P, value=1))
    harness.take("P", P + 1)
    harness.tell(ProvisionerAnswer(2))
    assert not harness.ever(do.AppendJournalRecord)
    harness.wait(100.0)
    assert harness.ever(do.QueryProvisioner)[-1] == do.QueryProvisioner(P + 1)
    assert go(harness).submits() == ["A"]


def test_a_second_answer_while_the_record_is_on_its_way() -> None:
    harness = asked()
    first = harness.tell(ProvisionerAnswer(2))
    assert not harness.tell(ProvisionerAnswer(2))
    harness.tell(*harness.echo(first))
    harness.tell(ProvisionerAnswer(2))
    assert len(harness.ever(do.AppendJournalRecord)) == 1
    assert len(harness.ever(do.SubmitNode)) == 2


def test_an_answer_before_its_job_is_in_the_queue() -> None:
    harness = make.harness_of(TEXT)
    harness.tell(ProvisionerAnswer(2))
    assert not harness.asked(do.AppendJournalRecord)


def test_nothing_of_the_others_starts_before_not_even_pre_scripts() -> None:
    harness = make.harness_of("""
        A B
        SERVICE S n.sub
        PROVISIONER P n.sub
        SCRIPT PRE A p
        SCRIPT PRE S s
        SCRIPT PRE P q
    """)
    started = [harness.dag.names[run.node] for run in harness.asked(do.RunScript)]
    assert started == ["S", "P"]
    assert harness.said("Starting service node S...")
    harness.pre_ends("S")
    assert harness.submits() == ["S"]
    harness.take("S", 6)
    harness.pre_ends("P")
    harness.take("P", P)
    assert harness.states() == "A=WAITING B=WAITING S=SUBMITTED P=SUBMITTED"
    go(harness)
    assert harness.states() == "A=PRE_RUN B=SUBMITTING S=SUBMITTED P=SUBMITTED"


def test_the_dag_waits_for_its_end() -> None:
    harness = go(asked("A\nPROVISIONER P n.sub"))
    harness.run_node("A", 7)
    assert not harness.ever(do.Exit)
    assert not harness.ever(do.RemoveJobs)
    harness.tell(make.terminated(P))
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_final_waits_for_its_end() -> None:
    harness = go(asked(TEXT_WITH_FINAL))
    harness.run_node("A", 7)
    assert not harness.asked(do.AppendJournalRecord)
    harness.tell(make.terminated(P))
    assert [record.record for record in harness.asked(do.AppendJournalRecord)] == [
        JournalRecord.FINAL_STARTED
    ]


def test_the_provisioner_fails_after_the_go_ahead() -> None:
    harness = go(asked())
    harness.tell(make.terminated(P, value=3))
    assert not harness.ever(do.Exit)
    harness.run_node("A", 7)
    harness.run_node("B", 8)
    assert harness.states() == "A=DONE B=DONE P=FAILED"
    assert harness.asked(do.Exit) == [do.Exit(1)]


@pytest.mark.parametrize("value", [0, 3])
def test_the_provisioner_ends_before_the_go_ahead(value: int) -> None:
    harness = asked()
    harness.tell(make.terminated(P, value=value))
    assert harness.said("Provisioner node P job exited before giving DAGMan the go ahead!")
    assert harness.asked(do.Exit) == [do.Exit(1)]
    assert harness.asked(do.WriteRescue)
    assert len(harness.ever(do.SubmitNode)) == 1


def test_a_noop_gives_no_go_ahead() -> None:
    harness = make.harness_of("A -> B\nPROVISIONER P n.sub NOOP")
    harness.read_back()
    assert harness.asked(do.Exit) == [do.Exit(1)]


@pytest.mark.parametrize("how", ["pre", "submit"])
def test_the_provisioner_can_not_be_submitted(how: str) -> None:
    script = "SCRIPT PRE P p" if how == "pre" else ""
    harness = make.harness_of(f"A\nPROVISIONER P n.sub\n{script}")
    if how == "pre":
        harness.pre_ends("P", 1)
    else:
        harness.tell(inputs.SubmitFailed(1, "no such file", permanent=True))
        harness.read_back()
    assert harness.states() == "A=WAITING P=FAILED"
    assert harness.ever(do.Exit) == [do.Exit(1)]
    assert harness.ever(do.WriteRescue)
    assert not harness.said("exited before giving")


@pytest.mark.parametrize("by", ["reply", "log"])
def test_a_provisioner_of_more_than_one_proc_ends_the_dag(by: str) -> None:
    harness = make.harness_of(TEXT)
    if by == "reply":
        harness.tell(inputs.Submitted(2, P, 2))
    else:
        harness.tell(make.submit("P", P, 0), make.submit("P", P, 1))
    assert harness.said("Provisioner node P submitted more than one job")
    assert harness.asked(do.Exit) == [do.Exit(1)]
    assert harness.asked(do.RemoveJobs)


def test_a_post_script_before_the_go_ahead_does_not_give_it() -> None:
    harness = asked(f"{TEXT}\nSCRIPT POST P q")
    harness.tell(make.terminated(P))
    assert harness.asked(do.RunScript) == [do.RunScript(2, ScriptKind.POST, ("q",))]
    harness.wait(10.0)
    assert not harness.asked(do.QueryProvisioner)  # there is nobody to ask
    harness.post_ends("P")
    assert harness.asked(do.Exit) == [do.Exit(1)]


def test_a_restart_before_the_go_ahead_asks_again() -> None:
    other = asked().restart()
    assert other.asked(do.QueryProvisioner) == [do.QueryProvisioner(P)]
    assert not other.submits()
    go(other)
    assert other.submits() == ["A"]


def test_a_restart_between_go_ahead_and_record() -> None:
    harness = asked()
    harness.tell(ProvisionerAnswer(2))  # the record never reaches the log
    other = harness.restart()
    assert other.asked(do.QueryProvisioner)
    assert not other.submits()


def test_a_restart_after_the_record_asks_nobody() -> None:
    harness = go(asked())
    other = harness.restart()
    assert other.submits() == ["A"]
    assert not other.ever(do.QueryProvisioner)
    assert harness.same_replay().engine.run.provisioner.ready


def test_a_log_of_stock_shows_the_go_ahead_by_what_started() -> None:
    harness = make.EngineHarness("A -> B; C\nPROVISIONER P n.sub").begin(recovering=True)
    harness.tell(make.submit("P", P), make.submit("A", 6), make.terminated(6))
    harness.tell(inputs.LogCaughtUp(), inputs.QueueListed([inputs.QueuedJob(P, 0, "P", 0)]))
    assert harness.states() == "A=DONE B=READY C=SUBMITTING P=SUBMITTED"
    assert not harness.ever(do.QueryProvisioner)


def test_services_in_an_old_log_are_no_go_ahead() -> None:
    harness = make.EngineHarness("A\nSERVICE S n.sub\nPROVISIONER P n.sub").begin(recovering=True)
    harness.tell(make.submit("S", 4), make.submit("P", P))
    assert not harness.engine.run.provisioner.ready


def test_a_provisioner_that_is_done_in_a_rescue_file() -> None:
    of = make.dag("A\nPROVISIONER P n.sub")
    of.flags[of.ids["P"]] |= DONE  # no file says that today
    harness = make.EngineHarness(of).begin()
    assert harness.submits() == ["A"]


def test_condor_rm_before_the_go_ahead() -> None:
    harness = asked(TEXT_WITH_FINAL)
    harness.happens(inputs.DagRemoved())
    assert harness.submits() == ["F"]
    harness.take("F", 9)
    harness.tell(make.of_job(EventKind.JOB_ABORTED, P), make.terminated(9))
    assert harness.ever(do.Exit) == [do.Exit(0)]
    assert harness.state("A").name == "WAITING"


def test_a_paused_dag_does_not_ask_its_provisioner() -> None:
    harness = asked()
    harness.tell(ProvisionerAnswer(None))
    harness.tell(inputs.Halt(pause=True))
    harness.wait(100.0)
    assert not harness.asked(do.QueryProvisioner)
    assert harness.engine.next_deadline() is None  # else DAGMan would spin
    harness.tell(inputs.Resume())
    assert harness.asked(do.QueryProvisioner)


def test_halted_its_go_ahead_starts_nothing_yet() -> None:
    harness = asked()
    harness.tell(inputs.Halt())
    go(harness)
    assert harness.state("A").name == "READY"
    harness.tell(inputs.Resume())
    assert harness.submits() == ["A"]


def test_its_timeout_may_fire_while_its_record_is_on_its_way() -> None:
    harness = asked(f"{TEXT}\nTIMEOUT P TOTAL 30")
    harness.wait(29.0)
    harness.tell(ProvisionerAnswer(2))
    late = harness.echo(harness.last)
    harness.wait(1.0)
    harness.tell(*late)
    harness.wait(1.0)
    records = [record.record for record in harness.ever(do.AppendJournalRecord)]
    assert records == [JournalRecord.PROVISIONED, "TIMED_OUT"]


def test_its_timeout_before_the_go_ahead_ends_the_dag() -> None:
    harness = asked(f"{TEXT}\nTIMEOUT P QUEUED 30")
    harness.wait(30.0)
    harness.read_back()
    assert [removal.cluster for removal in harness.asked(do.RemoveJobs)] == [P]
    harness.tell(make.of_job(EventKind.JOB_ABORTED, P))
    assert harness.asked(do.Exit) == [do.Exit(1)]


def test_a_replayed_final_node_is_no_go_ahead() -> None:
    harness = make.EngineHarness(TEXT_WITH_FINAL, QUIET).begin(recovering=True)
    harness.tell(make.submit("P", P), make.record(JournalRecord.FINAL_STARTED, "F", value=2))
    harness.tell(make.submit("F", 9))
    assert not harness.engine.run.provisioner.ready


def test_too_many_jobs_end_the_run_once_and_leave_the_final_node_alone() -> None:
    harness = make.harness_of(TEXT_WITH_FINAL, QUIET)
    harness.take("P", P, 3)
    harness.read_back()
    assert len(harness.ever(do.WriteRescue)) == 1
    harness.take("F", 9)
    harness.tell(make.submit("P", P, 4))
    assert not harness.ever(do.Exit)


def test_a_provisioner_that_has_ended_is_not_asked() -> None:
    harness = make.harness_of(TEXT_WITH_FINAL, QUIET)
    harness.run_node("P", P, value=1)
    harness.read_back()
    assert harness.engine.run.provisioner.query_at is None
