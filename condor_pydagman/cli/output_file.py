"""The file that a command is told to write: replaced in one step, or written to if it is none."""

from __future__ import annotations

import os
from collections.abc import Iterable

from condor_pydagman.adapters.files import replace
from condor_pydagman.errors import FileError


def write_output(path: str, pieces: Iterable[str]) -> None:
    """Write a file that the user has named.

    A device or a FIFO is written to: for root, replacing /dev/null would take it from everybody.

    Raises:
        FileError: it is a directory, or can't be written.
    """
    if os.path.isdir(path):
        raise FileError(f"can't write {path}: it is a directory")
    if os.path.isfile(path) or not os.path.exists(path):
        replace(path, pieces, durable=False)
        return
    try:
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
            file.writelines(pieces)
    except OSError as error:
        raise FileError(f"can't write {path}: {error.strerror}") from None
