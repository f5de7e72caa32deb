"""Names of nodes and splices in commands: what they stand for, and what is wrong with them.

The rules and the texts are those of stock condor_dag_checker.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Protocol

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.bulk import SimpleLines
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.language import USING, manual
from condor_pydagman.dagfile.syntax import of_class
from condor_pydagman.features import home, part
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.scope import NodeSet
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeKind

# Commands that are applied when all nodes of their file are known, in this order.
_ORDER: tuple[type, ...] = (
    commands.SubmitDescription,
    commands.Category,
    commands.ParentChild,
    commands.ScriptLine,
    commands.RetryLine,
    commands.AbortDagOn,
    commands.Vars,
    commands.Priority,
    commands.PreSkip,
    commands.ToleranceLine,
    commands.NotDone,
    commands.Done,
    commands.ConfigFile,
    commands.Reject,
)
_LATER = frozenset(_ORDER) - {commands.SubmitDescription}  # which defines its name at once

_ALL_NODES = "ALL_NODES"
WITH_EDGES = (NodeKind.JOB, NodeKind.SUBDAG)


class Ends(NamedTuple):
    """What a splice's name stands for: its `initial` nodes as a child, `terminal` as a parent."""

    initial: Sequence[int] = ()
    terminal: Sequence[int] = ()


class Names(Protocol):
    """What names in a file are relative to."""

    @property
    def prefix(self) -> str:
        """What stands before every name."""

    @property
    def splices(self) -> dict[str, Ends]:
        """The splices so far."""

    @property
    def sets(self) -> dict[str, NodeSet]:
        """The nodes so far that have a name together."""


def word_of(command: Command) -> str:
    """The word of a command as messages show it; PIN_IN for both kinds of pins."""
    if isinstance(command, commands.Job):
        return command.kind.name
    return of_class(type(command)).word


def kind_of(command: commands.Job | commands.Subdag) -> NodeKind:
    """What kind of node a command defines; to stock, data placement is an ordinary job."""
    if isinstance(command, commands.Subdag):
        return NodeKind.SUBDAG
    return NodeKind.JOB if command.kind == NodeKind.DATA else command.kind


def is_late(command: type) -> bool:
    """Whether commands of that class are applied when all nodes of their file are known."""
    return command in _LATER or (bool(home(command)) and of_class(command).word in USING)


@cache
def adder(command: type) -> Callable[..., str] | None:
    """What adds nodes or edges for commands of a feature; None if they bring none.

    It is in the table `ADDED` of the feature's `lint`.  It gets the graph, the scope, the command,
    and the text of the file that belongs to this; the result is why it can't be applied, or ''.
    """
    rules = part(home(command), "lint") if home(command) else None
    found: dict[type, Callable[..., str]] = getattr(rules, "ADDED", {})
    return found.get(command)


class WaitingRows:
    """PARENT lines of a simple form (see `dagfile.bulk`), kept as text: there may be millions."""

    def __init__(self, simple: SimpleLines) -> None:
        lines = simple.parent_lines()
        self._lines = lines if isinstance(lines, range) else array("i", lines)
        self._text = simple.text_of("PARENT").encode()

    def simple(self) -> SimpleLines:
        """The lines, numbered from 0."""
        return SimpleLines(0, len(self._lines), self._text.decode(), {})

    def commands(self) -> Iterator[commands.ParentChild]:
        """The lines as commands."""
        for line, (parent, children) in zip(self._lines, self.simple().rows("PARENT")):
            yield commands.ParentChild(line, (parent,), tuple(children.split()))


class Deferred:
    """Commands that wait for the end of their file; iterate once, in the order of applying."""

    def __init__(self) -> None:
        self._commands: dict[type, list[Command | WaitingRows]] = {}

    def add_rows(self, rows: WaitingRows) -> None:
        """Let simple lines wait."""
        self._commands.setdefault(commands.ParentChild, []).append(rows)

    def add(self, command: Command) -> None:
        """Let `command` wait."""
        self._commands.setdefault(type(command), []).append(command)

    def __iter__(self) -> Iterator[Command | WaitingRows]:
        for kind in self._kinds():
            yield from self._commands.get(kind, ())

    def _kinds(self) -> Iterator[type]:
        """In their order: those of features, in the order of the manual, stand before DONE; but
        those that add edges behind PARENT."""
        own = [kind for kind in self._commands if home(kind)]
        words = [row.word for row in manual()] if own else []
        own.sort(key=lambda one: words.index(of_class(one).word))
        for kind in _ORDER:
            if kind is commands.Done:
                yield from (one for one in own if adder(one) is None)
            yield kind
            if kind is commands.ParentChild:
                yield from (one for one in own if adder(one) is not None)


class Resolver:
    """Resolves the names in one file."""

    def __init__(self, dag: Dag, scope: Names) -> None:
        self._dag = dag
        self._scope = scope

    def edges(self, command: commands.ParentChild) -> tuple[list[int], list[int]] | None:
        """Parents and children of a line; None if one is not known yet, or may have no edges."""
        parents = self._ends(command.parents, as_parents=True)
        children = None if parents is None else self._ends(command.children, as_parents=False)
        return None if parents is None or children is None else (parents, children)

    def edges_and_reasons(
        self, command: commands.ParentChild
    ) -> tuple[list[int], list[int], list[str]]:
        """Parents and children that a line can join, and what is wrong with the others."""
        reasons: list[str] = []
        parents, unknown_parents = self._known(command.parents, reasons, as_parents=True)
        children, unknown_children = self._known(command.children, reasons, as_parents=False)
        unknown = ""
        if unknown_parents:
            unknown += f" Parents [{','.join(unknown_parents)}]"
        if unknown_children:
            unknown += f" Children [{','.join(unknown_children)}]"
        if unknown:
            reasons.append("References to undefined nodes:" + unknown)
        return parents, children, reasons

    def objection(self, command: Command) -> str:
        """What is wrong with the node that a command names, '' if nothing or if it names none."""
        name = getattr(command, "node", None)
        if name is None or self._scope.prefix + name in self._dag.ids:
            return ""
        if name in self._scope.sets and not isinstance(command, commands.Done):
            return ""
        if isinstance(command, commands.Done) and name.upper() == _ALL_NODES:
            return "ALL_NODES can not be used with DONE command"
        if name.upper() == _ALL_NODES:
            return ""
        if isinstance(command, commands.Category):
            return f"References to undefined nodes: {name}"
        if name in self._scope.splices:
            return f"Cannot be applied to splice {name}"
        return f"References undefined node {name}"

    def _ends(self, names: tuple[str, ...], as_parents: bool) -> list[int] | None:
        dag, prefix, splices = self._dag, self._scope.prefix, self._scope.splices
        nodes = dag.numbers([prefix + name for name in names]) if len(names) > 1 else None
        if nodes is not None and set(map(dag.kinds.__getitem__, nodes)) <= set(WITH_EDGES):
            return sorted(set(nodes))
        found: dict[int, None] = {}
        for name in names:
            node = dag.ids.get(prefix + name)
            if node is not None:
                if dag.kinds[node] not in WITH_EDGES:
                    return None
                found[node] = None
            elif name in splices:
                found.update(dict.fromkeys(splices[name][as_parents]))
            elif name in self._scope.sets:
                found.update(dict.fromkeys(self._scope.sets[name].nodes))
            else:
                return None
        return sorted(found)

    def _known(
        self, names: tuple[str, ...], reasons: list[str], as_parents: bool
    ) -> tuple[list[int], list[str]]:
        """Nodes that may have edges, and names that are unknown; `reasons` grows."""
        known: dict[int, None] = {}
        unknown = []
        for name in sorted(set(names)):
            node = self._dag.ids.get(self._scope.prefix + name)
            if node is None and name in self._scope.splices:
                known.update(dict.fromkeys(self._scope.splices[name][as_parents]))
            elif node is None and name in self._scope.sets:
                known.update(dict.fromkeys(self._scope.sets[name].nodes))
            elif node is None:
                unknown.append(name)
            elif self._dag.kinds[node] in WITH_EDGES:
                known[node] = None
            else:
                kind = NodeKind(self._dag.kinds[node]).name
                reasons.append(f"{kind} node {name} can not have dependencies")
        return sorted(known), unknown
