"""The state that the commands of DAG files work on: the Dag as far as it is read, and the scope.

What each command does is in `define` and `modify`; which file is read when, in `build`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NoReturn, TypeVar

from condor_pydagman.graph.model import JOIN_NAME, Dag
from condor_pydagman.graph.problems import Errors, ProcessingError
from condor_pydagman.graph.scope import Scope
from condor_pydagman.language.commands import Command
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import message
from condor_pydagman.vocabulary import ORDINARY_KINDS, NodeKind

# What a name stands for that is no node, where a node was to be named: advice for messages.

ALL_NODES = "ALL_NODES"


def advice(dag: Dag, scope: Scope, name: str) -> str:
    """What to write instead of `name`, which is no node in this scope; '' if nothing is known."""
    own = scope.munge + name
    if own in scope.splices:
        return (
            f"{name} is a splice, which can be named as parent and child only: for its nodes, put"
            f" the command into {scope.splices[own].file}"
        )
    if own in scope.sets:
        known = scope.sets[own]
        one = dag.names[known.nodes[0]]
        return f"{name} is a {known.kind}, and this names one node, such as {one}"
    if name.upper() == ALL_NODES:
        return (
            "this can't be said of ALL_NODES: name a node; a line that is for all of them says"
            " ALL_NODES without NODES"
        )
    if "," in name and all(scope.full(one) in dag.ids for one in name.split(",") if one):
        return "blanks stand between names, not commas"
    if "{" in name and scope.sets:
        kind = next(iter(scope.sets.values())).kind
        return f"the {kind}s of this file are {', '.join(sorted(scope.sets)[:5])}"
    if name.upper() == "BY":
        return "BY is for SWEEP_PARENT, which joins nodes with equal values"
    if "*" in name:
        return "names are no patterns here: ALL_NODES, a splice or a sweep stand for many nodes"
    found = (data.advice(dag, scope.full(name)) for data in dag.all_features())
    return next(filter(None, found), "")


MAX_WARNINGS = 1000
MAX_SHARED = 1 << 10  # values remembered for sharing; with more the look-up costs what it saves
MAX_COMPARED = 2000  # node names among which a misspelt one is looked for
MAX_HINTS = 20  # misspelt names for which that is done

# DAGMAN_USE_STRICT from which a warning is fatal; NEVER is above every level.
STRICT_LOW, STRICT_MIDDLE, STRICT_HIGH, NEVER = 1, 2, 3, 4

_T = TypeVar("_T")


class BuildOptions(NamedTuple):
    """How DAG files become a Dag; most fields are knobs of the same name in `config`."""

    use_join_nodes: bool = True
    munge_node_names: bool = True
    allow_any_node_name_characters: bool = False
    default_append_vars: bool = False
    use_dag_dir: bool = False  # every node runs in the directory of its DAG file (-usedagdir)
    priority: int = 0  # added to the priority of every node (-Priority, DAGMAN_DEFAULT_PRIORITY)
    strict: int = 1  # DAGMAN_USE_STRICT, 0 to 3: which warnings are fatal
    # DAGMan's working directory; what directories that -usedagdir gives to nodes are joined to, ''
    # leaves them relative
    cwd: str = ""


class Building:
    """A Dag under construction."""

    def __init__(self, dag: Dag, options: BuildOptions, errors: Errors | None = None) -> None:
        self.dag = dag  # the Dag
        self.options = options  # how it is built
        # what is wrong so far, and what becomes of it
        self.errors = Errors() if errors is None else errors
        self.scope = Scope()  # the file that the next command is of
        self.file = ""  # name of that file, as default names of save points need it
        self.special: set[int] = set()  # the FINAL, PROVISIONER and SERVICE nodes
        # what features keep while files are read, by their names
        self.of_features: dict[str, Any] = {}
        # whether any SPLICE has been read: `+` in a name means something then
        self.has_splices = False
        # by node, as of the last `mark_ends`
        self.has_parents = bytearray()
        self.has_children = bytearray()
        self._marked_edges = 0
        self._joins = 0
        self._inlines = 0
        self._lost_warnings = 0
        self._comparisons = 0
        self._shared: dict[Any, Any] = {}
        self._texts: dict[str, str] = {}

    @classmethod
    def of(cls, dag: Dag, options: BuildOptions) -> Building:
        """A Dag that is complete, to be changed by the commands of a rescue file."""
        building = cls(dag, options)
        building.scope.limits = dag.category_limits
        building.scope.descriptions = dag.descriptions
        building.scope.add(0, len(dag))
        for kind in NodeKind:
            if kind not in ORDINARY_KINDS:
                building.special.update(dag.of_kind(kind))
        return building

    def find(self, name: str) -> int | None:
        """The node that the file being read calls `name`, if it is in sight."""
        node = self.dag.ids.get(self.scope.full(name))
        if node is not None and self.has_splices and "+" in name and node not in self.scope:
            return None
        return node

    def find_all(self, names: Sequence[str]) -> Sequence[int] | None:
        """The nodes of these names, in the order of their numbers; None if one of them needs a
        closer look."""
        if self.has_splices and "+" in "".join(names):
            return None
        found = self.numbers(names)
        return found if found is None or isinstance(found, range) else sorted(set(found))

    def defined_at(self, full: str) -> str | None:
        """Where the node of that full name is defined; None if there is none."""
        node = self.dag.ids.get(full)
        return None if node is None else self.dag.place(node) or "an unknown place"

    def admit(self, command: Command) -> Command:
        """The command as it may stand in what is being read.

        Raises:
            ProcessingError: it may not.
        """
        return command

    def admit_edges(self, children: Sequence[int]) -> None:
        """Refuse nodes that can't get another parent."""

    def full_names(self, names: Sequence[str]) -> Sequence[str]:
        """As `Scope.full`, for several names."""
        before = self.scope.prefix + self.scope.munge
        return [before + name for name in names] if before else names

    def numbers(self, names: Sequence[str]) -> Sequence[int] | None:
        """The nodes of names without a `+`, in the order of the names; None if one is unknown."""
        return self.dag.numbers(self.full_names(names))

    def all_numbers(self, lists: Iterable[Sequence[str]]) -> list[Sequence[int]] | None:
        """As `numbers`, for several lists of names; None if a name in one of them is unknown."""
        found = []
        for names in lists:
            nodes = self.numbers(names)
            if nodes is None:
                return None
            found.append(nodes)
        return found

    def needed(self, name: str) -> int:
        """As `find`, for commands that can't mean ALL_NODES."""
        node = self.find(name)
        if node is None:
            self.unknown(name)
        return node

    def named(self, name: str) -> Sequence[int]:
        """The node, or the nodes of the set, of that name; ALL_NODES is neither."""
        several = self.scope.sets.get(self.scope.munge + name)
        return (self.needed(name),) if several is None else several.nodes

    def nodes(self, name: str) -> Sequence[int]:
        """The node of that name, or all ordinary nodes so far that are in sight."""
        node = self.find(name)
        if node is not None:
            return (node,)
        several = self.scope.sets.get(self.scope.munge + name)
        if several is not None:
            return several.nodes
        if name.upper() != ALL_NODES:
            self.unknown(name)
        found: Iterable[int] = chain.from_iterable(self.scope.ranges())
        if self.special:
            found = (node for node in found if node not in self.special)
        all_nodes = list(found)
        if not all_nodes:
            fail(
                f"Unknown node {name} referenced.",
                "there is no node before this line's file",
            )
        return all_nodes

    def unknown(self, name: str) -> NoReturn:
        """There is no such node."""
        shown = self.scope.munge + name
        fail(
            f"Unknown node {shown} referenced",
            self.near(name),
            at=name,
        )

    def near(self, name: str) -> str:
        """Advice: what `name` is, or the node whose name is like it, or ''."""
        self._comparisons += 1
        if len(name) > 100 or self._comparisons > MAX_HINTS:
            return ""
        known_as = advice(self.dag, self.scope, name)
        if known_as or len(self.dag) > MAX_COMPARED:
            return known_as
        before = len(self.scope.prefix + self.scope.munge)
        known = [self.dag.names[node][before:] for node in chain.from_iterable(self.scope.ranges())]
        same = [one for one in known if one.lower() == name.lower()]
        if same:
            return f"did you mean {same[0]}? Upper and lower case are not the same in names"
        import difflib  # imported late: most DAG files are right

        near = difflib.get_close_matches(name, known, 1, 0.7)
        if near or self.dag.ids.get(self.scope.full(name)) is None:
            return f"did you mean {near[0]}?" if near else ""
        return (
            "nodes inside a splice can't be named in the file that has the SPLICE command;"
            " put the command into the splice's own file"
        )

    def add_node(self, name: str, submit: str, kind: NodeKind, flags: int, line: int) -> int:
        """A new node of the file being read; `name` is its full name."""
        node = self.dag.add_node(name, self.text(submit), kind, flags, line)
        self.scope.add(node)
        if kind not in ORDINARY_KINDS:
            self.special.add(node)
        return node

    def next_join(self) -> int:
        """Number of the next join node; they are counted over all files."""
        self._joins += 1
        return self._joins - 1

    def join_name(self) -> str:
        """Full name of the next join node."""
        return f"{self.scope.prefix}{JOIN_NAME}{self.next_join()}"

    def next_inline(self) -> int:
        """Number of the next inline description; they are counted over all files."""
        self._inlines += 1
        return self._inlines - 1

    def refuse_special(self, node: int, word: str) -> None:
        """A command can't be said of nodes without edges."""
        if node in self.special:
            kind = NodeKind(self.dag.kinds[node]).name
            fail(
                f"{word} can't be said of node {self.shown(node)}",
                f"it is a {kind} node, which has neither parents nor children",
            )

    def shown(self, node: int) -> str:
        """The node's name as stock DAGMan shows it while the file is read."""
        return self.dag.names[node][len(self.scope.prefix) :]

    def mark_ends(self) -> None:
        """Bring `has_parents` and `has_children` up to date; each edge is looked at once."""
        missing = len(self.dag) - len(self.has_parents)
        self.has_parents.extend(bytes(missing))
        self.has_children.extend(bytes(missing))
        self.dag.edges.mark_ends(self._marked_edges, self.has_parents, self.has_children)
        self._marked_edges = len(self.dag.edges)

    def warn(self, text: str, fatal_from: int) -> None:
        """Keep a warning; fail if DAGMAN_USE_STRICT makes it fatal."""
        self.keep_warning(text)
        if self.options.strict >= fatal_from:
            fail(
                "Warning is fatal error because of DAGMAN_USE_STRICT setting",
                f"the warning is: {text}",
            )

    def keep_warning(self, text: str) -> None:
        """Keep a warning that never is fatal."""
        if len(self.dag.warnings) < MAX_WARNINGS:
            self.dag.warnings.append("\n".join(map(message, text.split("\n"))))
        else:
            self._lost_warnings += 1

    def close(self) -> None:
        """After the last file."""
        if self._lost_warnings:
            self.dag.warnings.append(f"Warning: {self._lost_warnings} more warnings not shown")

    def text(self, text: str) -> str:
        """An equal text seen before, else `text`: a million equal ones take the space of one."""
        texts = self._texts
        if len(texts) >= MAX_SHARED:
            texts.clear()
        return texts.setdefault(text, text)

    def texts(self, texts: Sequence[str]) -> Iterable[str]:
        """As `text` for each of `texts`."""
        if len(self._texts) + min(len(texts), MAX_SHARED) > 2 * MAX_SHARED:
            self._texts.clear()
        return map(self._texts.setdefault, texts, texts)

    def share(self, value: _T) -> _T:
        """As `text`, for tuples; the type counts, for equal tuples can mean different things."""
        return self.recall((type(value), value), value)

    def known(self, key: Any) -> Any:
        """The value kept by `recall`, or None."""
        return self._shared.get(key)

    def recall(self, key: Any, value: _T) -> _T:
        """The value kept under `key`; `value` if there is none."""
        if len(self._shared) >= MAX_SHARED:
            self._shared.clear()
        shared: _T = self._shared.setdefault(key, value)
        return shared


def fail(text: str, hint: str = "", *, also: str = "", at: str = "") -> NoReturn:
    """Raise a ProcessingError, whose place the caller adds.

    Args:
        text: what stock condor_dagman says.
        hint: what to do.
        also: a second line of stock condor_dagman's.
        at: the word of the command's line that is wrong.
    """
    raise ProcessingError(text, hint=hint, also=also, at=at)
