"""Lines of text about placements, for the output of a DATA node and for terminals."""

from __future__ import annotations

from condor_pydagman.data_requests.faults import FaultKind
from condor_pydagman.data_requests.requests import Placement, Transfer
from condor_pydagman.data_requests.urls import masked_text
from condor_pydagman.placement.rules.ways import obstacle_lines
from condor_pydagman.placement.worker import AttemptEnd
from condor_pydagman.printable import escaped_line, size_text
from condor_pydagman.records.placement_event import COMPLETED, RESCHEDULED
from condor_pydagman.words import duration

WORTH_A_RATE = 1 << 20  # bytes; of fewer, the rate tells how long it takes to begin


def name_of(placement: Placement) -> str:
    """A placement in a few words, without secrets."""
    if isinstance(placement, Transfer):
        return f"{placement.source} -> {placement.destination}"
    word = type(placement).__name__.lower()
    return masked_text(f"{word} {placement.allocation_id} of {placement.host}")


def ends_of(placement: Placement) -> tuple[str, str]:
    """Source and destination without secrets; of an allocation or release, its id and host."""
    if isinstance(placement, Transfer):
        return str(placement.source), str(placement.destination)
    return masked_text(placement.allocation_id), masked_text(placement.host)


def attempt_line(end: AttemptEnd) -> str:
    """A line about the end of an attempt, whatever the names of files have in them; if there is no
    way, more of them: why not, by way."""
    lines = [_line(end)]
    if end.fault is not None and end.fault.kind is FaultKind.NO_WAY:
        lines += obstacle_lines(end.fault.reason)
    return "\n    ".join(map(escaped_line, lines))


def _line(end: AttemptEnd) -> str:
    name = name_of(end.placement)
    if end.state == COMPLETED:
        return f"done: {name}: {_result(end)}"
    assert end.fault is not None
    kind, reason = end.fault.kind, end.fault.reason
    why = f"{kind.meaning}: {reason}"
    if kind is FaultKind.STOPPED:
        why = kind.meaning
    elif kind is FaultKind.NO_WAY:
        why = f"{kind.meaning}:"
    if end.state != RESCHEDULED:
        return f"FAILED: {name} ({end.way}, attempt {end.attempt}): {why}"
    again = f"again in {duration(end.delay_s)}" if end.delay_s else "the next way is tried"
    return f"attempt {end.attempt}: {name} ({end.way}): {why}; {again}"


def rate_text(size: float, seconds: float) -> str:
    """Bytes in seconds, for a person."""
    return f"{size_text(size / seconds)}/s" if seconds > 0 else "at once"


def _result(end: AttemptEnd) -> str:
    outcome = end.outcome
    assert outcome is not None
    if outcome.skipped:
        return "it was there already"
    if not isinstance(end.placement, Transfer):
        return outcome.way
    size = "" if outcome.size is None else f"{size_text(outcome.size)}, "
    went_on = outcome.size is not None and outcome.moved < outcome.size
    moved = f"{size_text(outcome.moved)} of it now, " if went_on else ""
    rate = f"{rate_text(outcome.moved, end.seconds)}, " if outcome.moved >= WORTH_A_RATE else ""
    return f"{size}{moved}{end.seconds:.1f} s, {rate}{outcome.way}"
