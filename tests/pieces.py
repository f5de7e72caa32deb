"""Pieces of DAGs from texts that are kept in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from condor_pydagman.features.growth.commands import Piece
from condor_pydagman.features.growth.piece import PieceText, read_piece
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.stepwise import at_once


def piece_of(dag: Dag, text: PieceText, digest: str = "") -> Piece:
    """The piece of a text.

    Raises:
        DagFileErrors: it is wrong.
    """
    return at_once(read_piece(dag, text, digest=digest))


class Pieces(Mapping[str, Piece]):
    """Pieces by digest, each read from its text when it is asked for, for the DAG as it is then."""

    def __init__(self, dag: Dag, texts: Mapping[str, PieceText]) -> None:
        self._dag, self._texts = dag, texts

    def of(self, dag: Dag) -> Pieces:
        """The same for another DAG."""
        return Pieces(dag, self._texts)

    def __getitem__(self, digest: str) -> Piece:
        return piece_of(self._dag, self._texts[digest], digest)

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)
