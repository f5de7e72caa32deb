"""A Workflow as the lines of a DAG file, in the program's order.

What is set for the whole DAG comes first, then descriptions, nodes with what is said of each, who
waits for whom, and what is said of sets of nodes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from condor_pydagman.language import commands
from condor_pydagman.language.commands import Command
from condor_pydagman.language.keywords import DEFINING, SUBMIT_ONLY
from condor_pydagman.language.lexer import file_word, node_word
from condor_pydagman.language.syntax import of_class
from condor_pydagman.workflow.making import Making
from condor_pydagman.workflow.nodes import INLINE, WorkflowNode

HEAD = "# Written by condor_pydagman's Workflow, which writes over what is changed here."
_WIDTH = 100  # of a line of edges, if several lines say the same
_FIRST = (commands.Include,)
# A line of the file, or several, without a newline at the end; where the program says it, -1 for
# nowhere.
Line = tuple[str, int]


def lines(flow: Making, file: str) -> Iterator[Line]:
    """The lines of the file of that name."""
    head = [one for one in flow.commands if _is_setting(one[0])]
    rest = [one for one in flow.commands if not _is_setting(one[0])]
    yield HEAD, -1
    yield from _with_space(_commands(head))
    for name, (text, place) in flow.described.items():
        yield "", -1
        yield f"SUBMIT-DESCRIPTION {name} {{\n{text}\n}}", place
    yield from _nodes(flow, file)
    yield from _with_space(_edges(flow))
    yield from _with_space(_commands(rest))


def inner_file(file: str, name: str) -> str:
    """The file of a Workflow that is a splice or sub-DAG of another, whose file is given."""
    return f"{os.path.splitext(file)[0]}.{name.replace('/', '-')}.dag"


def _is_setting(command: Command) -> bool:
    word = of_class(type(command)).word
    is_default = getattr(command, "node", "") == "ALL_NODES"  # later lines of nodes change it
    return is_default or word in SUBMIT_ONLY or word in DEFINING or isinstance(command, _FIRST)


def _with_space(block: Iterator[Line]) -> Iterator[Line]:
    """A block, with an empty line before it."""
    for first in block:
        yield "", -1
        yield first
        yield from block


def _commands(some: Iterable[tuple[Command, int]]) -> Iterator[Line]:
    return ((of_class(type(one)).write(one), place) for one, place in some)


def _nodes(flow: Making, file: str) -> Iterator[Line]:
    """The nodes, each with what is said of it, and what is said of nodes of other files."""
    for block in filter(None, _blocks(flow)):
        yield "", -1
        for node in block:
            yield from _node(node, file)


def _blocks(flow: Making) -> Iterator[Sequence[WorkflowNode]]:
    """Nodes that stand together: those of a layer, and such as are said in one line each."""
    end = 0
    for layer in (*flow.layers, range(len(flow.order), len(flow.order))):
        for plain, some in groupby(flow.order[end : layer.start], _is_plain):
            together = list(some)
            yield from [together] if plain else ([node] for node in together)
        yield flow.order[layer.start : layer.stop]
        end = layer.stop
    yield from ([node] for node in flow.elsewhere())


def _is_plain(node: WorkflowNode) -> bool:
    return not (node.pairs or node.more)


def _node(node: WorkflowNode, file: str) -> Iterator[Line]:
    name, definition = node_word(node.name), node.definition
    text = ""
    if definition is not None:
        word, submit, inline, options = definition
        if not submit:
            submit = file_word(inner_file(file, node.name))
        text = f"{word} {name} {submit}"
        if submit == INLINE:
            text = f"{text}\n{inline}\n}}"
        if options:
            text = f"{text} {options}"
    if node.pairs:
        text = f"{text}\nVARS {name} {node.pairs}"
    if text:
        yield text, node.place
    for command, place in node.more or ():
        of_node: Any = command
        yield of_class(type(command)).write(of_node._replace(node=node.name)), place


def _edges(flow: Making) -> Iterator[Line]:
    """Who waits for whom; children of one node that follow each other stand in one line, or in
    several lines if they are many."""
    before, weak, place = None, False, -1
    begin = line = ""
    for parents, children, said in flow.joins():
        if parents is not before or weak != (said < 0):
            if line:
                yield line, place
            before, weak, place = parents, said < 0, ~said if said < 0 else said
            names = [node_word(node.name) for node in parents.each()]
            begin = line = f"{'WEAK ' * weak}PARENT {' '.join(names)} CHILD"
            width = _WIDTH if len(names) == 1 else 0
        for child in children.each():
            name = node_word(child.name)
            if width and len(line) + len(name) >= width and line is not begin:
                yield line, place
                line = begin
            line += f" {name}"
    if line:
        yield line, place
