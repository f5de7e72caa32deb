"""Other nodes when the FINAL node begins and while it runs."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.final_node import PATIENCE
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import Retry, Script
from condor_pydagman.vocabulary import EventKind, NodeKind, Note, ScriptKind
from tests import make

FINAL = {"F": NodeKind.FINAL}
F = 9  # cluster of the FINAL node's job


def began(bench: make.Bench) -> make.Bench:
    """Let the note that the FINAL node begins come back."""
    bench.read_back()
    return bench


def busy() -> make.Bench:
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
    bench = make.Bench(made).begin()
    for cluster, name in enumerate(("Trigger", "Running", "WithPost", "Retry", "Post"), 1):
        bench.tell(make.submit(name, cluster), inputs.Submitted(made.ids[name], cluster, 1))
    bench.tell(make.terminated(5))
    assert bench.state("Ready").name == "READY"
    bench.tell(make.terminated(1, value=3))
    began(bench)
    return bench


def test_other_nodes_when_it_begins() -> None:
    bench = busy()
    assert bench.state("Ready").name == "WAITING"
    assert bench.state("Kid").name == "FUTILE"
    assert bench.ever(do.RemoveJobs)[0].spare_services
    assert bench.ever(do.KillScripts) == [do.KillScripts(answered=True)]
    assert bench.submits() == ["F"]


def test_removed_jobs_of_other_nodes_while_it_runs() -> None:
    bench = busy()
    ids = bench.dag.ids
    bench.tell(*(make.of_job(EventKind.JOB_ABORTED, cluster) for cluster in (2, 3, 4)))
    assert bench.state("Running").name == "FAILED"
    assert bench.state("Retry").name == "FAILED"
    assert bench.said(
        "Aborting further retries of node Retry because final node is running"
        " (last attempt returned -1002)"
    )
    assert bench.asked(do.RunScript) == [
        do.RunScript(ids["WithPost"], ScriptKind.POST, ("q", "-1002", "3"))
    ]
    bench.post_ends("WithPost", 0)
    assert bench.state("WithPost").name == "DONE"
    bench.tell(inputs.ScriptEnded(ids["Pre"], ScriptKind.PRE, -9))
    bench.read_back()
    assert bench.engine.nodes.errors[ids["Pre"]] == "PRE Script died on signal 9 (Killed)"
    bench.post_ends("Post", -9)
    assert bench.state("Post").name == "FAILED"
    bench.run_node("F", F)
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_it_waits_for_nobody_but_the_end_of_the_run_does_for_a_while() -> None:
    bench = busy()
    bench.run_node("F", F)
    assert not bench.ever(do.Exit)
    assert bench.engine.next_deadline() == bench.now + PATIENCE
    bench.wait(PATIENCE - 1)
    assert not bench.ever(do.Exit)
    bench.wait(1)
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_nothing_else_is_started_any_more() -> None:
    """A child whose parent succeeds only now, and a node that gets free only now."""
    bench = busy()
    bench.tell(make.terminated(2))
    assert not bench.submits()
    assert bench.state("Running").name == "DONE"
    assert bench.state("Unready").name == "WAITING"
    assert bench.state("Ready").name == "WAITING"


def test_a_submission_in_flight_when_it_begins() -> None:
    made = make.dag("A B; F", kinds=FINAL, aborts={"A": 3})
    bench = make.Bench(made).begin()
    bench.take("A", 1)
    assert bench.state("B").name == "SUBMITTING"
    bench.tell(make.terminated(1, value=3))
    began(bench)
    assert not bench.submits()  # one at a time
    bench.tell(inputs.SubmitFailed(1, "busy", permanent=False))
    bench.wait(1.0)
    assert bench.state("B").name == "WAITING"
    assert bench.submits() == ["F"]
    bench.run_node("F", F)
    assert bench.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize("restarted", [False, True])
def test_a_submission_in_flight_that_the_schedd_took(restarted: bool) -> None:
    bench = make.Bench(make.dag("A B; F", kinds=FINAL, aborts={"A": 3})).begin()
    bench.take("A", 1)
    bench.tell(make.terminated(1, value=3))
    began(bench)
    bench.take("B", 2)
    bench.take("F", F)
    if restarted:
        bench = bench.restart()
    assert not bench.said("semantics violated")
    assert bench.state("B").name == "SUBMITTED"
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 2), make.terminated(F))
    assert bench.ever(do.Exit) == [do.Exit(0)]


def test_a_submission_whose_event_comes_after_it_was_given_up() -> None:
    bench = make.Bench(make.dag("A B; F", kinds=FINAL, aborts={"A": 3})).begin()
    bench.take("A", 1)
    bench.tell(inputs.SubmitFailed(1, "timeout", permanent=False, unknown=True))
    bench.tell(make.terminated(1, value=3))
    began(bench)
    bench.wait(1.0)
    bench.tell(inputs.QueueListed([]))
    assert bench.state("B").name == "WAITING"
    bench.tell(make.submit("B", 2))
    assert not bench.ever(do.Exit)
    assert bench.state("B").name == "SUBMITTED"


def test_a_lost_reply_when_it_begins() -> None:
    bench = make.Bench(make.dag("A B; F", kinds=FINAL, aborts={"A": 3})).begin()
    bench.take("A", 1)
    bench.tell(inputs.SubmitFailed(1, "timeout", permanent=False, unknown=True))
    bench.tell(make.terminated(1, value=3))
    began(bench)
    bench.wait(1.0)
    assert bench.asked(do.QueryQueue)
    bench.tell(inputs.QueueListed([]))
    assert bench.state("B").name == "WAITING"
    bench.wait(60.0)
    bench.run_node("F", F)
    assert bench.asked(do.Exit) == [do.Exit(0)]


@pytest.mark.parametrize("pre", [False, True])
def test_a_node_that_waits_for_its_retry_is_not_started(pre: bool) -> None:
    made = make.dag(
        "A B; F",
        kinds=FINAL,
        aborts={"A": 3},
        retries={"B": Retry(2, delay=100)},
        pre={"B": "p"} if pre else {},
    )
    bench = make.Bench(made).begin()
    bench.take("A", 1)
    if pre:
        bench.pre_ends("B", 0)
    bench.run_node("B", 2, value=1)
    assert bench.state("B").name == "RETRY_WAIT"
    bench.tell(make.terminated(1, value=3))
    began(bench)
    bench.take("F", F)
    bench.wait(200.0)
    assert not bench.asked(do.RunScript)
    assert not bench.asked(do.SubmitNode)
    bench.same_replay()
    bench.tell(make.terminated(F))
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_a_failed_node_is_not_put_on_hold_while_it_runs() -> None:
    made = make.dag("A B; F", kinds=FINAL, aborts={"A": 3})
    bench = make.Bench(made, Config(put_failed_jobs_on_hold=True)).begin()
    bench.take("A", 1)
    bench.take("B", 2)
    bench.tell(make.terminated(1, value=3))
    began(bench)
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 2))
    assert bench.state("B").name == "FAILED"


def test_throttles_do_not_stop_it_for_ever() -> None:
    """-MaxJobs 1, and a removed job that lingers: the FINAL node has to wait, but not longer."""
    made = make.dag("A B; F", kinds=FINAL, aborts={"A": 3})
    bench = make.Bench(made, limits=Throttles(jobs=2)).begin()
    bench.take("A", 1)
    bench.take("B", 2)
    bench.tell(make.terminated(1, value=3))
    began(bench)
    assert bench.submits() == ["F"]


def test_a_deferred_pre_script_of_another_node_is_forgotten() -> None:
    made = make.dag("A B; F", kinds=FINAL, aborts={"A": 3}, pre={"B": Script("p", 2, 30), "F": "p"})
    bench = make.Bench(made).begin()
    bench.take("A", 1)
    bench.tell(inputs.ScriptEnded(1, ScriptKind.PRE, 2))
    bench.tell(make.terminated(1, value=3))
    began(bench)
    assert [run.node for run in bench.asked(do.RunScript)] == [2]
    bench.wait(40.0)
    assert not bench.asked(do.RunScript)


@pytest.mark.parametrize("restarted", [False, True])
def test_a_post_script_that_ended_the_dag_does_not_end_it_once_more(restarted: bool) -> None:
    """An unknown macro is fatal if DAGMAN_USE_STRICT says so; its node keeps waiting for it."""
    bench = make.Bench(make.dag("A; F", kinds=FINAL, post={"A": "q $WHAT"})).begin()
    bench.run_node("A", 1)
    began(bench)
    bench.take("F", F)
    if restarted:
        bench = bench.restart()
    bench.tell(make.terminated(F))
    bench.wait(PATIENCE)
    assert not bench.ever(do.RunScript)
    assert bench.ever(do.Exit) == [do.Exit(0)]


def test_the_end_waits_for_no_script_that_a_strict_warning_stopped() -> None:
    made = make.dag("A; F", kinds=FINAL, post={"A": "q $NOSUCH"})
    bench = make.Bench(made).begin()
    bench.run_node("A", 1)
    began(bench)
    bench.run_node("F", F)
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_the_end_waits_for_no_job_that_nobody_removes() -> None:
    bench = make.Bench(make.dag("A; F", kinds=FINAL), Config(remove_node_jobs=False)).begin()
    bench.take("A", 1)
    bench.tell(inputs.Stop())
    began(bench)
    bench.run_node("F", F)
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_a_replay_takes_back_a_retry_whose_pre_script_ran_when_the_final_node_began() -> None:
    made = make.dag(
        "A; F",
        kinds=FINAL,
        pre={"A": "p"},
        post={"A": "q"},
        retries={"A": Retry(1, delay=60)},
    )
    bench = make.Bench(made, Config(always_run_post=True)).begin(recovering=True)
    bench.tell(make.note(Note.PRE_ENDED, "A", value=1), make.post_ended("A", 1))
    assert bench.state("A").name == "RETRY_WAIT"
    bench.tell(make.note(Note.FINAL_STARTED, "F", value=2))
    bench.tell(make.note(Note.PRE_ENDED, "A", value=-9, retry=1), make.post_ended("A", 0))
    assert bench.state("A").name == "DONE"
