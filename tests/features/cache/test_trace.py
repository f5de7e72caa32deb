"""Whether nodes with a CACHE command run: from records in the nodes log."""

from __future__ import annotations

from condor_pydagman.features.cache.trace import UNCHANGED
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.event_words import event_words
from condor_pydagman.trace.run_history import Attempt, NodeRun, Run
from condor_pydagman.vocabulary import JournalRecord, NodeStatus
from tests.features.taking import take


def read(value: int, text: str) -> RecordRead:
    return RecordRead(JournalRecord.CACHED, "A", 0, value, text)


def test_a_node_of_which_nothing_has_changed_is_done() -> None:
    run = Run()
    looked_up, state = take(run, read(1, "r1"), 5.0)
    assert not take(run, read(1, "r1"), 6.0)
    node = run.nodes["A"]
    assert (node.cached, node.status) == (True, NodeStatus.DONE)
    assert (looked_up.name, looked_up.data) == ("node.looked_up", {"value": 1, "reason": UNCHANGED})
    assert event_words(looked_up) == "A: CACHE: done already"
    assert (state.data["cached"], state.data["reason"]) == (True, UNCHANGED)
    node.begin_anew()
    assert not node.cached


def test_why_a_node_runs() -> None:
    run = Run()
    (event,) = take(run, read(0, "r1 its input x has changed"), 5.0)
    assert event.data == {"value": 0, "reason": "its input x has changed"}
    assert event_words(event) == "A: CACHE: needs to run: its input x has changed"
    run.nodes["A"] = NodeRun("A")
    run.nodes["A"].attempts.append(Attempt(0))
    assert not take(run, read(1, "r1"), 5.0)
    assert not run.nodes["A"].cached
