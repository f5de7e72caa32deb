"""The DAG as the engine sees it: what every node has in arrays, what few have in dictionaries.

A node is an integer, 0 up, in order of definition.  Edges are kept between *vertices*: the nodes,
then the *junctions*.  A junction stands for a PARENT line with many parents and many children, so
that such a line costs parents + children entries instead of their product.  It is no node: nobody
but this class and the engine's countdown sees it.

A million nodes must fit in less than half of what the C++ program takes (docs/design.md), hence no
object per node anywhere here.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from condor_pydagman.names import logged_name
from condor_pydagman.vocabulary import NodeKind, ScriptKind

NOOP = 1
DONE = 2  # is done before the start
JOIN = 4  # made by us for a PARENT line, see DAGMAN_USE_JOIN_NODES
USER_DONE = 8  # DONE because `JOB ... DONE` says so, not a rescue file


class Script(NamedTuple):
    """A SCRIPT command: `command` is the raw rest of the line, split on blanks when it runs."""

    command: str
    defer_status: int | None = None
    defer_seconds: int = 0
    debug_file: str = ""
    debug_stream: str = ""


class Retry(NamedTuple):
    """A RETRY command; `unless_exit` 0 means none, as in stock DAGMan."""

    limit: int
    unless_exit: int = 0


class Abort(NamedTuple):
    """An ABORT-DAG-ON command; `exit_code` None means the node's own return value."""

    status: int
    exit_code: int | None = None


class Variable(NamedTuple):
    """One `key=value` of a VARS command; `append` puts it after the submit file's own lines."""

    key: str
    value: str
    append: bool


class StatusFile(NamedTuple):
    """A NODE_STATUS_FILE command; `interval` in seconds."""

    file: str
    interval: int = 60
    always: bool = False


class DotFile(NamedTuple):
    """A DOT command."""

    file: str
    update: bool = False
    overwrite: bool = False
    include: str = ""


@dataclass
class Dag:
    """All nodes and edges of the DAG files that one DAGMan runs.

    Build it with `add_node`, `add_edges` and the dictionaries, then call `finish()` once; from then
    on it does not change.  Node-level dictionaries have the node's integer as key.
    """

    files: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    ids: dict[str, int] = field(default_factory=dict)
    submits: list[str] = field(default_factory=list)  # submit file or submit description name
    kinds: bytearray = field(default_factory=bytearray)
    flags: bytearray = field(default_factory=bytearray)
    directories: dict[int, str] = field(default_factory=dict)
    descriptions: dict[str, str] = field(default_factory=dict)  # inline submit descriptions
    scripts: dict[int, dict[ScriptKind, Script]] = field(default_factory=dict)
    retries: dict[int, Retry] = field(default_factory=dict)
    aborts: dict[int, Abort] = field(default_factory=dict)
    priorities: dict[int, int] = field(default_factory=dict)
    pre_skips: dict[int, int] = field(default_factory=dict)
    categories: dict[int, str] = field(default_factory=dict)
    category_limits: dict[str, int] = field(default_factory=dict)
    variables: dict[int, tuple[Variable, ...]] = field(default_factory=dict)
    status_file: StatusFile | None = None
    jobstate_log: str = ""
    dot: DotFile | None = None
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lines = array("i")
        self._odd_names: dict[str, int] | None = None
        self._file_starts: list[int] = []
        self._edges = array("i")  # parent, child, parent, child, ... until finish()
        self._junctions = 0
        self._first_child = array("i", [0])
        self._children = array("i")
        self._first_parent = array("i", [0])
        self._parents = array("i")

    def __len__(self) -> int:
        return len(self.names)

    def begin_file(self) -> None:
        """Nodes that follow are those of the next of `files`."""
        self._file_starts.append(len(self.names))

    def add_node(
        self, name: str, submit: str, kind: NodeKind = NodeKind.JOB, flags: int = 0, line: int = 0
    ) -> int:
        """Add a node and return its integer.  The caller has checked that the name is new.

        `line` is where it is defined, see `place`.
        """
        node = len(self.names)
        self.ids[name] = node
        self.names.append(name)
        self.submits.append(submit)
        self.kinds.append(kind)
        self.flags.append(flags)
        self._lines.append(line)
        return node

    def find(self, name: str) -> int | None:
        """The node that an event of the log names (`names.logged_name`); None if there is none."""
        node = self.ids.get(name)
        if node is None and self._odd_names is None:
            self._odd_names = {
                logged_name(odd): number
                for number, odd in enumerate(self.names)
                if logged_name(odd) != odd
            }
        return node if node is not None or not self._odd_names else self._odd_names.get(name)

    def place(self, node: int) -> str:
        """Where the node is defined, `file:line`; '' if that is not known."""
        file = bisect_right(self._file_starts, node) - 1
        if file < 0 or not self._lines[node]:
            return ""
        return f"{self.files[file]}:{self._lines[node]}"

    def add_edges(self, parents: Sequence[int], children: Sequence[int]) -> None:
        """Make every one of `parents` a parent of every one of `children`."""
        if len(parents) > 1 and len(children) > 1:
            self._junctions += 1
            junction = -self._junctions  # gets its vertex number when all nodes are known
            for parent in parents:
                self._edges.extend((parent, junction))
            for child in children:
                self._edges.extend((junction, child))
            return
        for parent in parents:
            for child in children:
                self._edges.extend((parent, child))

    def finish(self) -> None:
        """Sort the edges by parent and by child; edges named twice count once."""
        nodes = len(self.names)
        vertices = nodes + self._junctions
        tails = array("i", (v if v >= 0 else nodes - 1 - v for v in self._edges[0::2]))
        heads = array("i", (v if v >= 0 else nodes - 1 - v for v in self._edges[1::2]))
        self._edges = array("i")
        self._first_child, self._children = _adjacency(vertices, tails, heads)
        self._first_parent, self._parents = _adjacency(vertices, heads, tails)

    @property
    def vertex_count(self) -> int:
        """Nodes plus junctions."""
        return len(self._first_child) - 1

    def successors(self, vertex: int) -> Sequence[int]:
        """Vertices (nodes and junctions) that wait for `vertex`."""
        return self._children[self._first_child[vertex] : self._first_child[vertex + 1]]

    def predecessor_count(self, vertex: int) -> int:
        """How many vertices `vertex` waits for."""
        return self._first_parent[vertex + 1] - self._first_parent[vertex]

    def children(self, node: int) -> Iterator[int]:
        """Child nodes, junctions resolved; a child may come twice if two lines name it."""
        yield from self._resolve(node, self._first_child, self._children)

    def parents(self, node: int) -> Iterator[int]:
        """Parent nodes, junctions resolved; a parent may come twice if two lines name it."""
        yield from self._resolve(node, self._first_parent, self._parents)

    def has_children(self, node: int) -> bool:
        """Whether any node waits for this one."""
        return self._first_child[node + 1] > self._first_child[node]

    def has_parents(self, node: int) -> bool:
        """Whether this node waits for any."""
        return self._first_parent[node + 1] > self._first_parent[node]

    def script(self, node: int, kind: ScriptKind) -> Script | None:
        """The node's script of that kind, or None."""
        scripts = self.scripts.get(node)
        return scripts.get(kind) if scripts else None

    def is_noop(self, node: int) -> bool:
        """Whether the node has no job to submit."""
        return bool(self.flags[node] & NOOP)

    def _resolve(self, node: int, first: array[int], near: array[int]) -> Iterator[int]:
        nodes = len(self.names)
        for vertex in near[first[node] : first[node + 1]]:
            if vertex < nodes:
                yield vertex
            else:
                yield from near[first[vertex] : first[vertex + 1]]


def _adjacency(
    vertices: int, keys: array[int], values: array[int]
) -> tuple[array[int], array[int]]:
    """Counting sort of (key, value) pairs: where each key's values begin, and the values.

    Values keep their order and repeats are dropped, so both directions agree on the edges.
    """
    counts = array("i", bytes(4 * (vertices + 1)))
    for key in keys:
        counts[key + 1] += 1
    for key in range(vertices):
        counts[key + 1] += counts[key]
    place = array("i", counts)
    sorted_values = array("i", bytes(4 * len(values)))
    for key, value in zip(keys, values):
        sorted_values[place[key]] = value
        place[key] += 1
    return _without_repeats(vertices, counts, sorted_values)


def _without_repeats(
    vertices: int, first: array[int], values: array[int]
) -> tuple[array[int], array[int]]:
    kept_first = array("i", [0])
    kept = array("i")
    for vertex in range(vertices):
        begin, end = first[vertex], first[vertex + 1]
        if end - begin < 2:
            kept.extend(values[begin:end])
        else:
            kept.extend(dict.fromkeys(values[begin:end]))
        kept_first.append(len(kept))
    return kept_first, kept
