"""What is different between two runs: how long they took, what jobs did, and in which nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from condor_pydagman.follow.past_runs import CUT_OFF
from condor_pydagman.follow.run_model import Attempt, NodeRun, Run
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.report.spans import attempts_of, has_failed, job_parts, known_nodes
from condor_pydagman.vocabulary import NodeStatus
from condor_pydagman.words import duration

MOST_NODES = 20  # that are shown
_LEAST_S = 1.0  # a smaller difference of a node's time is none
_PARTS = {"idle": "waited", "held": "held", "run": "ran"}
_WORDS = {NodeStatus.DONE: "done", NodeStatus.ERROR: "failed", NodeStatus.FUTILE: "futile"}
UNKNOWN = "-"  # status of a node that the run does not know
_TITLES = ("", "A", "B", "B - A")


class NodeTimes(NamedTuple):
    """What the jobs of a node did in all its attempts, in seconds, and how it ended."""

    waited: float = 0.0
    held: float = 0.0
    ran: float = 0.0
    attempts: int = 0
    failed: int = 0  # of these
    status: str = UNKNOWN

    @property
    def whole(self) -> float:
        """How long they were in the queue."""
        return self.waited + self.held + self.ran


def times_of(run: Run, now: float) -> dict[str, NodeTimes]:
    """The times of the nodes that people know, by name; `now` is the end of what goes on."""
    return {node.name: _of_node(node, now) for node in known_nodes(run)}


def _of_node(node: NodeRun, now: float) -> NodeTimes:
    sums = dict.fromkeys(_PARTS.values(), 0.0)
    failed = 0
    for attempt, following in attempts_of(node):
        failed += attempt.over and has_failed(node, attempt, following)
        for kind, begin, end in job_parts(attempt, now):
            sums[_PARTS[kind]] += end - begin
    status = _WORDS.get(node.counted, "not ended")
    last = node.attempts[-1] if node.attempts else Attempt(0)
    if node.status is NodeStatus.NOT_READY and last.over and last.reason != CUT_OFF:
        status = "failed" if has_failed(node, last, None) else "done"  # an earlier run
    return NodeTimes(**sums, attempts=len(node.attempts), failed=failed, status=status)


class Compared(NamedTuple):
    """A run that is compared."""

    name: str  # what it is called
    run: Run
    end: float  # of it, or now; seconds since the epoch

    @property
    def wall_s(self) -> float:
        """How long it took."""
        return max(self.end - self.run.begun, 0.0)


def comparison(a: Compared, b: Compared) -> Iterator[tuple[str, ...]]:
    """Rows of a table with four columns: what, of one, of the other, difference."""
    times = times_of(a.run, a.end), times_of(b.run, b.end)
    yield _TITLES
    yield "run", a.name, b.name, ""
    yield _row("took", a.wall_s, b.wall_s)
    for part in _PARTS.values():
        one, other = (sum(getattr(node, part) for node in of.values()) for of in times)
        yield _row(f"jobs {part}", one, other)
    for word, field in (("attempts", "attempts"), ("failed attempts", "failed")):
        one, other = (sum(getattr(node, field) for node in of.values()) for of in times)
        yield _counts(word, one, other)
    for word in _WORDS.values():
        one, other = (sum(node.status == word for node in of.values()) for of in times)
        if one or other:
            yield _counts(f"nodes {word}", one, other)
    only = [len(one.keys() - other.keys()) for one, other in (times, times[::-1])]
    if any(only):
        yield _counts("nodes only here", *only)
    yield from _nodes(*times)


def _row(what: str, one: float, other: float) -> tuple[str, ...]:
    return what, duration(one), duration(other), _signed(other - one)


def _counts(what: str, one: int, other: int) -> tuple[str, ...]:
    return what, f"{one:,}", f"{other:,}", f"{other - one:+,}" if one != other else "same"


def _signed(seconds: float) -> str:
    if abs(seconds) < _LEAST_S:
        return "same"
    return f"{'-' if seconds < 0 else '+'}{duration(abs(seconds))}"


def _nodes(a: Mapping[str, NodeTimes], b: Mapping[str, NodeTimes]) -> Iterator[tuple[str, ...]]:
    """Those that differ most, with the reason."""
    nothing = NodeTimes()
    pairs = {name: (a.get(name, nothing), b.get(name, nothing)) for name in {**a, **b}}
    found = [
        (abs(other.whole - one.whole), name)
        for name, (one, other) in pairs.items()
        if one.status != other.status or abs(other.whole - one.whole) >= _LEAST_S
    ]
    for _, name in sorted(found, key=lambda pair: (-pair[0], pair[1]))[:MOST_NODES]:
        one, other = pairs[name]
        yield f"node {name}", _told(one), _told(other), why(one, other)
    if len(found) > MOST_NODES:
        yield f"... and {len(found) - MOST_NODES:,} nodes more", "", "", ""


def _told(node: NodeTimes) -> str:
    return UNKNOWN if node.status == UNKNOWN else f"{duration(node.whole)}, {node.status}"


def why(one: NodeTimes, other: NodeTimes) -> str:
    """What makes the difference of a node's time, the most of it first; or which run has it."""
    if UNKNOWN in (one.status, other.status):
        return f"only in {'B' if one.status == UNKNOWN else 'A'}"
    changes = {part: getattr(other, part) - getattr(one, part) for part in _PARTS.values()}
    parts = sorted(changes, key=lambda part: -abs(changes[part]))
    words = [f"{part} {_signed(changes[part])}" for part in parts if abs(changes[part]) >= _LEAST_S]
    if one.attempts != other.attempts:
        words.append(f"{other.attempts - one.attempts:+d} attempts")
    return ", ".join(words) or "same"
