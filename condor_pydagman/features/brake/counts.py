"""What a brake counts: nodes of which a run failed, or a job was held.  It knows no run.

A node counts once, however often it is retried.  Failures that are to be alike are counted apart
by what they may have in common, the key: an exit code, a reason for a hold, a site.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import Union

from condor_pydagman.features.brake.grammar import EXIT_CODE, HOLD_REASON, Brake
from condor_pydagman.features.brake.graph import limit, text
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, RETURN_NO_RESULT, RETURN_SUBMIT_FAILED

Key = Union[int, str]
NOTHING: Key = ""  # of failures that need not be alike
NAMED = 5  # nodes that are named
_OF_NO_JOB = {
    RETURN_SUBMIT_FAILED: "could not be submitted",
    RETURN_JOB_ABORTED: "had their jobs removed",
    RETURN_NO_RESULT: "published nothing that could be read",
}


class Exceeded(NamedTuple):
    """More nodes than the brake allows: these, in the order of their failures, and their key."""

    key: Key
    nodes: Sequence[int]


class BrakeCount:
    """What one brake has counted since the start, or since a person resumed the DAG."""

    __slots__ = ("_brake", "_limit", "_nodes", "_runs")

    def __init__(self, brake: Brake, members: int) -> None:
        """`members`: how many nodes it counts."""
        self._brake = brake
        self._limit = limit(brake, members)
        self._nodes: dict[Key, Counter[int]] = {}  # failures by key and node
        self._runs: deque[tuple[int, Key] | None] = deque()  # the last ones; None: succeeded

    def grow(self, members: int) -> None:
        """The DAG has grown: it counts so many nodes."""
        self._limit = limit(self._brake, members)

    def failed(self, node: int, key: Key) -> Exceeded | None:
        """A run of the node failed, or a job of it was held; the nodes if that is one too many."""
        self._nodes.setdefault(key, Counter())[node] += 1
        return self._ended((node, key)) if self._brake.last else self._look_at((key,))

    def has(self, node: int) -> bool:
        """Whether a failure of the node counts, or a job that was held."""
        return any(node in nodes for nodes in self._nodes.values())

    def succeeded(self) -> Exceeded | None:
        """A run ended well: what failed before may be too much of the last ones now."""
        return self._ended(None) if self._brake.last else None

    def _ended(self, run: tuple[int, Key] | None) -> Exceeded | None:
        self._runs.append(run)
        if len(self._runs) > self._brake.last:
            self._forget(self._runs.popleft())
        if self._brake.percent and len(self._runs) < self._brake.last:
            return None
        return self._look_at(tuple(self._nodes))

    def _forget(self, run: tuple[int, Key] | None) -> None:
        if run is None:
            return
        node, key = run
        nodes = self._nodes[key]
        nodes[node] -= 1
        if not nodes[node]:
            del nodes[node]
        if not nodes:
            del self._nodes[key]

    def _look_at(self, keys: Iterable[Key]) -> Exceeded | None:
        for key in keys:
            if len(self._nodes[key]) > self._limit:
                return Exceeded(key, tuple(self._nodes[key]))
        return None


def why(brake: Brake, exceeded: Exceeded, names: Sequence[str]) -> str:
    """What has been too much, for people; `names` are those of all nodes."""
    count = len(exceeded.nodes)
    where = f" in the last {brake.last} runs" if brake.last else ""
    shown = ", ".join(names[node] for node in exceeded.nodes[:NAMED])
    more = f" and {count - NAMED} more" if count > NAMED else ""
    what = _what(brake, exceeded.key)
    return f"{count} node{'s' * (count != 1)} {what}{where}, more than {text(brake)}: {shown}{more}"


def _what(brake: Brake, key: Key) -> str:
    if brake.alike == HOLD_REASON:
        return f"had jobs held for the same reason (HoldReasonCode {key})"
    if brake.alike == EXIT_CODE:
        assert isinstance(key, int)
        return _how_it_failed(key)
    return f"failed at site {key}" if brake.alike else "failed"


def _how_it_failed(value: int) -> str:
    if value in _OF_NO_JOB:
        return _OF_NO_JOB[value]
    return f"failed with exit code {value}" if value >= 0 else f"failed with signal {-value}"
