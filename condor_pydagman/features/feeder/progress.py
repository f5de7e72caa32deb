"""How far a FEEDER has come, by the pieces of the DAG."""

from __future__ import annotations

from condor_pydagman.features.feeder.commands import feeder_of
from condor_pydagman.features.growth.commands import GrownPiece, growth_of
from condor_pydagman.graph.model import Dag


class Progress:
    """What a FEEDER has given."""

    def __init__(self, dag: Dag) -> None:
        feeder = feeder_of(dag)
        assert feeder is not None
        self._most = feeder.at_most
        self.fed = self.nodes = 0  # how many feedings are in force
        self.ended = False  # the program has said that there is no more
        for piece in growth_of(dag).pieces:
            self.take(piece)

    def take(self, piece: GrownPiece) -> None:
        """A piece is in force; it may be one of the feeder."""
        if piece.feeding is not None:
            self.fed = max(self.fed, piece.feeding.number)
            self.nodes += piece.size
            self.ended = self.ended or piece.feeding.last

    @property
    def room(self) -> int | None:
        """How many nodes it may still add; None if there is no limit."""
        return max(0, self._most - self.nodes) if self._most else None

    @property
    def is_over(self) -> bool:
        """Whether it adds nothing more."""
        return self.ended or self.room == 0
