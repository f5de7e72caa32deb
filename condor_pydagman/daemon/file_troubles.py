"""What is said of files that can't be written: once, not each time, and when it is over.

Such files are for people and tools; the DAG goes on without them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from condor_pydagman.adapters import files
from condor_pydagman.errors import FileError


class FileTroubles:
    """Replaces files that are written again and again.

    Args:
        say: takes a line for the user.
    """

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._known: dict[str, str] = {}

    def replace(self, what: str, path: str, chunks: Iterable[str]) -> None:
        """Write the file anew, or say why not; `what` it is, for people (one place for each)."""
        try:
            files.replace(path, chunks, durable=False)
        except FileError as error:
            reason = str(error).partition(": ")[2]  # names may be numbered
            if self._known.get(what) != reason:
                self._known[what] = reason
                self._say(f"Warning: {error} ({what}; the DAG goes on without it)")
        else:
            if self._known.pop(what, None):
                self._say(f"{path} can be written again ({what})")
