"""The nodes that a SWEEP stands for: their names, variables and directories, without any Dag.

Texts have the values of variables where `{variable}` stands.  The variables themselves become
macros of the nodes, as by a VARS line.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import NoReturn

from condor_pydagman.dagfile.lines import RESERVED_NAMES
from condor_pydagman.errors import UsageError
from condor_pydagman.features.sweep.grammar import (
    Dimension,
    Sweep,
    SweepParent,
    count,
    is_variable,
    values,
)
from condor_pydagman.named_tuple import NamedTuple

MAX_NODES = 20_000_000  # of one sweep
MAX_CELL = 10_000  # characters in a cell of a table
MAX_SHOWN = 100  # characters of a wrong name

_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z_0-9]*)\}")
_ODD = re.compile(r"[\s\"'+\\]")  # in names: they need quotes, or belong to splices
_PARTS = re.compile(r"(\{[A-Za-z_][A-Za-z_0-9]*\})")

Columns = Mapping[str, Sequence[str]]


class Swept(NamedTuple):
    """A sweep that is defined: its nodes, and by variable the values of all of them."""

    nodes: range
    columns: Columns

    @property
    def kind(self) -> str:
        """As of `NodeSet`."""
        return "sweep"


class Table(NamedTuple):
    """The values of all variables: by variable one for each node, and where each row stands."""

    columns: Columns
    size: int
    lines: Sequence[int] = ()


def table_of(command: Sweep, text: str) -> Table:
    """The values of a sweep; `text` is that of its table, '' if it has none.

    Raises:
        UsageError: they can't be made.
    """
    return read_rows(text, command.rows) if command.rows else product(command.dimensions)


def product(dimensions: Sequence[Dimension]) -> Table:
    """All combinations of the values, the last OVER varying fastest; ALONG varies with the one
    before it.

    Raises:
        UsageError: a variable comes twice, or lengths do not fit.
    """
    lengths = [sum(map(count, one.values)) for one in dimensions]
    _refuse(dimensions, lengths)
    size = 1
    for one, length in zip(dimensions, lengths):
        size *= 1 if one.along else length
    if not 0 < size <= MAX_NODES:
        raise UsageError(f"The sweep would have {size:,} nodes: expected 1 to {MAX_NODES:,}")
    columns: dict[str, list[str]] = {}
    inner, outer = size, 1
    for one, length in zip(dimensions, lengths):
        if not one.along:
            inner, outer = inner // length, size // inner
        own = chain.from_iterable(map(values, one.values))
        column = list(chain.from_iterable(repeat(value, inner) for value in own))
        columns[one.variable] = column * outer
    return Table(columns, size)


def _refuse(dimensions: Sequence[Dimension], lengths: Sequence[int]) -> None:
    seen: set[str] = set()
    before = ""
    length_before = 0
    for one, length in zip(dimensions, lengths):
        if one.variable.lower() in seen:
            raise UsageError(f"Variable {one.variable} comes twice in the sweep")
        seen.add(one.variable.lower())
        if one.along and length != length_before:
            raise UsageError(
                f"ALONG {one.variable} has {length:,} values, and {before} has {length_before:,}"
            )
        before, length_before = one.variable, length


def read_rows(text: str, file: str) -> Table:
    """The rows of a CSV text whose first line names the variables (RFC 4180); empty lines count
    for nothing.

    Raises:
        UsageError: it is no such table; the message has file and line.
    """
    import csv  # imported late: few DAGs have a table

    text = text.removeprefix("\ufeff")  # which spreadsheets write at the beginning
    reader = csv.reader(text.splitlines(keepends=True), strict=True, skipinitialspace=True)
    lines: list[int] = []
    rows: list[list[str]] = []
    try:
        head = [name.strip() for name in next(reader, [])]
        _refuse_head(head, file)
        for row in reader:
            if not row:
                continue
            if len(row) != len(head):
                raise UsageError(
                    f"{file}:{reader.line_num} has {len(row)} cells: expected {len(head)},"
                    f" for {', '.join(head)}"
                )
            if max(map(len, row)) > MAX_CELL:
                raise UsageError(
                    f"{file}:{reader.line_num} has a cell of over {MAX_CELL} characters"
                )
            rows.append(row)
            lines.append(reader.line_num)
    except csv.Error as error:
        raise UsageError(f"{file}:{reader.line_num} can't be read as CSV: {error}") from None
    if not rows:
        raise UsageError(f"{file} has no rows below the one that names the variables")
    columns = {name: [row[place] for row in rows] for place, name in enumerate(head)}
    return Table(columns, len(rows), lines)


def _refuse_head(head: Sequence[str], file: str) -> None:
    if not any(head):
        raise UsageError(f"{file} has no first line that names the variables")
    for name in head:
        if not is_variable(name):
            commas = "; commas separate the columns" if len(head) == 1 else ""
            raise UsageError(
                f"{file}:1 can't name a variable {name[:40]!r}: expected letters, digits and _"
                f"{commas}"
            )
        if [other.lower() for other in head].count(name.lower()) > 1:
            raise UsageError(f"{file}:1 names the variable {name} twice")


def filled(text: str, table: Table, what: str) -> Iterator[str]:
    """`text` for each node, with the values of variables.

    Raises:
        UsageError: there is no such variable; `what` says what the text is.
    """
    for name in _PLACE.findall(text):
        if name not in table.columns:
            raise UsageError(
                f"{what} has {{{name}}}, and the sweep no variable of that name: it has"
                f" {', '.join(table.columns)}"
            )
    pieces = [piece for piece in _PARTS.split(text) if piece]
    if not pieces:
        return repeat("", table.size)
    columns = [
        table.columns[piece[1:-1]] if _PLACE.fullmatch(piece) else repeat(piece) for piece in pieces
    ]
    return map("".join, zip(repeat("", table.size), *columns))


def node_names(command: Sweep, table: Table) -> list[str]:
    """The names of a sweep's nodes, as its file calls them.

    Raises:
        UsageError: a name has a variable that is not there, is no name of a node, or comes twice.
    """
    names = list(filled(command.name, table, "The name"))
    if _ODD.search("\0".join(names)) or "" in names:
        _refuse_odd(names, table)
    if not RESERVED_NAMES.isdisjoint(map(str.upper, names)):
        raise UsageError("PARENT, CHILD and ALL_NODES, in any case, can't be names of nodes")
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        left = ", ".join(f"{{{variable}}}" for variable in unused(command, table))
        advice = f"put {left} into the name" if left else "the table has equal rows"
        raise UsageError(f"Node {twice} comes twice in the sweep: {advice}")
    return names


def _refuse_odd(names: Sequence[str], table: Table) -> NoReturn:
    number = next(number for number, name in enumerate(names) if not name or _ODD.search(name))
    row = f" (line {table.lines[number]} of its table)" if table.lines else ""
    raise UsageError(
        f"A node of the sweep would be called {names[number][:MAX_SHOWN]!r}{row}: names have no"
        " blanks, quotes, backslashes or +"
    )


def matched(
    command: SweepParent, parents: Swept, children: Swept
) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    """Parents and children that belong together: each of the first is a parent of each of the
    second.

    Raises:
        UsageError: they do not fit.
    """
    if not command.keys:
        if len(parents.nodes) != len(children.nodes):
            raise UsageError(
                f"{command.parent} has {len(parents.nodes):,} nodes, and {command.child}"
                f" {len(children.nodes):,}: ONE-TO-ONE needs as many; BY joins those with equal"
                " values of variables"
            )
        return zip(_singles(parents.nodes), _singles(children.nodes))
    for name, one in ((command.parent, parents), (command.child, children)):
        for key in command.keys:
            if key not in one.columns:
                known = ", ".join(one.columns)
                raise UsageError(f"Sweep {name} has no variable {key}: it has {known}")
    tails, heads = _by_keys(command.keys, parents), _by_keys(command.keys, children)
    for values_ in heads:
        if values_ not in tails:
            said = ", ".join(f"{key}={value}" for key, value in zip(command.keys, values_))
            raise UsageError(f"No node of {command.parent} has {said}, as {command.child} has")
    return ((tails[one], nodes) for one, nodes in heads.items())


def _singles(nodes: range) -> Iterator[Sequence[int]]:
    return (range(node, node + 1) for node in nodes)


def _by_keys(keys: Sequence[str], swept: Swept) -> dict[tuple[str, ...], array[int]]:
    """The nodes by the values of these variables."""
    found: dict[tuple[str, ...], array[int]] = {}
    for node, row in zip(swept.nodes, zip(*(swept.columns[key] for key in keys))):
        found.setdefault(row, array("i")).append(node)
    return found


def unused(command: Sweep, table: Table) -> list[str]:
    """Variables of the sweep that are not in the names of its nodes."""
    used = set(_PLACE.findall(command.name))
    return [name for name in table.columns if name not in used]
