"""The FEEDER of a run, for people."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.features.feeder.trace import FeederSeen
from condor_pydagman.printable import printable
from condor_pydagman.report.feature_words import Clock, Events, Flow, flow, why
from condor_pydagman.trace.overview import Overview
from condor_pydagman.trace.run_history import Run

EVENTS: Events = {
    "dag.feeder": lambda event: f"the FEEDER {event.data['state']}{printable(why(event))}",
}


def overview_lines(seen: Overview) -> Iterator[Flow]:
    """How it does."""
    if seen.of_features["feeder"]:
        yield flow(f"feeder: {seen.of_features['feeder']}", "")


def notes(run: Run, _clock: Clock) -> Iterator[str]:
    """That it has failed."""
    seen = FeederSeen.of(run)
    if seen.state == "failed":
        yield f"The FEEDER failed: {seen.reason}"
