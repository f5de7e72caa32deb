"""What brakes do, for people."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.features.brake.trace import BrakesSeen
from condor_pydagman.printable import printable
from condor_pydagman.report.feature_words import Clock, Events, Flow, flow, why
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.overview import Overview
from condor_pydagman.trace.run_history import Run


def _acts(event: DagEvent) -> str:
    return printable(f"brake {event.data['brake']} acts ({event.data['effect']}){why(event)}")


EVENTS: Events = {"dag.brake": _acts}


def overview_lines(seen: Overview) -> Iterator[Flow]:
    """A brake that acts."""
    for name, reason in seen.of_features["brakes"].items():
        yield flow(f"brake {name}: {reason}", "bold magenta")


def notes(run: Run, clock: Clock) -> Iterator[str]:
    """When brakes acted, and why."""
    for name, brake in BrakesSeen.of(run).acting.items():
        yield f"Brake {name} acted at {clock(brake.time)}: {brake.reason}"
