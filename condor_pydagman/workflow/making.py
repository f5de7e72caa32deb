"""What a Workflow holds, and how it is added to."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, count, repeat
from typing import Any

from condor_pydagman.api.dag_errors import DagError, Place
from condor_pydagman.api.dag_view import Dag
from condor_pydagman.language.commands import Command, Job
from condor_pydagman.language.hints import nearest
from condor_pydagman.language.lexer import file_word, joined, quoted
from condor_pydagman.language.lines import RESERVED_NAMES
from condor_pydagman.workflow import descriptions, values
from condor_pydagman.workflow.nodes import (
    INLINE,
    Definition,
    Joinable,
    NodesLike,
    WorkflowNode,
    WorkflowNodes,
)
from condor_pydagman.workflow.places import Places

MAX_COMPARED = 20_000  # names among which one like a misspelt one is looked for
_PLAIN_NAME = re.compile(r"[\w.:@%()\[\]/-]+", re.ASCII)
_PLAIN_KEY = re.compile(r"(?!queue)[a-z_]\w*", re.ASCII | re.IGNORECASE)
_NO_LINE = re.compile(r"[\n\r\0]")
_DESCRIPTION_NAME = re.compile(r"[\w.:%()/-]+")
_BEGIN_ANEW = "nodes stay: to run a cell of a notebook again, have it begin with Workflow()"
_HOLDS_DAG = frozenset(("SPLICE", "SUBDAG EXTERNAL"))
# They can bring nodes of which a Workflow does not know.
_BRINGS_NODES = frozenset(("INCLUDE", "SWEEP"))


class Making:
    """The nodes, edges and commands that a program has said, in its order, with its lines.

    A million nodes are kept: an edge takes 20 bytes, a node some 300.
    """

    def __init__(self) -> None:
        self._named: dict[str, WorkflowNode] = {}  # also nodes of other files that were asked for
        self.order: list[WorkflowNode] = []
        self.base: Dag | None = None  # what other files define
        self.commands: list[tuple[Command, int]] = []
        self.described: dict[str, tuple[str, int]] = {}
        self.inner: dict[str, Making] = {}  # of splices and sub-DAGs, by their names
        self._shared: dict[tuple[str, str, Any], Definition] = {}
        self.layers: list[range] = []  # of nodes, by the order in which they were made
        self._parents: list[Joinable] = []
        self._children: list[Joinable] = []
        self._joined_at = array("i")  # numbers of places; -1 and below for weak ones
        self.places = Places()
        self._keys: set[str] = set()  # names of variables that have been looked at
        self._brings_nodes = False

    # What others of this package ask for.

    def here(self) -> Place:
        """The line of the program that has called this package."""
        return self.places.place(self.places.here())

    def checked(self, word: str, fields: Mapping[str, Any]) -> tuple[Command, int]:
        """A command that has a line, and where it is said."""
        number = self.places.here()
        command = values.command(word, fields)
        values.line(command, self.places.place(number))
        return command, number

    def command(self, word: str, fields: Mapping[str, Any]) -> None:
        """Add a command of the DAG that is yet to be made."""
        self._brings_nodes = self._brings_nodes or word in _BRINGS_NODES
        self.commands.append(self.checked(word, fields))

    def say(self, command: Command, place: int) -> None:
        """Add a command of the DAG."""
        self.commands.append((command, place))

    def join(self, parents: Joinable, children: Joinable, weak: bool = False) -> None:
        """Have these children wait for these parents."""
        if not (parents.each() and children.each()):
            return
        place = self.places.here()
        self._parents.append(parents)
        self._children.append(children)
        self._joined_at.append(~place if weak else place)

    def join_each(
        self, parents: Sequence[Joinable], children: Sequence[Joinable], weak: bool
    ) -> None:
        """Have the first child wait for the first parent, and so on; there are as many of both."""
        place = self.places.here()
        self._parents += parents
        self._children += children
        self._joined_at.extend(repeat(~place if weak else place, len(parents)))

    def nodes_of(self, some: NodesLike) -> Joinable:
        """Nodes as a program names them.

        Raises:
            DagError: there is no such node, or it is one of another Workflow.
            TypeError: it is none.
        """
        if isinstance(some, Joinable):
            if some.flow is not self:
                text = "Nodes of two Workflows can't wait for each other"
                raise values.refused(text, self.here())
            return some
        if isinstance(some, str):
            return self.node(some)
        if not isinstance(some, Iterable):
            raise TypeError(f"expected nodes or their names, not {some!r}")
        found = [node for one in some for node in self.nodes_of(one).each()]
        return WorkflowNodes(self, found)

    def node(self, name: str) -> WorkflowNode:
        """A node or splice by its name, which may stand in a file that is included.

        Raises:
            DagError: there is none.
        """
        found = self._named.get(name)
        if found is None:
            if not (self._brings_nodes or self._is_elsewhere(name)):
                raise self._unknown(name)
            found = self._named[name] = WorkflowNode(self, name, None, "", self.places.here())
        return found

    def knows(self, name: str) -> bool:
        """Whether there is such a node or splice, as far as is known."""
        return name in self._named or self._is_elsewhere(name)

    def _is_elsewhere(self, name: str) -> bool:
        return self.base is not None and name in self.base

    def _unknown(self, name: str) -> DagError:
        near = nearest(name, list(self._named)[:MAX_COMPARED])
        hint = f"did you mean {near}?" if near else "make it first"
        if any(splice.name == name for splice in (self.base.splices if self.base else ())):
            hint = "DAGMan knows a splice of an included file in that file only"
        return values.refused(f"There is no node {name}", self.here(), hint=hint)

    # Nodes.

    def define(
        self,
        word: str,
        name: str,
        submit: object,
        options: tuple[Any, bool, bool],
        shared: bool = False,
    ) -> Definition:
        """What the line of a node says; the same for those alike.

        Args:
            word: the command words.
            name: of the node, or of what shares it.
            submit: a file, or the description, or another Workflow.
            options: DIR, NOOP and DONE.
            shared: whether a description becomes one of the DAG, with this name.
        """
        if not isinstance(submit, str):
            return self._define(word, name, submit, options, shared)
        known = self._shared.get((word, submit, options))
        if known is None:
            known = self._define(word, name, submit, options, shared)
            self._shared[word, submit, options] = known
        return known

    def _define(
        self, word: str, name: str, submit: object, options: tuple[Any, bool, bool], shared: bool
    ) -> Definition:
        directory, noop, done = options
        place = f"DIR {file_word(values.text('directory', directory))}" if directory else ""
        said = joined(place, "NOOP" * bool(noop), "DONE" * bool(done))
        if isinstance(submit, Making) and word in _HOLDS_DAG:
            if submit._holds(self):
                raise values.refused("A Workflow can't hold itself", self.here())
            return Definition(word, "", "", said)
        if descriptions.is_file(submit) or word in _HOLDS_DAG:
            file = values.text("dag" if word in _HOLDS_DAG else "submit", submit)
            if _NO_LINE.search(file):
                raise values.refused(f"The name of a file must be one line: {file!r}", self.here())
            return Definition(word, file_word(file), "", said)
        lines = self._lines(submit)
        if shared:
            return Definition(word, self._shared_name(name, lines), "", said)
        return Definition(word, INLINE, lines, said)

    def describe(self, name: str, description: object) -> None:
        """Add a description of the DAG."""
        if not _DESCRIPTION_NAME.fullmatch(values.text("the name of a description", name)):
            raise values.refused(f"{name!r} can't be the name of a description", self.here())
        if name in self.described:
            raise values.refused(f"There is a description {name} already", self.here())
        self.described[name] = self._lines(description), self.places.here()

    def _shared_name(self, wanted: str, lines: str) -> str:
        """The name of the description with these lines, which it gets if it has none."""
        first = wanted if _DESCRIPTION_NAME.fullmatch(wanted) else "layer"
        said = lines, self.places.here()
        names = chain((first,), (f"{first}_{number}" for number in count(2)))
        return next(one for one in names if self.described.setdefault(one, said)[0] == lines)

    def _lines(self, description: object) -> str:
        try:
            return descriptions.lines(description)
        except ValueError as error:
            raise values.refused(str(error), self.here()) from None

    def add(self, name: str, definition: Definition, pairs: str, place: int) -> WorkflowNode:
        """Add a node; `pairs` is what its VARS say, as in a line."""
        if name in self._named or (self.base is not None and name in self.base):
            raise self._named_twice(name, place)
        if not _PLAIN_NAME.fullmatch(name) or name.upper() in RESERVED_NAMES:
            self._look_at_name(name, self.places.place(place))
        node = self._named[name] = WorkflowNode(self, name, definition, pairs, place)
        self.order.append(node)
        return node

    def _look_at_name(self, name: str, place: Place) -> None:
        """See whether it can be the name of a node."""
        if not name or " " in name or "\t" in name:
            why = ": it has blanks" * bool(name)
            raise values.refused(f"{name!r} can't be the name of a node{why}", place)
        values.line(Job(0, name, "x"), place)

    def forget(self, nodes: int, descriptions: int) -> None:
        """Keep only so many nodes and descriptions, those that were made first."""
        for node in self.order[nodes:]:
            del self._named[node.name]
        del self.order[nodes:]
        for name in list(self.described)[descriptions:]:
            del self.described[name]

    def _holds(self, other: Making) -> bool:
        """Whether it is the other, or one of those in it is."""
        return self is other or any(one._holds(other) for one in self.inner.values())

    def elsewhere(self) -> Iterator[WorkflowNode]:
        """Nodes of other files of which something is said."""
        return (one for one in self._named.values() if one.definition is None and one.more)

    def joins(self) -> Iterator[tuple[Joinable, Joinable, int]]:
        """Parents, their children, and where that is said; as of `joined_at`."""
        return zip(self._parents, self._children, self._joined_at)

    def _named_twice(self, name: str, place: int) -> DagError:
        first = self._named.get(name)
        where = f" ({self.places.place(first.place)})" if first is not None else ""
        text = f"There is a node {name} already{where}"
        return values.refused(text, self.places.place(place), hint=_BEGIN_ANEW)

    def pairs(self, row: Mapping[str, object]) -> str:
        """What VARS say of a node, as in a line.

        Raises:
            DagError: no line says it.
        """
        said = []
        for key, value in row.items():
            if key not in self._keys:
                if not isinstance(key, str) or not _PLAIN_KEY.fullmatch(key):
                    fields = {"node": "x", "append": None, "pairs": [(key, "")]}
                    self.checked("VARS", fields)
                self._keys.add(str(key))
            text = value if type(value) is str else values.written(value)
            said.append(f"{key}={quoted(text)}")
        line = " ".join(said)
        if _NO_LINE.search(line):
            wrong = next(one for one in said if _NO_LINE.search(one))
            raise values.refused(f"A variable has more than one line: {wrong!r}", self.here())
        return line

    def base_variables(self, name: str) -> Sequence[tuple[str, str]]:
        """The VARS that other files say of a node."""
        if self.base is None or name not in self.base:
            return ()
        return [(one.key, one.value) for one in self.base[name].variables]
