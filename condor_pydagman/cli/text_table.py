"""Tables in columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence


def columns(rows: Sequence[Sequence[str]], left: Collection[int]) -> Iterator[str]:
    """Lines with the cells of each row below each other; the columns `left` begin at their left."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        cells = (
            cell.ljust(width) if column in left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        )
        yield "  ".join(cells).rstrip()
