"""Whether nodes with a CACHE command run, for people."""

from __future__ import annotations

from condor_pydagman.report.feature_words import Events, why
from condor_pydagman.trace.dag_events import DagEvent


def _looked_up(event: DagEvent) -> str:
    return "CACHE: done already" if event.data["value"] else f"CACHE: needs to run{why(event)}"


EVENTS: Events = {"node.looked_up": _looked_up}
