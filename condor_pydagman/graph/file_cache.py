"""A cache of small files that many SPLICEs name.

What has been understood of a file's text does not depend on the splice; it is kept from the second
reading on and played back from the third on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Union

from condor_pydagman.language.bulk import SimpleLines
from condor_pydagman.language.commands import Command
from condor_pydagman.language.parser import CommandReader, Reading

MAX_LINES = 50_000  # of all kept files together

_Item = Union[Command, SimpleLines]
Key = tuple[str, str, bool]


class FileCache:
    """Readers of files, by path, by name in messages, and by whether it is the second reading."""

    def __init__(self) -> None:
        self._seen: set[Key] = set()
        self._kept: dict[Key, _Kept] = {}
        self.room = MAX_LINES  # lines that may still be kept

    def reader(
        self, key: Key, reading: Reading, make: Callable[[], CommandReader]
    ) -> CommandReader | Recorder | Player:
        """What `make` gives, or something that does the same."""
        kept = self._kept.get(key)
        if kept is not None:
            return Player(kept, reading)
        if key not in self._seen or self.room <= 0:
            self._seen.add(key)
            return make()
        return Recorder(make(), reading, self, key)

    def keep(self, key: Key, kept: _Kept) -> None:
        """A file that has been read without an error, to its end."""
        self.room -= sum(
            item.lines if isinstance(item, SimpleLines) else 1 for item, _ in kept.items
        )
        self._kept[key] = kept


class _Kept:
    def __init__(self) -> None:
        self.items: list[tuple[_Item, str]] = []
        self.skipped: list[int] = []  # Reading.skipped when the item was given


class Recorder:
    """As a CommandReader, but records its items."""

    def __init__(self, reader: CommandReader, reading: Reading, files: FileCache, key: Key) -> None:
        self._reader = reader
        self._reading = reading
        self._files = files
        self._key = key

    def __iter__(self) -> Iterator[_Item]:
        kept, reading = _Kept(), self._reading
        before, room = len(reading.errors) + reading.lost, self._files.room
        for item in self._reader:
            text = "" if isinstance(item, SimpleLines) else self._reader.text()
            kept.items.append((item, text))
            kept.skipped.append(reading.skipped)
            yield item
            room -= item.lines if isinstance(item, SimpleLines) else 1
            if room < 0:
                kept.items.clear()
                yield from self._reader
                return
        kept.skipped.append(reading.skipped)
        if len(reading.errors) + reading.lost == before and not reading.warnings:
            self._files.keep(self._key, kept)

    def text(self) -> str:
        """See CommandReader."""
        return self._reader.text()

    def commands_of(self, simple: SimpleLines) -> Iterator[tuple[Command, str]]:
        """See CommandReader."""
        return self._reader.commands_of(simple)


class Player:
    """As the CommandReader whose items it plays back."""

    def __init__(self, kept: _Kept, reading: Reading) -> None:
        self._kept = kept
        self._reading = reading
        self._text = ""

    def __iter__(self) -> Iterator[_Item]:
        for (item, text), skipped in zip(self._kept.items, self._kept.skipped):
            self._text, self._reading.skipped = text, skipped
            yield item
        self._reading.skipped = self._kept.skipped[-1]

    def text(self) -> str:
        """See CommandReader."""
        return self._text

    def commands_of(self, simple: SimpleLines) -> Iterator[tuple[Command, str]]:
        """See CommandReader."""
        return CommandReader((), self._reading).commands_of(simple)
