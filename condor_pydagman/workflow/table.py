"""Rows of tables, each of which is the VARS of a node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def rows(source: Iterable[Any] | int, columns: Sequence[str] = ()) -> Iterator[Row]:
    """The rows of what iterates: mappings, named tuples, with `columns` other sequences and single
    values as well, or the rows of a pandas.DataFrame; of a number, so many empty rows.

    Raises:
        TypeError: a row is none of these.
        ValueError: a row has not as many values as there are columns.
    """
    if isinstance(source, int):
        return ({} for _ in range(source))
    found: Iterable[Any] = source
    if hasattr(source, "to_dict") and hasattr(source, "columns"):  # pandas is not imported here
        found = source.to_dict("records")
    return (_row(one, columns) for one in found)


def _row(row: Any, columns: Sequence[str]) -> Row:
    if isinstance(row, Mapping):
        return row
    if hasattr(row, "_asdict"):
        named: Row = row._asdict()
        return named
    if not columns:
        kind = type(row).__name__
        raise TypeError(f"a row is a mapping or a named tuple, not {kind}; or say columns=(...)")
    values = (row,) if isinstance(row, str) or not isinstance(row, Iterable) else tuple(row)
    if len(values) != len(columns):
        raise ValueError(f"a row has {len(values)} values for {len(columns)} columns: {row!r}")
    return dict(zip(columns, values))


def namer(pattern: str) -> Callable[[int, Row], str]:
    """What gives a row its name: `Fit{run}` and `Fit{run:03}` have values of the row; without such
    a place, the number of the row is put behind it.

    The function raises LookupError or ValueError if a row has no such value.
    """
    if "{" not in pattern:
        return lambda number, _: f"{pattern}{number}"
    return lambda _, row: pattern.format_map(row)
