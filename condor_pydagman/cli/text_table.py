"""Tables in columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import printable

MIN_PATH = 12  # columns, below which paths are not cut
MOST, _MOST_PATH = 40, 4096  # characters of a cell that are shown, and of a path


class Column(NamedTuple):
    """A column of a table of things of one kind."""

    title: str
    text: Callable[[Any, float], str]  # of a thing at a time, in seconds since the epoch
    key: Callable[[Any], Any]  # by which the table is sorted
    left: bool = False  # whether it begins at the left


def table(shown: Sequence[Column], rows: Sequence[Any], now: float, width: int = 0) -> list[str]:
    """A line of titles and one for each row, as `fitted`; only the last cell may be long."""
    cells = [
        (*(_short(column.text(row, now)) for column in shown[:-1]), _cell(shown[-1], row, now))
        for row in rows
    ]
    cells.insert(0, tuple(column.title for column in shown))
    return fitted(cells, [number for number, one in enumerate(shown) if one.left], width)


def _cell(column: Column, row: Any, now: float) -> str:
    return printable(column.text(row, now)[:_MOST_PATH])


def _short(text: str) -> str:
    shown = printable(text[: MOST + 1])
    return shown if len(shown) <= MOST else f"{shown[: MOST - 3]}..."


def fitted(rows: Sequence[tuple[str, ...]], left: Collection[int], width: int) -> list[str]:
    """As `columns`, of rows that end with a path: it is cut at its begin to fit into `width`
    columns, 0 for any."""
    room = width - sum(max(map(len, column)) + 2 for column in list(zip(*rows))[:-1])
    cut = [
        (*cells, f"...{path[3 - room :]}" if MIN_PATH <= room < len(path) else path)
        for *cells, path in rows
    ]
    return list(columns(cut, left))


def columns(rows: Sequence[Sequence[str]], left: Collection[int]) -> Iterator[str]:
    """Lines with the cells of each row below each other; the columns `left` begin at their left."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        cells = (
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        )
        yield "  ".join(cells).rstrip()
