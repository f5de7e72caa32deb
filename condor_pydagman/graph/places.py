"""The file and line where each node is defined: four bytes a node."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Sequence


class Places:
    """Filled in the order in which nodes are read; `renumber` when their numbers change."""

    def __init__(self) -> None:
        self._lines = array("i")
        self._files: list[str] = []
        self._starts: list[int] = []  # first node read after the file of that index was entered
        self._read_as: Sequence[int] | None = None
        self._put: dict[int, str] = {}  # of nodes that have the number of another one

    @property
    def file(self) -> str:
        """The file entered last."""
        return self._files[-1] if self._files else ""

    def enter(self, file: str) -> None:
        """Nodes that follow are defined in `file`."""
        if self._starts and self._starts[-1] == len(self._lines):
            self._files[-1] = file
        else:
            self._files.append(file)
            self._starts.append(len(self._lines))

    def add(self, line: int) -> None:
        """The next node is defined on `line`; 0 if on none."""
        self._lines.append(line)

    def add_many(self, lines: Iterable[int]) -> None:
        """As `add`, for several nodes."""
        self._lines.extend(lines)

    def extend(self, other: Places, first: int, count: int) -> None:
        """Add the first `count` nodes of another DAG, as nodes `first` and so on."""
        begin = len(self._lines)
        self._files.extend(other._files)
        self._starts.extend(begin + start for start in other._starts)
        if self._read_as is None and other._read_as is None:
            self._lines.extend(other._lines[:count])
            return
        read_as = array("i", range(first) if self._read_as is None else self._read_as)
        places = range(count) if other._read_as is None else other._read_as[:count]
        read_as.extend(begin + place for place in places)
        self._lines.extend(other._lines)
        self._read_as = read_as

    def put(self, node: int, other: Places, place: int) -> None:
        """A node has the number of one that was let go: it is node `place` of another DAG."""
        self._put[node] = other.of(place)

    def let_go(self, nodes: Iterable[int]) -> None:
        """Nodes have left the DAG."""
        for node in nodes:
            self._put.pop(node, None)

    def renumber(self, read_as: Sequence[int]) -> None:
        """Node n is the one that was node `read_as[n]` before."""
        before = self._read_as
        self._read_as = read_as if before is None else [before[node] for node in read_as]
        if self._put:
            self._put = {n: self._put[old] for n, old in enumerate(read_as) if old in self._put}

    def of(self, node: int) -> str:
        """`file:line` of the node; '' if that is not known."""
        if self._put and node in self._put:
            return self._put[node]
        if self._read_as is not None:
            node = self._read_as[node]
        index = bisect_right(self._starts, node) - 1
        if index < 0 or not self._lines[node]:
            return ""
        return f"{self._files[index]}:{self._lines[node]}"
