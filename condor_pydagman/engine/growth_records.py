"""What is known of the growth of a DAG that runs: pieces on their way, and those in force.

Data and its bookkeeping, as in `run_records`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from types import MappingProxyType

from condor_pydagman.engine.run_records import Kind
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.piece import Piece

PIECE = Kind("piece of the DAG", holds=True)  # by its number
LET_GO = Kind("pieces that leave the DAG")  # by the text of the record
MAX_GONE = 1000  # names of nodes that are remembered, as their jobs may be in the queue yet
NO_PIECES: Mapping[str, Piece] = MappingProxyType({})


class Growing:
    """How the DAG grows.  Written by its own methods alone.

    Attributes:
        pieces: by digest of their text.
        wanting: nodes that have ended well and add a piece; whether that has been asked for.
        requests: number of a person's request, by that of its piece.
        of_files: how many nodes the DAG files have given; they come first, and stay.
        grown: names of nodes whose piece is in force, or has been let go.
        kept: numbers of the pieces that have not been let go; those looked at first come first.
        has_grown: whether a piece has come to be in force since somebody has last asked.
        has_grown_by: how many nodes have been added since it was last asked, and one for a piece.
        leaving: the nodes of pieces that a record lets go of which has not been read back.
        gone: names of the nodes that were let go last.
        free: nodes that wait for no parent and have not been started yet.
    """

    __slots__ = (
        "_highest",
        "free",
        "gone",
        "grown",
        "has_grown",
        "has_grown_by",
        "kept",
        "leaving",
        "of_files",
        "pieces",
        "requests",
        "wanting",
    )

    def __init__(self, pieces: Mapping[str, Piece], dag: Dag) -> None:
        """The DAG may have pieces already, and have let go of some, as a rescue file says."""
        self.pieces = pieces
        self.of_files = len(dag) - sum(piece.size for piece in dag.pieces)
        self.wanting: dict[int, bool] = {}
        self.requests: dict[int, int] = {}
        self._highest = dag.let_go.number  # of all that have ever been in force
        self.grown: set[str] = set(dag.let_go.adders)
        self.kept: deque[int] = deque()
        self.leaving: frozenset[int] = frozenset()
        self.gone: dict[str, None] = {}
        self.has_grown = False
        self.has_grown_by = 0
        for piece in dag.pieces:
            self.take(piece.number, piece.node)
        self.free: deque[int] = deque()

    def __bool__(self) -> bool:
        """Whether there is anything to be done."""
        return bool(self.wanting or self.free)

    def want(self, node: int) -> None:
        """The node has ended well, and adds a piece."""
        self.wanting[node] = False

    def asked(self, node: int) -> None:
        """Its piece is being read."""
        self.wanting[node] = True

    def over(self, node: int) -> None:
        """Its piece is in force, or has failed."""
        self.wanting.pop(node, None)

    def number(self, written: Iterable[int]) -> int:
        """For the next piece; `written`: those whose records have not been read back."""
        return max((self._highest, *written)) + 1

    def take(self, number: int, node: str) -> None:
        """A piece is in force, which `node` has added, or a person if that is ''."""
        self.kept.append(number)
        self._highest = max(self._highest, number)
        if node:
            self.grown.add(node)

    def grow_by(self, nodes: int) -> None:
        """A piece with so many nodes is in force."""
        self.has_grown = True
        self.has_grown_by += nodes + 1

    def pop_has_grown(self) -> bool:
        """Whether a piece has come to be in force since the last call."""
        found, self.has_grown = self.has_grown, False
        return found

    def pop_grown_by(self) -> int:
        """By how many nodes the DAG has grown since the last call, and one for each piece."""
        found, self.has_grown_by = self.has_grown_by, 0
        return found

    def look_later(self, count: int) -> None:
        """So many of the pieces that come first can't be let go yet: others come first now."""
        self.kept.rotate(-count)

    def begin_to_let_go(self, nodes: Iterable[int]) -> None:
        """A record is to be written that lets go of pieces with these nodes."""
        self.leaving = frozenset(nodes)

    def has_let_go(self) -> None:
        """The record has been read."""
        self.leaving = frozenset()

    def let_go(self, number: int, names: Sequence[str]) -> None:
        """A piece is let go, with nodes of these names."""
        self.kept.remove(number)
        self.grown.difference_update(names)
        self.gone.update(dict.fromkeys(names))
        for name in list(islice(self.gone, max(0, len(self.gone) - MAX_GONE))):
            del self.gone[name]

    def was_in_force(self, number: int) -> bool:
        """Whether a piece of that number is in force, or was: its record has been read."""
        return number <= self._highest

    def ask(self, number: int, request: int) -> None:
        """A person waits for that piece."""
        self.requests[number] = request

    def answered(self, number: int) -> int:
        """The request for that piece, 0 if nobody waits for it."""
        return self.requests.pop(number, 0)

    def set_free(self, nodes: Iterable[int]) -> None:
        """Nodes wait for no parent any more, and are to be started."""
        self.free.extend(nodes)
