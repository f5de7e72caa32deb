"""What DAGMan has decided of nodes before they start, as its records in the nodes log say."""

from __future__ import annotations

from typing import Any

import pytest

from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.trace.node_decisions import UNCHANGED, take_record
from condor_pydagman.trace.run_history import Attempt, NodeRun
from condor_pydagman.vocabulary import JournalRecord, NodeStatus


class Tracker:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[Any] = []

    def tell(self, name: str, time: float, node: NodeRun, job: str = "", **data: Any) -> None:
        self.told.append((name, data))

    def set_status(self, node: NodeRun, status: NodeStatus, time: float, **data: Any) -> None:
        self.told.append((status, data))

    def not_needed(self, node: NodeRun, why: str, time: float) -> None:
        self.told.append(("not needed", why))


def read(record: JournalRecord, value: int, text: str) -> RecordRead:
    return RecordRead(record, "A", 0, value, text)


@pytest.fixture
def tracker() -> Tracker:
    return Tracker()


def test_a_node_of_which_nothing_has_changed_is_done(tracker: Tracker) -> None:
    node = NodeRun("A")
    for _ in range(2):
        take_record(tracker, node, read(JournalRecord.CACHED, 1, "r1"), 5.0)
    assert node.cached
    assert tracker.told == [
        ("node.looked_up", {"value": 1, "reason": UNCHANGED}),
        (NodeStatus.DONE, {"cached": True, "reason": UNCHANGED}),
    ]
    node.begin_anew()
    assert not node.cached


def test_why_a_node_runs(tracker: Tracker) -> None:
    node = NodeRun("A")
    take_record(tracker, node, read(JournalRecord.CACHED, 0, "r1 its input x has changed"), 5.0)
    assert tracker.told == [
        ("node.looked_up", {"value": 0, "reason": "its input x has changed"}),
    ]
    node.attempts.append(Attempt(0))
    take_record(tracker, node, read(JournalRecord.CACHED, 1, "r1"), 5.0)
    assert not node.cached


@pytest.mark.parametrize(
    ("value", "after"),
    [
        (1, []),
        (0, [("not needed", "RUN_IF is false: n is 3")]),
        (-1, [(NodeStatus.ERROR, {"reason": "RUN_IF fails: n is 3"})]),
    ],
)
def test_conditions(tracker: Tracker, value: int, after: list[Any]) -> None:
    take_record(tracker, NodeRun("A"), read(JournalRecord.CONDITION, value, "n is 3"), 5.0)
    assert tracker.told == [("node.decided", {"value": value, "reason": "n is 3"}), *after]
