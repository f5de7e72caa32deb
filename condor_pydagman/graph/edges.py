"""The edges of a DAG, as arrays of integers.

Edges are kept between *vertices*: the nodes, and the *junctions*.  A junction stands for a PARENT
line with many parents and many children, so that such a line costs parents + children entries
instead of their product.  It is no node: only the Dag and the engine's countdown use it.  Junctions
have the numbers -1, -2 and so on, whatever the number of nodes: in an array of nodes and junctions
they stand at its end, where Python finds them by these numbers.

Edges come in one by one or in bulk; `finish` sorts them by parent and by child, once.  After that,
`grow` can add the edges of further nodes.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain, compress, count, islice, repeat
from operator import eq, ge, gt, invert, le, lt, sub

from condor_pydagman.graph.stepwise import Steps, in_parts, mapped
from condor_pydagman.named_tuple import NamedTuple

# For each vertex a row of others: those after it, or those before it.
#
# The rows of all nodes stand in one array, one after the other, and so do those of all junctions.
# When a DAG grows, rows of new nodes and junctions are put behind them; what is added to a row that
# is there already is kept apart, by its vertex.


class MoreRows(NamedTuple):
    """What is to be added to rows, numbered as it is to be there."""

    # of nodes behind the others; the first of `firsts` is where the last row ends now
    firsts: array[int]
    values: array[int]
    # the same of junctions
    junction_firsts: array[int]
    junction_values: array[int]
    marks: bytearray | None  # those of `values`; None if nothing is marked
    # vertices that have a row, what is put behind it, and the marks of that
    longer: list[tuple[int, array[int], Sequence[int]]]


class Rows:
    """Rows of vertices; nodes are numbered from 0 up, junctions from -1 down.

    A vertex in a row may be marked.
    """

    def __init__(self) -> None:
        self._firsts = array("i", [0])
        self._values = array("i")
        self._junction_firsts = array("i", [0])
        self._junction_values = array("i")
        self._marks = bytearray()  # beside _values; empty if nothing is marked there
        self._more: dict[int, array[int]] = {}
        self._more_marks: dict[int, bytearray] = {}
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
        placed = len(self._values) + len(self._junction_values)
        return placed + sum(map(len, self._more.values()))

    def row(self, vertex: int) -> array[int]:
        """The row of a vertex."""
        if vertex >= 0:
            firsts = self._firsts
            found = self._values[firsts[vertex] : firsts[vertex + 1]]
        else:
            firsts = self._junction_firsts
            found = self._junction_values[firsts[~vertex] : firsts[~vertex + 1]]
        if self._more and vertex in self._more:
            found += self._more[vertex]
        return found

    def count(self, vertex: int) -> int:
        """How long the row of a vertex is."""
        if vertex >= 0:
            length = self._firsts[vertex + 1] - self._firsts[vertex]
        else:
            length = self._junction_firsts[~vertex + 1] - self._junction_firsts[~vertex]
        return length + len(self._more[vertex]) if vertex in self._more else length

    def counts(self) -> array[int]:
        """How long the rows are: those of the nodes, then of the junctions, the last one first."""
        counts = array("i", _steps(self._firsts))
        counts.extend(reversed(array("i", _steps(self._junction_firsts))))
        for vertex, more in self._more.items():
            counts[vertex] += len(more)
        return counts

    def marks_of(self, vertex: int) -> Sequence[int]:
        """1 for each in the row of a vertex that is marked, else 0."""
        if not self.any_marked or vertex < 0:
            return bytes(self.count(vertex))
        begin, end = self._firsts[vertex], self._firsts[vertex + 1]
        found = self._marks[begin:end] if self._marks else bytearray(end - begin)
        if vertex in self._more:
            found += self._more_marks.get(vertex) or bytes(len(self._more[vertex]))
        return found

    def with_repeats(self) -> set[int]:
        """Vertices with an equal pair in their row; before anything is added to rows."""
        found = _with_repeats(self._firsts, self._values)
        return found | set(map(invert, _with_repeats(self._junction_firsts, self._junction_values)))

    def whole(self) -> tuple[array[int], array[int]] | None:
        """Where the rows begin, and what is in them, if all are rows of nodes in one array."""
        if self._more or len(self._junction_firsts) > 1:
            return None
        return self._firsts, self._values

    def numbered(self, other: Rows, moved: Sequence[int], nodes: int) -> Steps[MoreRows]:
        """The rows of another DAG, for `grow`: vertex v of it is `moved[v]` here; the first `nodes`
        ones are put behind those that are here, and so are its junctions.  Others are here already
        and get what is added to their rows."""
        cut, new = other._firsts[nodes], moved.__getitem__
        firsts = yield from mapped(len(self._values).__add__, other._firsts[: nodes + 1])
        values = yield from mapped(new, other._values[:cut])
        begin = len(self._junction_values)
        junction_firsts = yield from mapped(begin.__add__, other._junction_firsts)
        junction_values = yield from mapped(new, other._junction_values)
        marks = None
        if other.any_marked:
            marks = other._marks[:cut] if other._marks else bytearray(cut)
        known = range(nodes, len(other._firsts) - 1)
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
            self.any_marked = True  # of values that are there, too
            self._marks.extend(bytes(len(self._values) - len(self._marks)))
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


class FlatEdges(NamedTuple):
    """All edges in arrays; junctions are numbered after the nodes."""

    # where the children of each vertex begin in `children`; one more at the end
    first_child: array[int]
    children: array[int]
    first_parent: array[int]  # the same of `parents`
    parents: array[int]
    weak: bytearray  # 1 for each of `children` that is a weak one; empty if none is


class MoreEdges(NamedTuple):
    """Edges that are to be added to others, numbered as they are to be there."""

    # the rows of children, and of parents
    after: MoreRows
    before: MoreRows
    # how many there are to be behind those that are there
    nodes: int
    junctions: int


class Edges:
    """The edges of a Dag.  Add them, then call `finish` once."""

    def __init__(self) -> None:
        self._tails = array("i")
        self._heads = array("i")
        self._junctions = 0
        # Each parent came once and after all before it: no sorting by parent, and no edge twice.
        self._in_order = True
        self._last_parent = -1
        self._nodes = 0
        self._after = Rows()  # children
        self._before = Rows()  # parents
        self._unsorted: tuple[array[int], array[int]] | tuple[()] = ()  # heads, tails
        self._weak = bytearray()  # beside _tails; may end early: the rest is strong

    def __len__(self) -> int:
        """Edges added so far; those of a junction count once for each parent and child."""
        return len(self._tails) or len(self._after)

    def add(self, parents: Sequence[int], children: Sequence[int], weak: bool = False) -> None:
        """Make every one of `parents` a parent of every one of `children`."""
        if len(parents) > 1 and len(children) > 1:
            self._junctions += 1
            junction = -self._junctions
            self._product(parents, (junction,), weak)  # says it all, as with a join node
            self._product((junction,), children, False)
        else:
            self._product(parents, children, weak)

    def add_many(self, tails: Iterable[int], heads: Iterable[int]) -> None:
        """One edge for each pair of `tails` and `heads`, which are of equal length."""
        self._in_order = False
        self._tails.extend(tails)
        self._heads.extend(heads)

    def add_columns(self, parents: Sequence[int], columns: Sequence[Sequence[int]]) -> None:
        """Make `parents[n]` a parent of `column[n]` for each column, these in ascending order."""
        self._note_parents(parents)
        width = len(columns)
        tails, heads = (array("i", bytes(4 * width * len(parents))) for _ in range(2))
        for place, column in enumerate(columns):
            tails[place::width] = array("i", parents)
            heads[place::width] = array("i", column)
        self._tails.extend(tails)
        self._heads.extend(heads)

    def mark_ends(self, begin: int, has_parents: bytearray, has_children: bytearray) -> None:
        """Set a 1 for each node that edges from number `begin` on give a parent or a child."""
        for ends, marks in ((self._tails, has_children), (self._heads, has_parents)):
            new: Iterable[int] = ends[begin:]
            if self._junctions:
                new = (vertex for vertex in new if vertex >= 0)
            deque(map(marks.__setitem__, new, repeat(1)), 0)

    def mark_inner_ends(self, count: int, has_parents: bytearray, has_children: bytearray) -> None:
        """As `mark_ends` of all edges, those alone that lead from one of the first `count` nodes to
        another one."""
        if not self._junctions and len(has_parents) == count:
            self.mark_ends(0, has_parents, has_children)
            return
        tails, heads = self._tails, self._heads
        ends = (
            {junction for node, junction in zip(tails, heads) if junction < 0 and node < count},
            {junction for junction, node in zip(tails, heads) if junction < 0 and node < count},
        )
        inner = ends[0] & ends[1]
        for tail, head in zip(tails, heads):
            if tail < count and head < count and (min(tail, head) >= 0 or {tail, head} & inner):
                if tail >= 0:
                    has_children[tail] = 1
                if head >= 0:
                    has_parents[head] = 1

    def renumber(self, new: Sequence[int]) -> None:
        """Node n becomes `new[n]`; before `finish`."""
        self._in_order = False
        if self._junctions:
            new = array("i", chain(new, range(-self._junctions, 0)))
        self._tails = array("i", map(new.__getitem__, self._tails))
        self._heads = array("i", map(new.__getitem__, self._heads))

    def finish(self, nodes: int, *, parents_later: bool = False) -> Steps[None]:
        """Sort the edges of `nodes` nodes; one that was added twice counts once, strong if either
        was.

        `parents_later`: `parents` is not expected to be called; if it is, it sorts then.
        """
        self._nodes = nodes
        if self._weak:
            self._weak.extend(bytes(len(self._tails) - len(self._weak)))
        self._sort_by_tail()
        yield
        repeating = set() if self._in_order else self._after.with_repeats()
        if repeating:
            self._drop_repeats(repeating)
            self._sort_by_tail()
        yield
        self._before = Rows.counted(self._heads, nodes, self._junctions)
        self._unsorted = self._heads, self._tails
        if not parents_later:
            self._sort_parents()
        self._tails, self._heads, self._weak = array("i"), array("i"), bytearray()

    def numbered(self, more: Edges, moved: Sequence[int], nodes: int) -> Steps[MoreEdges]:
        """The edges of another DAG, for `grow`; both are finished, and no edge is in both.

        Vertex v of the other one is `moved[v]` here: the first `nodes` ones have new numbers, and
        so have its junctions; the numbers of others are here already.
        """
        own = self._by_child()
        yield
        other = more._by_child()
        yield
        after = yield from self._after.numbered(more._after, moved, nodes)
        before = yield from own.numbered(other, moved, nodes)
        return MoreEdges(after, before, nodes, more._junctions)

    def grow(self, more: MoreEdges) -> None:
        """Add edges, which have been numbered since these have been changed."""
        self._after.grow(more.after)
        self._before.grow(more.before)
        self._junctions += more.junctions
        self._nodes += more.nodes

    @property
    def vertex_count(self) -> int:
        """Nodes plus junctions."""
        return self._nodes + self._junctions

    def vertices(self) -> Iterator[int]:
        """Nodes and junctions, in the order in which they stand in an array."""
        return chain(range(self._nodes), self.junctions())

    def junctions(self) -> range:
        """The junctions."""
        return range(-self._junctions, 0)

    def successors(self, vertex: int) -> Sequence[int]:
        """Vertices (nodes and junctions) that wait for `vertex`."""
        return self._after.row(vertex)

    def weak_marks(self, vertex: int) -> Sequence[int]:
        """1 for each of `successors` that is a weak one, else 0."""
        return self._after.marks_of(vertex)

    def predecessors(self, vertex: int) -> Sequence[int]:
        """Vertices that `vertex` waits for."""
        return self._by_child().row(vertex)

    def predecessor_count(self, vertex: int) -> int:
        """How many vertices `vertex` waits for."""
        return self._before.count(vertex)

    def predecessor_counts(self) -> array[int]:
        """The same of all vertices, in the order of `vertices`."""
        return self._before.counts()

    def roots(self) -> list[int]:
        """The nodes that wait for none."""
        counts = self.predecessor_counts()[: self._nodes]
        return list(compress(count(), map(eq, counts, repeat(0))))

    def by_parent(self) -> tuple[array[int], array[int]] | None:
        """The children of all nodes, one node after the other, and where those of each begin; not
        to be changed.  None if there are junctions, or the DAG has grown."""
        return self._after.whole()

    def flat(self) -> FlatEdges:
        """A copy of all edges in arrays."""
        self._by_child()
        return FlatEdges(*self._after.flat(), *self._before.flat(), self._after.flat_marks())

    def successor_count(self, vertex: int) -> int:
        """How many vertices wait for `vertex`."""
        return self._after.count(vertex)

    def children(self, node: int) -> Iterator[int]:
        """Child nodes, junctions resolved; a child may come twice if two lines name it."""
        return _resolve(node, self._after)

    def parents(self, node: int) -> Iterator[int]:
        """Parent nodes, junctions resolved; a parent may come twice if two lines name it."""
        return _resolve(node, self._by_child())

    @property
    def any_weak(self) -> bool:
        """Whether there is any weak edge."""
        return self._after.any_marked

    def is_weak(self, parent: int, child: int) -> bool:
        """Whether `child` waits for the end of `parent` only, however it ends."""
        if not self._after.any_marked:
            return False
        found = False
        for vertex, weak in zip(self.successors(parent), self.weak_marks(parent)):
            if vertex == child or (vertex < 0 and child in self.successors(vertex)):
                if not weak:
                    return False
                found = True
        return found

    def _note_parents(self, parents: Sequence[int]) -> None:
        if self._in_order:
            steps = isinstance(parents, range) or all(map(lt, parents, islice(parents, 1, None)))
            self._in_order = steps and parents[0] > self._last_parent
            self._last_parent = parents[-1]

    def _product(self, parents: Sequence[int], children: Sequence[int], weak: bool) -> None:
        if not parents or not children:
            return
        self._note_parents(parents)
        if len(set(children)) < len(children):
            self._in_order = False
        if weak:
            self._weak.extend(bytes(len(self._tails) - len(self._weak)))
            self._weak.extend(b"\1" * (len(parents) * len(children)))
        if len(children) == 1:
            self._tails.extend(parents)
            self._heads.extend(repeat(children[0], len(parents)))
            return
        for parent in parents:
            self._heads.extend(children)
            self._tails.extend(repeat(parent, len(children)))

    def _sort_by_tail(self) -> None:
        tails, heads, junctions = self._tails, self._heads, self._junctions
        self._after = Rows.counted(tails, self._nodes, junctions)
        if self._in_order or (not junctions and all(map(le, tails, islice(tails, 1, None)))):
            self._after.take(heads, self._weak)
        else:
            self._after.sort(tails, heads, self._weak)

    def _drop_repeats(self, repeating: set[int]) -> None:
        """Keep the first of equal edges that leave the vertices of `repeating`."""
        tails, heads, weak = array("i"), array("i"), bytearray()
        kept: dict[tuple[int, int], int] = {}
        for edge, (tail, head) in enumerate(zip(self._tails, self._heads)):
            is_weak = self._weak[edge] if self._weak else 0
            if tail in repeating:
                first = kept.setdefault((tail, head), len(tails))
                if first < len(tails):
                    weak[first] &= is_weak
                    continue
            tails.append(tail)
            heads.append(head)
            weak.append(is_weak)
        self._tails, self._heads, self._weak = tails, heads, weak if self._weak else self._weak

    def _by_child(self) -> Rows:
        """The parents of all vertices."""
        if self._unsorted:
            self._sort_parents()
        return self._before

    def _sort_parents(self) -> None:
        self._before.sort(*self._unsorted)
        self._unsorted = ()


def _resolve(node: int, rows: Rows) -> Iterator[int]:
    for vertex in rows.row(node):
        if vertex >= 0:
            yield vertex
        else:
            yield from rows.row(vertex)


def ascending(columns: Sequence[Sequence[int]]) -> list[Sequence[int]] | None:
    """The columns with each row sorted; None if a number is in a row twice."""
    wrong: set[int] = set()
    for left, right in zip(columns, columns[1:]):
        wrong.update(compress(count(), map(ge, left, right)))
    if not wrong:
        return list(columns)
    changed = list(map(list, columns))
    for place in wrong:
        row = sorted({column[place] for column in changed})
        if len(row) < len(changed):
            return None
        for column, vertex in zip(changed, row):
            column[place] = vertex
    return [*changed]
