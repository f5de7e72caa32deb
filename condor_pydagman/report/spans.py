"""What each attempt of a node did when: waited in the queue, ran, ran scripts.

The times of a report; of an attempt that goes on, up to the time of the report.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from condor_pydagman.trace.run_history import Attempt, NodeRun, Run, ScriptRun
from condor_pydagman.vocabulary import NodeStatus

PARTS = ("pre", "idle", "run", "post")


class Span(NamedTuple):
    """An attempt in time, seconds since the epoch.

    Attributes:
        node: its name.
        number: of the attempt, 0 for the first.
        begin, end: of all of it.
        parts: kind (one of PARTS), begin and end of each part, in order.
        failed: whether the attempt has failed; None while it goes on.
    """

    node: str
    number: int
    begin: float
    end: float
    parts: tuple[tuple[str, float, float], ...]
    failed: bool | None

    def seconds(self, part: str) -> float:
        """How long a kind of part took."""
        return sum(end - begin for kind, begin, end in self.parts if kind == part)


def spans(run: Run, now: float) -> list[Span]:
    """All attempts that have begun, in the order of their begin.

    Args:
        now: end of what goes on.
    """
    found = [
        span
        for node in run.nodes.values()
        for attempt in node.attempts
        for span in _span(node, attempt, now)
    ]
    return sorted(found, key=lambda span: (span.begin, span.node, span.number))


def _span(node: NodeRun, attempt: Attempt, now: float) -> Iterator[Span]:
    parts = [*_script("pre", attempt.pre, now), *_jobs(attempt, now)]
    parts += _script("post", attempt.post, now)
    if parts:
        begin, end = min(part[1] for part in parts), max(part[2] for part in parts)
        yield Span(node.name, attempt.number, begin, end, tuple(parts), _has_failed(node, attempt))


def _script(kind: str, script: ScriptRun | None, now: float) -> Iterator[tuple[str, float, float]]:
    if script is None or not (script.started or script.ended):
        return
    begin = script.started or script.ended
    yield kind, begin, max(script.ended or now, begin)


def _jobs(attempt: Attempt, now: float) -> Iterator[tuple[str, float, float]]:
    if not attempt.submitted:
        return
    end = attempt.ended if not attempt.in_queue and attempt.ended else now
    if not attempt.started:
        yield "idle", attempt.submitted, max(end, attempt.submitted)
        return
    yield "idle", attempt.submitted, max(attempt.started, attempt.submitted)
    yield "run", attempt.started, max(end, attempt.started)


def _has_failed(node: NodeRun, attempt: Attempt) -> bool | None:
    if not attempt.over:
        return None
    if attempt is not node.attempts[-1]:
        return True  # or there would be no other
    return node.status is not NodeStatus.DONE
