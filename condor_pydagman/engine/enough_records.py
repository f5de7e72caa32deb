"""What is known of the ENOUGH lines of a run: data and its bookkeeping, as in `run_records`."""

from __future__ import annotations

from condor_pydagman.dagfile.enough_lines import REMOVE
from condor_pydagman.engine.enough_counts import EARLIER, FOLLOWS
from condor_pydagman.engine.node_states import NOT_NEEDED, STOPPED, UNWANTED
from condor_pydagman.engine.nodes import Nodes
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.graph.enough_commands import words
from condor_pydagman.graph.model import Dag

REACHED = Kind("ENOUGH that is reached", holds=True)  # by its number


class Enoughs:
    """The ENOUGH lines of a run, by number.  Written by its methods alone.

    Attributes:
        counts: of their nodes.
        reached: those that are in force, with what has been reached, in words.
        unwanted: nodes that are not to be started any more, and the ENOUGH that says so; what of
            them has begun goes on to its end, or is removed.
        asked: nodes that are not needed, as a record says that is on its way to the log and back.
        had_failed: why a node had failed that is not needed.
    """

    __slots__ = ("_dag", "_nodes", "asked", "counts", "had_failed", "reached", "unwanted")

    def __init__(self, dag: Dag, nodes: Nodes) -> None:
        self._dag = dag
        self._nodes = nodes
        self.counts = nodes.tally
        self.reached: dict[int, str] = {}
        self.unwanted: dict[int, int] = {}
        self.asked: set[int] = set()
        self.had_failed: dict[int, str] = {}

    def __bool__(self) -> bool:
        """Whether there are any, or nodes that an earlier run did not need."""
        return bool(self.counts.members or self.counts.not_needed)

    @property
    def under_way(self) -> bool:
        """Whether the record of a node is on its way, or is to be written."""
        return bool(self.asked or self.counts.waiting)

    def reach(self, number: int, text: str) -> None:
        """The ENOUGH is in force."""
        self.reached[number] = text

    def reopen(self, child: int) -> None:
        """It is to be decided anew when the turn of a node comes, by the parents that it needs."""
        number = self._dag.enough_of.get(child)
        if number is not None:
            self.reached.pop(number, None)
            self.counts.touch(number)

    def give_up(self, node: int, number: int) -> None:
        """The node is not to be started any more."""
        self._set_unwanted(node, self.unwanted.get(node, number))

    def _set_unwanted(self, node: int, number: int) -> None:
        self.unwanted[node] = number
        removes = self._dag.enoughs[number].effect == REMOVE
        self._nodes.mark(node, UNWANTED | STOPPED if removes else UNWANTED)

    def _pop_unwanted(self, node: int) -> int:
        self._nodes.unmark(node, UNWANTED | STOPPED)
        return self.unwanted.pop(node, FOLLOWS)

    def ask(self, node: int) -> None:
        """The record that the node is not needed is on its way."""
        self.asked.add(node)

    def answered(self, node: int) -> None:
        """It has been read."""
        self.asked.discard(node)

    def set_aside(self, node: int, error: str) -> None:
        """The node is not needed."""
        self.asked.discard(node)
        self.mark(node, self._pop_unwanted(node))
        if error:
            self.had_failed[node] = error

    def mark(self, node: int, number: int) -> None:
        """The node, which is about to be done, is not needed."""
        self.counts.mark(node, number)
        self._nodes.mark(node, NOT_NEEDED)

    def ended(self, node: int) -> None:
        """The node has ended well, or a person wants it all the same."""
        self._pop_unwanted(node)
        self.asked.discard(node)

    def mark_of(self, node: int) -> int | None:
        """Which ENOUGH does not need a node that is done; None if it is no such node."""
        return self.counts.not_needed.get(node)

    def taken_back(self, node: int, number: int) -> None:
        """The node, which that ENOUGH does not need, is done no more: it is not to be started."""
        self.counts.unmark(node)
        self._nodes.unmark(node, NOT_NEEDED)
        self.had_failed.pop(node, None)
        if number in self.reached:
            self._set_unwanted(node, number)

    def line(self, number: int) -> str:
        """The line of an ENOUGH, for people."""
        return words(self._dag.enoughs[number])

    def why(self, node: int) -> str:
        """Why a node is not needed."""
        number = self.counts.not_needed.get(node, FOLLOWS)
        if number == EARLIER:
            return "it was not in an earlier run"
        return "all its parents are not needed" if number == FOLLOWS else self.line(number)
