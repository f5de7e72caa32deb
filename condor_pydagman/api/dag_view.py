"""A DAG that has been read: a mapping from names to nodes, and its edges.

Nothing is copied: nodes and edges are made when they are asked for, out of the arrays in which
DAGMan itself holds them, so that a DAG of a million nodes takes no more memory than there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from condor_pydagman.api.dag_errors import Place
from condor_pydagman.graph import model
from condor_pydagman.graph.model import Abort, Retry, Script, Splice, Tolerance, Variable
from condor_pydagman.graph.modify import said
from condor_pydagman.graph.statistics import count_arcs
from condor_pydagman.language.syntax import of_class
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeKind, ScriptKind

_NO_SCRIPTS: Mapping[ScriptKind, Script] = MappingProxyType({})


class Edge(NamedTuple):
    """That one node waits for another.

    Attributes:
        parent, child: names of nodes.
        weak: whether `child` waits for the end of `parent` only, be it a success or not.
    """

    parent: str
    child: str
    weak: bool = False


class Node:
    """One node of a Dag; read only.  Equal to another Node of the same Dag with the same name."""

    __slots__ = ("_dag", "_number")

    def __init__(self, dag: model.Dag, number: int) -> None:
        self._dag = dag
        self._number = number

    def __repr__(self) -> str:
        return f"<Node {self.name!r}>"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Node):
            return NotImplemented
        return self._dag is other._dag and self._number == other._number

    def __hash__(self) -> int:
        return hash((id(self._dag), self._number))

    @property
    def name(self) -> str:
        """Full name: a node of a splice has the splice's name and a `+` before its own."""
        return self._dag.names[self._number]

    @property
    def kind(self) -> NodeKind:
        """Which command defines it: JOB, SUBDAG, FINAL, PROVISIONER or SERVICE."""
        return NodeKind(self._dag.kinds[self._number])

    @property
    def place(self) -> Place:
        """Where it is defined."""
        file, _, line = self._dag.place(self._number).rpartition(":")
        return Place(file, int(line or 0))

    @property
    def submit(self) -> str:
        """Its submit file, or the name of one of `Dag.descriptions`."""
        return self._dag.submits[self._number]

    @property
    def subdag(self) -> str:
        """The DAG file of a SUBDAG node, '' for other kinds."""
        return self._dag.subdags.get(self._number, "")

    @property
    def directory(self) -> str:
        """Where it runs (DIR), '' for the directory in which the DAG is submitted."""
        return self._dag.directories.get(self._number, "")

    @property
    def noop(self) -> bool:
        """Whether it has no job to submit (NOOP)."""
        return self._dag.is_noop(self._number)

    @property
    def done(self) -> bool:
        """Whether it is done before the start (DONE), by the DAG file or a rescue file."""
        return bool(self._dag.flags[self._number] & model.DONE)

    @property
    def parents(self) -> tuple[str, ...]:
        """Names of the nodes that it waits for."""
        return self._names(self._dag.parents(self._number))

    @property
    def children(self) -> tuple[str, ...]:
        """Names of the nodes that wait for it."""
        return self._names(self._dag.children(self._number))

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Its VARS, in order."""
        return tuple(self._dag.variables.get(self._number, ()))

    @property
    def scripts(self) -> Mapping[ScriptKind, Script]:
        """Its PRE, POST and HOLD scripts; times in seconds."""
        scripts = self._dag.scripts.get(self._number)
        return MappingProxyType(scripts) if scripts else _NO_SCRIPTS

    @property
    def retry(self) -> Retry | None:
        """Its RETRY; times in seconds."""
        return self._dag.retries.get(self._number)

    @property
    def abort(self) -> Abort | None:
        """Its ABORT-DAG-ON."""
        return self._dag.aborts.get(self._number)

    @property
    def tolerance(self) -> Tolerance | None:
        """Its TOLERANCE."""
        return self._dag.tolerances.get(self._number)

    @property
    def pre_skip(self) -> int | None:
        """The exit code of its PRE script with which it is skipped (PRE_SKIP)."""
        return self._dag.pre_skips.get(self._number)

    @property
    def priority(self) -> int:
        """Its PRIORITY; 0 is the default."""
        return self._dag.priorities.get(self._number, 0)

    @property
    def category(self) -> str:
        """Its CATEGORY, '' for none."""
        return self._dag.categories.get(self._number, "")

    @property
    def save_point(self) -> str:
        """The save file that is written when it starts (SAVE_POINT_FILE), '' for none."""
        return self._dag.save_points.get(self._number, "")

    @property
    def settings(self) -> Mapping[str, Mapping[str, Any]]:
        """What its lines of other commands say, by word: TIMEOUT, RUN_IF, CACHE, PUBLISH, EXTEND,
        SCATTER; by `TIMEOUT WARN` the limits of one with WARN.  Values have the names that they
        have in a Workflow; times in seconds."""
        found: dict[str, dict[str, Any]] = {}
        for feature in self._dag.features.values():
            for line in feature.node_lines(self._dag, self._number):
                values = ((name, value) for name, value in said(line).items() if value != "")
                word = f"{of_class(type(line)).word} {getattr(line, 'warn', '')}".rstrip()
                found.setdefault(word, {}).update(values)
        return found

    def _names(self, numbers: Iterator[int]) -> tuple[str, ...]:
        names = self._dag.names
        return tuple(names[number] for number in dict.fromkeys(numbers))


class Edges(Collection[Edge]):
    """The edges of a Dag, those of the first parent first; each pair of nodes once.

    A PARENT line with a thousand nodes on both sides has a million edges: it is kept as one line,
    and its edges are made one at a time.  `len()` takes time linear in the size of the DAG files.
    """

    def __init__(self, dag: model.Dag) -> None:
        self._dag = dag
        self._length = -1

    def __repr__(self) -> str:
        return f"<Edges of {self._dag.files}>"

    def __len__(self) -> int:
        if self._length < 0:
            self._length = count_arcs(self._dag)
        return self._length

    def __iter__(self) -> Iterator[Edge]:
        dag, names = self._dag, self._dag.names
        any_weak = dag.edges.any_weak
        for parent, name in enumerate(names):
            children = dag.children(parent)
            for child in children if dag.vertex_count == len(names) else dict.fromkeys(children):
                yield Edge(name, names[child], any_weak and dag.is_weak(parent, child))

    def __contains__(self, edge: object) -> bool:
        """Whether there is an edge; an Edge, or a pair of names of parent and child."""
        if not isinstance(edge, tuple) or len(edge) not in (2, 3):
            return False
        parent, child = (self._dag.ids.get(name) for name in edge[:2])
        if parent is None or child is None or child not in self._dag.children(parent):
            return False
        return len(edge) == 2 or self._dag.is_weak(parent, child) == edge[2]


class Dag(Mapping[str, Node]):
    """All nodes of the DAG files that one DAGMan runs, by their full names; read only.

    The order is that in which DAGMan lists nodes.  A Dag is equal to itself only.  Make one with
    `read_dag` or `parse_dag`.
    """

    def __init__(self, dag: model.Dag) -> None:
        self._dag = dag
        self._edges = Edges(dag)

    def __repr__(self) -> str:
        return f"<Dag of {self._dag.files}, {len(self)} nodes>"

    def __len__(self) -> int:
        return len(self._dag)

    def __iter__(self) -> Iterator[str]:
        return iter(self._dag.names)

    def __getitem__(self, name: str) -> Node:
        return Node(self._dag, self._dag.ids[name])

    def __contains__(self, name: object) -> bool:
        return name in self._dag.ids

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        """Its picture, for notebooks."""
        from condor_pydagman.picture.notebook import dag_mimebundle  # late: few are shown

        return dag_mimebundle(self._dag)

    @property
    def files(self) -> tuple[str, ...]:
        """The DAG files as they were named; other files of the run are named after the first."""
        return tuple(self._dag.files)

    @property
    def edges(self) -> Edges:
        """Who waits for whom."""
        return self._edges

    @property
    def splices(self) -> tuple[Splice, ...]:
        """The SPLICE commands; `begin` and `end` count nodes in the order of the Dag."""
        return tuple(self._dag.splices)

    @property
    def descriptions(self) -> Mapping[str, str]:
        """Submit descriptions that stand in the DAG file itself, by name."""
        return MappingProxyType(self._dag.descriptions)

    @property
    def category_limits(self) -> Mapping[str, int]:
        """How many nodes of a category may have jobs at once (MAXJOBS), by category."""
        return MappingProxyType(self._dag.category_limits)

    @property
    def node_status_file(self) -> str:
        """The file that NODE_STATUS_FILE names, '' for none; see `read_node_status`."""
        return self._dag.status_file.file if self._dag.status_file else ""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What DAGMan warns of when it reads these files."""
        return (*self._dag.warnings, *map(str, self._dag.remarks))


def engine_dag(dag: Dag) -> model.Dag:
    """The engine's Dag, for the other modules of this interface."""
    return dag._dag
