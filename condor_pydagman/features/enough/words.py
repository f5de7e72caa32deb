"""ENOUGH lines that are reached, for people."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.features.enough.trace import EnoughSeen
from condor_pydagman.printable import printable
from condor_pydagman.report.feature_words import Clock, Events, Flow, flow, why
from condor_pydagman.trace.overview import Overview
from condor_pydagman.trace.run_history import Run

EVENTS: Events = {
    "dag.enough": lambda event: printable(f"{event.data['enough']} is reached{why(event)}"),
}


def overview_lines(seen: Overview) -> Iterator[Flow]:
    """Those that are reached."""
    for line, counts in seen.of_features["enough"].items():
        yield flow(f"{line}: {counts}", "bright_black")


def notes(run: Run, _clock: Clock) -> Iterator[str]:
    """Those that were reached."""
    for line, reached in EnoughSeen.of(run).reached.items():
        yield f"{line} was reached: {reached.counts}; the remaining nodes are not needed."
