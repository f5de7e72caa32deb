"""Which events somebody wants."""

from __future__ import annotations

import pytest

from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.event_filter import EventFilter

FAILED = DagEvent("node.state", 0.0, "A", data={"status": "ERROR", "value": 3})


@pytest.mark.parametrize(
    ("kinds", "wanted"),
    [
        ("*", True),
        ("node.state", True),
        ("node.*", True),
        ("dag.end,node.state", True),
        ("node.state=ERROR", True),
        ("node.state=3", True),
        ("node.*=DONE", False),
        ("dag.*", False),
        ("node", False),
    ],
)
def test_kinds(kinds: str, wanted: bool) -> None:
    assert EventFilter(kinds).wants(FAILED) is wanted
