"""For each vertex a row of others: those after it, or those before it.

The rows of all nodes stand in one array, one after the other, and so do those of all junctions.
When a DAG grows, rows of new nodes and junctions are put behind them; what is added to a row that
is there already is kept apart, by its vertex.  So is all of a row whose vertex, or a vertex in it,
has been let go: its place in the array is *void* then.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import accumulate, chain, compress, islice, repeat
from operator import ge, gt, invert, lt, sub

from condor_pydagman.graph.stepwise import Steps, in_parts, mapped
from condor_pydagman.named_tuple import NamedTuple


class MoreRows(NamedTuple):
    """What is to be added to rows, numbered as it is to be there.

    Attributes:
        firsts, values: of nodes behind the others; the first of `firsts` is where the last row ends
            now.
        junction_firsts, junction_values: the same of junctions.
        marks: those of `values`; None if nothing is marked.
        longer: vertices that have a row, what is put behind it, and the marks of that.
    """

    firsts: array[int]
    values: array[int]
    junction_firsts: array[int]
    junction_values: array[int]
    marks: bytearray | None
    longer: list[tuple[int, array[int], Sequence[int]]]


class Rows:
    """Rows of vertices; nodes are numbered from 0 up, junctions from -1 down.

    A vertex in a row may be marked.
    """

    __slots__ = (
        "_firsts",
        "_junction_firsts",
        "_junction_values",
        "_marks",
        "_more",
        "_more_marks",
        "_values",
        "_void",
        "any_marked",
    )

    def __init__(self) -> None:
        self._firsts = array("i", [0])
        self._values = array("i")
        self._junction_firsts = array("i", [0])
        self._junction_values = array("i")
        self._marks = bytearray()  # beside _values; empty if nothing is marked there
        self._more: dict[int, array[int]] = {}
        self._more_marks: dict[int, bytearray] = {}
        self._void: set[int] = set()  # vertices whose rows are in _more alone
        self.any_marked = False

    @classmethod
    def counted(cls, keys: array[int], nodes: int, junctions: int) -> Rows:
        """Rows that have their lengths: one entry for each time that `keys` has the vertex.

        What is in them comes with `take` or `sort`.
        """
        rows = cls()
        if junctions:
            of_junctions = array("i", map(invert, compress(keys, map(lt, keys, repeat(0)))))
            rows._junction_firsts = _firsts(of_junctions, junctions)
            keys = array("i", compress(keys, map(ge, keys, repeat(0))))
        rows._firsts = _firsts(keys, nodes)
        return rows

    def take(self, values: array[int], marks: bytearray) -> None:
        """The rows of all nodes, one after the other; there are no junctions."""
        self._values, self._marks = values, marks
        self.any_marked = 1 in marks

    def sort(self, keys: array[int], values: array[int], marks: bytearray | None = None) -> None:
        """Put each value into the row of its key; equal keys in the order in which they are.

        `marks`: those of the values, or nothing if none has one.
        """
        marked = array("b", bytes(marks)) if marks else None
        if len(self._junction_firsts) > 1:
            junctions = bytes(map(lt, keys, repeat(0)))
            of_junctions = array("i", map(invert, compress(keys, junctions)))
            inside = array("i", compress(values, junctions))
            self._junction_values = _placed(self._junction_firsts, of_junctions, inside)
            nodes = bytes(map(ge, keys, repeat(0)))
            values = array("i", compress(values, nodes))
            if marked is not None:
                marked = array("b", compress(marked, nodes))
            keys = array("i", compress(keys, nodes))
        self._values = _placed(self._firsts, keys, values)
        if marked is not None:
            placed = _placed(self._firsts, keys, marked)
            self._marks = bytearray(placed.tolist())  # not their machine words
            self.any_marked = 1 in self._marks

    def __len__(self) -> int:
        """How many entries there are in all rows."""
        dead = sum(self._placed_count(vertex) for vertex in self._void)
        placed = len(self._values) + len(self._junction_values)
        return placed + sum(map(len, self._more.values())) - dead

    def row(self, vertex: int) -> array[int]:
        """The row of a vertex."""
        if vertex >= 0:
            firsts = self._firsts
            found = self._values[firsts[vertex] : firsts[vertex + 1]]
        else:
            firsts = self._junction_firsts
            found = self._junction_values[firsts[~vertex] : firsts[~vertex + 1]]
        if self._void and vertex in self._void:
            found = array("i")
        if self._more and vertex in self._more:
            found += self._more[vertex]
        return found

    def count(self, vertex: int) -> int:
        """How long the row of a vertex is."""
        length = 0 if vertex in self._void else self._placed_count(vertex)
        return length + len(self._more[vertex]) if vertex in self._more else length

    def _placed_count(self, vertex: int) -> int:
        """How much the array has of the row of a vertex."""
        if vertex >= 0:
            return self._firsts[vertex + 1] - self._firsts[vertex]
        return self._junction_firsts[~vertex + 1] - self._junction_firsts[~vertex]

    def counts(self) -> array[int]:
        """How long the rows are: those of the nodes, then of the junctions, the last one first."""
        counts = array("i", _steps(self._firsts))
        counts.extend(reversed(array("i", _steps(self._junction_firsts))))
        for vertex in self._void:
            counts[vertex] = 0
        for vertex, more in self._more.items():
            counts[vertex] += len(more)
        return counts

    def marks_of(self, vertex: int) -> Sequence[int]:
        """1 for each in the row of a vertex that is marked, else 0."""
        if not self.any_marked or vertex < 0:
            return bytes(self.count(vertex))
        begin, end = self._firsts[vertex], self._firsts[vertex + 1]
        found = self._marks[begin:end] if self._marks else bytearray(end - begin)
        if vertex in self._void:
            found = bytearray()
        if vertex in self._more:
            found += self._more_marks.get(vertex) or bytes(len(self._more[vertex]))
        return found

    def with_repeats(self) -> set[int]:
        """Vertices with an equal pair in their row; before anything is added to rows."""
        found = _with_repeats(self._firsts, self._values)
        return found | set(map(invert, _with_repeats(self._junction_firsts, self._junction_values)))

    def whole(self) -> tuple[array[int], array[int]] | None:
        """Where the rows begin, and what is in them, if all are rows of nodes in one array."""
        if self._more or self._void or len(self._junction_firsts) > 1:
            return None
        return self._firsts, self._values

    def numbered(
        self, other: Rows, moved: Sequence[int], nodes: int, *, junctions: bool
    ) -> Steps[MoreRows]:
        """The rows of another DAG, for `grow`: vertex v of it is `moved[v]` here; the first `nodes`
        ones are put behind those that are here, and so are `junctions`.  Others are here already
        and get what is added to their rows."""
        cut, new = other._firsts[nodes], moved.__getitem__
        firsts = yield from mapped(len(self._values).__add__, other._firsts[: nodes + 1])
        values = yield from mapped(new, other._values[:cut])
        junction_firsts, junction_values = array("i"), array("i")
        if junctions:
            begin = len(self._junction_values)
            junction_firsts = yield from mapped(begin.__add__, other._junction_firsts)
            junction_values = yield from mapped(new, other._junction_values)
        marks = None
        if other.any_marked:
            marks = other._marks[:cut] if other._marks else bytearray(cut)
        known = [*range(nodes, len(other._firsts) - 1), *(() if junctions else other._junctions())]
        longer: list[tuple[int, array[int], Sequence[int]]] = []
        for some in in_parts(known):
            longer += [
                (new(vertex), array("i", map(new, other.row(vertex))), other.marks_of(vertex))
                for vertex in some
                if other.count(vertex)
            ]
            yield
        return MoreRows(firsts, values, junction_firsts, junction_values, marks, longer)

    def grow(self, more: MoreRows) -> None:
        """Add rows."""
        if more.marks is not None:
            self._mark_all()
            self._marks.extend(more.marks)
        elif self._marks:
            self._marks.extend(bytes(len(more.values)))
        self._firsts.extend(more.firsts[1:])
        self._values.extend(more.values)
        self._junction_firsts.extend(more.junction_firsts[1:])
        self._junction_values.extend(more.junction_values)
        for vertex, row, marks in more.longer:
            there = self._more.get(vertex)
            self._more[vertex] = row if there is None else there + row  # `row` stays as it is
            if self.any_marked and vertex >= 0:
                self._add_marks(vertex, marks)

    def let_go(self, gone: Collection[int], beside: Iterable[int]) -> None:
        """Drop the rows of vertices that are let go, and these from the rows of those `beside`
        them, which stay."""
        for vertex in gone:
            self._void.add(vertex)
            self._more.pop(vertex, None)
            self._more_marks.pop(vertex, None)
        for vertex in beside:
            row, marks = self.row(vertex), self.marks_of(vertex)
            kept = [place for place, other in enumerate(row) if other not in gone]
            self._void.add(vertex)
            self._more[vertex] = array("i", map(row.__getitem__, kept))
            if self.any_marked and vertex >= 0:
                self._more_marks[vertex] = bytearray(map(marks.__getitem__, kept))

    def flat(self) -> tuple[array[int], array[int]]:
        """Where each row begins, with one more at the end, and all rows; the junctions' stand after
        the nodes', and are numbered after them."""
        nodes = len(self._firsts) - 1
        if self.whole() is not None:
            return self._firsts[:], self._values[:]
        values, firsts = array("i"), array("i", [0])
        for vertex in chain(range(nodes), self._junctions()):
            values.extend(v if v >= 0 else nodes + ~v for v in self.row(vertex))
            firsts.append(len(values))
        return firsts, values

    def flat_marks(self) -> bytearray:
        """The marks of all values of `flat`; empty if nothing is marked."""
        if not self.any_marked:
            return bytearray()
        nodes = range(len(self._firsts) - 1)
        return bytearray(chain.from_iterable(map(self.marks_of, chain(nodes, self._junctions()))))

    def _junctions(self) -> Iterator[int]:
        return map(invert, range(len(self._junction_firsts) - 1))

    def _mark_all(self) -> None:
        """Marks for all values that are there."""
        self.any_marked = True
        self._marks.extend(bytes(len(self._values) - len(self._marks)))

    def _add_marks(self, vertex: int, marks: Sequence[int]) -> None:
        before = self._more_marks.setdefault(vertex, bytearray())
        missing = len(self._more[vertex]) - len(marks) - len(before)
        before.extend(bytes(missing))
        before.extend(marks)


def _steps(firsts: array[int]) -> Iterator[int]:
    return map(sub, islice(firsts, 1, None), firsts)


def _with_repeats(firsts: array[int], values: array[int]) -> set[int]:
    found, begin = set(), 0
    for number, end in enumerate(islice(firsts, 1, None)):
        if end - begin > 1 and len(set(values[begin:end])) < end - begin:
            found.add(number)
        begin = end
    return found


def _placed(firsts: array[int], keys: array[int], values: array[int]) -> array[int]:
    """The values sorted by key, equal keys in the order in which they are."""
    cut = bytearray(map(gt, keys, islice(keys, 1, None))).find(1) + 1
    if not cut:
        return values[:]
    if len(keys) - cut < cut >> 4:  # splice after splice, then the edges between them
        return _inserted(keys, values, cut)
    next_place = firsts[:]
    result = array("i", bytes(4 * len(values)))
    for key, value in zip(keys, values):
        place = next_place[key]
        result[place] = value
        next_place[key] = place + 1
    return result


def _inserted(keys: array[int], values: array[int], cut: int) -> array[int]:
    """As `_placed`, if the keys before `cut` are sorted and those after it are few."""
    result, begin = array("i"), 0
    for edge in sorted(range(cut, len(keys)), key=keys.__getitem__):
        end = bisect_right(keys, keys[edge], begin, cut)
        result.extend(values[begin:end])
        result.append(values[edge])
        begin = end
    result.extend(values[begin:cut])
    return result


def _firsts(keys: array[int], vertices: int) -> array[int]:
    """Where the entries of each key begin when sorted by key; one more at the end."""
    counts = [0] * (vertices + 1)  # a list counts twice as fast as an array
    for key in keys:
        counts[key] += 1
    total = len(keys)
    firsts = array("i", accumulate(counts, initial=0))
    del firsts[vertices + 1 :]
    firsts[vertices] = total
    return firsts
