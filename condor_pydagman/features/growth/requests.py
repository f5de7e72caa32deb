"""What the helper of growth is asked, and answers; and what people ask."""

from __future__ import annotations

from condor_pydagman.features.growth.graph import Piece
from condor_pydagman.named_tuple import NamedTuple

HELPER = "growth"


class ReadPiece(NamedTuple):
    """Read what a node that has ended well adds to the DAG, and keep its text.

    Answered by PieceRead or PieceRefused.
    """

    node: int


class ReadOffer(NamedTuple):
    """Read what a person wants to add: `text`, or without one the file of that name.  Asked by who
    answers the person, and answered by the piece and what is wrong with it.

    `dry`: it is checked, and not kept.
    """

    name: str
    text: str | None
    dry: bool = False


class PieceRead(NamedTuple):
    """Answer to ReadPiece: the piece, whose text is kept."""

    node: int
    piece: Piece


class PieceRefused(NamedTuple):
    """Answer to ReadPiece: what the node adds to the DAG is wrong, or can't be read."""

    node: int
    error: str


class PieceOffered(NamedTuple):
    """A person adds a piece, whose text is kept.  Answered by `actions.Grown`."""

    request: int
    piece: Piece
    by: str
