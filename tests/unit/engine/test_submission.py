"""From the ready queue to the schedd: order, throttles, and what its answers mean."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import (
    RETURN_SUBMIT_FAILED,
    DagStatus,
    EventKind,
    JournalRecord,
    ScriptKind,
)
from tests import make

TRANSIENT = inputs.SubmitFailed(0, "no schedd", permanent=False)
PERMANENT = inputs.SubmitFailed(0, "bad file", permanent=True)
LOST = inputs.SubmitFailed(0, "lost", permanent=False, unknown=True)


def test_one_submission_at_a_time_highest_priority_first() -> None:
    harness = make.EngineHarness(make.dag("A B C", priorities={"B": 2, "C": 1})).begin()
    assert harness.submits() == ["B"]
    harness.take("B", 1)
    assert harness.submits() == ["C"]
    harness.take("C", 2)
    assert harness.submits() == ["A"]
    assert harness.take("A", 3)
    assert harness.said("Just submitted 3 jobs this cycle...")


def test_what_a_submit_carries() -> None:
    harness = make.EngineHarness(make.dag("A B", retries={"B": 1})).begin()
    assert harness.asked(do.SubmitNode) == [do.SubmitNode(0, 0, DagStatus.OK, 0)]
    harness.run_node("A", 1, 1)
    harness.run_node("B", 2, 1)
    assert harness.asked(do.SubmitNode) == [do.SubmitNode(1, 1, DagStatus.NODE_FAILED, 1)]


@pytest.mark.parametrize("first", [False, True])
def test_depth_first(first: bool) -> None:
    made = make.dag("A -> D; B C")
    harness = make.EngineHarness(made, Config(submit_depth_first=first)).begin()
    order = harness.submits()
    while len(order) < 4:
        name = order[-1]
        harness.run_node(name, len(order))
        order += harness.submits() or [
            made.names[action.node] for action in harness.ever(do.SubmitNode)[len(order) :]
        ]
    assert order == (["C", "B", "A", "D"] if first else ["A", "B", "C", "D"])


@pytest.mark.parametrize("first", [False, True])
def test_a_retried_node_goes_first_if_so_configured(first: bool) -> None:
    made = make.dag("A B C", retries={"A": 1})
    harness = make.EngineHarness(made, Config(retry_node_first=first), Throttles(jobs=1)).begin()
    harness.run_node("A", 1, 1)
    assert harness.submits() == (["A"] if first else ["B"])


def test_max_jobs_counts_nodes_not_procs() -> None:
    harness = make.EngineHarness(make.dag("A B C"), limits=Throttles(jobs=2)).begin()
    harness.take("A", 1, procs=3)
    assert harness.submits() == ["B"]
    harness.take("B", 2)
    assert not harness.submits()
    harness.tell(make.terminated(2))
    assert harness.submits() == ["C"]
    assert harness.engine.report().deferrals.max_jobs == 1


def test_max_idle_counts_procs() -> None:
    harness = make.EngineHarness(make.dag("A B"), limits=Throttles(idle=2)).begin()
    harness.take("A", 1, procs=3)
    assert not harness.submits()
    harness.tell(make.of_job(EventKind.EXECUTE, 1, 0))
    assert not harness.submits()
    harness.tell(make.of_job(EventKind.EXECUTE, 1, 2))
    assert harness.submits() == ["B"]
    assert harness.engine.report().deferrals.max_idle == 1


def test_categories_hold_back_their_own_only() -> None:
    made = make.dag("A B C D", categories=dict.fromkeys("ABD", "x"), limits={"x": 1})
    harness = make.EngineHarness(made).begin()
    harness.take("A", 1)
    assert harness.submits() == ["C"]
    harness.take("C", 2)
    assert not harness.submits()
    assert harness.engine.report().deferrals.category == 2
    harness.tell(make.terminated(1))
    assert harness.submits() == ["B"]
    harness.take("B", 3)
    harness.tell(make.terminated(3))
    assert harness.submits() == ["D"]


def test_a_refused_submit_frees_its_category() -> None:
    made = make.dag("A B", categories=dict.fromkeys("AB", "x"), limits={"x": 1})
    harness = make.EngineHarness(made).begin()
    harness.tell(PERMANENT)
    assert harness.submits() == ["B"]


def test_submits_per_interval() -> None:
    harness = make.EngineHarness(
        make.dag("A B C"), limits=Throttles(submits=2, interval_s=5.0)
    ).begin()
    harness.take("A", 1)
    harness.take("B", 2)
    assert not harness.submits()
    assert harness.engine.next_deadline() == 1005.0
    harness.wait(5.0)
    assert harness.submits() == ["C"]


def test_a_permanent_failure_is_recorded_and_spares_the_retries() -> None:
    harness = make.EngineHarness(make.dag("A -> B", retries={"A": 3})).begin()
    harness.tell(PERMANENT)
    record = do.AppendJournalRecord(
        JournalRecord.SUBMIT_FAILED, 0, 0, RETURN_SUBMIT_FAILED, text="bad file"
    )
    assert harness.asked(do.AppendJournalRecord) == [record]
    assert harness.state("A").name == "SUBMIT_UNCONFIRMED"
    harness.tell(*harness.echo(harness.last))
    assert harness.states() == "A=FAILED B=FUTILE"
    assert harness.engine.run.nodes.errors[0] == "Job submit failed: bad file"
    assert harness.asked(do.Exit) == [do.Exit(1)]


def test_after_a_permanent_failure_the_post_script_decides() -> None:
    harness = make.EngineHarness(make.dag("A", post={"A": "q $RETURN $JOB_COUNT"})).begin()
    harness.tell(PERMANENT)
    harness.tell(*harness.echo(harness.last))
    words = ("q", str(RETURN_SUBMIT_FAILED), "0")
    assert harness.asked(do.RunScript) == [do.RunScript(0, ScriptKind.POST, words)]
    harness.tell(inputs.ScriptEnded(0, ScriptKind.POST, 0))
    assert harness.asked(do.AppendPostEnded) == [do.AppendPostEnded(0, -1, 0, 0, 0)]
    harness.tell(*harness.echo(harness.last))
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_a_transient_failure_is_tried_again_ever_later_then_given_up() -> None:
    harness = make.EngineHarness("A", Config(max_submit_attempts=3)).begin()
    for wait in (1.0, 2.0):
        harness.tell(TRANSIENT)
        assert harness.engine.next_deadline() == harness.now + wait
        assert not harness.submits()
        harness.wait(wait)
        assert harness.submits() == ["A"]
    harness.tell(TRANSIENT)
    assert harness.asked(do.AppendJournalRecord)
    assert harness.said("Node submit failed after 3 tries.")
    assert [line.text for line in harness.ever(do.Say) if line.test] == [
        f"Node A submit failed {tries}/3. RETRYING NODE SUBMISSION" for tries in (1, 2)
    ]


@pytest.mark.parametrize("first", [False, True])
def test_a_failed_submit_goes_to_the_front_if_so_configured(first: bool) -> None:
    harness = make.EngineHarness("A B", Config(retry_submit_first=first)).begin()
    harness.tell(TRANSIENT)
    harness.wait(1.0)
    assert harness.submits() == (["A"] if first else ["B"])


def test_a_lost_reply_asks_the_schedd_before_submitting_again() -> None:
    harness = make.EngineHarness("A").begin()
    harness.tell(LOST)
    assert harness.state("A").name == "UNKNOWN"
    harness.wait(1.0)
    assert harness.asked(do.QueryQueue) == [do.QueryQueue()]
    assert not harness.submits()
    harness.tell(inputs.QueueListed([]))
    assert harness.state("A").name == "READY"
    harness.wait(2.0)
    assert harness.submits() == ["A"]


def test_a_lost_reply_of_a_job_that_has_ended_and_whose_submit_event_is_lost_too() -> None:
    """The log tells of some cluster that it does not show; the history tells whose it is."""
    harness = make.EngineHarness("A").begin()
    harness.tell(LOST, make.terminated(5))
    harness.wait(1.0)
    assert harness.asked(do.QueryQueue) == [do.QueryQueue(history=True)]
    harness.tell(inputs.QueueListed([], [inputs.EndedJob(5, 0, "A", 0, 0)]))
    harness.read_back()
    assert harness.state("A").name == "DONE"
    assert len(harness.ever(do.SubmitNode)) == 1


def test_a_lost_reply_is_settled_by_the_log() -> None:
    harness = make.EngineHarness("A").begin()
    harness.tell(LOST, make.submit("A", 5), make.terminated(5))
    assert harness.asked(do.Exit) == [do.Exit(0)]
    assert len(harness.ever(do.SubmitNode)) == 1


@pytest.mark.parametrize("failure", [TRANSIENT, PERMANENT, LOST])
def test_a_failure_told_after_the_log_showed_the_job_is_ignored(
    failure: inputs.SubmitFailed,
) -> None:
    harness = make.EngineHarness("A").begin()
    harness.tell(make.submit("A", 5), failure)
    assert harness.state("A").name == "SUBMITTED"
    harness.tell(make.terminated(5))
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_a_reply_after_the_end_of_the_job_starts_nothing() -> None:
    harness = make.EngineHarness(make.dag("A", retries={"A": 1})).begin()
    harness.tell(make.submit("A", 5), make.terminated(5, value=1))
    assert not harness.submits()  # one at a time: the first has not been answered
    harness.tell(inputs.Submitted(0, 5, 1))
    assert harness.submits() == ["A"]
    assert harness.engine.run.job_table.submitted == 1


def test_a_reply_makes_the_procs_known_that_the_log_has_not_shown() -> None:
    harness = make.EngineHarness("A").begin()
    harness.tell(inputs.Submitted(0, 5, 2), make.submit("A", 5, 0), make.terminated(5, 0))
    assert harness.state("A").name == "SUBMITTED"
    harness.tell(make.submit("A", 5, 1), make.terminated(5, 1))
    assert harness.state("A").name == "DONE"


def test_a_noop_node_is_written_into_the_log_and_never_submitted() -> None:
    harness = make.EngineHarness(make.dag("A -> B; C", noop="A C")).begin()
    assert harness.asked(do.AppendNoop) == [do.AppendNoop(0, 1), do.AppendNoop(2, 2)]
    harness.tell(*harness.echo(harness.last))
    assert harness.states() == "A=DONE B=SUBMITTING C=DONE"
    assert harness.submits() == ["B"]


def test_a_noop_node_with_scripts_and_retry() -> None:
    made = make.dag("A", noop="A", pre={"A": "p"}, post={"A": "q"}, retries={"A": 1})
    harness = make.EngineHarness(made).begin()
    for status in (1, 0):
        harness.pre_ends("A")
        harness.tell(*harness.echo(harness.last))
        assert harness.asked(do.RunScript)[0].kind is ScriptKind.POST
        harness.post_ends("A", status)
    assert harness.asked(do.Exit) == [do.Exit(0)]
    subprocs = [action.subproc for action in harness.ever(do.AppendPostEnded)]
    assert subprocs == [1, 2]


# A long row: the next node is handed over before the reply.


def in_a_row(
    dag: Dag | str = "A B C D E F G", limits: Throttles | None = None
) -> make.EngineHarness:
    """The schedd has taken four nodes."""
    harness = make.EngineHarness(dag, limits=limits).begin()
    for cluster, name in enumerate("ABCD", 1):
        assert harness.submits() == [name]
        harness.take(name, cluster)
    return harness


def test_in_a_long_row_two_are_in_flight() -> None:
    harness = in_a_row()
    assert harness.submits() == ["E", "F"]
    harness.take("E", 5)
    assert harness.submits() == ["G"]


def test_what_is_said_of_a_long_row_is_in_the_order_of_one_at_a_time() -> None:
    harness = in_a_row()
    harness.tell(inputs.Submitted(4, 5, 1))
    harness.tell(inputs.Submitted(5, 6, 1))
    said = [say.text for say in harness.ever(do.Say)]
    lines = [text for text in said if text.startswith(("Submitting", "\tassigned"))]
    using = "from file n.sub using direct job submission"
    first = lines.index("Submitting HTCondor Node E job(s)...")
    assert lines[first : first + 7] == [
        "Submitting HTCondor Node E job(s)...",
        f"Submitting node E {using}",
        "\tassigned HTCondor ID (5.0.0)",
        "Submitting HTCondor Node F job(s)...",
        f"Submitting node F {using}",
        "\tassigned HTCondor ID (6.0.0)",
        "Submitting HTCondor Node G job(s)...",
    ]


@pytest.mark.parametrize(
    "limits", [Throttles(idle=5), Throttles(jobs=5), Throttles(submits=5, interval_s=1000.0)]
)
def test_what_is_in_flight_counts_for_the_throttles(limits: Throttles) -> None:
    harness = in_a_row(limits=limits)
    assert harness.submits() == ["E"]
    harness.take("E", 5)
    assert not harness.submits()


def test_a_delay_between_submits_leaves_one_in_flight() -> None:
    harness = make.EngineHarness("A B C D E F", Config(submit_delay=1)).begin()
    for cluster, name in enumerate("ABCDE", 1):
        assert harness.submits() == [name]
        harness.take(name, cluster)
        assert not harness.submits()
        harness.wait(1.0)


def test_a_node_of_another_kind_follows_alone() -> None:
    harness = in_a_row(make.dag("A B C D E F G", noop="F"))
    assert harness.submits() == ["E"]
    harness.tell(inputs.Submitted(4, 5, 1))
    assert harness.submits() == ["G"]


def test_behind_a_failed_submit_nothing_more_is_handed_over() -> None:
    harness = in_a_row()
    harness.tell(TRANSIENT._replace(node=4))
    assert not harness.submits()
    harness.take("F", 6)
    assert not harness.submits()
    harness.wait(1.0)
    assert harness.submits() == ["E", "G"]


def test_a_node_that_is_to_run_again_waits_for_the_reply_to_its_first_run() -> None:
    """The log is quicker than the reply."""
    harness = in_a_row(make.dag("A B C D E", retries={"E": 1}))
    assert harness.submits() == ["E"]
    harness.tell(make.submit("E", 5), make.terminated(5, value=1))
    assert harness.state("E").name == "READY"
    assert not harness.submits()
    harness.tell(inputs.Submitted(4, 5, 1))
    assert harness.submits() == ["E"]
