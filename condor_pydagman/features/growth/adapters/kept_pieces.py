"""The pieces that have been added to a DAG, or are to be: by the digest of their text."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import BinaryIO

from condor_pydagman.adapters import files, followed_files
from condor_pydagman.errors import FileError, is_machine_error
from condor_pydagman.features.growth.commands import Piece
from condor_pydagman.features.growth.grown_sections import (
    MAX_HEAD_BYTES,
    is_cut_short,
    read_body,
    read_head,
    section,
)
from condor_pydagman.features.growth.piece import PieceText, read_piece
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.problems import DagFileErrors
from condor_pydagman.graph.stepwise import Steps, at_once
from condor_pydagman.names import DagPaths

# Keeps what has been added to a DAG in the file beside it, see `features.growth.grown_sections`.

_NOT_AGAIN = "what was added to the DAG can't be added again"
_UNDO = "Take what was added out of the DAG file, or undo what else has changed there"


class GrownFile:
    """The texts of pieces, by digest.  Nothing is opened before it is needed.

    Each text is mostly asked for once, after a restart; what this process has kept or read takes no
    memory here.  A text that several pieces have, which add no node then, is looked for twice.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._places: dict[str, tuple[int, int]] | None = None  # where bodies begin, their length
        self._repeated: dict[str, tuple[int, int]] = {}  # the same of those asked for again
        self._end = 0  # of the last whole section

    def keep(self, text: PieceText) -> Steps[str]:
        """Have a text on the disk after the last step; returns its digest.

        Raises:
            FileError: it could not be written; what was there before is still there.  Transient
                if another try may succeed, as on a disk that is full.
        """
        digest, data = yield from section(text)
        yield
        if digest not in self._known():
            try:
                self._append(data)
            except OSError as error:
                raise FileError(
                    f"can't write {self.path}: {error.strerror}",
                    transient=is_machine_error(error),
                ) from error
            self._end += len(data)
        return digest

    def text(self, digest: str) -> PieceText | None:
        """The text of that digest; None if it is not there, or damaged."""
        place = self._repeated.get(digest) or self._known().pop(digest, None)
        if place is None:
            self._places, self._end = None, 0  # it was kept, or read before
            place = self._known().pop(digest, None)
            if place is None:
                return None
            self._repeated[digest] = place
        try:
            with self._opened() as file:
                file.seek(place[0])
                return read_body(digest, file.read(place[1]))
        except OSError:
            return None

    def _append(self, data: bytes) -> None:
        fd = files.open_own(self.path, os.O_RDWR | os.O_CREAT)
        try:
            if os.fstat(fd).st_size > self._end:
                if not is_cut_short(os.pread(fd, MAX_HEAD_BYTES, self._end)):
                    raise FileError(
                        f"{self.path} is damaged, or is not DAGMan's, from byte {self._end} on:"
                        " it is left as it is, and nothing can be added to the DAG"
                    )
                os.ftruncate(fd, self._end)
            written = 0
            while written < len(data):
                written += os.pwrite(fd, data[written:], self._end + written)
            os.fsync(fd)
        finally:
            os.close(fd)

    def _known(self) -> dict[str, tuple[int, int]]:
        if self._places is None:
            self._places = {}
            try:
                with self._opened() as file:
                    self._look(file, self._places)
            except OSError:
                return self._places
        return self._places

    def _look(self, file: BinaryIO, places: dict[str, tuple[int, int]]) -> None:
        size = os.fstat(file.fileno()).st_size
        while True:
            file.seek(self._end)
            found = read_head(file.read(MAX_HEAD_BYTES))
            if found is None or self._end + found[1] + found[2] > size:
                return
            digest, head, body = found
            places[digest] = self._end + head, body
            self._end += head + body

    def _opened(self) -> BinaryIO:
        return os.fdopen(files.open_to_read(self.path), "rb")


def read_whole(path: str, most: int, reader: tuple[int, int] | None = None) -> str:
    """The text of a file that a job has written.

    Raises:
        FileError: it is no text, too large, or has changed while it was read.
        OSError: it can't be opened or read.
    """
    with followed_files.open_known(path, reader) if reader else files.open_ordinary(path) as file:
        before = os.fstat(file.fileno())
        data = file.read(most + 1)
        after = os.fstat(file.fileno())
    if len(data) > most:
        raise FileError(f"{path} is larger than {most:,} bytes (PYDAGMAN_MAX_PIECE_MB)")
    if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size) or (
        len(data) != after.st_size
    ):
        raise FileError(f"{path} was changed while it was being read")
    if b"\0" in data:
        raise FileError(f"{path} is not text: it holds a byte 0")
    return data.decode("utf-8", "surrogateescape")


class KeptPieces(Mapping[str, Piece]):
    """Pieces by digest; one that is not in memory is read from its text, for the DAG as it is.

    `[digest]` raises FileError: there is no such text, or it does not fit the DAG.
    """

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
        path, text = self._file.path, self._file.text(digest)
        if text is None:
            raise FileError(f"{_NOT_AGAIN}: {path} does not have it, or is damaged. Put it back")
        try:
            return at_once(read_piece(self._dag, text, digest=digest))
        except DagFileErrors as errors:
            why = errors.errors[0].message.rstrip(".")
            raise FileError(f"{_NOT_AGAIN}: {why}. {_UNDO}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._ready)

    def __len__(self) -> int:
        return len(self._ready)


def of(dag: Dag, paths: DagPaths) -> KeptPieces:
    """The pieces of a DAG, in the file beside it."""
    return KeptPieces(dag, GrownFile(paths.grown))
