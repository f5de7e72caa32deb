"""The pieces that have been added to a DAG, or are to be: by the digest of their text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from condor_pydagman.adapters.grown_file import GrownFile
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.piece import Piece, PieceText, read_piece
from condor_pydagman.graph.problems import DagFileErrors
from condor_pydagman.graph.stepwise import Steps, at_once
from condor_pydagman.names import DagPaths


class KeptPieces(Mapping[str, Piece]):
    """Pieces by digest; one that is not in memory is read from its text, for the DAG as it is."""

    def __init__(self, dag: Dag, file: GrownFile) -> None:
        self._dag, self._file = dag, file
        self._ready: dict[str, Piece] = {}

    def keep(self, piece: Piece, text: PieceText) -> Steps[Piece]:
        """Have the text of a piece on the disk after the last step; returns the piece with its
        digest.

        Raises:
            FileError: it could not be written.
        """
        piece = piece._replace(digest=(yield from self._file.keep(text)))
        self._ready[piece.digest] = piece
        return piece

    def __getitem__(self, digest: str) -> Piece:
        if digest in self._ready:
            return self._ready.pop(digest)  # it is needed once
        text = self._file.text(digest)
        if text is None:
            raise KeyError(digest)
        anew = self._dag.let_go.number > 0
        try:
            return at_once(read_piece(self._dag, text, digest=digest, anew=anew))
        except DagFileErrors:
            raise KeyError(digest) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._ready)

    def __len__(self) -> int:
        return len(self._ready)


def of(dag: Dag, paths: DagPaths) -> KeptPieces:
    """The pieces of a DAG, in the file beside it."""
    return KeptPieces(dag, GrownFile(paths.grown))
