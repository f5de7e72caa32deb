"""What is known of nodes with a CACHE command: data and its bookkeeping, as in `run_records`."""

from __future__ import annotations

from collections.abc import Container, Mapping
from types import MappingProxyType

from condor_pydagman.engine.run_records import Journal, Kind
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.result_sums import ResultSums
from condor_pydagman.named_tuple import NamedTuple

CACHED = Kind("what a node was found to be in the cache")  # by node
NOTHING_CACHED: Mapping[str, str] = MappingProxyType({})


class Decided(NamedTuple):
    """A node whose turn has come is not run again (`hit`), or runs; and why it does."""

    node: int
    hit: bool
    why: str


class Cache:
    """The nodes of a run with a CACHE command.  Written by its methods alone.

    Attributes:
        known: by name of a node, the name of what it had last made before this run.
        due: nodes whose turn has come, and of which nothing has been asked.
        asked: nodes that are being looked up, and the numbers of their requests.
        made: by node of which it is decided whether it runs, the name of what it has made or
            is to make; '' if it has none.
        cached: nodes that are done without having run.
        keeping: nodes that have ended well, which is being written.
        sums: what parents' results come to; None before it is first asked for.
    """

    __slots__ = (
        *("_ended", "_news", "_nodes", "_number", "asked", "cached", "due", "keeping", "known"),
        *("made", "sums", "_journal"),
    )

    def __init__(
        self, dag: Dag, journal: Journal, known: Mapping[str, str] = NOTHING_CACHED
    ) -> None:
        self._nodes = dag.cached
        self._number = 0
        self._ended: dict[int, str] = {}
        self._news: list[Decided] = []
        self.known = known
        self.due: dict[int, None] = {}
        self.asked: dict[int, int] = {}
        self._journal = journal
        self.made: dict[int, str] = {}
        self.cached: set[int] = set()
        self.keeping: set[int] = set()
        self.sums: ResultSums | None = None

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._nodes)

    def __contains__(self, node: int) -> bool:
        return node in self._nodes

    def holds_back(self, node: int) -> bool:
        """Whether it is to be decided yet if the node runs."""
        return node in self._nodes and node not in self.made

    @property
    def unread(self) -> Container[object]:
        """Nodes of which what was found is on its way to the log and back."""
        return self._journal.of(CACHED)

    def is_being_decided(self, node: int) -> bool:
        """Whether the node is being looked up, or what was found is on its way."""
        return node in self.asked or node in self.unread

    def came_up(self, node: int) -> None:
        """The node's turn has come."""
        self.due[node] = None
        self.asked.pop(node, None)
        self._journal.drop(CACHED, node)

    def pop_due(self) -> list[int]:
        """The nodes whose turn has come since the last call."""
        found, self.due = list(self.due), {}
        return found

    def ask(self, node: int) -> int:
        """The node is being looked up; returns the number of the request."""
        self._number += 1
        self.due.pop(node, None)
        self.asked[node] = self._number
        return self._number

    def answered(self, node: int, number: int) -> bool:
        """It has been looked up; whether it is this request that is waited for."""
        if self.asked.get(node) != number:
            return False
        del self.asked[node]
        return True

    def decided(self, one: Decided, result: str) -> None:
        """It has been read in the log what is decided of a node."""
        self._drop(one.node)
        self.made[one.node] = result
        if one.hit:
            self.cached.add(one.node)
        self._news.append(one)

    def run_unasked(self, node: int) -> None:
        """The node runs, though the log does not show that this was decided."""
        self._drop(node)
        self.made[node] = ""

    def _drop(self, node: int) -> None:
        self.due.pop(node, None)
        self.asked.pop(node, None)
        self._journal.drop(CACHED, node)

    def ended(self, node: int) -> None:
        """The node has ended well."""
        result = self.made.get(node)
        if result and node not in self.cached:
            self._ended[node] = result

    def pop_ended(self) -> list[tuple[int, str]]:
        """Nodes that have ended well since the last call, and the names of what they have made."""
        found, self._ended = list(self._ended.items()), {}
        return found

    def keep(self, node: int) -> None:
        """That the node has ended well is being written."""
        self.keeping.add(node)

    def kept(self, node: int) -> None:
        """It has been written."""
        self.keeping.discard(node)

    def pop_news(self) -> list[Decided]:
        """What has been decided since the last call."""
        found, self._news = self._news, []
        return found

    def forget(self, node: int) -> None:
        """What was decided of the node counts no more."""
        self._drop(node)
        self._ended.pop(node, None)
        self.made.pop(node, None)
        self.cached.discard(node)
        self.sums_changed()

    def begin_sums(self, sums: ResultSums) -> ResultSums:
        """From now on these are asked for."""
        self.sums = sums
        return sums

    def sums_changed(self) -> None:
        """Results, or parents, are others."""
        if self.sums is not None:
            self.sums.forget()

    @property
    def is_busy(self) -> bool:
        """Whether an answer or a record is waited for."""
        return bool(self.asked or self.unread or self._ended or self.keeping)
