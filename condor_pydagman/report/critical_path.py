"""The chain of nodes that made a run as long as it was: what would have to be faster.

From the node that ended last back, each time to the parent that ended last (of a run with retries,
a node's time is that of all its attempts).  FINAL, PROVISIONER and SERVICE nodes have no edges:
they run behind, before or beside all others, and are no part of the path.
"""

from __future__ import annotations

from collections.abc import Mapping

from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.report.spans import PARTS, Span
from condor_pydagman.vocabulary import ORDINARY_KINDS


class Step(NamedTuple):
    """A node of the path; all in seconds."""

    node: str  # its name
    # of its attempts, since the epoch
    begin: float
    end: float
    # from the end of the parent, or from the start of the run, to its begin: throttles, the
    # submission
    before: float
    # of its attempts
    idle: float
    held: float
    run: float
    scripts: float
    between: float  # none of these: between attempts, between jobs and scripts

    @property
    def seconds(self) -> float:
        """All of it, from the end of the parent on."""
        return self.end - self.begin + self.before


def critical_path(dag: Dag, found: Mapping[str, list[Span]], begin: float) -> list[Step]:
    """The path, first node first; [] if nothing has run.

    Args:
        found: the spans of each node, by its name.
        begin: of the run.
    """
    ends = {
        name: max(span.end for span in own) for name, own in found.items() if _has_edges(dag, name)
    }
    if not ends:
        return []
    name: str | None = max(ends, key=lambda node: ends[node])
    path: list[Step] = []
    while name is not None and len(path) <= len(ends):
        parents = _parents(dag, name, ends)
        parent = max(parents, key=lambda node: ends[node], default=None)
        path.append(_step(name, found[name], ends[parent] if parent is not None else begin))
        name = parent
    return path[::-1]


def _has_edges(dag: Dag, name: str) -> bool:
    """Whether it is of a kind that PARENT applies to; of a node that the DAG has no more, nobody
    knows otherwise."""
    node = dag.find(name)
    return node is None or dag.kinds[node] in ORDINARY_KINDS


def _parents(dag: Dag, name: str, ends: Mapping[str, float]) -> list[str]:
    """Its parents that ran; of those that did not, theirs."""
    node = dag.find(name)
    if node is None:
        return []
    found, seen, waiting = [], set(), list(dag.parents(node))
    while waiting:
        parent = waiting.pop()
        if parent in seen:
            continue
        seen.add(parent)
        if dag.names[parent] in ends:
            found.append(dag.names[parent])
        else:
            waiting.extend(dag.parents(parent))
    return found


def _step(name: str, own: list[Span], ready: float) -> Step:
    begin, end = min(span.begin for span in own), max(span.end for span in own)
    parts = {part: sum(span.seconds(part) for span in own) for part in PARTS}
    return Step(
        name,
        begin,
        end,
        max(begin - ready, 0.0),
        parts["idle"],
        parts["held"],
        parts["run"],
        parts["pre"] + parts["post"],
        max(end - begin - sum(parts.values()), 0.0),
    )
