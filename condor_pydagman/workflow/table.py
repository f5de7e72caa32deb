"""Rows of tables, each of which is the VARS of a node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any

Row = Mapping[str, Any]


class RowError(ValueError):
    """A row does not give what it should."""


def rows(source: Iterable[Any] | int, columns: Sequence[str] = ()) -> Iterator[Row]:
    """The rows of what iterates: mappings, named tuples, dataclasses, rows of sqlite3 or of a
    pandas.DataFrame; with `columns` other sequences and single values as well.  Of a number, so
    many empty rows.

    Raises:
        TypeError: a row is none of these.
        RowError: a row has not as many values as there are columns; a number is negative.
    """
    if isinstance(source, (int, Integral)):
        if int(source) < 0:
            raise RowError(f"There can't be {int(source)} nodes")
        return ({} for _ in range(int(source)))
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
    if hasattr(row, "keys"):  # as sqlite3.Row
        return {key: row[key] for key in row.keys()}  # noqa: SIM118
    if hasattr(row, "__dataclass_fields__"):
        return {key: getattr(row, key) for key in row.__dataclass_fields__}
    if not columns:
        kind = type(row).__name__
        text = f"a row is a mapping, a named tuple or a dataclass, not {kind}"
        raise TypeError(f"{text}; or say columns=(...)")
    values = (row,) if isinstance(row, str) or not isinstance(row, Iterable) else tuple(row)
    if len(values) != len(columns):
        raise RowError(f"A row has {len(values)} values for {len(columns)} columns: {row!r}")
    return dict(zip(columns, values))


def namer(pattern: str) -> Callable[[int, Row], str]:
    """What gives a row its name: `Fit{run}` and `Fit{run:03}` have values of the row; without such
    a place, the number of the row is put behind it.

    The function raises RowError if a row has no such value.
    """
    if "{" not in pattern:
        return lambda number, _: f"{pattern}{number}"

    def named(_: int, row: Row) -> str:
        try:
            return pattern.format_map(row)
        except KeyError as error:
            has = ", ".join(map(str, row)) or "nothing"
            raise RowError(f"A row has no {error} for the name {pattern}, but {has}") from None
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise RowError(f"A row gives no name {pattern}: {error}") from None

    return named
