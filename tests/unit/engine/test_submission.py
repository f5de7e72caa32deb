"""From the ready queue to the schedd: order, throttles, what its answers mean, and a dry run."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.queues import ReadyQueue
from condor_pydagman.engine.state import Mode
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.steering.run import PriorityWanted
from condor_pydagman.features.steering.steer_commands import NodeCommand
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import (
    RETURN_SUBMIT_FAILED,
    DagStatus,
    EventKind,
    JournalRecord,
    NodeKind,
    ScriptKind,
)
from tests import make
from tests.unit.engine.steered import Steered, steered

TRANSIENT = inputs.SubmitFailed(0, "no schedd", permanent=False)
PERMANENT = inputs.SubmitFailed(0, "bad file", permanent=True)
LOST = inputs.SubmitFailed(0, "lost", permanent=False, unknown=True)


def test_one_submission_at_a_time_highest_priority_first() -> None:
    harness = make.harness_of("A B C\nPRIORITY B 2\nPRIORITY C 1")
    assert harness.submits() == ["B"]
    harness.take("B", 1)
    assert harness.submits() == ["C"]
    harness.take("C", 2)
    assert harness.submits() == ["A"]
    assert harness.take("A", 3)
    assert harness.said("Just submitted 3 jobs this cycle...")


def test_what_a_submit_carries() -> None:
    harness = make.harness_of("A B\nRETRY B 1")
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
    harness = make.harness_of("A B C\nRETRY A 1", Config(retry_node_first=first), Throttles(jobs=1))
    harness.run_node("A", 1, 1)
    assert harness.submits() == (["A"] if first else ["B"])


def test_max_jobs_counts_nodes_not_procs() -> None:
    harness = make.harness_of("A B C", limits=Throttles(jobs=2))
    harness.take("A", 1, procs=3)
    assert harness.submits() == ["B"]
    harness.take("B", 2)
    assert not harness.submits()
    harness.tell(make.terminated(2))
    assert harness.submits() == ["C"]
    assert harness.engine.report().deferrals.max_jobs == 1


def test_max_idle_counts_procs() -> None:
    harness = make.harness_of("A B", limits=Throttles(idle=2))
    harness.take("A", 1, procs=3)
    assert not harness.submits()
    harness.tell(make.of_job(EventKind.EXECUTE, 1, 0))
    assert not harness.submits()
    harness.tell(make.of_job(EventKind.EXECUTE, 1, 2))
    assert harness.submits() == ["B"]
    assert harness.engine.report().deferrals.max_idle == 1


def test_categories_hold_back_their_own_only() -> None:
    harness = make.harness_of("""
        A B C D
        CATEGORY A x
        CATEGORY B x
        CATEGORY D x
        MAXJOBS x 1
    """)
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
    harness = make.harness_of("A B\nCATEGORY ALL_NODES x\nMAXJOBS x 1")
    harness.tell(PERMANENT)
    assert harness.submits() == ["B"]


def test_submits_per_interval() -> None:
    harness = make.harness_of("A B C", limits=Throttles(submits=2, interval_s=5.0))
    harness.take("A", 1)
    harness.take("B", 2)
    assert not harness.submits()
    assert harness.engine.next_deadline() == 1005.0
    harness.wait(5.0)
    assert harness.submits() == ["C"]


def test_a_permanent_failure_is_recorded_and_spares_the_retries() -> None:
    harness = make.harness_of("A -> B\nRETRY A 3")
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
    harness = make.harness_of("A\nSCRIPT POST A q $RETURN $JOB_COUNT")
    harness.tell(PERMANENT)
    harness.tell(*harness.echo(harness.last))
    words = ("q", str(RETURN_SUBMIT_FAILED), "0")
    assert harness.asked(do.RunScript) == [do.RunScript(0, ScriptKind.POST, words)]
    harness.tell(inputs.ScriptEnded(0, ScriptKind.POST, 0))
    assert harness.asked(do.AppendPostEnded) == [do.AppendPostEnded(0, -1, 0, 0, 0)]
    harness.tell(*harness.echo(harness.last))
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_a_transient_failure_is_tried_again_ever_later_then_given_up() -> None:
    harness = make.harness_of("A", Config(max_submit_attempts=3))
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


def test_a_full_queue_is_no_fault_of_the_node() -> None:
    """It waits as for -MaxJobs, however long; it is told once, and tried soon when jobs end."""
    harness = make.harness_of("A B D -> C", Config(max_submit_attempts=2))
    harness.take("A", 5)
    full = inputs.SubmitFailed(1, "no room", permanent=False, full=True)
    waits = []
    for _ in range(9):
        harness.tell(full)
        assert harness.state("B").name == "READY"
        waits.append(harness.engine.next_deadline() - harness.now)
        harness.wait(waits[-1])
        assert harness.submits() == ["B"]
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    harness.tell(full)
    harness.happens(make.terminated(5, 0))
    assert harness.engine.next_deadline() == harness.now + 1
    harness.wait(1.0)
    harness.take("B", 6)
    harness.tell(full._replace(node=2))  # at a steady limit, for each job that ends
    harness.happens(make.terminated(6, 0))
    harness.wait(1.0)
    harness.take("D", 7)
    assert [line.text for line in harness.ever(do.Say) if "queue of the schedd" in line.text] == [
        "The queue of the schedd is full, nodes wait for room: no room",
        "The queue of the schedd has room again",
    ]
    assert not harness.engine.run.submission.attempts


def test_another_fault_behind_a_full_queue_has_its_own_back_off() -> None:
    harness = make.harness_of("A", Config(max_submit_attempts=9))
    harness.tell(inputs.SubmitFailed(0, "no room", permanent=False, full=True))
    waits = []
    for _ in range(4):
        harness.wait(harness.engine.next_deadline() - harness.now)
        harness.tell(TRANSIENT)
        waits.append(harness.engine.next_deadline() - harness.now)
    assert waits == [2, 4, 8, 16]
    harness.wait(16)
    harness.take("A", 5)
    assert harness.said("The queue of the schedd has room again")


@pytest.mark.parametrize("first", [False, True])
def test_a_failed_submit_goes_to_the_front_if_so_configured(first: bool) -> None:
    harness = make.harness_of("A B", Config(retry_submit_first=first))
    harness.tell(TRANSIENT)
    harness.wait(1.0)
    assert harness.submits() == (["A"] if first else ["B"])


def test_a_lost_reply_asks_the_schedd_before_submitting_again() -> None:
    harness = make.harness_of("A")
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
    harness = make.harness_of("A")
    harness.tell(LOST, make.terminated(5))
    harness.wait(1.0)
    assert harness.asked(do.QueryQueue) == [do.QueryQueue(history=True)]
    harness.happens(inputs.QueueListed([], [inputs.EndedJob(5, 0, "A", 0, 0)]))
    assert harness.state("A").name == "DONE"
    assert len(harness.ever(do.SubmitNode)) == 1


def test_a_lost_reply_is_settled_by_the_log() -> None:
    harness = make.harness_of("A")
    harness.tell(LOST, make.submit("A", 5), make.terminated(5))
    assert harness.asked(do.Exit) == [do.Exit(0)]
    assert len(harness.ever(do.SubmitNode)) == 1


@pytest.mark.parametrize("failure", [TRANSIENT, PERMANENT, LOST])
def test_a_failure_told_after_the_log_showed_the_job_is_ignored(
    failure: inputs.SubmitFailed,
) -> None:
    harness = make.harness_of("A")
    harness.tell(make.submit("A", 5), failure)
    assert harness.state("A").name == "SUBMITTED"
    harness.tell(make.terminated(5))
    assert harness.asked(do.Exit) == [do.Exit(0)]


def test_a_reply_after_the_end_of_the_job_starts_nothing() -> None:
    harness = make.harness_of("A\nRETRY A 1")
    harness.tell(make.submit("A", 5), make.terminated(5, value=1))
    assert not harness.submits()  # one at a time: the first has not been answered
    harness.tell(inputs.Submitted(0, 5, 1))
    assert harness.submits() == ["A"]
    assert harness.engine.run.job_table.submitted == 1


def test_a_reply_makes_the_procs_known_that_the_log_has_not_shown() -> None:
    harness = make.harness_of("A")
    harness.tell(inputs.Submitted(0, 5, 2), make.submit("A", 5, 0), make.terminated(5, 0))
    assert harness.state("A").name == "SUBMITTED"
    harness.tell(make.submit("A", 5, 1), make.terminated(5, 1))
    assert harness.state("A").name == "DONE"


def test_a_noop_node_is_written_into_the_log_and_never_submitted() -> None:
    harness = make.harness_of("A -> B\nJOB A n.sub NOOP\nJOB C n.sub NOOP")
    assert harness.asked(do.AppendNoop) == [do.AppendNoop(0, 1), do.AppendNoop(2, 2)]
    harness.tell(*harness.echo(harness.last))
    assert harness.states() == "A=DONE B=SUBMITTING C=DONE"
    assert harness.submits() == ["B"]


def test_a_noop_node_with_scripts_and_retry() -> None:
    harness = make.harness_of("""
        JOB A n.sub NOOP
        SCRIPT PRE A p
        SCRIPT POST A q
        RETRY A 1
    """)
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
    harness = make.harness_of("A B C D E F", Config(submit_delay=1))
    for cluster, name in enumerate("ABCDE", 1):
        assert harness.submits() == [name]
        harness.take(name, cluster)
        assert not harness.submits()
        harness.wait(1.0)


def test_a_node_of_another_kind_follows_alone() -> None:
    harness = in_a_row(make.dag("A B C D E F G\nJOB F n.sub NOOP"))
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
    harness = in_a_row(make.dag("A B C D E\nRETRY E 1"))
    assert harness.submits() == ["E"]
    harness.tell(make.submit("E", 5), make.terminated(5, value=1))
    assert harness.state("E").name == "READY"
    assert not harness.submits()
    harness.tell(inputs.Submitted(4, 5, 1))
    assert harness.submits() == ["E"]


# Order of the ready queue.


def drain(queue: ReadyQueue) -> list[int]:
    order = []
    while (node := queue.pop()) is not None:
        order.append(node)
    return order


def test_first_come_first_served_among_equals() -> None:
    queue = ReadyQueue()
    for node in (3, 1, 2):
        queue.add(node, 0)
    assert drain(queue) == [3, 1, 2]


def test_higher_priority_first_negative_last() -> None:
    queue = ReadyQueue()
    for node, priority in ((1, 0), (2, -1), (3, 5), (4, 0)):
        queue.add(node, priority)
    assert drain(queue) == [3, 1, 4, 2]


def test_prepended_nodes_go_first_last_come_first_but_not_over_priority() -> None:
    queue = ReadyQueue()
    queue.add(1, 0)
    queue.add(2, 0, first=True)
    queue.add(3, 0, first=True)
    queue.add(4, 1)
    assert drain(queue) == [4, 3, 2, 1]


def test_a_discarded_node_never_comes_and_may_come_back() -> None:
    queue = ReadyQueue()
    queue.add(1, 0)
    queue.add(2, 0)
    queue.discard(1)
    queue.discard(9)
    assert 1 not in queue
    assert len(queue) == 1
    queue.add(1, 0)
    assert drain(queue) == [2, 1]


def test_a_node_is_queued_once() -> None:
    queue = ReadyQueue()
    queue.add(1, 0)
    with pytest.raises(AssertionError):
        queue.add(1, 0)


def test_what_left_early_does_not_pile_up(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = ReadyQueue()
    monkeypatch.setattr(ReadyQueue, "MIN_COMPACT_LENGTH", 20)
    most = 0
    for node in range(500):  # a replay: every node is ready, then its submit event comes
        queue.add(node, node % 3)
        queue.discard(node)
        most = max(most, len(queue._heap))
    assert most <= 21


def test_those_that_stay_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    queue = ReadyQueue()
    monkeypatch.setattr(ReadyQueue, "MIN_COMPACT_LENGTH", 20)
    for node in range(100):
        queue.add(node, node % 3)
    for node in range(100):
        if node % 10:
            queue.discard(node)
    assert len(queue._heap) <= 2 * len(queue) + 1
    assert drain(queue) == [20, 50, 80, 10, 40, 70, 0, 30, 60, 90]


# The priority of the whole DAG: of nodes, of jobs in the queue, and behind a restart.


SET_7 = '{"priority":7}'


def of_priority_2() -> Steered:
    dag = make.dag("""
        A B -> C
        PRIORITY A 3
        PRIORITY B 2
        PRIORITY C 2
    """)
    dag.priority = 2
    return steered(dag)


def test_jobs_and_nodes_get_it_on_top_of_their_own() -> None:
    harness = of_priority_2()
    harness.take("A", 1)
    harness.take("B", 2)
    harness.tell(PriorityWanted(10, "ann"))
    assert harness.asked(do.PublishPriority) == [do.PublishPriority(10)]
    found = sorted(harness.asked(do.SetJobPriorities))
    assert found == [
        do.SetJobPriorities(10, ((2, -1),)),
        do.SetJobPriorities(11, ((1, -1),)),
    ]
    assert harness.engine.report().priority == 10
    harness.ask(NodeCommand.SET, "C", SET_7)
    assert harness.engine.run.priority(2) == 17


def test_a_job_that_is_being_submitted_gets_it_when_its_number_is_known() -> None:
    harness = of_priority_2()
    harness.tell(PriorityWanted(0, "ann"))
    assert harness.asked(do.SetJobPriorities) == []
    harness.take("A", 1)
    assert do.SetJobPriorities(1, ((1, -1),)) in harness.asked(do.SetJobPriorities)


def test_a_restarted_dagman_tells_all_jobs_once_more() -> None:
    harness = of_priority_2()
    harness.take("A", 1)
    harness.tell(PriorityWanted(10, "ann"))
    other = harness.replay()
    other.tell(PriorityWanted(10, restored=True))
    assert other.asked(do.PublishPriority) == []
    other.tell(inputs.LogCaughtUp())
    assert other.engine.run.features["steering"].priorities.unsure == {0}


# -DryRun: PRE scripts run, jobs and POST scripts do not, and nothing is kept of it.


def dry(dag: Dag, config: Config | None = None) -> make.EngineHarness:
    harness = make.EngineHarness(dag, config)
    harness.engine.run.mode = Mode.DRY_RUN
    return harness.begin()


def exit_code(harness: make.EngineHarness) -> int:
    (end,) = harness.ever(do.Exit)
    return end.code


def processed(harness: make.EngineHarness) -> list[str]:
    start = "Processing node: "
    said = (say.text for say in harness.ever(do.Say))
    return [text[len(start) :] for text in said if text.startswith(start)]


def test_all_nodes_are_done_in_one_go() -> None:
    harness = dry(make.dag("A -> B C; B C -> D\nJOB C n.sub NOOP\nSCRIPT POST A post"))
    assert processed(harness) == ["A", "B", "C", "D"]
    assert (
        not harness.ever(do.SubmitNode) + harness.ever(do.AppendNoop) + harness.ever(do.RunScript)
    )
    assert harness.said("Just submitted 4 jobs this cycle...")
    assert harness.said("All jobs Completed!")
    assert exit_code(harness) == 0


def test_a_long_chain_needs_no_stack() -> None:
    chain = "; ".join(f"N{n} -> N{n + 1}" for n in range(3000))
    harness = make.EngineHarness(chain)
    harness.engine.check = None
    harness.engine.run.mode = Mode.DRY_RUN
    harness.begin()
    assert len(processed(harness)) == 3001


def test_pre_scripts_run_and_decide() -> None:
    harness = dry(
        make.dag("""
            A -> B
            SCRIPT PRE A pre
            SCRIPT POST A post
            RETRY A 1
        """)
    )
    assert processed(harness) == []
    harness.pre_ends("A", 1)
    assert harness.said("Retrying node A")
    harness.pre_ends("A", 0)
    assert processed(harness) == ["A", "B"]
    assert [action.kind for action in harness.ever(do.RunScript)] == [ScriptKind.PRE] * 2
    assert exit_code(harness) == 0


def test_a_failure_leaves_no_rescue_file_since_no_job_has_run() -> None:
    harness = dry(make.dag("A -> B; C\nSCRIPT PRE A pre"))
    harness.pre_ends("A", 1)
    assert exit_code(harness) == 1
    assert harness.states() == "A=FAILED B=FUTILE C=DONE"
    assert not harness.ever(do.WriteRescue)


def test_a_post_script_after_a_failed_pre_script_runs() -> None:
    made = make.dag("A -> B\nSCRIPT PRE A pre\nSCRIPT POST A post")
    harness = dry(made, Config(always_run_post=True))
    harness.pre_ends("A", 1)
    harness.post_ends("A", 0)
    assert processed(harness) == ["B"]
    assert exit_code(harness) == 0


def test_no_save_files() -> None:
    harness = dry(make.dag("A -> B\nSAVE_POINT_FILE B b.save"))
    assert processed(harness) == ["A", "B"]
    assert not harness.ever(do.WriteSavePoint)


def test_throttles_and_categories_let_everybody_through() -> None:
    harness = dry(make.dag("A B C\nCATEGORY ALL_NODES x\nMAXJOBS x 1"))
    assert sorted(processed(harness)) == ["A", "B", "C"]
    assert exit_code(harness) == 0


@pytest.mark.parametrize("kind", [NodeKind.PROVISIONER, NodeKind.SERVICE, NodeKind.FINAL])
def test_special_nodes_are_done_like_others(kind: NodeKind) -> None:
    harness = dry(make.dag(f"A -> B\n{kind.name} S n.sub"))
    harness.read_back()
    assert sorted(processed(harness)) == ["A", "B", "S"]
    if kind is NodeKind.PROVISIONER:
        assert processed(harness)[0] == "S"
    if kind is NodeKind.FINAL:
        assert processed(harness)[-1] == "S"
    assert exit_code(harness) == 0


def test_abort_by_a_pre_script_with_a_final_node() -> None:
    made = make.dag("""
        A -> B
        FINAL F n.sub
        SCRIPT PRE A pre
        ABORT-DAG-ON A 3 RETURN 7
    """)
    harness = dry(made)
    harness.pre_ends("A", 3)
    harness.read_back()
    assert processed(harness) == ["F"]
    assert exit_code(harness) == 0
    assert not harness.ever(do.WriteRescue)
