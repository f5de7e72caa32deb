"""The DAG as the engine uses it: values of all nodes in arrays, those of few in dictionaries.

A node is an integer, 0 up, in the order in which stock DAGMan lists nodes.  A million nodes must
fit in less than half of what the C++ program takes (docs/design.md), hence no object per node.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from condor_pydagman.dagfile.notify_lines import Notification
from condor_pydagman.errors import DagFileWarning
from condor_pydagman.graph.edges import Edges
from condor_pydagman.graph.places import Places
from condor_pydagman.graph.variable_table import Variable, VariableTable
from condor_pydagman.names import logged_name
from condor_pydagman.sites.policy import NO_POLICY, SitePolicy
from condor_pydagman.vocabulary import NodeKind, ScriptKind

__all__ = [
    "BY_NODE",
    "Abort",
    "Choice",
    "Dag",
    "DotFile",
    "Extension",
    "GrownPiece",
    "LimitUse",
    "Retry",
    "Script",
    "SiteGroup",
    "Splice",
    "StatusFile",
    "Timeout",
    "Tolerance",
    "Variable",
]

NOOP = 1
DONE = 2  # is done before the start
JOIN = 4  # made by us for a PARENT line, see DAGMAN_USE_JOIN_NODES
USER_DONE = 8  # DONE because `JOB ... DONE` says so, not a rescue file
LEFT_OUT = 16  # DONE because CHOOSE leaves it out


class Script(NamedTuple):
    """A SCRIPT command: `command` is the raw rest of the line, split on blanks when it runs."""

    command: str
    defer_status: int | None = None
    defer_seconds: int = 0
    debug_file: str = ""
    debug_stream: str = ""


class Retry(NamedTuple):
    """A RETRY command; all but `limit` and a single `unless_exit` is ours, not stock DAGMan's.

    Attributes:
        limit: how many times the node runs again after a failure.
        unless_exit: return values of the node that are not retried.
        only_if: if there are any, only these are retried.
        delay: seconds before the first retry.
        backoff: by how much the delay is multiplied for each further retry, 1 or more.
        max_delay: seconds that the delay does not grow beyond; 0 for no limit.
    """

    limit: int
    unless_exit: tuple[int, ...] = ()
    only_if: tuple[int, ...] = ()
    delay: int = 0
    backoff: float = 1.0
    max_delay: int = 0


class Timeout(NamedTuple):
    """A TIMEOUT command, which stock DAGMan does not have; seconds, 0 for no limit.

    Attributes:
        queued: how long a job may wait in the queue without running.
        running: how long it may run.
        total: how long it may take since it was submitted.
    """

    queued: int = 0
    running: int = 0
    total: int = 0


class Abort(NamedTuple):
    """An ABORT-DAG-ON command; `exit_code` None means the node's own return value."""

    status: int
    exit_code: int | None = None


class Tolerance(NamedTuple):
    """A TOLERANCE command: how many procs, or percent of them, may fail before the node does."""

    limit: int
    percent: bool = False
    fail_fast: bool | None = None


class Splice(NamedTuple):
    """A SPLICE command: the nodes `begin` to `end - 1` are of its file, nested splices included.

    `name` is the full one, without a last `+`.
    """

    name: str
    file: str
    directory: str
    begin: int
    end: int


class SiteGroup(NamedTuple):
    """A SITE_GROUP command, with what SITE_POLICY commands say of it.

    Attributes:
        name: its full name, with those of the splices that it is in.
        nodes: its nodes, in DAG order.
        policy: how its site is chosen.
        clean_up: the node of the group that cleans up at an old site, -1 if there is none.
        matched: the site at which an earlier run of the DAG had begun it, '' if none.
        round: how many sites it had been matched to by then.
    """

    name: str
    nodes: tuple[int, ...]
    policy: SitePolicy = NO_POLICY
    clean_up: int = -1
    matched: str = ""
    round: int = 0


class Choice(NamedTuple):
    """A CHOOSE command; `extent` is FROM, UNTIL or ONLY, `names` full names or patterns."""

    extent: str
    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.extent} {' '.join(self.names)}"


class LimitUse(NamedTuple):
    """A SHARED_LIMIT command.

    Attributes:
        limit: name of the limit.
        category: full name of the category whose nodes keep to it, '' if it is not about one.
        nodes: the nodes that keep to it; None: those of the category, or all.
    """

    limit: str
    category: str = ""
    nodes: tuple[int, ...] | None = None


class Extension(NamedTuple):
    """An EXTEND command; a SCATTER command, if it has a pattern.

    Attributes:
        file: the DAG file, or the list, that the node writes.
        between: whether the new nodes stand between the node and its children.
        directory: of the new nodes, '' for DAGMan's own.
        prefix: what the names of the new nodes begin with.
        pattern: of the new nodes' names.
        submit: submit description of the new nodes.
        pairs: their variables.
    """

    file: str
    between: bool = True
    directory: str = ""
    prefix: str = ""
    pattern: str = ""
    submit: str = ""
    pairs: tuple[tuple[str, str], ...] = ()


class GrownPiece(NamedTuple):
    """What has been added to the DAG while it ran.

    Attributes:
        number: pieces are counted from 1.
        digest: of its text.
        node: name of the node that has added it, '' if a person has.
    """

    number: int
    digest: str
    node: str = ""


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


class Dag:
    """All nodes and edges of the DAG files that one DAGMan runs.

    Build it with `add_node`, `edges` and the dictionaries, then call `finish()` once; from then on
    it only changes if it grows (`grow`).  Node-level dictionaries have the node's integer as key.
    """

    def __init__(self, files: list[str] | None = None, dot: DotFile | None = None) -> None:
        self.files = [] if files is None else files
        self.names: list[str] = []
        self.ids: dict[str, int] = {}
        self.submits: list[str] = []  # submit file or submit description name
        self.kinds = bytearray()
        self.flags = bytearray()
        self.edges = Edges()
        self.directories: dict[int, str] = {}
        self.descriptions: dict[str, str] = {}  # inline submit descriptions
        self.subdags: dict[int, str] = {}  # DAG file of a SUBDAG
        self.scripts: dict[int, dict[ScriptKind, Script]] = {}
        self.retries: dict[int, Retry] = {}
        self.aborts: dict[int, Abort] = {}
        self.priorities: dict[int, int] = {}
        self.priority = 0
        self.pre_skips: dict[int, int] = {}
        self.tolerances: dict[int, Tolerance] = {}
        self.timeouts: dict[int, Timeout] = {}
        self.save_points: dict[int, str] = {}  # save file, written at the start
        self.extensions: dict[int, Extension] = {}  # by nodes that let the DAG grow
        self.categories: dict[int, str] = {}
        self.category_limits: dict[str, int] = {}
        self.variables = VariableTable()
        self.splices: list[Splice] = []
        self.pieces: list[GrownPiece] = []
        self.site_groups: list[SiteGroup] = []
        self.group_of: dict[int, int] = {}  # number of a node's site group
        self.choices: list[Choice] = []
        self.limit_uses: list[LimitUse] = []
        self.status_file: StatusFile | None = None
        self.jobstate_log = ""
        self.notifications: list[Notification] = []
        self.dot = dot
        self.warnings: list[str] = []  # stock DAGMan's
        self.remarks: list[DagFileWarning] = []  # ours
        self.places = Places()
        self._odd_names: dict[str, int] | None = None

    def __len__(self) -> int:
        return len(self.names)

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
        self.places.add(line)
        return node

    def add_jobs(self, names: Sequence[str], submits: Iterable[str], lines: Iterable[int]) -> bool:
        """As `add_node` for JOB nodes without flags.  False if a name was not new: then this Dag
        is spoilt."""
        first, count = len(self.names), len(names)
        self.ids.update(zip(names, range(first, first + count)))
        self.names.extend(names)
        self.submits.extend(submits)
        self.kinds.extend(bytes([NodeKind.JOB]) * count)
        self.flags.extend(bytes(count))
        self.places.add_many(lines)
        return len(self.ids) == first + count

    def numbers(self, names: Sequence[str]) -> Sequence[int] | None:
        """The nodes of these names, in the order of the names; None if one is unknown."""
        names = names if isinstance(names, list) else list(names)
        first = self.ids.get(names[0]) if names else 0
        if first is None:
            return None
        # Programs name nodes in the order of their definition; comparing is faster than looking up.
        end = first + len(names)
        if self.names[end - 1 : end] == names[-1:] and self.names[first:end] == names:
            return range(first, end)
        try:
            return list(map(self.ids.__getitem__, names))
        except KeyError:
            return None

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

    def forget_odd_names(self) -> None:
        """There are new nodes: `find` is to look for odd names among them, too."""
        self._odd_names = None

    def place(self, node: int) -> str:
        """Where the node is defined, `file:line`; '' if that is not known."""
        return self.places.of(node)

    def add_edges(
        self, parents: Sequence[int], children: Sequence[int], *, weak: bool = False
    ) -> None:
        """Make every one of `parents` a parent of every one of `children`."""
        self.edges.add(parents, children, weak)

    def finish(self, *, parents_later: bool = False) -> None:
        """Sort the edges; only `grow` may add any from now on.  `parents_later` as in `Edges`."""
        self.edges.finish(len(self.names), parents_later=parents_later)

    def of_kind(self, kind: NodeKind) -> list[int]:
        """The nodes of a kind."""
        found, node = [], self.kinds.find(kind)
        while node >= 0:
            found.append(node)
            node = self.kinds.find(kind, node + 1)
        return found

    @property
    def vertex_count(self) -> int:
        """Nodes plus junctions, see `edges`."""
        return self.edges.vertex_count

    def vertices(self) -> Iterator[int]:
        """Nodes and junctions, in the order in which they stand in an array, see `edges`."""
        return self.edges.vertices()

    def successors(self, vertex: int) -> Sequence[int]:
        """Vertices (nodes, and junctions, which are negative) that wait for `vertex`."""
        return self.edges.successors(vertex)

    def predecessors(self, vertex: int) -> Sequence[int]:
        """Vertices that `vertex` waits for."""
        return self.edges.predecessors(vertex)

    def successors_as_counted(self, vertex: int) -> Sequence[int]:
        """As `successors`, with the junctions numbered behind the nodes."""
        nodes = len(self)
        near = self.edges.successors(vertex if vertex < nodes else nodes + ~vertex)
        if near and min(near) < 0:
            return [one if one >= 0 else nodes + ~one for one in near]
        return near

    def predecessor_count(self, vertex: int) -> int:
        """How many vertices `vertex` waits for."""
        return self.edges.predecessor_count(vertex)

    def children(self, node: int) -> Iterator[int]:
        """Child nodes; a child may come twice if two lines name it."""
        return self.edges.children(node)

    def parents(self, node: int) -> Iterator[int]:
        """Parent nodes; a parent may come twice if two lines name it."""
        return self.edges.parents(node)

    def is_weak(self, parent: int, child: int) -> bool:
        """Whether `child` waits for the end of `parent` only, be it a success or not."""
        return self.edges.is_weak(parent, child)

    def has_weak_children_only(self, node: int) -> bool:
        """Whether there are nodes that wait for this one, all of them weakly."""
        return self.edges.any_weak and self.has_children(node) and all(self.edges.weak_marks(node))

    def has_children(self, node: int) -> bool:
        """Whether any node waits for this one."""
        return self.edges.successor_count(node) > 0

    def has_parents(self, node: int) -> bool:
        """Whether this node waits for any."""
        return self.edges.predecessor_count(node) > 0

    def script(self, node: int, kind: ScriptKind) -> Script | None:
        """The node's script of that kind, or None."""
        scripts = self.scripts.get(node)
        return scripts.get(kind) if scripts else None

    def is_noop(self, node: int) -> bool:
        """Whether the node has no job to submit."""
        return bool(self.flags[node] & NOOP)

    def renumber(self, order: Sequence[int]) -> None:
        """Node `order[n]` becomes node n; before `finish`."""
        new = array("i", bytes(4 * len(order)))
        for node, old in enumerate(order):
            new[old] = node
        self.names = [self.names[old] for old in order]
        self.submits = [self.submits[old] for old in order]
        self.kinds = bytearray(map(self.kinds.__getitem__, order))
        self.flags = bytearray(map(self.flags.__getitem__, order))
        self.ids = dict(zip(self.names, range(len(self.names))))
        for name in BY_NODE:
            setattr(self, name, {new[node]: value for node, value in getattr(self, name).items()})
        self.site_groups = [
            group._replace(
                nodes=tuple(sorted(new[node] for node in group.nodes)),
                clean_up=group.clean_up if group.clean_up < 0 else new[group.clean_up],
            )
            for group in self.site_groups
        ]
        self.limit_uses = [
            use
            if use.nodes is None
            else use._replace(nodes=tuple(sorted(new[node] for node in use.nodes)))
            for use in self.limit_uses
        ]
        self.variables.renumber(new)
        self.edges.renumber(new)
        self.places.renumber(order)


# Attributes of a Dag that are dictionaries with nodes as keys.
BY_NODE = (
    "directories",
    "subdags",
    "scripts",
    "retries",
    "aborts",
    "priorities",
    "pre_skips",
    "tolerances",
    "timeouts",
    "save_points",
    "extensions",
    "categories",
    "group_of",
)
