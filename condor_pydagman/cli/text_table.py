"""Tables in columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import printable

MIN_PATH = 12  # columns, below which paths are not cut


class Column(NamedTuple):
    """A column of a table of things of one kind."""

    title: str
    text: Callable[[Any, float], str]  # of a thing at a time, in seconds since the epoch
    key: Callable[[Any], Any]  # by which the table is sorted
    left: bool = False  # whether it begins at the left


def table(shown: Sequence[Column], rows: Sequence[Any], now: float, width: int = 0) -> list[str]:
    """A line of titles and one for each row.

    The last column has paths: they are cut at their begin to fit into `width` columns, 0 for any.
    """
    cells = [[printable(column.text(row, now)) for column in shown] for row in rows]
    cells.insert(0, [column.title for column in shown])
    widths = [max(map(len, column)) for column in zip(*cells)]
    room = width - sum(widths[:-1]) - 2 * len(widths[:-1])
    for line in cells:
        if MIN_PATH <= room < len(line[-1]):
            line[-1] = f"...{line[-1][3 - room :]}"
    return list(columns(cells, [number for number, one in enumerate(shown) if one.left]))


def columns(rows: Sequence[Sequence[str]], left: Collection[int]) -> Iterator[str]:
    """Lines with the cells of each row below each other; the columns `left` begin at their left."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        cells = (
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        )
        yield "  ".join(cells).rstrip()
