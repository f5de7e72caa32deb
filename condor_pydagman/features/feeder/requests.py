"""What the helper of growth is asked of a FEEDER, and answers."""

from __future__ import annotations

from condor_pydagman.features.growth.graph import Piece
from condor_pydagman.named_tuple import NamedTuple

HELPER = "feeder"


class RunFeeder(NamedTuple):
    """Run the program of the FEEDER, and read and keep what it writes.  Answered by Fed.

    Attributes:
        number: of the feeding, from 1.
        words: the program and its arguments.
        variables: names and values for its environment.
    """

    number: int
    words: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()


class Fed(NamedTuple):
    """Answer to RunFeeder: a piece, whose text is kept; or why there is none; neither if the
    program has nothing to add now."""

    number: int
    piece: Piece | None = None
    error: str = ""
