"""A DAG file while it is being read: which names it can use, and what is applied at its end.

The nodes of a splice are numbered as they are read, in the middle of the file that names it, but
become usable in that file, and get their place in the list of nodes, only when its end *lifts* them
into it.  (Manual: "Splices"; the order is the stock program's.)
"""

from __future__ import annotations

import os.path
from collections.abc import Iterator
from operator import attrgetter
from typing import Protocol, Union

Piece = Union[range, "Scope"]


class NodeSet(Protocol):
    """Nodes with a name of their own together, which stands for all of them wherever a file may
    name a node; a feature defines it."""

    @property
    def kind(self) -> str:
        """What people call such a set."""

    @property
    def nodes(self) -> range:
        """Its nodes, one at least."""


class Scope:
    """The root, which all DAG files of the command line and their INCLUDEs share, or a splice."""

    def __init__(self, outer: Scope | None = None, name: str = "", file: str = "") -> None:
        # of the splice as the file that names it calls it; `0.S` if munged; '' if root
        self.name = name
        self.file = file  # the splice's DAG file as that file calls it
        self.outer = outer  # the scope that names this one; None if root
        # what the splice adds to its nodes' names: '' or `S+T+`
        self.prefix: str = f"{outer.prefix}{name}+" if outer else ""
        # what the number of the DAG file adds before a name: '' or `0.`
        self.munge: str = outer.munge if outer else ""
        # what node directories in it are relative to; '' for DAGMan's own
        self.directory: str = outer.directory if outer else ""
        # directory that names of files are relative to while it is read; '' as above
        self.where: str = outer.where if outer else ""
        self.splices: dict[str, Scope] = {}  # those not lifted yet, by name
        self.sets: dict[str, NodeSet] = {}  # nodes that have a name together, by this name
        # nodes by PIN_IN (False) or PIN_OUT (True) and number
        self.pins: dict[bool, dict[int, list[int]]] = {False: {}, True: {}}
        self.categories: set[str] = set()  # those that CATEGORY commands name
        self.limits: dict[str, int] = {}  # MAXJOBS by category
        self.descriptions: dict[str, str] = {}  # submit descriptions by name
        # its nodes that had no parent at the end of the file that defines them
        self.initial: list[int] = []
        self.terminal: list[int] = []  # its nodes that had no child then
        self._pieces: list[Piece] = []
        self._noted = 0
        self._own: list[range] = []  # both in the order of their nodes
        self._lifted: list[range] = []

    def __str__(self) -> str:
        return f"{self.name}+" if self.outer else "root"

    def full(self, name: str) -> str:
        """The name in the whole DAG of the node or splice that the file calls `name`."""
        return self.prefix + self.munge + name

    def enter_directory(self, directory: str) -> None:
        """The DIR of a SPLICE command."""
        if directory:
            self.where = os.path.join(self.where, directory)
            self.directory = os.path.join(self.directory, directory)

    def new_pieces(self) -> list[Piece]:
        """The pieces added since the last call; what is added next begins a new piece."""
        new = self._pieces[self._noted :]
        self._noted = len(self._pieces)
        return new

    def add(self, first: int, count: int = 1) -> None:
        """Nodes `first` and so on are defined in this file."""
        last = self._pieces[-1] if len(self._pieces) > self._noted else None
        if isinstance(last, range) and last.stop == first:
            self._pieces[-1] = self._own[-1] = range(last.start, first + count)
        else:
            self._pieces.append(range(first, first + count))
            self._own.append(range(first, first + count))

    def lift(self) -> list[Scope]:
        """Put the nodes of its splices after its own; returns these splices, in that order."""
        lifted = [self.splices[name] for name in sorted(self.splices, key=_by_bytes)]
        self._pieces.extend(lifted)
        self._lifted += [nodes for splice in lifted for nodes in splice.ranges()]
        self._lifted.sort(key=attrgetter("start"))
        self.splices = {}
        return lifted

    def ranges(self) -> Iterator[range]:
        """Its nodes, those of lifted splices too, in order."""
        return (piece for piece in self.walk() if isinstance(piece, range))

    def walk(self) -> Iterator[Piece]:
        """As `ranges`, and each splice before its nodes; once more after them."""
        stack: list[Iterator[Piece]] = [iter(self._pieces)]
        owners: list[Scope] = []
        while stack:
            piece = next(stack[-1], None)
            if piece is None:
                stack.pop()
                if owners:
                    yield owners.pop()
            else:
                yield piece
                if isinstance(piece, Scope):
                    owners.append(piece)
                    stack.append(iter(piece._pieces))

    def __contains__(self, node: int) -> bool:
        """Whether the file may name this node."""
        return _within(self._own, node) or _within(self._lifted, node)


def _within(ranges: list[range], node: int) -> bool:
    """Whether one of the ranges, which are in ascending order, has the node."""
    low, high = 0, len(ranges)
    while low < high:
        middle = (low + high) // 2
        if ranges[middle].start <= node:
            low = middle + 1
        else:
            high = middle
    return low > 0 and node in ranges[low - 1]


def _by_bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
