"""The DAG as the engine uses it: values of all nodes in arrays, those of few in dictionaries.

A node is an integer, 0 up, in the order in which stock DAGMan lists nodes.  A million nodes must
fit in less than half of what the C++ program takes (docs/design.md), hence no object per node.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any, ClassVar, Protocol, TypeVar

from condor_pydagman.errors import DagFileWarning
from condor_pydagman.feature_table import FEATURES, home
from condor_pydagman.graph.edges import Edges
from condor_pydagman.graph.problems import ProcessingError
from condor_pydagman.graph.stepwise import Steps, at_once
from condor_pydagman.graph.variable_table import Variable as Variable
from condor_pydagman.graph.variable_table import VariableTable
from condor_pydagman.language.commands import Command
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import logged_name
from condor_pydagman.vocabulary import NO_NODE, NodeKind, ScriptKind


class Defer(NamedTuple):
    """The DEFER of a SCRIPT command; all but `status` and `seconds` is ours, not stock DAGMan's.

    Attributes:
        status: the exit code with which the script runs again later; None for none.
        seconds: before it does.
        times, total: how often at most, and for how many seconds in all; 0 for no limit.
        backoff: by how much the delay is multiplied for each further time, 1 or more.
        max_delay: seconds that the delay does not grow beyond; 0 for no limit.
    """

    status: int | None = None
    seconds: int = 0
    times: int = 0
    total: int = 0
    backoff: float = 1.0
    max_delay: int = 0

    @property
    def is_limited(self) -> bool:
        """Whether it is more than stock's."""
        return self[2:] != NO_DEFER[2:]


NO_DEFER = Defer()


class Script(NamedTuple):
    """A SCRIPT command: `command` is the raw rest of the line, split on blanks when it runs."""

    command: str
    defer: Defer = NO_DEFER
    debug_file: str = ""
    debug_stream: str = ""

    @property
    def defer_status(self) -> int | None:
        """The exit code with which DEFER has it run again, None for none."""
        return self.defer.status

    @property
    def defer_seconds(self) -> int:
        """How many seconds later."""
        return self.defer.seconds


class OnlyScript(Mapping[ScriptKind, Script]):
    """The scripts of a node that has one, without options: a dictionary takes six times the memory
    of that.

    Args:
        kind: of the script.
        command: see `Script`.
    """

    __slots__ = ("_command", "_kind")

    def __init__(self, kind: ScriptKind, command: str) -> None:
        self._kind, self._command = kind, command

    def __getitem__(self, kind: ScriptKind) -> Script:
        if kind is not self._kind:
            raise KeyError(kind)
        return Script(self._command)

    def __iter__(self) -> Iterator[ScriptKind]:
        yield self._kind

    def __len__(self) -> int:
        return 1


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


class Places:
    """Filled in the order in which nodes are read; `renumber` when their numbers change."""

    def __init__(self) -> None:
        self._lines = array("i")
        self._files: list[str] = []
        self._starts: list[int] = []  # first node read after the file of that index was entered
        self._read_as: Sequence[int] | None = None

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

    def renumber(self, read_as: Sequence[int]) -> None:
        """Node n is the one that was node `read_as[n]` before."""
        before = self._read_as
        self._read_as = read_as if before is None else [before[node] for node in read_as]

    def of(self, node: int) -> str:
        """`file:line` of the node; '' if that is not known."""
        if self._read_as is not None:
            node = self._read_as[node]
        index = bisect_right(self._starts, node) - 1
        if index < 0 or not self._lines[node]:
            return ""
        return f"{self._files[index]}:{self._lines[node]}"


# When it is decided whether the turn of a node has come.
AFTER_ALL, AT_ONCE = range(2)  # when all its parents have ended; whenever one of them has

NOOP = 1
DONE = 2  # is done before the start
JOIN = 4  # made by us for a PARENT line, see DAGMAN_USE_JOIN_NODES
JOIN_NAME = "_condor_join_node"  # of such a node, with its number behind it
USER_DONE = 8  # DONE because `JOB ... DONE` says so, not a rescue file
LEFT_OUT = 16  # DONE because CHOOSE leaves it out


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
        self.scripts: dict[int, Mapping[ScriptKind, Script]] = {}
        self.retries: dict[int, Retry] = {}
        self.aborts: dict[int, Abort] = {}
        self.priorities: dict[int, int] = {}
        self.priority = 0
        self.pre_skips: dict[int, int] = {}
        self.tolerances: dict[int, Tolerance] = {}
        self.save_points: dict[int, str] = {}  # save file, written at the start
        self.decided: dict[int, int] = {}  # nodes of which more decides than that parents are done
        self.categories: dict[int, str] = {}
        self.category_limits: dict[str, int] = {}
        self.variables = VariableTable()
        self.splices: list[Splice] = []
        self.features: dict[str, FeatureData] = {}  # see `FeatureData.of`
        self.status_file: StatusFile | None = None
        self.jobstate_log = ""
        self.dot = dot
        self.warnings: list[str] = []  # stock DAGMan's
        self.remarks: list[DagFileWarning] = []  # ours
        self.places = Places()
        self.changes = 0  # how often it has grown
        self._next_join: int | None = None  # None: not known yet
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

    def all_features(self) -> Iterator[FeatureData]:
        """What it holds of features, in the order of FEATURES; none is empty."""
        found = (self.features.get(entry.name) for entry in FEATURES)
        return (data for data in found if data)

    def may_grow(self, but: int = NO_NODE) -> bool:
        """Whether its lines let it grow, those about the node `but` apart."""
        return any(data.may_grow(but) for data in self.features.values())

    @property
    def groups(self) -> Sequence[NodeGroup]:
        """Groups of nodes that stay together, as a feature keeps them."""
        for data in self.features.values():
            found = data.groups()
            if found:
                return found
        return ()

    def group_of(self, node: int) -> int | None:
        """Which of the groups a node is in; None if it is in none."""
        for data in self.features.values():
            number = data.group_of(node)
            if number is not None:
                return number
        return None

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

    def category_of(self, name: str) -> str:
        """The category of a node, '' if it has none."""
        node = self.find(name)
        return self.categories.get(node, "") if node is not None else ""

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
        return self.places.of(node)

    def add_edges(
        self, parents: Sequence[int], children: Sequence[int], *, weak: bool = False
    ) -> None:
        """Make every one of `parents` a parent of every one of `children`."""
        self.edges.add(parents, children, weak)

    def finish(self, *, parents_later: bool = False) -> None:
        """Sort the edges; only `grow` may add any from now on.  `parents_later` as in `Edges`."""
        at_once(self.finish_in_steps(parents_later=parents_later))

    def finish_in_steps(self, *, parents_later: bool = False) -> Steps[None]:
        """As `finish`."""
        return self.edges.finish(len(self.names), parents_later=parents_later)

    @property
    def next_join(self) -> int:
        """A number for a join node that none of this Dag has."""
        if self._next_join is None:
            self._next_join = 0
            self._note_joins(range(len(self)))
        return self._next_join

    def _note_joins(self, nodes: Sequence[int]) -> None:
        for node in compress(nodes, map(JOIN.__and__, map(self.flags.__getitem__, nodes))):
            number = int(self.names[node].rpartition(JOIN_NAME)[2])
            self._next_join = max(self._next_join or 0, number + 1)

    def of_kind(self, kind: NodeKind) -> list[int]:
        """The nodes of a kind."""
        found, node = [], self.kinds.find(kind)
        while node >= 0:
            found.append(node)
            node = self.kinds.find(kind, node + 1)
        return found

    def changed(self, new: Sequence[int]) -> None:
        """It has got `new` nodes: `find` is to look for odd names anew."""
        if self._next_join is not None:
            self._note_joins(new)
        self.changes += 1
        self._odd_names = None

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

    def waits_for_end_only(self, parent: int, child: int) -> bool:
        """Whether `child` waits for the end of `parent` and no more: by a weak edge, or since
        something else decides then."""
        return self.is_decided(child) or self.is_weak(parent, child)

    def is_decided(self, node: int) -> bool:
        """Whether the turn of the node is decided by more than that all its parents are done."""
        return node in self.decided

    def all_decided(self) -> list[int]:
        """Such nodes; those that wait for the end of all their parents come first."""
        return sorted(self.decided, key=self.decided.__getitem__)

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
        at_once(self.renumber_in_steps(order))

    def renumber_in_steps(self, order: Sequence[int]) -> Steps[None]:
        """As `renumber`."""
        new = array("i", bytes(4 * len(self)))
        for node, old in enumerate(order):
            new[old] = node
        yield
        self.names = [self.names[old] for old in order]
        self.submits = [self.submits[old] for old in order]
        self.kinds = bytearray(map(self.kinds.__getitem__, order))
        self.flags = bytearray(map(self.flags.__getitem__, order))
        yield
        self.ids = dict(zip(self.names, range(len(self.names))))
        yield
        for name in BY_NODE:
            setattr(self, name, {new[node]: value for node, value in getattr(self, name).items()})
        for data in self.features.values():
            data.renumber(new)
        yield
        self.variables.renumber(new)
        yield
        self.edges.renumber(new)
        self.places.renumber(order)


class NodeGroup(Protocol):
    """Nodes that stay together."""

    @property
    def name(self) -> str:
        """Its full name."""

    @property
    def nodes(self) -> tuple[int, ...]:
        """Its nodes, in DAG order."""

    @property
    def matched(self) -> str:
        """Where an earlier run of the DAG had begun it, '' if none."""


_Data = TypeVar("_Data", bound="FeatureData")


class FeatureData:
    """What a Dag holds of a feature: a class of its `commands`, made by its first command.

    It follows when the Dag gets other numbers, or grows.  This class does so for dictionaries with
    nodes as keys; what has other numbers of nodes overrides it.

    An attribute `lines_at` has places of lines, `file:line`; two that differ in nothing else are
    equal.
    """

    by_node: ClassVar[tuple[str, ...]] = ()  # the names of attributes that are such dictionaries
    # the name of an attribute with nodes that are done though they have not run; people read it
    # with blanks
    not_run: ClassVar[str] = ""
    # where its lines stand among those of other features: lower first, then in the order of
    # FEATURES; a node's below 0 before its CATEGORY
    place: ClassVar[int] = 0

    @classmethod
    def of(cls: type[_Data], dag: Dag) -> _Data:
        """What a Dag holds; it is empty, and the Dag's no more, if that holds nothing."""
        found = dag.features.get(home(cls))
        return found if isinstance(found, cls) else cls()

    @classmethod
    def put(cls: type[_Data], dag: Dag) -> _Data:
        """What a Dag holds, to be added to."""
        found = dag.features.setdefault(home(cls), cls())
        assert isinstance(found, cls)
        return found

    def __bool__(self) -> bool:
        """Whether it holds anything."""
        return any(vars(self).values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FeatureData) and self._compared() == other._compared()

    def _compared(self) -> tuple[type, dict[str, Any]]:
        return type(self), {name: one for name, one in vars(self).items() if name != "lines_at"}

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {vars(self)}"

    def renumber(self, new: Sequence[int]) -> None:
        """Node n becomes node `new[n]`."""
        for name in self.by_node:
            values = getattr(self, name)
            setattr(self, name, {new[node]: value for node, value in values.items()})

    def numbered(self: _Data, new: Sequence[int]) -> _Data:
        """That of a piece, as the Dag is to get it: its node n becomes node `new[n]`."""
        found = type(self)()
        for name in self.by_node:
            own = {new[n]: value for n, value in getattr(self, name).items() if n < len(new)}
            setattr(found, name, own)
        return found

    def grow(self: _Data, more: _Data) -> None:
        """Add that of a piece, which has been numbered."""
        for name in self.by_node:
            getattr(self, name).update(getattr(more, name))

    def first_lines(self) -> Iterable[Command]:
        """The commands that a DAG file has before its nodes; line 0."""
        return ()

    def lines(self, dag: Dag) -> Iterable[Command]:
        """The commands about the whole DAG, or groups of its nodes, as in a DAG file; line 0."""
        return ()

    def node_lines(self, dag: Dag, node: int) -> Iterable[Command]:
        """Those about one node."""
        return ()

    def first_rescue_lines(self) -> Iterable[Command]:
        """Those that a rescue file has before its other lines."""
        return ()

    def rescue_lines(self) -> Iterable[Command]:
        """Those about the whole DAG that a rescue file has, after its other lines."""
        return ()

    def done_line(self, dag: Dag, node: int) -> Command | None:
        """The command that says, in place of DONE, that a node is done."""
        return None

    def description_lines(self, node: int) -> str:
        """What the submit description of a node gets, behind its own lines."""
        return ""

    def may_grow(self, but: int) -> bool:
        """Whether lines about other nodes than `but` let the Dag grow."""
        return False

    def needs_helper(self) -> bool:
        """Whether a run of the Dag asks the feature's helper (`feature_table.HELPERS`)."""
        return bool(self)

    def submits_to_come(self) -> Collection[str] | None:
        """Submit descriptions of nodes that are to be added to the Dag; None if any may be."""
        return ()

    def advice(self, dag: Dag, name: str) -> str:
        """What is to be said of a name, a full one, that no node has; '' if nothing."""
        return ""

    def groups(self) -> Sequence[NodeGroup]:
        """Groups of nodes that stay together; one feature at most has any."""
        return ()

    def group_of(self, node: int) -> int | None:
        """Which of these groups a node is in; None if it is in none."""
        return None

    def categories(self) -> Iterable[str]:
        """The categories that it names."""
        return ()

    def file_names(self, node: int) -> Iterable[str]:
        """The names of files in lines about a node, macros included."""
        return ()

    def lines_used(self, node: int) -> Iterable[str]:
        """Names of lines of the submit description, in lower case, that its lines make use of."""
        return ()

    def told(self, node: int) -> Iterable[str]:
        """What people are told of a node whose state says nothing of it, in clauses."""
        return ()

    @property
    def why_left_out(self) -> str:
        """Why nodes are left out of a run; '' if it leaves none out."""
        return ""

    def must_run(self, node: int) -> str:
        """Why a node does more for a run than that it is done; '' if it does not."""
        return ""

    def warnings(self, dag: Dag) -> Iterable[str]:
        """What is odd, as is known when all DAG files have been read; see STRICT_MIDDLE."""
        return ()

    def mean_new(self, piece: Dag, nodes: range) -> None:
        """It is that of a piece, whose new nodes these are: what may be about nodes of the DAG as
        well is to be about them alone."""

    def complete(self, building: Any) -> None:
        """All files have been read, and nodes have their numbers.

        Args:
            building: the `graph.building.Building`.

        Raises:
            ProcessingError: what it holds can't be.
        """

    def mistakes(
        self, dag: Dag, outer: Dag | None = None, *, grows: bool = False
    ) -> Iterable[ProcessingError | None]:
        """What is wrong, as can only be said when all edges are known; None where the caller may do
        something else.

        Args:
            dag: the finished Dag that it is of.
            outer: if that is a piece, the Dag that it is to be added to.
            grows: whether that may get more nodes.
        """
        return ()


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
    "save_points",
    "decided",
    "categories",
)
