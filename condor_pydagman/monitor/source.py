"""Entries of one log, read in blocks and kept until their turn comes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Union

from condor_pydagman.follow.nodes_log import NodesLogEvent
from condor_pydagman.monitor.followed_file import FollowedFile
from condor_pydagman.records.dagman_out import UNCOUNTED, OutLine

Entry = Union[NodesLogEvent, OutLine]
_ALL = float("inf")


class Source:
    """The entries of one log.

    Args:
        file: the log.
        parse: the whole entries of a part of it, given its bytes and offset.
        time: where an entry stands among those of both logs.

    Attributes:
        taken: offset behind the last entry that was taken, of those on which ids of events rest.
        mark: which content of the file `taken` is about, see `FollowedFile.mark`.
    """

    def __init__(
        self,
        file: FollowedFile,
        parse: Callable[[bytes, int], Iterable[Entry]],
        time: Callable[[Any], float],
    ) -> None:
        self.file = file
        self.taken = 0
        self.mark = 0
        self._parse = parse
        self._time = time
        self._waiting: deque[tuple[float, Entry]] = deque()
        self._newest = 0.0  # times of a log may go back a little; its order counts

    @property
    def more(self) -> bool:
        """Whether the log has something that was not taken."""
        return bool(self._waiting) or self.unread

    @property
    def unread(self) -> bool:
        """Whether the log has something that has not been read; a part of an entry does not
        count."""
        return self.file.more

    @property
    def horizon(self) -> float:
        """Entries of both logs can be taken up to this time: later ones may stand in what has not
        been read."""
        return self._newest if self.unread else _ALL

    @property
    def next_time(self) -> float:
        """When the next entry is due; infinity if there is none."""
        return self._waiting[0][0] if self._waiting else _ALL

    @property
    def coming(self) -> list[Entry]:
        """The entries that have been read and not taken."""
        return [entry for _, entry in self._waiting]

    def fill(self, block: int) -> list[Entry]:
        """Read blocks until there is an entry to be taken; returns what was read."""
        found: list[Entry] = []
        if self._waiting and self.unread:
            return found
        while not found:
            before = self.file.offset
            data = self.file.read(block)
            begin = self.file.offset - len(data)
            if begin < before:  # the file has been emptied, or replaced
                self._forget()
            if not data:
                break
            found = list(self._parse(data, begin))
        for entry in found:
            self._newest = max(self._newest, self._time(entry))
            self._waiting.append((self._newest, entry))
        return found

    def ready(self, until: float) -> Iterator[Source]:
        """Itself, once for the next entry and for each that is due before that time."""
        yield self
        waiting = self._waiting
        while waiting and waiting[0][0] < until:
            yield self

    @property
    def next_entry(self) -> Entry:
        """The next entry."""
        return self._waiting[0][1]

    def count_to(self, is_it: Callable[[Any], bool], until: float) -> int:
        """How many entries to take to have taken the first that is it, of those that are due until
        then; 0 if there is none."""
        for number, (time, entry) in enumerate(self._waiting, 1):
            if time > until:
                return 0
            if is_it(entry):
                return number
        return 0

    def pop(self) -> Entry:
        """Take the next entry."""
        _, entry = self._waiting.popleft()
        if getattr(entry, "what", None) not in UNCOUNTED:
            self.taken = entry.end
        if not self.mark:
            self.mark = self.file.mark()
        return entry

    def restart(self) -> None:
        """The log begins anew."""
        self.file.offset = 0
        self._forget()

    def _forget(self) -> None:
        self.taken = self.mark = 0
        self._waiting.clear()
        self._newest = 0.0


def in_order(one: Source, other: Source) -> Iterator[Source]:
    """The log whose entry comes next, as long as that is sure; the caller takes it."""
    until = min(one.horizon, other.horizon)
    while True:
        first, second = (one, other) if one.next_time <= other.next_time else (other, one)
        if first.next_time > until or first.next_time == _ALL:
            return
        yield from first.ready(min(until, second.next_time))
