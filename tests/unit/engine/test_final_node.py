"""The FINAL node: it runs once, after every kind of ending, and decides how the run does."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.final_node import PATIENCE
from condor_pydagman.engine.halting import GRACE
from condor_pydagman.graph.model import Timeout
from condor_pydagman.vocabulary import DagStatus, EventKind, NodeKind, Note, ScriptKind
from tests import make

FINAL = {"F": NodeKind.FINAL}
F = 9  # cluster of the FINAL node's job


def began(bench: make.Bench) -> make.Bench:
    """Let the note that the FINAL node begins come back."""
    bench.read_back()
    return bench


def succeeded() -> make.Bench:
    bench = make.Bench(make.dag("A -> B; F", kinds=FINAL)).begin()
    bench.run_node("A", 1)
    bench.run_node("B", 2)
    return bench


def failed() -> make.Bench:
    bench = make.Bench(make.dag("A -> B; C; F", kinds=FINAL)).begin()
    bench.run_node("A", 1, value=1)
    bench.run_node("C", 2)
    return bench


def aborted(returns: int | None = None) -> make.Bench:
    abort = 3 if returns is None else (3, returns)
    bench = make.Bench(make.dag("A B; F", kinds=FINAL, aborts={"A": abort})).begin()
    bench.take("A", 1)
    bench.take("B", 2)
    bench.tell(make.terminated(1, value=3))
    return bench


def removed() -> make.Bench:
    bench = make.Bench(make.dag("A B; F", kinds=FINAL)).begin()
    bench.run_node("A", 1)
    bench.take("B", 2)
    bench.tell(inputs.Stop())
    return bench


def drained() -> make.Bench:
    bench = make.Bench(make.dag("A -> B; F", kinds=FINAL)).begin()
    bench.take("A", 1)
    bench.tell(inputs.Halt())
    bench.tell(make.terminated(1))
    bench.wait(GRACE)
    return bench


def strict() -> make.Bench:
    bench = make.Bench(make.dag("A -> B; F", kinds=FINAL, pre={"B": "p $WHAT"})).begin()
    bench.run_node("A", 1)
    return bench


def bad_event() -> make.Bench:
    bench = make.Bench(make.dag("A B; F", kinds=FINAL), Config(allow_events=0)).begin()
    bench.take("A", 1)
    bench.take("B", 2)
    bench.tell(make.submit("A", 1))
    return bench


def unprovisioned() -> make.Bench:
    kinds = {**FINAL, "P": NodeKind.PROVISIONER}
    bench = make.Bench(make.dag("A B; P; F", kinds=kinds)).begin()
    bench.run_node("P", 1)
    return bench


def cyclic() -> make.Bench:
    bench = make.Bench(make.dag("A; B -> C -> B; F", kinds=FINAL)).begin()
    bench.run_node("A", 1)
    return bench


class Case(NamedTuple):
    """A run up to the FINAL node's start, and what it comes to if the FINAL node fails."""

    run: Callable[[], make.Bench]
    status: DagStatus
    rescues: int = 1  # files written before the FINAL node
    note: str = "failed"
    after: DagStatus | None = None  # status when the FINAL node has failed, if it is another
    spoilt: bool = False  # the end of removed jobs changes the status


CASES = {
    "success": Case(succeeded, DagStatus.OK, 0, after=DagStatus.NODE_FAILED),
    "failure": Case(failed, DagStatus.NODE_FAILED),
    "abort": Case(aborted, DagStatus.ABORT, note="aborted"),
    "abort return 5": Case(lambda: aborted(5), DagStatus.ABORT, note="aborted"),
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


def end_others(bench: make.Bench) -> None:
    """What was removed leaves the queue."""
    for job in bench.queue():
        if job.node != "F":
            bench.tell(make.of_job(EventKind.JOB_ABORTED, job.cluster, job.proc))


@every_ending
@pytest.mark.parametrize("value", [0, 1])
@pytest.mark.parametrize("restarted", [False, True])
def test_it_decides_after_every_ending(case: Case, value: int, restarted: bool) -> None:
    bench = case.run()
    assert bench.asked(do.AppendNote)[0].note is Note.FINAL_STARTED
    assert not bench.ever(do.Exit)
    assert len(bench.ever(do.WriteRescue)) == case.rescues
    began(bench)
    assert bench.submits() == ["F"]
    assert bench.asked(do.SubmitNode)[0].dag_status is case.status
    bench.take("F", F)
    end_others(bench)
    if restarted:
        bench = bench.restart()
        assert bench.engine.phase is Phase.FINISHING
        assert not bench.ever(do.SubmitNode)
        assert not bench.ever(do.RemoveJobs)
        assert not bench.ever(do.WriteRescue)
    before = len(bench.ever(do.WriteRescue))
    bench.tell(make.terminated(F, value=value))
    assert bench.ever(do.Exit) == [do.Exit(0 if value == 0 else 1)]
    assert len(bench.ever(do.WriteRescue)) - before == (value != 0)
    (last,) = [publish for publish in bench.ever(do.Publish) if publish.final]
    assert last.note == ("success" if value == 0 else case.note)
    after = case.after if case.after is not None and (value or case.spoilt) else case.status
    assert bench.engine.shown_status is after


@every_ending
def test_its_rescue_file_is_written_before_its_jobs_are_removed(case: Case) -> None:
    bench = began(case.run())
    bench.take("F", F)
    end_others(bench)
    bench.tell(make.terminated(F, value=1))
    kinds = (do.WriteRescue, do.RemoveJobs, do.Exit)
    order = [type(action) for action in bench.last if isinstance(action, kinds)]
    assert order == [do.WriteRescue, do.RemoveJobs, do.Exit]
    assert not bench.asked(do.RemoveJobs)[0].spare_services


@every_ending
def test_a_restart_before_its_job_is_submitted(case: Case) -> None:
    bench = began(case.run())
    other = bench.restart()
    assert other.submits() == ["F"]
    assert other.asked(do.SubmitNode)[0].dag_status is case.status
    end_others(other)
    other.run_node("F", F)
    assert other.asked(do.Exit) == [do.Exit(0)]


@every_ending
def test_a_restart_after_its_end(case: Case) -> None:
    bench = began(case.run())
    bench.take("F", F)
    end_others(bench)
    bench.log.append(make.terminated(F))  # not read any more
    other = bench.restart()
    assert other.ever(do.Exit) == [do.Exit(0)]
    assert not other.ever(do.SubmitNode)


@pytest.mark.parametrize(
    ("told", "code"),
    [(inputs.LogBroken("gone"), 2), (inputs.AppendFailed("disk full"), 1)],
)
def test_endings_that_leave_no_log_to_run_it_by(told: inputs.Input, code: int) -> None:
    bench = make.Bench(make.dag("A -> B; F", kinds=FINAL)).begin()
    bench.take("A", 1)
    bench.tell(told)
    assert bench.asked(do.Exit) == [do.Exit(code)]
    assert bench.state("F").name == "WAITING"
    assert not bench.asked(do.RemoveJobs)[0].spare_services


@pytest.mark.parametrize("told", [inputs.LogBroken("gone"), inputs.AppendFailed("disk full")])
def test_a_log_that_breaks_while_it_runs(told: inputs.Input) -> None:
    bench = began(failed())
    bench.take("F", F)
    bench.tell(told)
    assert bench.asked(do.Exit)[0].code in (1, 2)
    assert bench.asked(do.WriteRescue)


def test_what_its_submission_is_told() -> None:
    made = make.dag("A -> B; C; F", kinds=FINAL, pre={"F": "p $DAG_STATUS $FAILED_COUNT"})
    bench = make.Bench(made).begin()
    bench.run_node("A", 1, value=1)
    bench.run_node("C", 2)
    began(bench)
    assert bench.asked(do.RunScript) == [do.RunScript(3, ScriptKind.PRE, ("p", "2", "1"))]
    bench.pre_ends("F")
    assert bench.asked(do.SubmitNode) == [do.SubmitNode(3, 0, DagStatus.NODE_FAILED, 1)]


def test_macros_of_its_pre_script_after_a_success() -> None:
    words = "p $DAG_STATUS $FAILED_COUNT $FUTILE_COUNT $DONE_COUNT $NODE_COUNT $QUEUED_COUNT"
    bench = make.Bench(make.dag("A B; F", kinds=FINAL, pre={"F": words})).begin()
    bench.run_node("A", 1)
    bench.run_node("B", 2)
    began(bench)
    assert " ".join(bench.asked(do.RunScript)[0].words) == "p 0 0 0 2 3 0"


@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize("post", [0, 1])
def test_its_pre_script_fails(always: bool, post: int) -> None:
    made = make.dag("A; F", kinds=FINAL, pre={"F": "p"}, post={"F": "q $RETURN"})
    bench = make.Bench(made, Config(always_run_post=always)).begin()
    bench.run_node("A", 1)
    began(bench)
    bench.pre_ends("F", 5)
    if not always:
        assert bench.asked(do.Exit) == [do.Exit(1)]
        assert bench.engine.nodes.errors[1] == "PRE Script failed with status 5"
        return
    assert bench.asked(do.RunScript)[0].words == ("q", "-1004")
    bench.post_ends("F", post)
    assert bench.asked(do.Exit) == [do.Exit(post)]


@pytest.mark.parametrize("job", [0, 1])
@pytest.mark.parametrize("post", [0, 1])
def test_its_post_script_decides(job: int, post: int) -> None:
    bench = make.Bench(make.dag("A; F", kinds=FINAL, post={"F": "q"})).begin()
    bench.run_node("A", 1)
    began(bench)
    bench.run_node("F", F, value=job)
    assert not bench.ever(do.Exit)
    bench.post_ends("F", post)
    assert bench.asked(do.Exit) == [do.Exit(post)]


def test_pre_skip_and_noop() -> None:
    made = make.dag("A; F", kinds=FINAL, pre={"F": "p"}, pre_skips={"F": 5})
    bench = make.Bench(made).begin()
    bench.run_node("A", 1)
    began(bench)
    bench.pre_ends("F", 5)
    assert bench.asked(do.Exit) == [do.Exit(0)]
    bench = make.Bench(make.dag("A; F", kinds=FINAL, noop="F")).begin()
    bench.run_node("A", 1)
    bench.read_back()
    assert bench.asked(do.Exit) == [do.Exit(0)]
    assert len(bench.ever(do.AppendNoop)) == 1


def test_it_can_not_be_submitted() -> None:
    bench = began(succeeded())
    bench.tell(inputs.SubmitFailed(2, "no such file", permanent=True))
    bench.read_back()
    assert bench.asked(do.Exit) == [do.Exit(1)]
    assert bench.asked(do.WriteRescue)


def test_several_procs_in_it() -> None:
    bench = began(succeeded())
    bench.take("F", F, procs=3)
    bench.tell(*(make.terminated(F, proc) for proc in (0, 2)))
    assert not bench.ever(do.Exit)
    bench.tell(make.terminated(F, 1))
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_a_dag_of_nothing_else() -> None:
    bench = make.Bench(make.dag("F", kinds=FINAL)).begin()
    assert bench.asked(do.AppendNote)
    began(bench)
    assert bench.said("Starting final node...")
    bench.run_node("F", F)
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_it_runs_once() -> None:
    bench = began(succeeded())
    bench.tell(make.note(Note.FINAL_STARTED, "F"))  # written twice
    assert not bench.submits()
    bench.take("F", F)
    bench.tell(make.note(Note.FINAL_STARTED, "F"))
    assert bench.state("F").name == "SUBMITTED"
    bench.tell(make.terminated(F))
    assert len(bench.ever(do.SubmitNode)) == 3


def test_condor_rm_while_it_runs_ends_the_run() -> None:
    bench = began(failed())
    bench.take("F", F)
    bench.tell(inputs.Stop())
    assert bench.asked(do.Exit) == [do.Exit(2)]
    assert bench.engine.status is DagStatus.RM
    assert not bench.asked(do.RemoveJobs)[0].spare_services


def test_condor_rm_while_it_runs_after_a_success_leaves_a_rescue_file() -> None:
    bench = began(succeeded())
    bench.take("F", F)
    bench.tell(inputs.Stop())
    kinds = (do.WriteRescue, do.RemoveJobs, do.Exit)
    order = [type(action) for action in bench.last if isinstance(action, kinds)]
    assert order == [do.WriteRescue, do.RemoveJobs, do.Exit]
    assert bench.asked(do.Exit) == [do.Exit(2)]


@pytest.mark.parametrize("run", [failed, succeeded, removed])
def test_condor_rm_before_its_start_has_been_read_back(run: Callable[[], make.Bench]) -> None:
    bench = run()
    bench.tell(inputs.Stop())
    assert bench.asked(do.Exit) == [do.Exit(2)]
    assert bench.state("F").name == "WAITING"


def test_condor_rm_while_the_rescue_file_of_an_abort_is_being_written() -> None:
    """The answer to WriteRescue may come later than other inputs."""
    bench = make.Bench(make.dag("A B; F", kinds=FINAL, aborts={"A": 3})).begin()
    bench.take("A", 1)
    engine = bench.engine
    asked = engine.handle(make.terminated(1, value=3), bench.now)
    assert do.WriteRescue() in asked
    engine.handle(inputs.Stop(), bench.now)
    engine.handle(inputs.Stop(), bench.now)
    engine.handle(inputs.RescueWritten(), bench.now)
    assert engine.phase is Phase.FINISHING
    assert not engine.handle(inputs.RescueWritten(), bench.now)


@pytest.mark.parametrize("pause", [False, True])
def test_it_runs_though_the_dag_is_halted_or_paused(pause: bool) -> None:
    made = make.dag("A B; F", kinds=FINAL, pre={"F": "p"}, post={"F": "q"})
    bench = make.Bench(made).begin()
    bench.take("A", 1)
    bench.tell(inputs.Halt("tea", pause=pause))
    bench.tell(inputs.Stop())
    began(bench)
    bench.pre_ends("F")
    bench.run_node("F", F)
    bench.post_ends("F")
    bench.tell(make.of_job(EventKind.JOB_ABORTED, 1))
    bench.wait(PATIENCE)
    assert bench.ever(do.Exit) == [do.Exit(0)]


def test_all_done_while_halted() -> None:
    bench = make.Bench(make.dag("A; F", kinds=FINAL)).begin()
    bench.take("A", 1)
    bench.tell(inputs.Halt())
    bench.tell(make.terminated(1))
    began(bench)
    bench.run_node("F", F)
    assert bench.asked(do.Exit) == [do.Exit(0)]
    assert bench.engine.shown_status is DagStatus.HALTED
    assert not bench.ever(do.WriteRescue)


def test_a_halt_while_it_runs_changes_nothing() -> None:
    bench = began(failed())
    bench.tell(inputs.Halt())
    bench.run_node("F", F)
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_its_timeout_counts_while_nothing_else_runs() -> None:
    made = make.dag("A; F", kinds=FINAL, timeouts={"F": Timeout(running=50)})
    bench = make.Bench(made, Config(check_queue_interval=0)).begin()
    bench.run_node("A", 1)
    began(bench)
    bench.take("F", F)
    bench.tell(make.of_job(EventKind.EXECUTE, F))
    assert bench.engine.next_deadline() == bench.now + 50
    bench.wait(50.0)
    bench.read_back()
    assert [removal.cluster for removal in bench.asked(do.RemoveJobs)] == [F]
    bench.tell(make.of_job(EventKind.JOB_ABORTED, F))
    assert bench.asked(do.Exit) == [do.Exit(1)]


def test_its_note_is_written_again_if_it_is_lost() -> None:
    bench = succeeded()
    bench.wait(60.0)
    assert [note.note for note in bench.asked(do.AppendNote)] == [Note.FINAL_STARTED]
    began(bench)
    assert bench.submits() == ["F"]


def test_a_log_of_stock_shows_it_by_its_job() -> None:
    bench = make.Bench(make.dag("A B; F", kinds=FINAL)).begin(recovering=True)
    bench.tell(make.submit("A", 1), make.submit("B", 2), make.terminated(1, value=1))
    bench.tell(make.terminated(2), make.submit("F", F), inputs.LogCaughtUp())
    bench.tell(inputs.QueueListed(bench.queue()))
    assert bench.engine.phase is Phase.FINISHING
    assert not bench.ever(do.SubmitNode)
    bench.tell(make.terminated(F))
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_a_rescue_file_that_can_not_be_written_leaves_it_alone() -> None:
    bench = make.Bench(make.dag("A B; F", kinds=FINAL, aborts={"A": 3})).begin()
    bench.rescue_error = "disk full"
    bench.take("A", 1)
    bench.tell(make.terminated(1, value=3))
    assert bench.asked(do.Exit) == [do.Exit(3, keep_lock=True)]
    assert not bench.ever(do.RemoveJobs)
    assert not bench.ever(do.AppendNote)
    other = bench.restart()  # now there is room
    assert [note.note for note in other.asked(do.AppendNote)] == [Note.FINAL_STARTED]
    assert other.asked(do.RemoveJobs)


def test_a_rescue_file_that_can_not_be_written_after_it_failed() -> None:
    bench = began(failed())
    bench.rescue_error = "disk full"
    bench.run_node("F", F, value=1)
    assert bench.asked(do.Exit) == [do.Exit(3, keep_lock=True)]
    other = bench.restart()
    assert other.ever(do.Exit) == [do.Exit(1)]


def test_its_submission_is_tried_again() -> None:
    bench = began(succeeded())
    bench.tell(inputs.SubmitFailed(2, "busy", permanent=False))
    deadline = bench.engine.next_deadline()
    assert deadline == bench.now + 1.0
    bench.wait(1.0)
    assert bench.submits() == ["F"]
