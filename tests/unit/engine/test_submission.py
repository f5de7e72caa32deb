"""The ready queue, what is said of a long row, a long dry run."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.queues import ReadyQueue
from condor_pydagman.engine.state import Mode
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import Dag
from tests import make

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


# Order of the ready queue.


def drain(queue: ReadyQueue) -> list[int]:
    order = []
    while (node := queue.pop()) is not None:
        order.append(node)
    return order


def test_entries_of_nodes_that_left_go_when_they_are_most_of_many() -> None:
    queue = ReadyQueue()
    queue.MIN_COMPACT_LENGTH = 4
    for node in range(10):
        queue.add(node, 0)
    lengths = []
    for node in range(9):
        queue.discard(node)
        lengths.append(len(queue._heap))
    assert lengths == [10, 10, 10, 10, 10, 4, 4, 4, 4]
    assert drain(queue) == [9]


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


# -DryRun.


def processed(harness: make.EngineHarness) -> list[str]:
    start = "Processing node: "
    said = (say.text for say in harness.ever(do.Say))
    return [text[len(start) :] for text in said if text.startswith(start)]


def test_a_long_chain_needs_no_stack() -> None:
    chain = "; ".join(f"N{n} -> N{n + 1}" for n in range(3000))
    harness = make.EngineHarness(chain)
    harness.engine.check = None
    harness.engine.run.mode = Mode.DRY_RUN
    harness.begin()
    assert len(processed(harness)) == 3001
