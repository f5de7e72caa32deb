"""The FINAL node: it runs once, after every kind of ending; what the others do meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.timers import DRAINED_GRACE_S, FINAL_TIMEOUT_S
from condor_pydagman.vocabulary import DagStatus, EventKind, JournalRecord, NodeKind, ScriptKind
from tests import make

FINAL = {"F": NodeKind.FINAL}
F = 9  # cluster of the FINAL node's job


def began(harness: make.EngineHarness) -> make.EngineHarness:
    """Let the record that the FINAL node begins come back."""
    harness.read_back()
    return harness


def succeeded() -> make.EngineHarness:
    harness = make.harness_of("A -> B\nFINAL F n.sub")
    harness.run_node("A", 1)
    harness.run_node("B", 2)
    return harness


def failed() -> make.EngineHarness:
    harness = make.harness_of("A -> B; C\nFINAL F n.sub")
    harness.run_node("A", 1, value=1)
    harness.run_node("C", 2)
    return harness


def aborted(returns: int | None = None) -> make.EngineHarness:
    more = "" if returns is None else f"RETURN {returns}"
    harness = make.harness_of(f"A B\nFINAL F n.sub\nABORT-DAG-ON A 3 {more}")
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(make.terminated(1, value=3))
    return harness


def removed() -> make.EngineHarness:
    harness = make.harness_of("A B\nFINAL F n.sub")
    harness.run_node("A", 1)
    harness.take("B", 2)
    harness.tell(inputs.DagRemoved())
    return harness


def drained() -> make.EngineHarness:
    harness = make.harness_of("A -> B\nFINAL F n.sub")
    harness.take("A", 1)
    harness.tell(inputs.Halt())
    harness.tell(make.terminated(1))
    harness.wait(DRAINED_GRACE_S)
    return harness


def strict() -> make.EngineHarness:
    harness = make.harness_of("A -> B\nFINAL F n.sub\nSCRIPT PRE B p $WHAT")
    harness.run_node("A", 1)
    return harness


def bad_event() -> make.EngineHarness:
    harness = make.harness_of("A B\nFINAL F n.sub", Config(allow_events=0))
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(make.submit("A", 1))
    return harness


def unprovisioned() -> make.EngineHarness:
    harness = make.harness_of("A B\nPROVISIONER P n.sub\nFINAL F n.sub")
    harness.run_node("P", 1)
    return harness


def cyclic() -> make.EngineHarness:
    harness = make.harness_of("A; B -> C -> B\nFINAL F n.sub")
    harness.run_node("A", 1)
    return harness


class Case(NamedTuple):
    """A run up to the FINAL node's start, and what it comes to if the FINAL node fails."""

    run: Callable[[], make.EngineHarness]
    status: DagStatus
    rescues: int = 1  # files written before the FINAL node
    outcome: str = "failed"
    after: DagStatus | None = None  # status when the FINAL node has failed, if it is another
    spoilt: bool = False  # the end of removed jobs changes the status


CASES = {
    "success": Case(succeeded, DagStatus.OK, 0, after=DagStatus.NODE_FAILED),
    "failure": Case(failed, DagStatus.NODE_FAILED),
    "abort": Case(aborted, DagStatus.ABORT, outcome="aborted"),
    "abort return 5": Case(lambda: aborted(5), DagStatus.ABORT, outcome="aborted"),
    "abort return 0": Case(
        lambda: aborted(0), DagStatus.OK, 0, after=DagStatus.NODE_FAILED, spoilt=True
    ),
    "rm": Case(removed, DagStatus.RM),
    "halt": Case(drained, DagStatus.HALTED),
    "strict": Case(strict, DagStatus.ERROR),
    "bad event": Case(bad_event, DagStatus.ERROR),
    "provisioner": Case(unprovisioned, DagStatus.NODE_FAILED),
    "cycle": Case(cyclic, DagStatus.CYCLE),
}
every_ending = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def end_others(harness: make.EngineHarness) -> None:
    """What was removed leaves the queue."""
    for job in harness.queue():
        if job.node != "F":
            harness.tell(make.of_job(EventKind.JOB_ABORTED, job.cluster, job.proc))


@every_ending
@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("restarted", [False, True])
def test_the_final_node_decides_after_every_ending(case: Case, value: int, restarted: bool) -> None:
    harness = case.run()
    assert harness.asked(do.AppendJournalRecord)[0].record == JournalRecord.FINAL_STARTED
    assert not harness.ever(do.Exit)
    assert len(harness.ever(do.WriteRescue)) == case.rescues
    began(harness)
    assert harness.submits() == ["F"]
    assert harness.asked(do.SubmitNode)[0].dag_status is case.status
    harness.take("F", F)
    end_others(harness)
    if restarted:
        harness = harness.restart()
        assert harness.engine.run.phase is Phase.FINISHING
        assert not harness.ever(do.SubmitNode)
        assert not harness.ever(do.RemoveJobs)
        assert not harness.ever(do.WriteRescue)
    before = len(harness.ever(do.WriteRescue))
    harness.tell(make.terminated(F, value=value))
    assert harness.ever(do.Exit) == [do.Exit(0 if value == 0 else 1)]
    assert len(harness.ever(do.WriteRescue)) - before == (value != 0)
    (last,) = [publish for publish in harness.ever(do.Publish) if publish.final]
    assert last.outcome == ("success" if value == 0 else case.outcome)
    after = case.after if case.after is not None and (value or case.spoilt) else case.status
    assert harness.engine.run.shown_status is after


@every_ending
def test_the_rescue_file_comes_before_the_removal_of_jobs(case: Case) -> None:
    harness = began(case.run())
    harness.take("F", F)
    end_others(harness)
    harness.tell(make.terminated(F, value=1))
    kinds = (do.WriteRescue, do.RemoveJobs, do.Exit)
    order = [type(action) for action in harness.last if isinstance(action, kinds)]
    assert order == [do.WriteRescue, do.RemoveJobs, do.Exit]
    assert not harness.asked(do.RemoveJobs)[0].spare_services


@every_ending
def test_a_restart_before_the_final_job_is_submitted(case: Case) -> None:
    harness = began(case.run())
    other = harness.restart()
    assert other.submits() == ["F"]
    assert other.asked(do.SubmitNode)[0].dag_status is case.status
    end_others(other)
    other.run_node("F", F)
    assert other.asked(do.Exit) == [do.Exit(0)]


@every_ending
def test_a_restart_after_the_end_of_the_final_node(case: Case) -> None:
    harness = began(case.run())
    harness.take("F", F)
    end_others(harness)
    harness.log.append(make.terminated(F))  # not read any more
    other = harness.restart()
    assert other.ever(do.Exit) == [do.Exit(0)]
    assert not other.ever(do.SubmitNode)


@pytest.mark.parametrize(
    ("told", "code"),
    [(inputs.LogBroken("gone"), 2), (inputs.AppendFailed("disk full"), 1)],
)
def test_no_final_node_runs_without_a_usable_log(told: inputs.Input, code: int) -> None:
    harness = make.harness_of("A -> B\nFINAL F n.sub")
    harness.take("A", 1)
    harness.tell(told)
    assert harness.asked(do.Exit) == [do.Exit(code)]
    assert harness.state("F").name == "WAITING"
    assert not harness.asked(do.RemoveJobs)[0].spare_services


@pytest.mark.parametrize("told", [inputs.LogBroken("gone"), inputs.AppendFailed("disk full")])
def test_a_log_that_breaks_while_the_final_node_runs(told: inputs.Input) -> None:
    harness = began(failed())
    harness.take("F", F)
    harness.tell(told)
    assert harness.asked(do.Exit)[0].code in (1, 2)
    assert harness.asked(do.WriteRescue)


def test_what_the_submission_of_the_final_node_carries() -> None:
    harness = make.harness_of("""
        A -> B; C
        FINAL F n.sub
        SCRIPT PRE F p $DAG_STATUS $FAILED_COUNT
    """)
    harness.run_node("A", 1, value=1)
    harness.run_node("C", 2)
    began(harness)
    assert harness.asked(do.RunScript) == [do.RunScript(3, ScriptKind.PRE, ("p", "2", "1"))]
    harness.pre_ends("F")
    assert harness.asked(do.SubmitNode) == [do.SubmitNode(3, 0, DagStatus.NODE_FAILED, 1)]


def test_macros_of_its_pre_script_after_a_success() -> None:
    words = "p $DAG_STATUS $FAILED_COUNT $FUTILE_COUNT $DONE_COUNT $NODE_COUNT $QUEUED_COUNT"
    harness = make.harness_of(f"A B\nFINAL F n.sub\nSCRIPT PRE F {words}")
    harness.run_node("A", 1)
    harness.run_node("B", 2)
    began(harness)
    assert " ".join(harness.asked(do.RunScript)[0].words) == "p 0 0 0 2 3 0"


@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize("post", [0, 1])
def test_the_final_nodes_pre_script_fails(always: bool, post: int) -> None:
    made = make.dag("""
        A
        FINAL F n.sub
        SCRIPT PRE F p
        SCRIPT POST F q $RETURN
    """)
    harness = make.EngineHarness(made, Config(always_run_post=always)).begin()
    harness.run_node("A", 1)
    began(harness)
    harness.pre_ends("F", 5)
    if not always:
        assert harness.asked(do.Exit) == [do.Exit(1)]
        assert harness.engine.run.nodes.errors[1] == "PRE Script failed with status 5"
        return
    assert harness.asked(do.RunScript)[0].words == ("q", "-1004")
    harness.post_ends("F", post)
    assert harness.asked(do.Exit) == [do.Exit(post)]


@pytest.mark.parametrize("job", [0, 1])
@pytest.mark.parametrize("post", [0, 1])
def test_the_final_nodes_post_script_decides(job: int, post: int) -> None:
    harness = make.harness_of("A\nFINAL F n.sub\nSCRIPT POST F q")
    harness.run_node("A", 1)
    began(harness)
    harness.run_node("F", F, value=job)
    assert not harness.ever(do.Exit)
    harness.post_ends("F", post)
    assert harness.asked(do.Exit) == [do.Exit(post)]


def test_pre_skip_and_noop() -> None:
    harness = make.harness_of("""
        A
        FINAL F n.sub
        SCRIPT PRE F p
        PRE_SKIP F 5
    """)
    harness.run_node("A", 1)
    began(harness)
    harness.pre_ends("F", 5)
    assert harness.asked(do.Exit) == [do.Exit(0)]
    harness = make.harness_of("A\nFINAL F n.sub NOOP")
    harness.run_node("A", 1)
    harness.read_back()
    assert harness.asked(do.Exit) == [do.Exit(0)]
    assert len(harness.ever(do.AppendNoop)) == 1


def test_a_final_node_that_can_not_be_submitted() -> None:
    harness = began(succeeded())
    harness.happens(inputs.SubmitFailed(2, "no such file", permanent=True))
    assert harness.asked(do.Exit) == [do.Exit(1)]
    assert harness.asked(do.WriteRescue)


def test_a_final_node_of_several_procs() -> None:
    harness = began(succeeded())
    harness.take("F", F, procs=3)
    harness.tell(*(make.terminated(F, proc) for proc in (0, 2)))
    assert not harness.ever(do.Exit)
    harness.tell(make.terminated(F, 1))
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_a_dag_of_a_final_node_only() -> None:
    harness = make.harness_of("FINAL F n.sub")
    assert harness.asked(do.AppendJournalRecord)
    began(harness)
    assert harness.said("Starting final node...")
    harness.run_node("F", F)
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_the_final_node_runs_once() -> None:
    harness = began(succeeded())
    harness.tell(make.record(JournalRecord.FINAL_STARTED, "F"))  # written twice
    assert not harness.submits()
    harness.take("F", F)
    harness.tell(make.record(JournalRecord.FINAL_STARTED, "F"))
    assert harness.state("F").name == "SUBMITTED"
    harness.tell(make.terminated(F))
    assert len(harness.ever(do.SubmitNode)) == 3


def test_condor_rm_while_the_final_node_runs_ends_the_run() -> None:
    harness = began(failed())
    harness.take("F", F)
    harness.tell(inputs.DagRemoved())
    assert harness.asked(do.Exit) == [do.Exit(2)]
    assert harness.engine.run.status is DagStatus.RM
    assert not harness.asked(do.RemoveJobs)[0].spare_services


def test_condor_rm_while_it_runs_after_a_success_leaves_a_rescue_file() -> None:
    harness = began(succeeded())
    harness.take("F", F)
    harness.tell(inputs.DagRemoved())
    kinds = (do.WriteRescue, do.RemoveJobs, do.Exit)
    order = [type(action) for action in harness.last if isinstance(action, kinds)]
    assert order == [do.WriteRescue, do.RemoveJobs, do.Exit]
    assert harness.asked(do.Exit) == [do.Exit(2)]


@pytest.mark.parametrize("run", [failed, succeeded, removed])
def test_condor_rm_before_its_start_has_been_read_back(
    run: Callable[[], make.EngineHarness],
) -> None:
    harness = run()
    harness.tell(inputs.DagRemoved())
    assert harness.asked(do.Exit) == [do.Exit(2)]
    assert harness.state("F").name == "WAITING"


def test_condor_rm_while_the_rescue_file_of_an_abort_is_being_written() -> None:
    """The answer to WriteRescue may come later than other inputs."""
    harness = make.harness_of("A B\nFINAL F n.sub\nABORT-DAG-ON A 3")
    harness.take("A", 1)
    engine = harness.engine
    asked = engine.handle(make.terminated(1, value=3), harness.now)
    assert do.WriteRescue() in asked
    engine.handle(inputs.DagRemoved(), harness.now)
    engine.handle(inputs.DagRemoved(), harness.now)
    engine.handle(inputs.RescueWritten(), harness.now)
    assert engine.run.phase is Phase.FINISHING
    assert not engine.handle(inputs.RescueWritten(), harness.now)


@pytest.mark.parametrize("pause", [False, True])
def test_the_final_node_runs_though_the_dag_is_halted_or_paused(pause: bool) -> None:
    harness = make.harness_of("""
        A B
        FINAL F n.sub
        SCRIPT PRE F p
        SCRIPT POST F q
    """)
    harness.take("A", 1)
    harness.tell(inputs.Halt("tea", pause=pause))
    harness.tell(inputs.DagRemoved())
    began(harness)
    harness.pre_ends("F")
    harness.run_node("F", F)
    harness.post_ends("F")
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 1))
    harness.wait(FINAL_TIMEOUT_S)
    assert harness.ever(do.Exit) == [do.Exit(0)]


def test_all_done_while_halted() -> None:
    harness = make.harness_of("A\nFINAL F n.sub")
    harness.take("A", 1)
    harness.tell(inputs.Halt())
    harness.tell(make.terminated(1))
    began(harness)
    harness.run_node("F", F)
    assert harness.asked(do.Exit) == [do.Exit(0)]
    assert harness.engine.run.shown_status is DagStatus.HALTED
    assert not harness.ever(do.WriteRescue)


def test_a_halt_while_the_final_node_runs_changes_nothing() -> None:
    harness = began(failed())
    harness.tell(inputs.Halt())
    harness.run_node("F", F)
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_its_timeout_counts_while_nothing_else_runs() -> None:
    made = make.dag("A\nFINAL F n.sub\nTIMEOUT F RUNNING 50")
    harness = make.EngineHarness(made, Config(check_queue_interval=0)).begin()
    harness.run_node("A", 1)
    began(harness)
    harness.take("F", F)
    harness.tell(make.of_job(EventKind.EXECUTE, F))
    assert harness.engine.next_deadline() == harness.now + 50
    harness.wait(50.0)
    harness.read_back()
    assert [removal.cluster for removal in harness.asked(do.RemoveJobs)] == [F]
    harness.tell(make.of_job(EventKind.JOB_ABORTED, F))
    assert harness.asked(do.Exit) == [do.Exit(1)]


def test_the_record_of_its_start_is_written_again_if_it_is_lost() -> None:
    harness = succeeded()
    harness.wait(60.0)
    assert [record.record for record in harness.asked(do.AppendJournalRecord)] == [
        JournalRecord.FINAL_STARTED
    ]
    began(harness)
    assert harness.submits() == ["F"]


def test_a_log_of_stock_shows_the_final_node_by_its_job() -> None:
    harness = make.EngineHarness("A B\nFINAL F n.sub").begin(recovering=True)
    harness.tell(make.submit("A", 1), make.submit("B", 2), make.terminated(1, value=1))
    harness.tell(make.terminated(2), make.submit("F", F), inputs.LogCaughtUp())
    harness.tell(inputs.QueueListed(harness.queue()))
    assert harness.engine.run.phase is Phase.FINISHING
    assert not harness.ever(do.SubmitNode)
    harness.tell(make.terminated(F))
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_a_rescue_file_that_can_not_be_written_leaves_it_alone() -> None:
    harness = make.harness_of("A B\nFINAL F n.sub\nABORT-DAG-ON A 3")
    harness.rescue_error = "disk full"
    harness.take("A", 1)
    harness.tell(make.terminated(1, value=3))
    assert harness.asked(do.Exit) == [do.Exit(3, keep_lock=True)]
    assert not harness.ever(do.RemoveJobs)
    assert not harness.ever(do.AppendJournalRecord)
    other = harness.restart()  # now there is room
    assert [record.record for record in other.asked(do.AppendJournalRecord)] == [
        JournalRecord.FINAL_STARTED
    ]
    assert other.asked(do.RemoveJobs)


def test_a_rescue_file_that_can_not_be_written_after_it_failed() -> None:
    harness = began(failed())
    harness.rescue_error = "disk full"
    harness.run_node("F", F, value=1)
    assert harness.asked(do.Exit) == [do.Exit(3, keep_lock=True)]
    other = harness.restart()
    assert other.ever(do.Exit) == [do.Exit(1)]


def test_the_submission_of_the_final_node_is_tried_again() -> None:
    harness = began(succeeded())
    harness.tell(inputs.SubmitFailed(2, "busy", permanent=False))
    deadline = harness.engine.next_deadline()
    assert deadline == harness.now + 1.0
    harness.wait(1.0)
    assert harness.submits() == ["F"]


# Other nodes when the FINAL node begins and while it runs.


def busy() -> make.EngineHarness:
    """Nodes in every state when the abort comes."""
    made = make.dag("""
        Trigger -> Kid; Ready Running WithPost Retry Pre Post Unready; Running -> Unready
        FINAL F n.sub
        SCRIPT POST WithPost q $RETURN $DAG_STATUS
        SCRIPT PRE Pre p
        SCRIPT POST Post q
        RETRY Retry 2
        ABORT-DAG-ON Trigger 3
        PRIORITY Running 1
        CATEGORY Ready one
        CATEGORY Running one
        MAXJOBS one 1
    """)
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
    harness.happens(inputs.ScriptEnded(ids["Pre"], ScriptKind.PRE, -9))
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
    harness = make.harness_of("""
        A; B; C
        SERVICE S n.sub
        FINAL F n.sub
        ABORT-DAG-ON A 3
    """)
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
    harness = make.harness_of("A\nFINAL F n.sub", Config(remove_node_jobs=False))
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
    harness = make.harness_of("A B\nFINAL F n.sub\nABORT-DAG-ON A 3")
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
    harness = make.harness_of("A B\nFINAL F n.sub\nABORT-DAG-ON A 3")
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
    harness = make.harness_of("A B\nFINAL F n.sub\nABORT-DAG-ON A 3")
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
    harness = make.harness_of("A B\nFINAL F n.sub\nABORT-DAG-ON A 3")
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
    text = "A B\nFINAL F n.sub\nRETRY B 2 DELAY 100\nABORT-DAG-ON A 3"
    harness = make.harness_of(f"{text}\nSCRIPT PRE B p" if pre else text)
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
    made = make.dag("A B\nFINAL F n.sub\nABORT-DAG-ON A 3")
    harness = make.EngineHarness(made, Config(put_failed_jobs_on_hold=True)).begin()
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(make.terminated(1, value=3))
    began(harness)
    harness.tell(make.of_job(EventKind.JOB_ABORTED, 2))
    assert harness.state("B").name == "FAILED"


def test_throttles_do_not_stop_it_for_ever() -> None:
    """-MaxJobs 1, and a removed job that lingers: the FINAL node has to wait, but not longer."""
    harness = make.harness_of("A B\nFINAL F n.sub\nABORT-DAG-ON A 3", limits=Throttles(jobs=2))
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(make.terminated(1, value=3))
    began(harness)
    assert harness.submits() == ["F"]


def test_a_deferred_pre_script_of_another_node_is_forgotten() -> None:
    harness = make.harness_of("""
        A B
        FINAL F n.sub
        SCRIPT DEFER 2 30 PRE B p
        SCRIPT PRE F p
        ABORT-DAG-ON A 3
    """)
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
    harness = make.harness_of("A\nFINAL F n.sub\nSCRIPT POST A q $WHAT")
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
    harness = make.harness_of("A\nFINAL F n.sub\nSCRIPT POST A q $NOSUCH")
    harness.run_node("A", 1)
    began(harness)
    harness.run_node("F", F)
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_the_end_waits_for_no_job_that_nobody_removes() -> None:
    harness = make.harness_of("A\nFINAL F n.sub", Config(remove_node_jobs=False))
    harness.take("A", 1)
    harness.tell(inputs.DagRemoved())
    began(harness)
    harness.run_node("F", F)
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_a_replay_takes_back_a_retry_whose_pre_script_ran_when_the_final_node_began() -> None:
    made = make.dag("""
        A
        FINAL F n.sub
        SCRIPT PRE A p
        SCRIPT POST A q
        RETRY A 1 DELAY 60
    """)
    harness = make.EngineHarness(made, Config(always_run_post=True)).begin(recovering=True)
    harness.tell(make.record(JournalRecord.PRE_ENDED, "A", value=1), make.post_ended("A", 1))
    assert harness.state("A").name == "RETRY_WAIT"
    harness.tell(make.record(JournalRecord.FINAL_STARTED, "F", value=2))
    harness.tell(
        make.record(JournalRecord.PRE_ENDED, "A", value=-9, retry=1), make.post_ended("A", 0)
    )
    assert harness.state("A").name == "DONE"
