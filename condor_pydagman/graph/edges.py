"""The edges of a DAG, as arrays of integers.

Edges are kept between *vertices*: the nodes, and the *junctions*.  A junction stands for a PARENT
line with many parents and many children, so that such a line costs parents + children entries
instead of their product.  It is no node: only the Dag and the engine's countdown use it.  Junctions
have the numbers -1, -2 and so on, whatever the number of nodes: in an array of nodes and junctions
they stand at its end, where Python finds them by these numbers.

Edges come in one by one or in bulk; `finish` sorts them by parent and by child, once.  After that,
`grow` can add the edges of further nodes, and `let_go` can drop those of nodes that are not needed
any more, whose numbers may then be used again.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, count, islice, repeat
from operator import eq, ge, le, lt

from condor_pydagman.graph.rows import MoreRows, Rows
from condor_pydagman.graph.stepwise import Steps, at_once
from condor_pydagman.named_tuple import NamedTuple


class FlatEdges(NamedTuple):
    """All edges in arrays; junctions are numbered after the nodes.

    Attributes:
        first_child: where the children of each vertex begin in `children`; one more at the end.
        first_parent: the same of `parents`.
        weak: 1 for each of `children` that is a weak one; empty if none is.
    """

    first_child: array[int]
    children: array[int]
    first_parent: array[int]
    parents: array[int]
    weak: bytearray


class MoreEdges(NamedTuple):
    """Edges that are to be added to others, numbered as they are to be there.

    Attributes:
        after, before: the rows of children, and of parents.
        nodes, junctions: how many there are to be behind those that are there.
    """

    after: MoreRows
    before: MoreRows
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

    def finish(self, nodes: int, *, parents_later: bool = False) -> None:
        """Sort the edges of `nodes` nodes; one that was added twice counts once, strong if either
        was.

        `parents_later`: `parents` is not expected to be called; if it is, it sorts then.
        """
        at_once(self.finish_in_steps(nodes, parents_later=parents_later))

    def finish_in_steps(self, nodes: int, *, parents_later: bool = False) -> Steps[None]:
        """As `finish`."""
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

    def numbered(
        self, more: Edges, moved: Sequence[int], nodes: int, *, junctions: bool
    ) -> Steps[MoreEdges]:
        """The edges of another DAG, for `grow`; both are finished, and no edge is in both.

        Vertex v of the other one is `moved[v]` here: the first `nodes` ones have new numbers, and
        so have its `junctions`; the numbers of others are here already.
        """
        own = self._by_child()
        yield
        other = more._by_child()
        yield
        after = yield from self._after.numbered(more._after, moved, nodes, junctions=junctions)
        before = yield from own.numbered(other, moved, nodes, junctions=junctions)
        return MoreEdges(after, before, nodes, more._junctions if junctions else 0)

    def grow(self, more: MoreEdges) -> None:
        """Add edges, which have been numbered since these have been changed."""
        self._after.grow(more.after)
        self._before.grow(more.before)
        self._junctions += more.junctions
        self._nodes += more.nodes

    def let_go(self, gone: Collection[int]) -> None:
        """Drop all edges of some vertices, whose numbers can be given to others then."""
        before = self._by_child()
        parents = {vertex for one in gone for vertex in before.row(one)}
        children = {vertex for one in gone for vertex in self._after.row(one)}
        self._after.let_go(gone, parents.difference(gone))
        before.let_go(gone, children.difference(gone))

    def numbered_anew(self, new: Mapping[int, int], nodes: int) -> Edges:
        """The edges of some of the vertices, of which `new` has the new numbers; `nodes` of them
        are nodes."""
        edges = Edges()
        for old, vertex in new.items():
            row = self.successors(old)
            edges._tails.extend(repeat(vertex, len(row)))
            edges._heads.extend(map(new.__getitem__, row))
            edges._weak.extend(self.weak_marks(old))
        edges._junctions = len(new) - nodes
        edges._in_order = False
        edges.finish(nodes)
        return edges

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
