"""The VARS of all nodes, kept as the text of their lines: few ever read them more than once.

A million nodes with two variables each would otherwise be millions of strings.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, repeat
from typing import Union

from condor_pydagman.graph.stepwise import Steps, mapped
from condor_pydagman.language.bulk import simple_pairs
from condor_pydagman.named_tuple import NamedTuple

_NONE = -1


class Variable(NamedTuple):
    """One `key=value` of a VARS command; `append` puts it after the submit file's own lines."""

    key: str
    value: str
    append: bool


# Those of a node with many lines are by key until they are read: each line would copy them.
Variables = Union["tuple[Variable, ...]", "dict[str, Variable]"]
MANY_VARIABLES = 50


class MoreVariables(NamedTuple):
    """What is to be added to a table, numbered as it is to be there; else as in that."""

    first: int  # node
    entries: array[int]
    text: bytearray
    ends: array[int]
    append: bytearray
    read: dict[int, Variables]


class VariableTable(Mapping[int, "tuple[Variable, ...]"]):
    """Which variables each node has.

    Text comes in through `add_simple` and is read when it is asked for; what needs thought (another
    line for a node, APPEND, escapes) is kept as it was understood.
    """

    def __init__(self) -> None:
        self._entries = array("i")  # by node, place in _ends of its text; may end early
        self._text = bytearray()
        self._ends = array("Q")
        self._append = bytearray()
        self._read: dict[int, Variables] = {}

    def __getitem__(self, node: int) -> tuple[Variable, ...]:
        """The node's variables in the order of their lines."""
        read = self._read.get(node)
        if isinstance(read, dict):
            read = self._read[node] = tuple(read.values())
        if read is not None:
            return read
        entry = self._entries[node] if node < len(self._entries) else _NONE
        if entry == _NONE:
            raise KeyError(node)
        return self._variables(entry)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def unread(self, node: int) -> Variables:
        """The node's variables as they were set last; () if there are none."""
        return self._read.get(node) or self.get(node, ())

    def __setitem__(self, node: int, variables: Variables) -> None:
        self._read[node] = variables

    def __contains__(self, node: object) -> bool:
        return node in self._read or (
            isinstance(node, int) and node < len(self._entries) and self._entries[node] != _NONE
        )

    def __iter__(self) -> Iterator[int]:
        """The nodes that have variables."""
        entries = self._entries
        yield from (node for node in range(len(entries)) if entries[node] != _NONE)
        yield from (node for node in self._read if node >= len(entries) or entries[node] == _NONE)

    def add_simple(self, nodes: Sequence[int], texts: Sequence[str], append: bool) -> bool:
        """Give each node the `key="value"` pairs of its text, all ASCII without escapes.

        Returns False, with nothing done, if one of the nodes has variables already.
        """
        if self._have_any(nodes):
            return False
        first = len(self._ends)
        missing = max(nodes[0], nodes[-1]) + 1 - len(self._entries)
        if isinstance(nodes, range) and missing >= len(nodes):
            self._entries.extend(repeat(_NONE, missing - len(nodes)))
            self._entries.extend(range(first, first + len(nodes)))
        else:
            self._entries.extend(repeat(_NONE, max(nodes) + 1 - len(self._entries)))
            for entry, node in enumerate(nodes, first):
                self._entries[node] = entry
        self._add_texts(texts, append)
        return True

    def numbered(self, other: VariableTable, first: int) -> Steps[MoreVariables]:
        """Those of another table, for `grow`; node n of it is `first + n` here, which has none."""
        begin = len(self._ends)
        move = begin.__add__
        if _NONE in other._entries:
            move = lambda entry: entry if entry == _NONE else begin + entry  # noqa: E731
        entries = yield from mapped(move, other._entries)
        ends = yield from mapped(len(self._text).__add__, other._ends)
        read = {first + node: variables for node, variables in other._read.items()}
        return MoreVariables(first, entries, other._text, ends, other._append, read)

    def grow(self, more: MoreVariables) -> None:
        """Add variables of other nodes, which have been numbered since these have been changed."""
        begin = len(self._ends)
        if more.ends:
            self._entries.extend(repeat(_NONE, more.first - len(self._entries)))
            self._entries.extend(more.entries)
            self._text += more.text
            self._ends.extend(more.ends)
        if more.append or self._append:
            self._append.extend(bytes(begin - len(self._append)))
            self._append.extend(more.append or bytes(len(more.ends)))
        self._read.update(more.read)

    def renumber(self, new: Sequence[int]) -> None:
        """Node n becomes `new[n]`."""
        old = self._entries
        self._entries = array("i", [_NONE]) * (len(new) if old else 0)
        for node, entry in enumerate(old):
            if entry != _NONE:
                self._entries[new[node]] = entry
        self._read = {new[node]: variables for node, variables in self._read.items()}

    def _add_texts(self, texts: Sequence[str], append: bool) -> None:
        before = len(self._ends)
        ends = accumulate(map(len, texts), initial=len(self._text))
        next(ends)
        self._ends.extend(ends)
        self._text += "".join(texts).encode("ascii")
        if append and not self._append:
            self._append.extend(bytes(before))
        if append or self._append:
            self._append.extend(bytes([append]) * len(texts))

    def _have_any(self, nodes: Sequence[int]) -> bool:
        if not isinstance(nodes, range) and len(set(nodes)) < len(nodes):
            return True
        if self._read and not self._read.keys().isdisjoint(nodes):
            return True
        entries = self._entries
        known = len(entries)
        if min(nodes[0], nodes[-1]) >= known and isinstance(nodes, range):
            return False
        return any(node < known and entries[node] != _NONE for node in nodes)

    def _variables(self, entry: int) -> tuple[Variable, ...]:
        begin = self._ends[entry - 1] if entry else 0
        text = self._text[begin : self._ends[entry]].decode("ascii")
        append = bool(self._append and self._append[entry])
        pairs = in_order(simple_pairs(text))
        return tuple(Variable(key, value, append) for key, value in pairs)


def in_order(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The pairs of one VARS line as stock DAGMan hands them on: sorted; the last of equal keys."""
    return sorted(dict(pairs).items())
