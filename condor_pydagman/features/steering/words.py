"""What people ask of nodes, for people."""

from __future__ import annotations

from condor_pydagman.printable import printable
from condor_pydagman.report.feature_words import Events

EVENTS: Events = {
    "node.steered": lambda event: printable(
        f"{event.data['command']}, asked by {event.data['by']}"
    ),
}
