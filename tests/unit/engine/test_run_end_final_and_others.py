"""Other nodes when the FINAL node begins and while it runs."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.run_end import FINAL_TIMEOUT_S
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import Retry, Script
from condor_pydagman.vocabulary import EventKind, JournalRecord, NodeKind, ScriptKind
from tests import make

FINAL = {"F": NodeKind.FINAL}
F = 9  # cluster of the FINAL node's job


def began(harness: make.EngineHarness) -> make.EngineHarness:
    """Let the record that the FINAL node begins come back."""
    harness.read_back()
    return harness


def busy() -> make.EngineHarness:
    """Nodes in every state when the abort comes."""
    made = make.dag(
        "Trigger -> Kid; Ready Running WithPost Retry Pre Post Unready; Running -> Unready; F",
        kinds=FINAL,
        pre={"Pre": "p"},
        post={"WithPost": "q $RETURN $DAG_STATUS", "Post": "q"},
        retries={"Retry": 2},
        aborts={"Trigger": 3},
        limits={"one": 1},
        categories={"Running": "one", "Ready": "one"},
        priorities={"Running": 1},
    )
    harness = make.EngineHarness(made).begin()
    for cluster, name in enumerate(("Trigger", "Running", "WithPost", "Retry", "Post"), 1):
        harness.tell(make.submit(name, cluster), inputs.Submitted(made.ids[name], cluster, 1))
    harness.tell(make.terminated(5))
    assert harness.state("Ready").name == "READY"
    harness.tell(make.terminated(1, value=3))
    began(harness)
    return harness


def test_other_nodes_when_it_begins() -> None:
    harness = busy()
    assert harness.state("Ready").name == "WAITING"
    assert harness.state("Kid").name == "FUTILE"
    assert harness.ever(do.RemoveJobs)[0].spare_services
    assert harness.ever(do.KillScripts) == [do.KillScripts(answered=True)]
    assert harness.submits() == ["F"]


def test_removed_jobs_of_other_nodes_while_it_runs() -> None:
    harness = busy()
    ids = harness.dag.ids
    harness.tell(*(make.of_job(EventKind.JOB_ABORTED, cluster) for cluster in (2, 3, 4)))
    assert harness.state("Running").name == "FAILED"
    assert harness.state("Retry").name == "FAILED"
    assert harness.said(
        "Aborting further retries of node Retry because final node is running"
        " (last attempt returned -1002)"
    )
    assert harness.asked(do.RunScript) == [
        do.RunScript(ids["WithPost"], ScriptKind.POST, ("q", "-1002", "3"))
    ]
    harness.post_ends("WithPost", 0)
    assert harness.state("WithPost").name == "DONE"
    harness.tell(inputs.ScriptEnded(ids["Pre"], ScriptKind.PRE, -9))
    harness.read_back()
    assert harness.engine.run.nodes.errors[ids["Pre"]] == "PRE Script died on signal 9 (Killed)"
    harness.post_ends("Post", -9)
    assert harness.state("Post").name == "FAILED"
    harness.run_node("F", F)
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_it_waits_for_nobody_but_the_end_of_the_run_does_for_a_while() -> None:
    harness = busy()
    harness.run_node("F", F)
    assert not harness.ever(do.Exit)
    assert harness.engine.next_deadline() == harness.now + FINAL_TIMEOUT_S
    harness.wait(FINAL_TIMEOUT_S - 1)
    assert not harness.ever(do.Exit)
    harness.wait(1)
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_a_restart_removes_the_others_if_the_schedd_had_not_heard_of_it() -> None:
    """But neither those that are leaving, nor the FINAL node's jobs, nor a SERVICE's."""
    made = make.dag("A; B; C; S; F", kinds={**FINAL, "S": NodeKind.SERVICE}, aborts={"A": 3})
    harness = make.EngineHarness(made).begin()
    for cluster, name in enumerate("SABC", 1):
        harness.take(name, cluster)
    harness.tell(make.terminated(2, value=3))
    began(harness)
    harness.take("F", F)
    other = harness.replay()
    other.tell(inputs.LogCaughtUp())
    queue = [job._replace(leaving=job.cluster == 4) for job in harness.queue()]
    assert {job.cluster for job in queue} == {1, 3, 4, F}
    other.tell(inputs.QueueListed(queue))
    assert other.ever(do.RemoveJobs) == [do.RemoveJobs(harness.ever(do.RemoveJobs)[0].reason, 3)]


def test_a_restart_removes_no_jobs_that_condor_rm_is_to_leave() -> None:
    made = make.dag("A; F", kinds=FINAL)
    harness = make.EngineHarness(made, Config(remove_node_jobs=False)).begin()
    harness.take("A", 1)
    harness.tell(inputs.DagRemoved())
    began(harness)
    assert harness.restart().submits() == ["F"]
    assert not harness.restart().ever(do.RemoveJobs)


def test_nothing_else_is_started_any_more() -> None:
    """A child whose parent succeeds only now, and a node that gets free only now."""
    harness = busy()
    harness.tell(make.terminated(2))
    assert not harness.submits()
    assert harness.state("Running").name == "DONE"
    assert harness.state("Unready").name == "WAITING"
    assert harness.state("Ready").name == "WAITING"


def test_a_submission_in_flight_when_it_begins() -> None:
    made = make.dag("A B; F", kinds=FINAL, aborts={"A": 3})
    harness = make.EngineHarness(made).begin()
    harness.take("A", 1)
    assert harness.state("B").name == "SUBMITTING"
    harness.tell(make.terminated(1, value=3))
    began(harness)
    assert not harness.submits()  # one at a time
    harness.tell(inputs.SubmitFailed(1, "busy", permanent=False))
    harness.wait(1.0)
    assert harness.state("B").name == "WAITING"
    assert harness.submits() == ["F"]
    harness.run_node("F", F)
    assert harness.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize("restarted", [False, True])
def test_a_submission_in_flight_that_the_schedd_took(restarted: bool) -> None:
    harness = make.EngineHarness(make.dag("A B; F", kinds=FINAL, aborts={"A": 3})).begin()
    harness.take("A", 1)
    harness.tell(make.terminated(1, value=3))
    began(harness)
    harness.take("B", 2)
    harness.take("F", F)
    if restarted:
        harness = harness.restart()
    assert not harness.said("semantics violated")
    assert harness.state("B").name == "SUBMITTED"
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 2), make.terminated(F))
    assert harness.ever(do.Exit) == [do.Exit(0)]


def test_a_submission_whose_event_comes_after_it_was_given_up() -> None:
    harness = make.EngineHarness(make.dag("A B; F", kinds=FINAL, aborts={"A": 3})).begin()
    harness.take("A", 1)
    harness.tell(inputs.SubmitFailed(1, "timeout", permanent=False, unknown=True))
    harness.tell(make.terminated(1, value=3))
    began(harness)
    harness.wait(1.0)
    harness.tell(inputs.QueueListed([]))
    assert harness.state("B").name == "WAITING"
    harness.tell(make.submit("B", 2))
    assert not harness.ever(do.Exit)
    assert harness.state("B").name == "SUBMITTED"


def test_a_lost_reply_when_it_begins() -> None:
    harness = make.EngineHarness(make.dag("A B; F", kinds=FINAL, aborts={"A": 3})).begin()
    harness.take("A", 1)
    harness.tell(inputs.SubmitFailed(1, "timeout", permanent=False, unknown=True))
    harness.tell(make.terminated(1, value=3))
    began(harness)
    harness.wait(1.0)
    assert harness.asked(do.QueryQueue)
    harness.tell(inputs.QueueListed([]))
    assert harness.state("B").name == "WAITING"
    harness.wait(60.0)
    harness.run_node("F", F)
    assert harness.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize("pre", [False, True])
def test_a_node_that_waits_for_its_retry_is_not_started(pre: bool) -> None:
    made = make.dag(
        "A B; F",
        kinds=FINAL,
        aborts={"A": 3},
        retries={"B": Retry(2, delay=100)},
        pre={"B": "p"} if pre else {},
    )
    harness = make.EngineHarness(made).begin()
    harness.take("A", 1)
    if pre:
        harness.pre_ends("B", 0)
    harness.run_node("B", 2, value=1)
    assert harness.state("B").name == "RETRY_WAIT"
    harness.tell(make.terminated(1, value=3))
    began(harness)
    harness.take("F", F)
    harness.wait(200.0)
    assert not harness.asked(do.RunScript)
    assert not harness.asked(do.SubmitNode)
    harness.same_replay()
    harness.tell(make.terminated(F))
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_a_failed_node_is_not_put_on_hold_while_it_runs() -> None:
    made = make.dag("A B; F", kinds=FINAL, aborts={"A": 3})
    harness = make.EngineHarness(made, Config(put_failed_jobs_on_hold=True)).begin()
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(make.terminated(1, value=3))
    began(harness)
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 2))
    assert harness.state("B").name == "FAILED"


def test_throttles_do_not_stop_it_for_ever() -> None:
    """-MaxJobs 1, and a removed job that lingers: the FINAL node has to wait, but not longer."""
    made = make.dag("A B; F", kinds=FINAL, aborts={"A": 3})
    harness = make.EngineHarness(made, limits=Throttles(jobs=2)).begin()
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(make.terminated(1, value=3))
    began(harness)
    assert harness.submits() == ["F"]


def test_a_deferred_pre_script_of_another_node_is_forgotten() -> None:
    made = make.dag("A B; F", kinds=FINAL, aborts={"A": 3}, pre={"B": Script("p", 2, 30), "F": "p"})
    harness = make.EngineHarness(made).begin()
    harness.take("A", 1)
    harness.tell(inputs.ScriptEnded(1, ScriptKind.PRE, 2))
    harness.tell(make.terminated(1, value=3))
    began(harness)
    assert [run.node for run in harness.asked(do.RunScript)] == [2]
    harness.wait(40.0)
    assert not harness.asked(do.RunScript)


@pytest.mark.parametrize("restarted", [False, True])
def test_a_post_script_that_ended_the_dag_does_not_end_it_once_more(restarted: bool) -> None:
    """An unknown macro is fatal if DAGMAN_USE_STRICT says so; its node keeps waiting for it."""
    harness = make.EngineHarness(make.dag("A; F", kinds=FINAL, post={"A": "q $WHAT"})).begin()
    harness.run_node("A", 1)
    began(harness)
    harness.take("F", F)
    if restarted:
        harness = harness.restart()
    harness.tell(make.terminated(F))
    harness.wait(FINAL_TIMEOUT_S)
    assert not harness.ever(do.RunScript)
    assert harness.ever(do.Exit) == [do.Exit(0)]


def test_the_end_waits_for_no_script_that_a_strict_warning_stopped() -> None:
    made = make.dag("A; F", kinds=FINAL, post={"A": "q $NOSUCH"})
    harness = make.EngineHarness(made).begin()
    harness.run_node("A", 1)
    began(harness)
    harness.run_node("F", F)
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_the_end_waits_for_no_job_that_nobody_removes() -> None:
    harness = make.EngineHarness(
        make.dag("A; F", kinds=FINAL), Config(remove_node_jobs=False)
    ).begin()
    harness.take("A", 1)
    harness.tell(inputs.DagRemoved())
    began(harness)
    harness.run_node("F", F)
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_a_replay_takes_back_a_retry_whose_pre_script_ran_when_the_final_node_began() -> None:
    made = make.dag(
        "A; F",
        kinds=FINAL,
        pre={"A": "p"},
        post={"A": "q"},
        retries={"A": Retry(1, delay=60)},
    )
    harness = make.EngineHarness(made, Config(always_run_post=True)).begin(recovering=True)
    harness.tell(make.record(JournalRecord.PRE_ENDED, "A", value=1), make.post_ended("A", 1))
    assert harness.state("A").name == "RETRY_WAIT"
    harness.tell(make.record(JournalRecord.FINAL_STARTED, "F", value=2))
    harness.tell(
        make.record(JournalRecord.PRE_ENDED, "A", value=-9, retry=1), make.post_ended("A", 0)
    )
    assert harness.state("A").name == "DONE"
