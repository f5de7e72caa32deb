"""Tables of the page: rows of a DAG, searched, filtered, sorted, a page at a time.

All here uses what the reader of a DAG keeps: for the thread for files only.
"""

from __future__ import annotations

import fnmatch
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Callable, ClassVar

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.web.dag_reader import DagReader

MAX_ROWS = 200
MAX_SEARCH = 1000  # characters
_DIGITS = re.compile(r"(\d{1,18})")


class Wanted(NamedTuple):
    """Which rows: those that have `search` in their words (or match it, with * and ?), in the state
    `state` ('': any), from `offset` on, `limit` at most."""

    search: str = ""
    state: str = ""
    sort: str = "name"
    descending: bool = False
    offset: int = 0
    limit: int = MAX_ROWS


class Rows(ABC):
    """What a table is of, at a moment.

    Args:
        reader: the DAG.
        source: what the names come from; another one if they may be others.
        names: of all rows, by number.
    """

    STATES: ClassVar[Sequence[str]]  # in which rows can be, in their order
    # by which columns they are sorted beside the name: what gives the key of a row
    SORTS: ClassVar[Mapping[str, Callable[[Any, int], Any]]]

    def __init__(self, reader: DagReader, source: object, names: Sequence[str]) -> None:
        self.reader, self.names = reader, names
        self._source = source

    @abstractmethod
    def row(self, number: int) -> dict[str, Any]:
        """What is shown of one."""

    @abstractmethod
    def state(self, number: int) -> str:
        """In which one is."""

    def fits(self, number: int, fits: Callable[[str], bool]) -> bool:
        """Whether words of one are searched for."""
        return fits(self.names[number].casefold())

    def page(self, wanted: Wanted) -> dict[str, Any]:
        """The rows, and how many there are in all and of those that are wanted."""
        found = self._sorted(self._matching(wanted), wanted)
        shown = found[wanted.offset : wanted.offset + wanted.limit]
        return {
            "total": len(self.names),
            "matches": len(found),
            "rows": [self.row(number) for number in shown],
        }

    def _matching(self, wanted: Wanted) -> Sequence[int]:
        """In the order of names."""
        found = self._by_name()
        if wanted.search:
            fits = search_for(wanted.search)
            found = [number for number in found if self.fits(number, fits)]
        if wanted.state:
            found = [number for number in found if self.state(number) == wanted.state]
        return found

    def _by_name(self) -> Sequence[int]:
        """The order is found out once for all names."""
        source, order = self.reader.orders.get(type(self), (None, ()))
        if source is not self._source:
            keys = [natural(name) for name in self.names]
            order = sorted(range(len(keys)), key=keys.__getitem__)
            self.reader.orders[type(self)] = self._source, order
        return order

    def _sorted(self, found: Sequence[int], wanted: Wanted) -> Sequence[int]:
        """Stable: of equal ones, the order of names."""
        if wanted.sort == "name":
            return found[::-1] if wanted.descending else found
        key = self.SORTS[wanted.sort]
        keys = [key(self, number) for number in found]
        places = sorted(range(len(found)), key=keys.__getitem__, reverse=wanted.descending)
        return [found[place] for place in places]


def natural(name: str) -> tuple[Any, ...]:
    """A key to sort by: numbers in names by their size: a9 before a10."""
    parts = _DIGITS.split(name.casefold())
    return tuple(int(part) if place % 2 else part for place, part in enumerate(parts))


def search_for(text: str) -> Callable[[str], bool]:
    """Whether a name, in small letters, has the text in it, or matches it if that has * or ?."""
    text = text.casefold()
    if "*" in text or "?" in text:
        pattern = re.compile(fnmatch.translate(re.sub(r"\*+", "*", text).replace("[", "[[]")))
        return lambda name: pattern.match(name) is not None
    return lambda name: text in name
