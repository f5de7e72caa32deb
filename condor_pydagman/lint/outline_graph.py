"""Nodes and edges of a DAG as stock condor_dag_checker counts them, while its files are read.

Which commands there are, and what is wrong with them, is found by `outline`.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain, repeat

from condor_pydagman.dagfile.bulk import USES, SimpleLines
from condor_pydagman.graph.edges import ascending
from condor_pydagman.graph.model import JOIN, JOIN_NAME, NOOP, Dag
from condor_pydagman.lint.references import Ends, Names
from condor_pydagman.vocabulary import NodeKind

_USES = tuple(kind for kind in USES if kind != "PARENT")
_WITHOUT_EDGES = (NodeKind.FINAL, NodeKind.PROVISIONER, NodeKind.SERVICE)


class OutlineGraph:
    """A Dag under construction, and which of its nodes have parents and children.

    Args:
        use_join_nodes: whether a PARENT line with several nodes on both sides gets a join node.
    """

    def __init__(self, use_join_nodes: bool) -> None:
        self.dag = Dag()
        self._use_join_nodes = use_join_nodes
        self._joins = 0
        self._has_parents = bytearray()
        self._has_children = bytearray()
        self._marked_edges = 0
        self._without_edges: set[int] = set()

    def add_node(self, name: str, kind: NodeKind, flags: int = 0) -> int:
        """Add a node, by its full name; the caller has checked that the name is new."""
        node = self.dag.add_node(name, "", kind, flags)
        if kind in _WITHOUT_EDGES:
            self._without_edges.add(node)
        return node

    def add_simple_jobs(self, scope: Names, simple: SimpleLines) -> bool:
        """Add the nodes of simple lines; False, and nothing done, if a line may be wrong."""
        dag, prefix = self.dag, scope.prefix
        names = simple.columns("JOB")[0]
        if JOIN_NAME in simple.text or not scope.splices.keys().isdisjoint(names):
            return False
        jobs = _full(prefix, names)
        new = set(jobs)
        if len(new) < len(jobs) or not dag.ids.keys().isdisjoint(new):
            return False
        used = [simple.columns(kind)[0] for kind in _USES if simple.has(kind)]
        if scope.splices:  # a name may be that of a splice
            parents, children = simple.columns("PARENT")
            used += [parents, list(chain.from_iterable(map(str.split, children)))]
        if not all(self._are_nodes(_full(prefix, names), new) for names in used):
            return False
        dag.add_jobs(jobs, repeat("", len(jobs)), repeat(0, len(jobs)))
        return True

    def add_parents(self, prefix: str, simple: SimpleLines) -> bool:
        """Add the edges of PARENT lines; False, and nothing done, if a name is not of a node that
        may have edges."""
        columns = simple.edges()
        if columns is not None:
            ends = self._ends(prefix, (columns.parents, *columns.children))
            children = ends and ascending(ends[1:])
            if ends is None or children is not None:
                if ends and children:
                    self.dag.edges.add_columns(ends[0], children)
                return ends is not None
        parents, texts = simple.columns("PARENT")
        lists = list(map(str.split, texts))
        ends = self._ends(prefix, (parents, list(chain.from_iterable(lists))))
        if ends is None:
            return False
        tails = chain.from_iterable(map(repeat, ends[0], map(len, lists)))
        self.dag.edges.add_many(tails, ends[1])
        return True

    def add_edges(self, parents: list[int], children: list[int]) -> None:
        """Make every one of `parents` a parent of every one of `children`."""
        if not parents or not children:
            return
        if len(parents) > 1 and len(children) > 1 and self._use_join_nodes:
            self._joins += 1
            node = self.add_node(f"{JOIN_NAME}{self._joins}", NodeKind.JOB, JOIN | NOOP)
            self.dag.add_edges(parents, [node])
            self.dag.add_edges([node], children)
        else:
            self.dag.add_edges(parents, children)

    def ends_from(self, begin: int) -> Ends:
        """The ends of a splice whose nodes are those from `begin` on."""
        self._mark_ends()
        nodes = range(begin, len(self.dag))
        has_parents, has_children = self._has_parents, self._has_children
        without = self._without_edges
        initial = array("i", (n for n in nodes if not has_parents[n] and n not in without))
        terminal = array("i", (n for n in nodes if not has_children[n] and n not in without))
        return Ends(initial, terminal)

    def _mark_ends(self) -> None:
        """Bring `_has_parents` and `_has_children` up to date; each edge is looked at once."""
        for marks in (self._has_parents, self._has_children):
            marks.extend(bytes(len(self.dag) - len(marks)))
        self.dag.edges.mark_ends(self._marked_edges, self._has_parents, self._has_children)
        self._marked_edges = len(self.dag.edges)

    def _ends(self, prefix: str, lists: Iterable[Sequence[str]]) -> list[Sequence[int]] | None:
        """The nodes of lists of names; None if a name is not of a node that may have edges."""
        found = []
        for names in lists:
            nodes = self.dag.numbers(_full(prefix, names))
            if nodes is None or not self._without_edges.isdisjoint(nodes):
                return None
            found.append(nodes)
        return found

    def _are_nodes(self, full: Sequence[str], new: set[str]) -> bool:
        """Whether there are nodes of these names, or will be those of `new`."""
        return self.dag.numbers(full) is not None or self.dag.ids.keys() >= set(full) - new


def _full(prefix: str, names: Sequence[str]) -> Sequence[str]:
    return [prefix + name for name in names] if prefix else names
