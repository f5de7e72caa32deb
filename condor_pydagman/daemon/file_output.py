"""Writes files for users and tools; an error is reported once, and so is its end.

The DAG goes on without such files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from condor_pydagman.adapters import files
from condor_pydagman.errors import FileError

if TYPE_CHECKING:
    from condor_pydagman.daemon.ports import Files


class FileOutput:
    """Replaces files that are written repeatedly.

    Args:
        say: prints a line for the user.
        where: the functions that write.
    """

    def __init__(self, say: Callable[[str], None], where: Files = files) -> None:
        self._say = say
        self._files = where
        self._known: dict[str, str] = {}

    def replace(self, what: str, path: str, chunks: Iterable[str]) -> None:
        """Replace the file, or report the error; `what` names the kind of file, for messages."""
        try:
            self._files.replace(path, chunks, durable=False)
        except FileError as error:
            reason = str(error).partition(": ")[2]  # the name may have a number
            if self._known.get(what) != reason:
                self._known[what] = reason
                self._say(f"Warning: {error} ({what}; the DAG goes on without it)")
        else:
            if self._known.pop(what, None):
                self._say(f"{path} can be written again ({what})")
