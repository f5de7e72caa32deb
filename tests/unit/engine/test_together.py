"""Nodes submitted together: procs of one cluster (PYDAGMAN_MAX_NODES_IN_CLUSTER)."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import EndedJob, QueuedJob, QueueListed
from condor_pydagman.engine.node_states import State
from tests import make

BAG = "A; B; C; D"


def bag(most: int = 1000) -> make.EngineHarness:
    """A DAG whose first node, A, has been taken as cluster 4; the reply says that its submit file
    can be shared."""
    harness = make.harness_of(BAG, make.quiet(max_nodes_in_cluster=most))
    harness.tell(inputs.Submitted(0, 4, 1, shareable=True), make.submit("A", 4))
    return harness


# What is submitted together.


def test_not_before_a_reply_says_that_the_file_can_be_shared() -> None:
    harness = make.harness_of(BAG, make.quiet(max_nodes_in_cluster=9))
    assert harness.submits() == ["A"]
    harness.tell(inputs.Submitted(0, 4, 1))
    assert harness.submits() == ["B"]


def test_nothing_else_is_submitted_before_all_replies() -> None:
    harness = bag(most=2)
    harness.tell(inputs.Submitted(1, 5, 1, 0, shareable=True))
    assert not harness.submits()
    harness.tell(inputs.Submitted(2, 5, 1, 1, shareable=True))
    assert harness.submits() == ["D"]


# Which job is whose.


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


# Not together after all.


def test_what_did_not_fit_is_submitted_next_in_its_order() -> None:
    harness = bag()
    harness.tell(
        inputs.Submitted(1, 5, 1, 0, shareable=True),
        inputs.Submitted(2, 5, 1, 1, shareable=True),
        inputs.NotTogether([3], 2),
    )
    assert harness.submits() == ["D"]
    assert not harness.said("can't be submitted together")
