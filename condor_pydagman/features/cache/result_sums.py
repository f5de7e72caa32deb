"""What the results of a node's parents come to, in a number: another one if any of them is new.

A node that really ran has made a new result, which has a name that no other one has.  The number of
a node is a sum over its parents, so that a PARENT line with many nodes on both sides is added up
once, and it makes no difference how PARENT lines say the same edges.  A NOOP node without scripts
makes nothing: it stands for its own parents.
"""

from __future__ import annotations

from collections.abc import Callable

from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple

_MODULUS = 1 << 128
# Another number tells no more: a run of chosen nodes, or of a person, leaves such parents as well.
CHANGED = "its parents have run since it was last done, or are others"


class Sum(NamedTuple):
    """Of a vertex: what its results come to."""

    number: int = 0  # meaningless if `unknown` is not -1
    unknown: int = -1  # a node whose result is not known, -1 if there is none


_NOTHING = Sum()


class ResultSums:
    """Adds up.

    Args:
        result_of: the name of a node's result; '' if it is not known.
    """

    def __init__(self, dag: Dag, result_of: Callable[[int], str]) -> None:
        self._dag = dag
        self._result_of = result_of
        self._known: dict[int, Sum] = {}  # of junctions and NOOP nodes

    def forget(self) -> None:
        """Results or edges have changed that were added up."""
        self._known.clear()

    def of(self, node: int) -> Sum:
        """What the results of all the node's parents come to."""
        waiting = [node]
        found = _NOTHING
        while waiting:
            vertex = waiting[-1]
            through = filter(self._hands_on, self._dag.predecessors(vertex))
            missing = [one for one in through if one not in self._known]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            found = self._added(vertex)
            if vertex != node:
                self._known[vertex] = found
        return found

    def _hands_on(self, vertex: int) -> bool:
        """Whether it only hands on what is before it."""
        if vertex < 0:
            return True
        return self._dag.is_noop(vertex) and vertex not in self._dag.scripts

    def _added(self, vertex: int) -> Sum:
        number = 0
        for one in self._dag.predecessors(vertex):
            known = self._known.get(one) if self._hands_on(one) else self._own(one)
            assert known is not None
            if known.unknown >= 0:
                return known
            number += known.number
        return Sum(number % _MODULUS)

    def _own(self, node: int) -> Sum:
        import hashlib  # late: few DAGs need it

        result = self._result_of(node)
        if not result:
            return Sum(0, node)
        text = f"{self._dag.names[node]} {result}".encode("utf-8", "surrogateescape")
        return Sum(int.from_bytes(hashlib.sha256(text).digest()[:16], "big"))
