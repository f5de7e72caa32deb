"""What nodes publish: from records in the nodes log."""

from __future__ import annotations

from condor_pydagman.vocabulary import NodeStatus
from tests.unit.follow.bench import Bench

ERROR = NodeStatus.ERROR


def test_what_a_node_publishes_may_make_it_fail(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.terminate(7)
    bench.record("NODE_RESULT", -1, text="it is not there")
    node = bench.node("PUBLISH A FILE a.ad\n")
    assert (node.status, node.why) == (ERROR, "it is not there")


def test_what_a_node_publishes_is_awaited(bench: Bench) -> None:
    bench.submit("A", 7)
    bench.terminate(7)
    assert bench.node("PUBLISH A FILE a.ad\n").status is NodeStatus.POSTRUN
    bench.record("NODE_RESULT", 101, text="n=3\n")
    assert bench.node("PUBLISH A FILE a.ad\n").status is NodeStatus.DONE
