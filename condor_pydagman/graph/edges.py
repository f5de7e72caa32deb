"""The edges of a DAG, as arrays of integers.

Edges are kept between *vertices*: the nodes, then the *junctions*.  A junction stands for a PARENT
line with many parents and many children, so that such a line costs parents + children entries
instead of their product.  It is no node: only the Dag and the engine's countdown use it.

Edges come in one by one or in bulk; `finish` sorts them by parent and by child, once.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, compress, count, islice, repeat
from operator import eq, ge, gt, le, lt

_FIRST_JUNCTION = 1 << 30  # until the number of nodes is known


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
        self._first_child = array("i", [0])
        self._children = array("i")
        self._first_parent = array("i", [0])
        self._parents = array("i")
        self._unsorted: tuple[array[int], array[int]] | tuple[()] = ()  # heads, tails
        self._weak = bytearray()  # beside _tails; may end early: the rest is strong
        self._weak_children = bytearray()  # beside _children; empty if no edge is weak

    def __len__(self) -> int:
        """Edges added so far; those of a junction count once for each parent and child."""
        return len(self._tails) or len(self._children)

    def add(self, parents: Sequence[int], children: Sequence[int], weak: bool = False) -> None:
        """Make every one of `parents` a parent of every one of `children`."""
        if len(parents) > 1 and len(children) > 1:
            junction = _FIRST_JUNCTION + self._junctions
            self._junctions += 1
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
                new = (vertex for vertex in new if vertex < _FIRST_JUNCTION)
            deque(map(marks.__setitem__, new, repeat(1)), 0)

    def renumber(self, new: Sequence[int]) -> None:
        """Node n becomes `new[n]`; before `finish`."""
        self._in_order = False
        if not self._junctions:
            self._tails = array("i", map(new.__getitem__, self._tails))
            self._heads = array("i", map(new.__getitem__, self._heads))
            return
        for ends in (self._tails, self._heads):
            for place, vertex in enumerate(ends):
                if vertex < _FIRST_JUNCTION:
                    ends[place] = new[vertex]

    def finish(self, nodes: int, *, parents_later: bool = False) -> None:
        """Sort the edges of `nodes` nodes; one that was added twice counts once, strong if either
        was.

        `parents_later`: `parents` is not expected to be called; if it is, it sorts then.
        """
        self._nodes = nodes
        vertices = nodes + self._junctions
        if self._junctions:
            shift = _FIRST_JUNCTION - nodes
            for ends in (self._tails, self._heads):
                for place, vertex in enumerate(ends):
                    if vertex >= _FIRST_JUNCTION:
                        ends[place] = vertex - shift
        if self._weak:
            self._weak.extend(bytes(len(self._tails) - len(self._weak)))
        self._sort_by_tail(vertices)
        repeating = set() if self._in_order else self._with_repeats()
        if repeating:
            self._drop_repeats(repeating)
            self._sort_by_tail(vertices)
        self._first_parent = _firsts(self._heads, vertices)
        self._unsorted = self._heads, self._tails
        if not parents_later:
            self._sort_parents()
        self._tails, self._heads, self._weak = array("i"), array("i"), bytearray()

    @property
    def vertex_count(self) -> int:
        """Nodes plus junctions."""
        return len(self._first_child) - 1

    def successors(self, vertex: int) -> Sequence[int]:
        """Vertices (nodes and junctions) that wait for `vertex`."""
        return self._children[self._first_child[vertex] : self._first_child[vertex + 1]]

    def weak_marks(self, vertex: int) -> Sequence[int]:
        """1 for each of `successors` that is a weak one, else 0."""
        begin, end = self._first_child[vertex], self._first_child[vertex + 1]
        return self._weak_children[begin:end] if self._weak_children else bytes(end - begin)

    def predecessors(self, vertex: int) -> Sequence[int]:
        """Vertices that `vertex` waits for."""
        return self._by_child()[self._first_parent[vertex] : self._first_parent[vertex + 1]]

    def predecessor_count(self, vertex: int) -> int:
        """How many vertices `vertex` waits for."""
        return self._first_parent[vertex + 1] - self._first_parent[vertex]

    def roots(self) -> list[int]:
        """The vertices that wait for none."""
        first = self._first_parent
        return list(compress(count(), map(eq, first, islice(first, 1, None))))

    def by_parent(self) -> tuple[array[int], array[int]]:
        """The children of all vertices, one vertex after the other, and where those of each begin;
        not to be changed."""
        return self._first_child, self._children

    def successor_count(self, vertex: int) -> int:
        """How many vertices wait for `vertex`."""
        return self._first_child[vertex + 1] - self._first_child[vertex]

    def children(self, node: int) -> Iterator[int]:
        """Child nodes, junctions resolved; a child may come twice if two lines name it."""
        return self._resolve(node, self._first_child, self._children)

    def parents(self, node: int) -> Iterator[int]:
        """Parent nodes, junctions resolved; a parent may come twice if two lines name it."""
        return self._resolve(node, self._first_parent, self._by_child())

    @property
    def any_weak(self) -> bool:
        """Whether there is any weak edge."""
        return 1 in self._weak_children

    def is_weak(self, parent: int, child: int) -> bool:
        """Whether `child` waits for the end of `parent` only, however it ends."""
        if not self._weak_children:
            return False
        found = False
        for place in range(self._first_child[parent], self._first_child[parent + 1]):
            vertex = self._children[place]
            if vertex == child or (vertex >= self._nodes and child in self.successors(vertex)):
                if not self._weak_children[place]:
                    return False
                found = True
        return found

    def _note_parents(self, parents: Sequence[int]) -> None:
        if self._in_order:
            steps = isinstance(parents, range) or all(map(lt, parents, islice(parents, 1, None)))
            self._in_order = steps and parents[0] > self._last_parent
            self._last_parent = parents[-1]

    def _product(self, parents: Sequence[int], children: Sequence[int], weak: bool) -> None:
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

    def _resolve(self, node: int, first: array[int], near: array[int]) -> Iterator[int]:
        nodes = self._nodes
        for vertex in near[first[node] : first[node + 1]]:
            if vertex < nodes:
                yield vertex
            else:
                yield from near[first[vertex] : first[vertex + 1]]

    def _sort_by_tail(self, vertices: int) -> None:
        tails, heads = self._tails, self._heads
        self._first_child = _firsts(tails, vertices)
        if self._in_order or all(map(le, tails, islice(tails, 1, None))):
            self._children = heads
            self._weak_children = self._weak
        else:
            self._children = _placed(self._first_child, tails, heads)
            if self._weak:
                marks = array("b", bytes(self._weak))
                placed = _placed(self._first_child, tails, marks)
                self._weak_children = bytearray(placed.tolist())  # not their machine words

    def _with_repeats(self) -> set[int]:
        """Vertices of which an edge has been added more than once."""
        children, found, begin = self._children, set(), 0
        for vertex, end in enumerate(islice(self._first_child, 1, None)):
            if end - begin > 1 and len(set(children[begin:end])) < end - begin:
                found.add(vertex)
            begin = end
        return found

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

    def _by_child(self) -> array[int]:
        """The parents of all vertices, one vertex after the other."""
        if self._unsorted:
            self._sort_parents()
        return self._parents

    def _sort_parents(self) -> None:
        self._parents = _placed(self._first_parent, *self._unsorted)
        self._unsorted = ()


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
