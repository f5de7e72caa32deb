"""What is shown of nodes whose bundle runs."""

from __future__ import annotations

from condor_pydagman.features.bundle.explain import moments
from condor_pydagman.features.bundle.shown import overview
from condor_pydagman.follow.follower import Follower
from condor_pydagman.follow.run_model import NodeRun
from condor_pydagman.follow.tally import Tally
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.vocabulary import JournalRecord, NodeStatus
from tests.unit.explain import attempt
from tests.unit.follow.bench import follower_of, take

DAG = "JOB A s\nJOB B s\nJOB C s\nJOB D s\nBUNDLE b ALL_NODES\n"


def follower() -> Follower:
    """A has ended, B was given back and runs alone, C waits for its second
    run, in a bundle that runs; D has failed in it and runs alone."""
    found = follower_of(DAG)
    take(found, RecordRead(JournalRecord.BUNDLED, "", 0, 1, "A B C D"), 5.0)
    take(found, RecordRead(JournalRecord.UNBUNDLED, "", 1, 1, "B"), 6.0)
    for name in "BCD":
        found.run.nodes[name].status = NodeStatus.SUBMITTED
    found.run.nodes["A"].status = NodeStatus.DONE
    found.run.nodes["C"].attempts = [attempt(value=1)]
    found.run.nodes["D"].attempts = [attempt(value=1), attempt(1)]
    return found


def words(found: Follower, name: str) -> list[str]:
    return [text for _, text in moments(found.run, node_of(found, name))]


def node_of(found: Follower, name: str) -> NodeRun:
    return found.run.nodes[name]


def test_only_a_node_that_has_not_ended_is_in_a_bundle() -> None:
    found = follower()
    assert words(found, "C") == ["in bundle 1 with 3 other nodes"]
    assert not any(words(found, name) for name in "ABD")


def test_nodes_in_bundles_are_those_that_have_not_ended() -> None:
    tally = Tally(follower().run)
    assert overview(tally, {}, running=True) == {"bundles": {"open": 1, "nodes": 2}}
