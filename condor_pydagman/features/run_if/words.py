"""What RUN_IF has decided, for people."""

from __future__ import annotations

from condor_pydagman.report.feature_words import Events, why

_DECISIONS = {1: "is true", 0: "is false", -1: "can't be evaluated"}

EVENTS: Events = {
    "node.decided": lambda event: f"its RUN_IF {_DECISIONS[event.data['value']]}{why(event)}",
}
