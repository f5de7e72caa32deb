"""A finished Dag as the text of one DAG file, from which the same Dag is built.

Splices are written out: their nodes stand there with their full names, which hold a `+`.  Hence the
text is to be built with `BuildOptions(allow_any_node_name_characters=True, use_join_nodes=False)`
and else the defaults.

What is the same: nodes, their order, kinds, submit files, directories, flags (but JOIN: a join node
comes back as the NOOP node that it is), everything that can be said of a node, descriptions, edges
and their order, categories and their limits, the files that DAGMan writes.  What is not in a Dag is
lost (comments, CONFIG, ENV, SET_JOB_ATTR), and so is what only tells where it came from: files,
places, splices, warnings.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import gt, lt

from condor_pydagman.graph.model import (
    DONE,
    LEFT_OUT,
    NOOP,
    USER_DONE,
    Dag,
    FeatureData,
)
from condor_pydagman.language import commands
from condor_pydagman.language.commands import Command
from condor_pydagman.language.parser import lines_of
from condor_pydagman.records.rescue import retry_line
from condor_pydagman.vocabulary import NodeKind

_NO_LINE = 0
_MAX_GROUP = 1000  # children that one line names


def dag_lines(dag: Dag) -> Iterator[str]:
    """The text line by line; an item with an inline description holds several lines.

    Raises:
        ValueError: what the DAG language can't say: a name that would stand at the end of its line
            and ends in `\\` or an odd blank; a node that a range of the language does not reach (a
            priority beyond 32 bits, or of a FINAL, PROVISIONER or SERVICE node, as -Priority
            gives); a FEEDER whose nodes have a prefix or a directory, as that of one of several
            DAG files; a PARENT line of many nodes on both sides whose nodes are not in the order of
            their numbers, as that of splices can be when join nodes are not used.
    """
    for command in _commands(dag):
        yield lines_of(command, allow_any_node_name_characters=True)


def _commands(dag: Dag) -> Iterator[Command]:
    yield from _whole(dag)
    for name, text in dag.descriptions.items():
        yield commands.SubmitDescription(_NO_LINE, name, text)
    for node in range(len(dag)):
        yield _definition(dag, node)
    features = sorted(dag.all_features(), key=lambda data: data.place)
    for node in range(len(dag)):
        yield from _modifiers(dag, features, node)
    for data in features:
        yield from data.lines(dag)
    for category, limit in dag.category_limits.items():
        yield commands.MaxJobs(_NO_LINE, category, limit)
    yield from _EdgeLines(dag).commands()


def _whole(dag: Dag) -> Iterator[Command]:
    if dag.dot is not None:
        yield commands.Dot(_NO_LINE, *dag.dot)
    if dag.status_file is not None:
        yield commands.NodeStatusFile(_NO_LINE, *dag.status_file)
    if dag.jobstate_log:
        yield commands.JobstateLog(_NO_LINE, dag.jobstate_log)
    for data in dag.all_features():
        yield from data.first_lines()


def _definition(dag: Dag, node: int) -> Command:
    """The line that defines the node; an inline description has become a SUBMIT-DESCRIPTION."""
    name, kind, flags = dag.names[node], NodeKind(dag.kinds[node]), dag.flags[node]
    done = flags & (DONE | USER_DONE) == DONE | USER_DONE
    options = dag.directories.get(node, ""), bool(flags & NOOP), done
    if kind == NodeKind.SUBDAG:
        return commands.Subdag(_NO_LINE, name, dag.subdags[node], *options)
    return commands.Job(_NO_LINE, name, dag.submits[node], *options, kind=kind)


def _modifiers(dag: Dag, features: Sequence[FeatureData], node: int) -> Iterator[Command]:
    name, flags = dag.names[node], dag.flags[node]
    yield from _variables(dag, node)
    for kind, script in dag.scripts.get(node, {}).items():
        text, defer, file, stream = script
        first, limits = (defer.status, defer.seconds, file, stream), defer[2:]
        yield commands.ScriptLine(_NO_LINE, name, kind, text, *first, *limits)
    if node in dag.retries:
        yield retry_line(name, dag.retries[node])
    if node in dag.aborts:
        yield commands.AbortDagOn(_NO_LINE, name, *dag.aborts[node])
    if node in dag.priorities:
        yield _priority(dag, node)
    if node in dag.pre_skips:
        yield commands.PreSkip(_NO_LINE, name, dag.pre_skips[node])
    if node in dag.tolerances:
        yield commands.ToleranceLine(_NO_LINE, name, *dag.tolerances[node])
    for data in features:
        if data.place < 0:
            yield from data.node_lines(dag, node)
    if node in dag.categories:
        yield commands.Category(_NO_LINE, name, dag.categories[node])
    if node in dag.save_points:
        yield commands.SavePointFile(_NO_LINE, name, dag.save_points[node])
    for data in features:
        if data.place >= 0:
            yield from data.node_lines(dag, node)
    done_lines = list(filter(None, (data.done_line(dag, node) for data in features)))
    yield from done_lines
    if not done_lines and flags & DONE and not flags & (USER_DONE | LEFT_OUT):
        yield commands.Done(_NO_LINE, name)


def _priority(dag: Dag, node: int) -> Command:
    kind = NodeKind(dag.kinds[node])
    if kind in (NodeKind.FINAL, NodeKind.PROVISIONER, NodeKind.SERVICE):
        raise ValueError(f"can't be written in a DAG file: the priority of a {kind.name} node")
    return commands.Priority(_NO_LINE, dag.names[node], dag.priorities[node])


def _variables(dag: Dag, node: int) -> Iterator[Command]:
    """As many lines as it takes: of one line the keys are sorted, and all go to the same place."""
    pairs: list[tuple[str, str]] = []
    append = False
    for variable in dag.variables.get(node, ()):
        if pairs and (variable.append != append or variable.key <= pairs[-1][0]):
            yield commands.Vars(_NO_LINE, dag.names[node], append or None, tuple(pairs))
            pairs = []
        append = variable.append
        pairs.append((variable.key, variable.value))
    if pairs:
        yield commands.Vars(_NO_LINE, dag.names[node], append or None, tuple(pairs))


class _EdgeLines:
    """PARENT lines in such an order that every vertex gets its children, and its parents, in the
    order in which it has them.

    The edges came in one after the other once, so there is such an order.  An edge can be written
    when it is the next one of its parent and the next one of its child; a junction, which is one
    line, when it is next for all its parents and children, and the junctions before it are written.
    """

    def __init__(self, dag: Dag) -> None:
        flat = dag.edges.flat()
        self._dag = dag
        self._count = len(dag)
        self._children, self._parents, self._weak = flat.children, flat.parents, flat.weak
        self._first_child, self._first_parent = flat.first_child, flat.first_parent
        self._child = self._first_child[:]  # by vertex, place in _children of its next one
        self._parent = self._first_parent[:]
        self._missing = [
            self._first_child[vertex + 1]
            - self._first_child[vertex]
            + self._first_parent[vertex + 1]
            - self._first_parent[vertex]
            for vertex in range(self._count, dag.vertex_count)
        ]  # by junction: of its edges, those that are not next yet
        self._next_junction = self._count
        self._sweep = -1  # nodes up to this one have been looked at
        self._again: deque[int] = deque()

    def commands(self) -> Iterator[Command]:
        """All lines."""
        for node in range(self._count):
            self._note_next_child(node)
            self._note_next_parent(node)
        for node in range(self._count):
            self._sweep = node
            yield from self._all_that_can_be(node)
        if any(map(lt, self._child, islice(self._first_child, 1, self._count + 1))):
            raise ValueError("can't be written in a DAG file: edges without an order")

    def _all_that_can_be(self, node: int) -> Iterator[Command]:
        yield from self._lines_of(node)
        while True:
            yield from self._junctions()
            if not self._again:
                return
            yield from self._lines_of(self._again.popleft())

    def _lines_of(self, parent: int) -> Iterator[Command]:
        """Lines of the children of `parent` that can be written now."""
        group: list[int] = []
        weak = False
        while True:
            child = self._next_child(parent)
            if not 0 <= child < self._count or self._next_parent(child) != parent:
                break
            is_weak = self._is_weak(self._child[parent])
            if group and (is_weak != weak or child < group[-1] or len(group) >= _MAX_GROUP):
                yield self._command((parent,), group, weak)
                group = []
            group.append(child)
            weak = is_weak
            self._take_child(parent)
            self._take_parent(child)
        if group:
            yield self._command((parent,), group, weak)

    def _junctions(self) -> Iterator[Command]:
        """Lines of the junctions that can be written now."""
        for junction in range(self._next_junction, self._dag.vertex_count):
            if self._missing[junction - self._count]:
                break
            self._next_junction = junction + 1
            yield self._junction(junction)

    def _junction(self, junction: int) -> Command:
        begin, end = self._first_parent[junction], self._first_parent[junction + 1]
        parents = self._parents[begin:end]
        children = self._children[self._first_child[junction] : self._first_child[junction + 1]]
        for ends in (parents, children):
            if any(map(gt, ends, islice(ends, 1, None))):
                raise ValueError(
                    "can't be written in a DAG file: a PARENT line with nodes in this order:"
                    f" {' '.join(self._dag.names[node] for node in ends[:10])}"
                )
        weak = self._is_weak(self._child[parents[0]])
        for parent in parents:
            self._take_child(parent)
            self._again.append(parent)
        for child in children:
            self._take_parent(child)
        return self._command(parents, children, weak)

    def _command(self, parents: Iterable[int], children: Iterable[int], weak: bool) -> Command:
        names = self._dag.names
        return commands.ParentChild(
            _NO_LINE,
            tuple(names[node] for node in parents),
            tuple(names[node] for node in children),
            weak,
        )

    def _is_weak(self, place: int) -> bool:
        return bool(self._weak and self._weak[place])

    def _next_child(self, node: int) -> int:
        place = self._child[node]
        return self._children[place] if place < self._first_child[node + 1] else -1

    def _next_parent(self, node: int) -> int:
        place = self._parent[node]
        return self._parents[place] if place < self._first_parent[node + 1] else -1

    def _take_child(self, node: int) -> None:
        self._child[node] += 1
        self._note_next_child(node)

    def _take_parent(self, node: int) -> None:
        self._parent[node] += 1
        self._note_next_parent(node)

    def _note_next_child(self, node: int) -> None:
        child = self._next_child(node)
        if child >= self._count:
            self._missing[child - self._count] -= 1

    def _note_next_parent(self, node: int) -> None:
        parent = self._next_parent(node)
        if parent >= self._count:
            self._missing[parent - self._count] -= 1
        elif 0 <= parent <= self._sweep:
            self._again.append(parent)
