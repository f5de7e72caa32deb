"""What nodes publish: from records in the nodes log."""

from __future__ import annotations

from condor_pydagman.vocabulary import JournalRecord, NodeStatus
from tests.unit.trace.bench import Bench

ERROR = NodeStatus.ERROR


def test_what_a_node_publishes_may_make_it_fail(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.terminate(7)
    bench.record(JournalRecord.NODE_RESULT, 101, text="n=3\n")
    bench.record(JournalRecord.NODE_RESULT, -1, text="it is not there")
    assert bench.node().status is ERROR
