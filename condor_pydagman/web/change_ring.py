"""The last changes of the states of nodes, each with a version: what clients have not seen yet.

A client says which version it knows and gets what has changed since.  Only so many changes are
kept; a client that knows less than those must ask for all states anew.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

MAX_KEPT = 1 << 16
MAX_AT_ONCE = 5000
_STATES = 16  # more than there are states


class ChangeRing:
    """Changes, the newest last.

    Args:
        version: the first one; greater than any that was used for this DAG before.

    Attributes:
        version: of the last change.
        first: the version from which on the numbers of nodes are what they are.
    """

    def __init__(self, version: int) -> None:
        self.version = self.first = version
        self._oldest = version  # all changes after this version are kept
        self._kept = array("q", bytes(8 * MAX_KEPT))

    def add(self, changes: Iterable[tuple[int, int]]) -> None:
        """Take in changes, each the number of a node and its state."""
        for number, state in changes:
            self.version += 1
            self._kept[self.version % MAX_KEPT] = number * _STATES + state
        self._oldest = max(self._oldest, self.version - MAX_KEPT)

    def forget(self) -> None:
        """All states are to be asked for anew."""
        self.version += 1
        self._oldest = self.first = self.version

    def since(self, version: int) -> tuple[int, list[tuple[int, int]]] | None:
        """The changes after a version, and the version with them: MAX_AT_ONCE at most, so that one
        may have to ask again.  None if not all of them are kept, or that version never was."""
        if not self._oldest <= version <= self.version:
            return None
        until = min(self.version, version + MAX_AT_ONCE)
        kept = (self._kept[place % MAX_KEPT] for place in range(version + 1, until + 1))
        newest = dict(divmod(change, _STATES) for change in kept)
        return until, list(newest.items())
