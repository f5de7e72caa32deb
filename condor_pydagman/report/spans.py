"""What each attempt of a node did when: waited in the queue, was held, ran, ran scripts.

The times of a report; of an attempt that goes on, up to the time of the report.
"""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.trace.run_history import Attempt, NodeRun, Run, ScriptRun
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, NodeStatus

PARTS = ("pre", "idle", "held", "run", "post")


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
        total = 0.0
        for kind, begin, end in self.parts:
            if kind == part:
                total += end - begin
        return total


def spans(run: Run, now: float) -> list[Span]:
    """All attempts that have begun, in the order of their begin.

    Args:
        now: end of what goes on.
    """
    found = [
        span
        for node in run.nodes.values()
        for attempt, following in attempts_of(node)
        for span in _span(node, attempt, following, now)
    ]
    return sorted(found, key=lambda span: (span.begin, span.node, span.number))


def attempts_of(node: NodeRun) -> Iterator[tuple[Attempt, Attempt | None]]:
    """Its attempts, each with the one that followed."""
    return zip(node.attempts, (*node.attempts[1:], None))


def _span(node: NodeRun, attempt: Attempt, following: Attempt | None, now: float) -> Iterator[Span]:
    parts = [*_script("pre", attempt.pre, now), *job_parts(attempt, now)]
    parts += _script("post", attempt.post, now)
    if parts:
        begin, end = min(part[1] for part in parts), max(part[2] for part in parts)
        failed = has_failed(node, attempt, following) if attempt.over else None
        yield Span(node.name, attempt.number, begin, end, tuple(parts), failed)


def _script(kind: str, script: ScriptRun | None, now: float) -> Iterator[tuple[str, float, float]]:
    if script is None or not (script.started or script.ended):
        return
    begin = script.started or script.ended
    yield kind, begin, max(script.ended or now, begin)


def job_parts(attempt: Attempt, now: float) -> Iterator[tuple[str, float, float]]:
    """What its jobs did: "idle", "held" or "run", with begin and end.

    Args:
        now: end of what goes on.
    """
    if not attempt.submitted:
        return
    end = attempt.ended if not attempt.in_queue and attempt.ended else now
    yield from _waited(attempt, attempt.submitted, attempt.started or end)
    if not attempt.started:
        return
    since = attempt.started
    for stopped, again in attempt.pauses:
        yield "run", since, max(stopped, since)
        yield from _waited(attempt, stopped, again)
        since = again
    stopped = max(attempt.stopped or end, since)
    yield "run", since, stopped
    if end > stopped:
        yield from _waited(attempt, stopped, end)


def _waited(attempt: Attempt, since: float, until: float) -> Iterator[tuple[str, float, float]]:
    """Between two times, in which none of its jobs ran."""
    begin = since
    for hold in attempt.holds:
        held = max(hold.time, since)
        released = min(hold.released or until, until)
        if released > held:
            if held > since:
                yield "idle", since, held
            yield "held", held, released
            since = released
    if until > since or since == begin:
        yield "idle", since, max(until, since)


def has_failed(node: NodeRun, attempt: Attempt, following: Attempt | None) -> bool:
    """Whether an attempt that is over has failed.  Of the last one of an earlier run only the
    results of its job and POST script are known.

    Args:
        following: the next one, None if there is none.
    """
    if node.is_service and attempt.value == RETURN_JOB_ABORTED:
        return False  # as it is removed at the end
    if following is None:
        return node.status is not NodeStatus.DONE
    if following.number:
        return True  # or there would be no other
    if attempt.post is not None and attempt.post.value is not None:
        return bool(attempt.post.value)
    return attempt.value != 0 or bool(attempt.reason)
