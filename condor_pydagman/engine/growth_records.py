"""What is known of the growth of a DAG that runs: pieces on their way, and those in force.

Data and its bookkeeping, as in `run_records`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from condor_pydagman.engine import actions as do
from condor_pydagman.graph.model import GrownPiece
from condor_pydagman.graph.piece import Piece

NO_PIECES: Mapping[str, Piece] = MappingProxyType({})


class Growing:
    """How the DAG grows.  Written by its own methods alone.

    Attributes:
        pieces: by digest of their text.
        wanting: nodes that have ended well and add a piece; whether that has been asked for.
        awaited: records that have been written and not been read back, by number of the piece:
            when each is to be written once more (seconds since the epoch), and the action.
        requests: number of a person's request, by that of its piece.
        in_force: numbers of the pieces that are in force.
        grown: names of nodes whose piece is in force.
        free: nodes that wait for no parent and have not been started yet.
    """

    __slots__ = (
        "_highest",
        "awaited",
        "free",
        "grown",
        "in_force",
        "pieces",
        "requests",
        "wanting",
    )

    def __init__(self, pieces: Mapping[str, Piece], there: Iterable[GrownPiece]) -> None:
        """`there`: the pieces that the DAG has already, as of a rescue file."""
        self.pieces = pieces
        self.wanting: dict[int, bool] = {}
        self.awaited: dict[int, tuple[float, do.AppendJournalRecord]] = {}
        self.requests: dict[int, int] = {}
        self.in_force: set[int] = set()
        self._highest = 0  # of them
        self.grown: set[str] = set()
        for piece in there:
            self.take(piece.number, piece.node)
        self.free: deque[int] = deque()

    def __bool__(self) -> bool:
        """Whether there is anything to be done."""
        return bool(self.wanting or self.awaited or self.free)

    def want(self, node: int) -> None:
        """The node has ended well, and adds a piece."""
        self.wanting[node] = False

    def asked(self, node: int) -> None:
        """Its piece is being read."""
        self.wanting[node] = True

    def over(self, node: int) -> None:
        """Its piece is in force, or has failed."""
        self.wanting.pop(node, None)

    def number(self) -> int:
        """For the next piece."""
        return max((self._highest, *self.awaited)) + 1

    def write(self, number: int, until: float, action: do.AppendJournalRecord) -> None:
        """A record is being written; it is to be written once more at `until`."""
        self.awaited.pop(number, None)
        self.awaited[number] = until, action

    def read_back(self, number: int) -> None:
        """The record has been read."""
        self.awaited.pop(number, None)

    def take(self, number: int, node: str) -> None:
        """A piece is in force, which `node` has added, or a person if that is ''."""
        self.in_force.add(number)
        self._highest = max(self._highest, number)
        if node:
            self.grown.add(node)

    def ask(self, number: int, request: int) -> None:
        """A person waits for that piece."""
        self.requests[number] = request

    def answered(self, number: int) -> int:
        """The request for that piece, 0 if nobody waits for it."""
        return self.requests.pop(number, 0)

    def set_free(self, nodes: Iterable[int]) -> None:
        """Nodes wait for no parent any more, and are to be started."""
        self.free.extend(nodes)
