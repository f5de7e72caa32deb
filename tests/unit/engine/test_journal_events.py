"""Our own decisions, read back from the nodes log: once, twice, late, or of another run."""

from __future__ import annotations

import pytest

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.feature_table import RECORDS
from condor_pydagman.vocabulary import CORE_RECORDS, EventKind, JournalRecord
from tests import make

EVERYTHING = make.dag("""
    A -> B; C
    PROVISIONER P n.sub
    SERVICE S n.sub
    FINAL F n.sub
    SCRIPT PRE A p
    SCRIPT POST B q
    SCRIPT PRE C p
    RETRY A 2
    RETRY C 1 DELAY 60
    PRE_SKIP C 4
    TIMEOUT B QUEUED 60
""")


def everything() -> make.EngineHarness:
    """A DAG with a node for every kind of record."""
    return make.EngineHarness(EVERYTHING).begin()


@pytest.mark.parametrize("kind", sorted(CORE_RECORDS | RECORDS))
@pytest.mark.parametrize("name", ["A", "B", "C", "P", "S", "F", "Z", ""])
@pytest.mark.parametrize("retry", [0, 1, -5])
def test_any_record_about_any_node_at_any_time_does_no_harm(
    kind: str, name: str, retry: int
) -> None:
    """Written by a bug, by somebody else or by a log of another DAG: no crash, no loop."""
    for value in (0, 3, -9):
        event = make.record(kind, name, value=value, retry=retry, cluster=5, proc=0)
        harness = everything()
        harness.tell(event, event)
        other = make.EngineHarness(harness.dag).begin(recovering=True)
        other.tell(event, event, inputs.LogCaughtUp())
        if other.asked(do.QueryQueue):
            other.tell(inputs.QueueListed([]))
        other.tell(event)


def test_a_generic_event_of_somebody_else() -> None:
    harness = make.harness_of("A")
    assert not harness.tell(LogEvent(EventKind.GENERIC, 5, 0, 0, node="A", text="hello"))


def test_the_first_list_of_common_input_files_counts() -> None:
    harness = make.EngineHarness("A B").begin(recovering=True)
    harness.tell(make.record(JournalRecord.COMMON_INPUT, "A")._replace(text="a"))
    harness.tell(make.record(JournalRecord.COMMON_INPUT, "B")._replace(text="b"))
    assert harness.engine.run.submission.common_input == "a"
