"""Nodes and edges of a DAG as stock condor_dag_checker counts them, while its files are read.

Which commands there are, and what is wrong with them, is found by `outline`.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import repeat

from condor_pydagman.dagfile.bulk import USES, SimpleLines
from condor_pydagman.graph.lint.references import WITH_EDGES, Ends, Names, WaitingRows
from condor_pydagman.graph.model import JOIN, NOOP, Dag
from condor_pydagman.vocabulary import NodeKind

JOIN_NAME = "_condor_join_node"

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

    def add_node(self, name: str, kind: NodeKind, flags: int = 0) -> int:
        """Add a node, by its full name; the caller has checked that the name is new."""
        self._has_parents.append(0)
        self._has_children.append(0)
        return self.dag.add_node(name, "", kind, flags)

    def add_simple_jobs(self, scope: Names, simple: SimpleLines) -> bool:
        """Add the nodes of simple lines; False, and nothing done, if a line may be wrong."""
        dag = self.dag
        names = [name for name, _ in simple.rows("JOB")]
        if any(name.startswith(JOIN_NAME) or name in scope.splices for name in names):
            return False
        if simple.rows("PARENT") and self._has_nodes_without_edges():
            return False
        jobs = [scope.prefix + name for name in names] if scope.prefix else names
        new = set(jobs)
        if len(new) < len(jobs) or not dag.ids.keys().isdisjoint(new):
            return False
        used = [scope.prefix + name for kind in _USES for name, _ in simple.rows(kind)]
        if scope.splices:  # a name may be that of a splice
            rows = simple.rows("PARENT")
            used += [scope.prefix + name for row in rows for ends in row for name in ends.split()]
        if not all(name in dag.ids or name in new for name in used):
            return False
        self._has_parents.extend(bytes(len(jobs)))
        self._has_children.extend(bytes(len(jobs)))
        dag.add_jobs(jobs, repeat("", len(jobs)), repeat(0, len(jobs)))
        return True

    def add_rows(self, prefix: str, rows: Sequence[tuple[str, str]]) -> bool:
        """Add the edges of PARENT lines; False, and nothing done, if a name is not of a node."""
        get = self.dag.ids.__getitem__
        lists = [names.split() for _, names in rows]
        try:
            tails = [get(prefix + parent) for parent, _ in rows]
            heads = [get(prefix + name) for names in lists for name in names]
        except KeyError:
            return False
        if self._has_nodes_without_edges():
            return False
        tails = [tail for tail, names in zip(tails, lists) for _ in names]
        self.dag.edges.add_many(tails, heads)
        for node in tails:
            self._has_children[node] = 1
        for node in heads:
            self._has_parents[node] = 1
        return True

    def add_known_rows(self, prefix: str, simple: SimpleLines) -> WaitingRows:
        """Add the edges of PARENT lines whose nodes are all known; returns the other lines."""
        ids = self.dag.ids
        known, waiting, numbers = [], [], []
        for number, row in zip(simple.parent_lines(), simple.rows("PARENT")):
            if prefix + row[0] in ids and all(prefix + name in ids for name in row[1].split()):
                known.append(row)
            else:
                waiting.append(row)
                numbers.append(number)
        if known:
            self.add_rows(prefix, known)
        return WaitingRows(numbers, waiting)

    def add_edges(self, parents: list[int], children: list[int]) -> None:
        """Make every one of `parents` a parent of every one of `children`."""
        if not parents or not children:
            return
        for parent in parents:
            self._has_children[parent] = 1
        for child in children:
            self._has_parents[child] = 1
        if len(parents) > 1 and len(children) > 1 and self._use_join_nodes:
            self._joins += 1
            node = self.add_node(f"{JOIN_NAME}{self._joins}", NodeKind.JOB, JOIN | NOOP)
            self._has_parents[node] = self._has_children[node] = 1
            self.dag.add_edges(parents, [node])
            self.dag.add_edges([node], children)
        else:
            self.dag.add_edges(parents, children)

    def ends_from(self, begin: int) -> Ends:
        """The ends of a splice whose nodes are those from `begin` on."""
        nodes = [n for n in range(begin, len(self.dag)) if self.dag.kinds[n] in WITH_EDGES]
        initial = array("i", (node for node in nodes if not self._has_parents[node]))
        terminal = array("i", (node for node in nodes if not self._has_children[node]))
        return Ends(initial, terminal)

    def _has_nodes_without_edges(self) -> bool:
        return any(map(self.dag.kinds.count, _WITHOUT_EDGES))
