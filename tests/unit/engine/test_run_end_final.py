"""The FINAL node: it runs once, after every kind of ending, and decides how the run does."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.operator import DRAINED_GRACE_S
from condor_pydagman.engine.run_end import FINAL_TIMEOUT_S
from condor_pydagman.graph.model import Timeout
from condor_pydagman.vocabulary import DagStatus, EventKind, JournalRecord, NodeKind, ScriptKind
from tests import make

FINAL = {"F": NodeKind.FINAL}
F = 9  # cluster of the FINAL node's job


def began(harness: make.EngineHarness) -> make.EngineHarness:
    """Let the record that the FINAL node begins come back."""
    harness.read_back()
    return harness


def succeeded() -> make.EngineHarness:
    harness = make.EngineHarness(make.dag("A -> B; F", kinds=FINAL)).begin()
    harness.run_node("A", 1)
    harness.run_node("B", 2)
    return harness


def failed() -> make.EngineHarness:
    harness = make.EngineHarness(make.dag("A -> B; C; F", kinds=FINAL)).begin()
    harness.run_node("A", 1, value=1)
    harness.run_node("C", 2)
    return harness


def aborted(returns: int | None = None) -> make.EngineHarness:
    abort = 3 if returns is None else (3, returns)
    harness = make.EngineHarness(make.dag("A B; F", kinds=FINAL, aborts={"A": abort})).begin()
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(make.terminated(1, value=3))
    return harness


def removed() -> make.EngineHarness:
    harness = make.EngineHarness(make.dag("A B; F", kinds=FINAL)).begin()
    harness.run_node("A", 1)
    harness.take("B", 2)
    harness.tell(inputs.DagRemoved())
    return harness


def drained() -> make.EngineHarness:
    harness = make.EngineHarness(make.dag("A -> B; F", kinds=FINAL)).begin()
    harness.take("A", 1)
    harness.tell(inputs.Halt())
    harness.tell(make.terminated(1))
    harness.wait(DRAINED_GRACE_S)
    return harness


def strict() -> make.EngineHarness:
    harness = make.EngineHarness(make.dag("A -> B; F", kinds=FINAL, pre={"B": "p $WHAT"})).begin()
    harness.run_node("A", 1)
    return harness


def bad_event() -> make.EngineHarness:
    harness = make.EngineHarness(make.dag("A B; F", kinds=FINAL), Config(allow_events=0)).begin()
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(make.submit("A", 1))
    return harness


def unprovisioned() -> make.EngineHarness:
    kinds = {**FINAL, "P": NodeKind.PROVISIONER}
    harness = make.EngineHarness(make.dag("A B; P; F", kinds=kinds)).begin()
    harness.run_node("P", 1)
    return harness


def cyclic() -> make.EngineHarness:
    harness = make.EngineHarness(make.dag("A; B -> C -> B; F", kinds=FINAL)).begin()
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
    assert harness.asked(do.AppendJournalRecord)[0].record is JournalRecord.FINAL_STARTED
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
    harness = make.EngineHarness(make.dag("A -> B; F", kinds=FINAL)).begin()
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
    made = make.dag("A -> B; C; F", kinds=FINAL, pre={"F": "p $DAG_STATUS $FAILED_COUNT"})
    harness = make.EngineHarness(made).begin()
    harness.run_node("A", 1, value=1)
    harness.run_node("C", 2)
    began(harness)
    assert harness.asked(do.RunScript) == [do.RunScript(3, ScriptKind.PRE, ("p", "2", "1"))]
    harness.pre_ends("F")
    assert harness.asked(do.SubmitNode) == [do.SubmitNode(3, 0, DagStatus.NODE_FAILED, 1)]


def test_macros_of_its_pre_script_after_a_success() -> None:
    words = "p $DAG_STATUS $FAILED_COUNT $FUTILE_COUNT $DONE_COUNT $NODE_COUNT $QUEUED_COUNT"
    harness = make.EngineHarness(make.dag("A B; F", kinds=FINAL, pre={"F": words})).begin()
    harness.run_node("A", 1)
    harness.run_node("B", 2)
    began(harness)
    assert " ".join(harness.asked(do.RunScript)[0].words) == "p 0 0 0 2 3 0"


@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize("post", [0, 1])
def test_the_final_nodes_pre_script_fails(always: bool, post: int) -> None:
    made = make.dag("A; F", kinds=FINAL, pre={"F": "p"}, post={"F": "q $RETURN"})
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
    harness = make.EngineHarness(make.dag("A; F", kinds=FINAL, post={"F": "q"})).begin()
    harness.run_node("A", 1)
    began(harness)
    harness.run_node("F", F, value=job)
    assert not harness.ever(do.Exit)
    harness.post_ends("F", post)
    assert harness.asked(do.Exit) == [do.Exit(post)]


def test_pre_skip_and_noop() -> None:
    made = make.dag("A; F", kinds=FINAL, pre={"F": "p"}, pre_skips={"F": 5})
    harness = make.EngineHarness(made).begin()
    harness.run_node("A", 1)
    began(harness)
    harness.pre_ends("F", 5)
    assert harness.asked(do.Exit) == [do.Exit(0)]
    harness = make.EngineHarness(make.dag("A; F", kinds=FINAL, noop="F")).begin()
    harness.run_node("A", 1)
    harness.read_back()
    assert harness.asked(do.Exit) == [do.Exit(0)]
    assert len(harness.ever(do.AppendNoop)) == 1


def test_a_final_node_that_can_not_be_submitted() -> None:
    harness = began(succeeded())
    harness.tell(inputs.SubmitFailed(2, "no such file", permanent=True))
    harness.read_back()
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
    harness = make.EngineHarness(make.dag("F", kinds=FINAL)).begin()
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
    harness = make.EngineHarness(make.dag("A B; F", kinds=FINAL, aborts={"A": 3})).begin()
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
    made = make.dag("A B; F", kinds=FINAL, pre={"F": "p"}, post={"F": "q"})
    harness = make.EngineHarness(made).begin()
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
    harness = make.EngineHarness(make.dag("A; F", kinds=FINAL)).begin()
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
    made = make.dag("A; F", kinds=FINAL, timeouts={"F": Timeout(running=50)})
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
    harness = make.EngineHarness(make.dag("A B; F", kinds=FINAL)).begin(recovering=True)
    harness.tell(make.submit("A", 1), make.submit("B", 2), make.terminated(1, value=1))
    harness.tell(make.terminated(2), make.submit("F", F), inputs.LogCaughtUp())
    harness.tell(inputs.QueueListed(harness.queue()))
    assert harness.engine.run.phase is Phase.FINISHING
    assert not harness.ever(do.SubmitNode)
    harness.tell(make.terminated(F))
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_a_rescue_file_that_can_not_be_written_leaves_it_alone() -> None:
    harness = make.EngineHarness(make.dag("A B; F", kinds=FINAL, aborts={"A": 3})).begin()
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
