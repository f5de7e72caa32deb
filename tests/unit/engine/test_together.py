"""Nodes submitted together: procs of one cluster (PYDAGMAN_MAX_NODES_IN_CLUSTER)."""

from __future__ import annotations

import pytest

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import EndedJob, QueuedJob, QueueListed
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.timers import CONFIRM_LOST_S
from condor_pydagman.vocabulary import ALL_PROCS, EventKind, JournalRecord
from tests import make

BAG = "A; B; C; D"


def bag(
    of: str = BAG,
    throttles: Throttles | None = None,
    *,
    most: int = 1000,
    submit_delay: int = 0,
    commands: str = "",
) -> make.EngineHarness:
    """A DAG whose first node, A, has been taken as cluster 4; the reply says that its submit file
    can be shared."""
    config = make.quiet(max_nodes_in_cluster=most, submit_delay=submit_delay)
    harness = make.harness_of(f"{of}\n{commands}", config, throttles)
    reply = inputs.Submitted(harness.dag.ids["A"], 4, 1, shareable=True)
    harness.tell(reply, make.submit("A", 4))
    return harness


def together(harness: make.EngineHarness) -> list[str]:
    """Names of the nodes that the last input had submitted together."""
    return [
        harness.dag.names[one.node]
        for action in harness.asked(do.SubmitTogether)
        for one in action.nodes
    ]


def taken() -> make.EngineHarness:
    """B, C and D are procs 0, 1 and 2 of cluster 5."""
    harness = bag()
    harness.take_together(5)
    return harness


# What is submitted together.


def test_the_nodes_after_the_first_are_submitted_together() -> None:
    harness = bag()
    assert together(harness) == ["B", "C", "D"]
    assert harness.states() == "A=SUBMITTED B=SUBMITTING C=SUBMITTING D=SUBMITTING"
    assert not harness.submits()


def test_by_default_no_node_is() -> None:
    assert Config().max_nodes_in_cluster == 1
    harness = bag(most=1)
    assert harness.submits() == ["B"]
    assert not harness.ever(do.SubmitTogether)


def test_not_before_a_reply_says_that_the_file_can_be_shared() -> None:
    harness = make.harness_of(BAG, make.quiet(max_nodes_in_cluster=9))
    assert harness.submits() == ["A"]
    harness.tell(inputs.Submitted(0, 4, 1))
    assert harness.submits() == ["B"]


def test_no_more_than_the_knob_says() -> None:
    assert together(bag(most=2)) == ["B", "C"]


@pytest.mark.parametrize(
    ("limits", "names"),
    [
        (Throttles(jobs=3), ["B", "C"]),
        (Throttles(idle=3), ["B", "C"]),
        (Throttles(submits=3), ["B", "C"]),
        (Throttles(submits=3, own_pace=True), ["B", "C", "D"]),
        (Throttles(jobs=2), []),
    ],
)
def test_no_more_than_a_throttle_allows(limits: Throttles, names: list[str]) -> None:
    harness = bag(throttles=limits)
    assert (together(harness) or harness.submits()) == (names or ["B"])


def test_categories_count_every_node() -> None:
    harness = bag(
        commands="""
            CATEGORY B x
            CATEGORY C x
            CATEGORY D x
            MAXJOBS x 2
        """
    )
    assert together(harness) == ["B", "C"]
    harness.take_together(5)
    assert harness.states().endswith("D=READY")
    harness.tell(make.terminated(5, 1))
    assert harness.submits() == ["D"]


def test_the_order_is_that_of_the_ready_queue() -> None:
    harness = bag(commands="PRIORITY A 9\nPRIORITY C 2\nPRIORITY D 1")
    assert together(harness) == ["C", "D", "B"]


def test_another_submit_file_ends_the_row() -> None:
    made = make.dag(BAG)
    made.submits[made.ids["C"]] = "other.sub"
    harness = make.EngineHarness(made, make.quiet(max_nodes_in_cluster=9)).begin()
    harness.tell(inputs.Submitted(0, 4, 1, shareable=True))
    assert harness.submits() == ["B"]


def test_another_directory_ends_the_row() -> None:
    made = make.dag(BAG)
    made.directories[made.ids["D"]] = "/elsewhere"
    harness = make.EngineHarness(made, make.quiet(max_nodes_in_cluster=9)).begin()
    harness.tell(inputs.Submitted(0, 4, 1, shareable=True))
    assert together(harness) == ["B", "C"]


def test_a_noop_is_not_submitted_together() -> None:
    assert together(bag(commands="JOB D n.sub NOOP")) == ["B", "C"]


def test_dagman_submit_delay_keeps_nodes_apart() -> None:
    harness = bag(submit_delay=1)
    harness.wait(1.0)
    assert harness.submits() == ["B"]


def test_nothing_else_is_submitted_before_all_replies() -> None:
    harness = bag(most=2)
    harness.tell(inputs.Submitted(1, 5, 1, 0, shareable=True))
    assert not harness.submits()
    harness.tell(inputs.Submitted(2, 5, 1, 1, shareable=True))
    assert harness.submits() == ["D"]


# Which job is whose.


def test_each_node_has_its_proc() -> None:
    harness = taken()
    assert [harness.engine.run.job_table.node_of(5, proc) for proc in range(4)] == [1, 2, 3, None]
    harness.tell(make.terminated(5, 1))
    assert harness.states() == "A=SUBMITTED B=SUBMITTED C=DONE D=SUBMITTED"
    harness.tell(make.terminated(5, 0, value=3), make.terminated(5, 2), make.terminated(4))
    assert harness.states() == "A=DONE B=FAILED C=DONE D=DONE"
    assert harness.said("Node C job proc (5.1.0) completed successfully.")


def test_the_log_alone_tells_the_same() -> None:
    harness = taken()
    harness.tell(make.of_job(EventKind.EXECUTE, 5, 1), make.terminated(5, 2))
    other = harness.restart()
    assert other.states() == "A=SUBMITTED B=SUBMITTED C=SUBMITTED D=DONE"
    assert other.live_procs() == harness.live_procs() == {"A": {0: 3}, "B": {0: 3}, "C": {1: 1}}


def test_the_log_may_be_quicker_than_the_replies() -> None:
    harness = bag()
    events = [make.submit(name, 5, proc, shared=True) for proc, name in enumerate("BCD")]
    harness.tell(*events, make.terminated(5, 1))
    assert harness.state("C") is State.DONE
    harness.tell(*(inputs.Submitted(node, 5, 1, node - 1, shareable=True) for node in (1, 2, 3)))
    assert harness.states() == "A=SUBMITTED B=SUBMITTED C=DONE D=SUBMITTED"
    assert not harness.engine.run.submission.in_flight


def test_the_submit_event_of_a_late_proc_expects_no_earlier_ones() -> None:
    harness = make.EngineHarness(BAG, make.QUIET).begin(recovering=True)
    harness.tell(make.submit("D", 5, 2, shared=True))
    assert harness.live_procs() == {"D": {2: 3}}


@pytest.mark.parametrize("cut", ["B", "C", "D", "BC", "BD", "CD", "BCD"])
def test_a_submit_event_that_was_cut_short_takes_no_job_of_other_nodes(cut: str) -> None:
    """A full disk may leave the node's name in it, but not that it shares its cluster."""
    harness = make.EngineHarness(BAG, make.QUIET).begin(recovering=True)
    for proc, name in enumerate("BCD"):
        harness.tell(make.submit(name, 5, proc, shared=name not in cut))
    assert harness.live_procs() == {"B": {0: 3}, "C": {1: 3}, "D": {2: 3}}
    harness.tell(make.terminated(5, 1, value=3), make.terminated(5, 2))
    assert harness.states() == "A=READY B=SUBMITTED C=FAILED D=DONE"
    table = harness.engine.run.job_table
    assert (table.submitted, table.completed, table.idle) == (3, 2, 1)
    harness.tell(make.terminated(5))
    assert harness.states() == "A=READY B=DONE C=FAILED D=DONE"


def test_a_submit_event_that_was_cut_short_and_the_next_lost() -> None:
    """Until the record that another node's job was adopted, the node seems to have that proc."""
    harness = make.EngineHarness(BAG, make.QUIET).begin(recovering=True)
    harness.tell(make.submit("B", 5), make.terminated(5, 1), inputs.LogCaughtUp())
    found = [QueuedJob(5, 0, "B", 0, shared=True)]
    harness.happens(QueueListed(found, [EndedJob(5, 1, "C", 0, 0, shared=True)]))
    assert harness.states() == "A=SUBMITTING B=SUBMITTED C=DONE D=READY"
    table = harness.engine.run.job_table
    assert (table.submitted, table.completed) == (2, 1)
    assert harness.replay().state("C") is State.DONE


def test_an_event_before_the_submit_event_waits_for_it() -> None:
    harness = make.EngineHarness(BAG, make.QUIET).begin(recovering=True)
    harness.tell(
        make.submit("B", 5, 0, shared=True),
        make.terminated(5, 1),
        make.submit("D", 5, 2, shared=True),
        make.submit("C", 5, 1, shared=True),
    )
    assert harness.states() == "A=READY B=SUBMITTED C=DONE D=SUBMITTED"


def test_a_retry_gets_another_cluster() -> None:
    harness = bag(commands="RETRY C 1")
    harness.take_together(5)
    harness.tell(make.terminated(5, 1, value=1))
    assert harness.submits() == ["C"]
    harness.tell(make.submit("C", 5, 1, shared=True))  # a late double
    harness.take("C", 6)
    harness.tell(make.terminated(6))
    assert harness.states() == "A=SUBMITTED B=SUBMITTED C=DONE D=SUBMITTED"


def test_job_ids_have_the_proc() -> None:
    harness = bag(commands="SCRIPT POST C post $JOBID")
    harness.take_together(5)
    harness.tell(make.terminated(5, 1), make.terminated(5, 2))
    (script,) = harness.ever(do.RunScript)
    assert script.words == ("post", "5.1")
    harness.post_ends("C")
    assert (do.AppendPostEnded(2, 5, 1, 0, 0)) in harness.ever(do.AppendPostEnded)
    assert harness.state("C") is State.DONE
    jobs = {report.node: report.job for report in harness.engine.node_reports()}
    assert (jobs[2], jobs[3]) == ("5.1.0", "5.2.0")


# Removals.


def test_a_timeout_removes_the_proc_alone() -> None:
    harness = bag(commands="TIMEOUT C RUNNING 30")
    harness.take_together(5)
    harness.tell(make.of_job(EventKind.EXECUTE, 5, 1))
    harness.wait(31.0)
    harness.read_back()
    (removal,) = harness.ever(do.RemoveJobs)
    assert (removal.cluster, removal.proc) == (5, 1)
    harness.tell(inputs.RemoveFailed(5, "busy", 1))
    harness.wait(20.0)
    assert [(again.cluster, again.proc) for again in harness.asked(do.RemoveJobs)] == [(5, 1)]


def test_jobs_of_a_cluster_of_its_own_are_removed_whole() -> None:
    harness = make.harness_of("A\nTIMEOUT A RUNNING 30", make.QUIET, procs=2)
    harness.tell(make.of_job(EventKind.EXECUTE, 5, 1))
    harness.wait(31.0)
    harness.read_back()
    (removal,) = harness.ever(do.RemoveJobs)
    assert (removal.cluster, removal.proc) == (5, ALL_PROCS)


# Not together after all.


def test_a_refused_cluster_is_taken_apart() -> None:
    harness = bag("A; " + "; ".join(f"N{number}" for number in range(20)))
    names = together(harness)
    assert len(names) == 20
    nodes = [harness.dag.ids[name] for name in names]
    harness.tell(inputs.NotTogether(nodes, 2, "one of them is bad"))
    assert together(harness) == ["N0", "N1"]
    assert harness.said("20 nodes can't be submitted together, trying at most 2: one of them")
    harness.tell(inputs.NotTogether(nodes[:2], 0, "one of them is bad"))
    assert harness.submits() == ["N0"]
    harness.happens(inputs.SubmitFailed(nodes[0], "bad", permanent=True))
    assert harness.state("N0") is State.FAILED


def test_more_are_tried_again_after_a_success() -> None:
    harness = bag("A; " + "; ".join(f"N{number}" for number in range(20)))
    nodes = [harness.dag.ids[name] for name in together(harness)]
    harness.tell(inputs.NotTogether(nodes, 1, "one of them is bad"))
    sizes = []
    for cluster in range(10, 14):
        for name in harness.submits():
            sizes.append(1)
            harness.tell(inputs.Submitted(harness.dag.ids[name], cluster, 1, shareable=True))
        if harness.asked(do.SubmitTogether):
            sizes.append(len(together(harness)))
            harness.take_together(cluster)
    assert sizes[:4] == [1, 2, 4, 8]


def test_what_did_not_fit_is_submitted_next_in_its_order() -> None:
    harness = bag()
    harness.tell(
        inputs.Submitted(1, 5, 1, 0, shareable=True),
        inputs.Submitted(2, 5, 1, 1, shareable=True),
        inputs.NotTogether([3], 2),
    )
    assert harness.submits() == ["D"]
    assert not harness.said("can't be submitted together")


def test_nothing_is_submitted_again_while_the_dag_is_halted() -> None:
    harness = bag()
    harness.tell(inputs.Halt(), inputs.NotTogether([1, 2, 3], 1, "refused"))
    assert harness.states() == "A=SUBMITTED B=READY C=READY D=READY"
    assert not harness.submits()


# Nobody knows.


def lost() -> make.EngineHarness:
    """The reply for B, C and D was lost."""
    harness = bag()
    unknown = [inputs.SubmitFailed(n, "lost", permanent=False, unknown=True) for n in (1, 2, 3)]
    harness.tell(*unknown)
    return harness


def test_a_lost_reply_leads_to_one_question() -> None:
    harness = lost()
    assert harness.engine.next_deadline() == harness.now + 1.0
    harness.wait(1.0)
    assert len(harness.asked(do.QueryQueue)) == 1


def test_what_the_queue_has_is_adopted_by_its_proc() -> None:
    harness = lost()
    harness.wait(1.0)
    found = [QueuedJob(5, proc, name, 0, shared=True) for proc, name in enumerate("BCD")]
    harness.happens(QueueListed([QueuedJob(4, 0, "A", 0), *found]))
    assert harness.states() == "A=SUBMITTED B=SUBMITTED C=SUBMITTED D=SUBMITTED"
    harness.tell(make.terminated(5, 1))
    assert harness.state("C") is State.DONE
    assert harness.same_replay().states() == harness.states()


def test_what_the_history_has_is_adopted_by_its_proc() -> None:
    harness = make.EngineHarness(BAG, make.quiet(max_nodes_in_cluster=9)).begin(recovering=True)
    harness.tell(inputs.LogCaughtUp())
    harness.happens(QueueListed([], [EndedJob(5, 2, "D", 0, 0, shared=True)]))
    assert harness.state("D") is State.DONE
    assert harness.engine.run.nodes.last_job(3) == "5.2"


def test_what_nobody_has_is_submitted_again_after_one_wait() -> None:
    harness = lost()
    harness.wait(1.0)
    harness.tell(QueueListed([QueuedJob(4, 0, "A", 0)]))
    assert harness.states() == "A=SUBMITTED B=READY C=READY D=READY"
    assert harness.engine.next_deadline() == harness.now + 2.0
    harness.wait(2.0)
    assert len(harness.submits()) == 1


def test_what_nobody_has_is_submitted_alone_after_that() -> None:
    """One of them may be what the schedd, or its library, gives no reply for."""
    harness = lost()
    harness.wait(1.0)
    harness.tell(QueueListed([QueuedJob(4, 0, "A", 0)]))
    harness.wait(2.0)
    for cluster in (6, 7, 8):
        (name,) = harness.submits()
        node = harness.dag.ids[name]
        harness.tell(inputs.Submitted(node, cluster, 1, shareable=True), make.submit(name, cluster))
        assert not together(harness)
    assert harness.states() == "A=SUBMITTED B=SUBMITTED C=SUBMITTED D=SUBMITTED"


def test_a_proc_that_vanishes_is_lost_alone() -> None:
    harness = taken()
    harness.engine.run.query.plan(harness.now)
    for _ in range(2):
        harness.wait(CONFIRM_LOST_S)
        queue = [job for job in harness.queue() if job.node != "C"]
        harness.tell(QueueListed(queue))
    records = harness.asked(do.AppendJournalRecord)
    assert [(one.record, one.cluster, one.proc) for one in records] == [
        (JournalRecord.JOB_LOST, 5, 1)
    ]
    harness.read_back()
    assert harness.states() == "A=SUBMITTED B=SUBMITTED C=FAILED D=SUBMITTED"


def test_a_second_job_in_a_shared_cluster_is_removed_alone() -> None:
    harness = taken()
    harness.engine.run.query.plan(harness.now)
    harness.wait(0.0)
    harness.tell(QueueListed([QueuedJob(9, 7, "C", 0, shared=True), *harness.queue()]))
    assert [(one.cluster, one.proc) for one in harness.asked(do.RemoveJobs)] == [(9, 7)]
