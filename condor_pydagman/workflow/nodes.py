"""Nodes of a Workflow, alone and several together: what can be said of them, and who waits for
whom."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, Union, overload

from condor_pydagman.api.dag_errors import Place
from condor_pydagman.language.commands import Command, Vars
from condor_pydagman.language.lexer import Words
from condor_pydagman.language.modifier_lines import read_pairs
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.workflow import values
from condor_pydagman.workflow.methods import NodeCommands, Pairs

# What stands for nodes: themselves, their names, or several of these.
NodesLike = Union["Joinable", str, Iterable[Any]]


class Owner(Protocol):
    """The Workflow of nodes, as they know it."""

    def here(self) -> Place:
        """The line of the program that has called this package."""

    def nodes_of(self, some: NodesLike) -> Joinable:
        """Nodes as a program names them; DagError if there is no such node."""

    def join(self, parents: Joinable, children: Joinable, weak: bool = False) -> None:
        """Have these children wait for these parents."""

    def join_each(
        self, parents: Sequence[Joinable], children: Sequence[Joinable], weak: bool
    ) -> None:
        """Have the first child wait for the first parent, and so on."""

    def checked(self, word: str, fields: Mapping[str, Any]) -> tuple[Command, int]:
        """A command that has a line, and the number of the place where it is said."""

    def say(self, command: Command, place: int) -> None:
        """Add a command of the DAG."""

    def base_variables(self, name: str) -> Sequence[tuple[str, str]]:
        """The VARS that other files say of a node."""


INLINE = "{"  # the word that an inline description follows


class Definition(NamedTuple):
    """What the line that defines a node says behind its name; many nodes can have the same."""

    word: str  # the command words before the name, as SUBDAG EXTERNAL
    # the word behind the name: a file, the name of a description of the DAG, or INLINE; '' for the
    # file of a Workflow, which has no name yet
    submit: str
    lines: str = ""  # of an inline description
    options: str = ""  # DIR, NOOP and DONE


class Joinable(NodeCommands):
    """One node or several, for which others can wait, and which can wait for others.

    `a >> b`, `a >> [b, c] >> d` and `a << b` say that each of the nodes on the blunt side of the
    arrow ends before any on the other begins; the value is what stands on the right.
    """

    __slots__ = ()
    flow: Owner

    def each(self) -> Sequence[WorkflowNode]:
        """The nodes."""
        raise NotImplementedError

    def __rshift__(self, others: NodesLike) -> Joinable:
        found = self.flow.nodes_of(others)
        self.flow.join(self, found)
        return found

    def __rrshift__(self, others: NodesLike) -> Joinable:
        self.flow.join(self.flow.nodes_of(others), self)
        return self

    def __lshift__(self, others: NodesLike) -> Joinable:
        found = self.flow.nodes_of(others)
        self.flow.join(found, self)
        return found

    def __rlshift__(self, others: NodesLike) -> Joinable:
        self.flow.join(self, self.flow.nodes_of(others))
        return self

    def before(self, children: NodesLike, *, weak: bool = False) -> Joinable:
        """Have children wait for all of these; gives the children.

        Args:
            children: nodes or names of nodes.
            weak: whether they wait for the end only, be it a success or not (WEAK PARENT).

        Raises:
            DagError: there is no such node.
        """
        found = self.flow.nodes_of(children)
        self.flow.join(self, found, weak)
        return found

    def before_each(self, children: NodesLike, *, weak: bool = False) -> Joinable:
        """Have the first child wait for the first of these, the second for the second, and so on.

        Raises:
            DagError: there are not as many on both sides, or there is no such node.
        """
        found = self.flow.nodes_of(children)
        ours, theirs = self.each(), found.each()
        if len(ours) != len(theirs):
            text = f"{len(ours)} nodes can't each have one child of {len(theirs)} nodes"
            raise values.refused(text, self.flow.here())
        self.flow.join_each(ours, theirs, weak)
        return found

    def before_groups(
        self, children: NodesLike, size: int, children_size: int, *, weak: bool = False
    ) -> Joinable:
        """Have the first group of children wait for the first group of these, the second for the
        second, and so on: as the edge Grouper of htcondor2.dags.

        Args:
            size: how many of these are a group.
            children_size: how many children are.

        Raises:
            DagError: nodes are left over, one side has more groups, or there is no such node.
        """
        found = self.flow.nodes_of(children)
        self._join_groups(self._in_groups(size), found._in_groups(children_size), weak)
        return found

    def _in_groups(self, size: int) -> dict[object, Sequence[WorkflowNode]]:
        nodes = self.each()
        if size < 1 or len(nodes) % size:
            text = f"{len(nodes)} nodes can't be put into groups of {size}"
            raise values.refused(text, self.flow.here())
        begins = range(0, len(nodes), size)
        return {number: nodes[begin : begin + size] for number, begin in enumerate(begins)}

    def before_by(
        self,
        key: str | Callable[[WorkflowNode], object],
        children: NodesLike,
        *,
        weak: bool = False,
    ) -> Joinable:
        """Have each child wait for those of these that have the same value of `key`.

        Args:
            key: the name of a variable (VARS), or a function of a node.

        Raises:
            DagError: a node has no such variable, or a child no parent, or a parent no child.
        """
        found = self.flow.nodes_of(children)
        self._join_groups(self._grouped(key), found._grouped(key), weak)
        return found

    def _join_groups(
        self,
        ours: Mapping[object, Sequence[WorkflowNode]],
        theirs: Mapping[object, Sequence[WorkflowNode]],
        weak: bool,
    ) -> None:
        """Have groups of children wait for those of these with the same keys."""
        if ours.keys() != theirs.keys():
            odd = next(iter(ours.keys() ^ theirs.keys()))
            text = f"only one side has nodes with {odd!r}"
            raise values.refused(text, self.flow.here())
        for value, parents in ours.items():
            children = WorkflowNodes(self.flow, theirs[value])
            self.flow.join(WorkflowNodes(self.flow, parents), children, weak)

    def _grouped(
        self, key: str | Callable[[WorkflowNode], object]
    ) -> dict[object, list[WorkflowNode]]:
        groups: dict[object, list[WorkflowNode]] = {}
        for node in self.each():
            groups.setdefault(key(node) if callable(key) else node._variable(key), []).append(node)
        return groups

    def vars(self: Any, pairs: Pairs = (), *, append: bool | None = None, **more: object) -> Any:
        """Macros for the submit description (VARS); gives the same nodes.

        Args:
            pairs: names and values, for names that are none in Python.
            append: whether they are set after (APPEND) or before (PREPEND) the description is read;
                None as DAGMan does without a word.
            more: names and values.
        """
        return self._add("VARS", append=append, pairs=[*values.pairs(pairs), *values.pairs(more)])


class WorkflowNode(Joinable):
    """A node of a Workflow, or a splice."""

    __slots__ = ("definition", "flow", "more", "name", "pairs", "place")

    def __init__(
        self, flow: Owner, name: str, definition: Definition | None, pairs: str, place: int
    ) -> None:
        """`definition` is None if a line of another file defines it; `pairs`: VARS as written."""
        self.flow = flow
        self.name = name
        self.definition = definition
        self.pairs = pairs
        self.place = place
        self.more: list[tuple[Command, int]] | None = None

    def __repr__(self) -> str:
        return f"<WorkflowNode {self.name!r}>"

    def __str__(self) -> str:
        return self.name

    def each(self) -> Sequence[WorkflowNode]:
        """This node."""
        return (self,)

    def _add(self, word: str, **fields: Any) -> WorkflowNode:
        command, place = self.flow.checked(word, {"node": self.name, **fields})
        self.keep(command, place)
        return self

    def keep(self, command: Command, place: int) -> None:
        """Keep a command about it."""
        if self.more is None:
            self.more = []
        self.more.append((command, place))

    @property
    def variables(self) -> Mapping[str, str]:
        """Its VARS so far."""
        said = read_pairs(Words(self.pairs))[1] if self.pairs else []
        later = [pair for one, _ in self.more or () if isinstance(one, Vars) for pair in one.pairs]
        return dict([*self.flow.base_variables(self.name), *said, *later])

    def _variable(self, name: str) -> str:
        found = self.variables
        if name not in found:
            text = f"node {self.name} has no variable {name!r}"
            hint = f"it has {', '.join(found) or 'none'}"
            raise values.refused(text, self.flow.here(), hint=hint)
        return found[name]


class WorkflowNodes(Joinable, Sequence[WorkflowNode]):
    """Several nodes of a Workflow, in an order; what is said of them is said of each."""

    __slots__ = ("_nodes", "flow")

    def __init__(self, flow: Owner, nodes: Sequence[WorkflowNode]) -> None:
        self.flow = flow
        self._nodes = nodes

    def __repr__(self) -> str:
        return f"<WorkflowNodes: {len(self)}>"

    def __len__(self) -> int:
        return len(self._nodes)

    @overload
    def __getitem__(self, index: int) -> WorkflowNode: ...

    @overload
    def __getitem__(self, index: slice) -> WorkflowNodes: ...

    def __getitem__(self, index: int | slice) -> WorkflowNode | WorkflowNodes:
        if isinstance(index, slice):
            return WorkflowNodes(self.flow, self._nodes[index])
        return self._nodes[index]

    def __iter__(self) -> Iterator[WorkflowNode]:
        return iter(self._nodes)

    def each(self) -> Sequence[WorkflowNode]:
        """The nodes."""
        return self._nodes

    def _add(self, word: str, **fields: Any) -> WorkflowNodes:
        for first in self._nodes[:1]:
            command, place = self.flow.checked(word, {"node": first.name, **fields})
            for node in self._nodes:
                node.keep(command, place)
        return self


class AllNodes(NodeCommands):
    """All nodes of a Workflow, also those that come later, for commands that take ALL_NODES.

    What is said of a node itself counts for it, whichever is said first.
    """

    vars = Joinable.vars

    def __init__(self, flow: Owner) -> None:
        self.flow = flow

    def __repr__(self) -> str:
        return "<all nodes of a Workflow>"

    def _add(self, word: str, **fields: Any) -> AllNodes:
        self.flow.say(*self.flow.checked(word, {"node": "ALL_NODES", **fields}))
        return self
