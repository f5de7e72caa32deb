"""From the ready queue to the schedd: order, throttles, and what its answers mean."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.vocabulary import (
    RETURN_SUBMIT_FAILED,
    DagStatus,
    EventKind,
    Note,
    ScriptKind,
)
from tests import make

TRANSIENT = inputs.SubmitFailed(0, "no schedd", permanent=False)
PERMANENT = inputs.SubmitFailed(0, "bad file", permanent=True)
LOST = inputs.SubmitFailed(0, "lost", permanent=False, unknown=True)


def test_one_submission_at_a_time_highest_priority_first() -> None:
    bench = make.Bench(make.dag("A B C", priorities={"B": 2, "C": 1})).begin()
    assert bench.submits() == ["B"]
    bench.take("B", 1)
    assert bench.submits() == ["C"]
    bench.take("C", 2)
    assert bench.submits() == ["A"]
    assert bench.take("A", 3)
    assert bench.said("Just submitted 3 jobs this cycle...")


def test_what_a_submit_carries() -> None:
    bench = make.Bench(make.dag("A B", retries={"B": 1})).begin()
    assert bench.asked(do.SubmitNode) == [do.SubmitNode(0, 0, DagStatus.OK, 0)]
    bench.run_node("A", 1, 1)
    bench.run_node("B", 2, 1)
    assert bench.asked(do.SubmitNode) == [do.SubmitNode(1, 1, DagStatus.NODE_FAILED, 1)]


@pytest.mark.parametrize("first", [False, True])
def test_depth_first(first: bool) -> None:
    made = make.dag("A -> D; B C")
    bench = make.Bench(made, Config(submit_depth_first=first)).begin()
    order = bench.submits()
    while len(order) < 4:
        name = order[-1]
        bench.run_node(name, len(order))
        order += bench.submits() or [
            made.names[action.node] for action in bench.ever(do.SubmitNode)[len(order) :]
        ]
    assert order == (["C", "B", "A", "D"] if first else ["A", "B", "C", "D"])


@pytest.mark.parametrize("first", [False, True])
def test_a_retried_node_goes_first_if_so_configured(first: bool) -> None:
    made = make.dag("A B C", retries={"A": 1})
    bench = make.Bench(made, Config(retry_node_first=first), Throttles(jobs=1)).begin()
    bench.run_node("A", 1, 1)
    assert bench.submits() == (["A"] if first else ["B"])


def test_max_jobs_counts_nodes_not_procs() -> None:
    bench = make.Bench(make.dag("A B C"), limits=Throttles(jobs=2)).begin()
    bench.take("A", 1, procs=3)
    assert bench.submits() == ["B"]
    bench.take("B", 2)
    assert not bench.submits()
    bench.tell(make.terminated(2))
    assert bench.submits() == ["C"]
    assert bench.engine.report().deferrals.max_jobs == 1


def test_max_idle_counts_procs() -> None:
    bench = make.Bench(make.dag("A B"), limits=Throttles(idle=2)).begin()
    bench.take("A", 1, procs=3)
    assert not bench.submits()
    bench.tell(make.of_job(EventKind.EXECUTE, 1, 0))
    assert not bench.submits()
    bench.tell(make.of_job(EventKind.EXECUTE, 1, 2))
    assert bench.submits() == ["B"]
    assert bench.engine.report().deferrals.max_idle == 1


def test_categories_hold_back_their_own_only() -> None:
    made = make.dag("A B C D", categories=dict.fromkeys("ABD", "x"), limits={"x": 1})
    bench = make.Bench(made).begin()
    bench.take("A", 1)
    assert bench.submits() == ["C"]
    bench.take("C", 2)
    assert not bench.submits()
    assert bench.engine.report().deferrals.category == 2
    bench.tell(make.terminated(1))
    assert bench.submits() == ["B"]
    bench.take("B", 3)
    bench.tell(make.terminated(3))
    assert bench.submits() == ["D"]


def test_a_refused_submit_frees_its_category() -> None:
    made = make.dag("A B", categories=dict.fromkeys("AB", "x"), limits={"x": 1})
    bench = make.Bench(made).begin()
    bench.tell(PERMANENT)
    assert bench.submits() == ["B"]


def test_submits_per_interval() -> None:
    bench = make.Bench(make.dag("A B C"), limits=Throttles(submits=2, interval=5.0)).begin()
    bench.take("A", 1)
    bench.take("B", 2)
    assert not bench.submits()
    assert bench.engine.next_deadline() == 1005.0
    bench.wait(5.0)
    assert bench.submits() == ["C"]


def test_a_permanent_failure_is_noted_and_spares_the_retries() -> None:
    bench = make.Bench(make.dag("A -> B", retries={"A": 3})).begin()
    bench.tell(PERMANENT)
    note = do.AppendNote(Note.SUBMIT_FAILED, 0, 0, RETURN_SUBMIT_FAILED, text="bad file")
    assert bench.asked(do.AppendNote) == [note]
    assert bench.state("A").name == "SUBMIT_NOTED"
    bench.tell(*bench.echo(bench.last))
    assert bench.states() == "A=FAILED B=FUTILE"
    assert bench.engine.nodes.errors[0] == "Job submit failed: bad file"
    assert bench.asked(do.Exit) == [do.Exit(1)]


def test_after_a_permanent_failure_the_post_script_decides() -> None:
    bench = make.Bench(make.dag("A", post={"A": "q $RETURN $JOB_COUNT"})).begin()
    bench.tell(PERMANENT)
    bench.tell(*bench.echo(bench.last))
    words = ("q", str(RETURN_SUBMIT_FAILED), "0")
    assert bench.asked(do.RunScript) == [do.RunScript(0, ScriptKind.POST, words)]
    bench.tell(inputs.ScriptEnded(0, ScriptKind.POST, 0))
    assert bench.asked(do.AppendPostEnded) == [do.AppendPostEnded(0, -1, 0, 0, 0)]
    bench.tell(*bench.echo(bench.last))
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_a_transient_failure_is_tried_again_ever_later_then_given_up() -> None:
    bench = make.Bench("A", Config(max_submit_attempts=3)).begin()
    for wait in (1.0, 2.0):
        bench.tell(TRANSIENT)
        assert bench.engine.next_deadline() == bench.now + wait
        assert not bench.submits()
        bench.wait(wait)
        assert bench.submits() == ["A"]
    bench.tell(TRANSIENT)
    assert bench.asked(do.AppendNote)
    assert bench.said("Node submit failed after 3 tries.")
    assert [line.text for line in bench.ever(do.Say) if line.test] == [
        f"Node A submit failed {tries}/3. RETRYING NODE SUBMISSION" for tries in (1, 2)
    ]


@pytest.mark.parametrize("first", [False, True])
def test_a_failed_submit_goes_to_the_front_if_so_configured(first: bool) -> None:
    bench = make.Bench("A B", Config(retry_submit_first=first)).begin()
    bench.tell(TRANSIENT)
    bench.wait(1.0)
    assert bench.submits() == (["A"] if first else ["B"])


def test_a_lost_reply_asks_the_schedd_before_submitting_again() -> None:
    bench = make.Bench("A").begin()
    bench.tell(LOST)
    assert bench.state("A").name == "UNKNOWN"
    bench.wait(1.0)
    assert bench.asked(do.QueryQueue) == [do.QueryQueue()]
    assert not bench.submits()
    bench.tell(inputs.QueueListed([]))
    assert bench.state("A").name == "READY"
    bench.wait(2.0)
    assert bench.submits() == ["A"]


def test_a_lost_reply_of_a_job_that_has_ended_and_whose_submit_event_is_lost_too() -> None:
    """The log tells of some cluster that it does not show; the history tells whose it is."""
    bench = make.Bench("A").begin()
    bench.tell(LOST, make.terminated(5))
    bench.wait(1.0)
    assert bench.asked(do.QueryQueue) == [do.QueryQueue(history=True)]
    bench.tell(inputs.QueueListed([], [inputs.EndedJob(5, 0, "A", 0, 0)]))
    bench.read_back()
    assert bench.state("A").name == "DONE"
    assert len(bench.ever(do.SubmitNode)) == 1


def test_a_lost_reply_is_settled_by_the_log() -> None:
    bench = make.Bench("A").begin()
    bench.tell(LOST, make.submit("A", 5), make.terminated(5))
    assert bench.asked(do.Exit) == [do.Exit(0)]
    assert len(bench.ever(do.SubmitNode)) == 1


@pytest.mark.parametrize("failure", [TRANSIENT, PERMANENT, LOST])
def test_a_failure_told_after_the_log_showed_the_job_is_ignored(
    failure: inputs.SubmitFailed,
) -> None:
    bench = make.Bench("A").begin()
    bench.tell(make.submit("A", 5), failure)
    assert bench.state("A").name == "SUBMITTED"
    bench.tell(make.terminated(5))
    assert bench.asked(do.Exit) == [do.Exit(0)]


def test_a_reply_after_the_end_of_the_job_starts_nothing() -> None:
    bench = make.Bench(make.dag("A", retries={"A": 1})).begin()
    bench.tell(make.submit("A", 5), make.terminated(5, value=1))
    assert not bench.submits()  # one at a time: the first has not been answered
    bench.tell(inputs.Submitted(0, 5, 1))
    assert bench.submits() == ["A"]
    assert bench.engine.book.submitted == 1


def test_a_reply_makes_the_procs_known_that_the_log_has_not_shown() -> None:
    bench = make.Bench("A").begin()
    bench.tell(inputs.Submitted(0, 5, 2), make.submit("A", 5, 0), make.terminated(5, 0))
    assert bench.state("A").name == "SUBMITTED"
    bench.tell(make.submit("A", 5, 1), make.terminated(5, 1))
    assert bench.state("A").name == "DONE"


def test_a_noop_node_is_written_into_the_log_and_never_submitted() -> None:
    bench = make.Bench(make.dag("A -> B; C", noop="A C")).begin()
    assert bench.asked(do.AppendNoop) == [do.AppendNoop(0, 1), do.AppendNoop(2, 2)]
    bench.tell(*bench.echo(bench.last))
    assert bench.states() == "A=DONE B=SUBMITTING C=DONE"
    assert bench.submits() == ["B"]


def test_a_noop_node_with_scripts_and_retry() -> None:
    made = make.dag("A", noop="A", pre={"A": "p"}, post={"A": "q"}, retries={"A": 1})
    bench = make.Bench(made).begin()
    for status in (1, 0):
        bench.pre_ends("A")
        bench.tell(*bench.echo(bench.last))
        assert bench.asked(do.RunScript)[0].kind is ScriptKind.POST
        bench.post_ends("A", status)
    assert bench.asked(do.Exit) == [do.Exit(0)]
    subprocs = [action.subproc for action in bench.ever(do.AppendPostEnded)]
    assert subprocs == [1, 2]
