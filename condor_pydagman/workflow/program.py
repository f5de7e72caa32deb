"""A DAG file as the Python program that makes the same DAG with a Workflow.

Use: python -m condor_pydagman.workflow.program my.dag > my_dag.py

Nodes that follow each other, and differ only in VARS and in the number behind their names, counted
from 0, become a layer.  The nodes that htcondor2.dags puts between layers (`__JOIN__`) become the
edges that they stand for, and the CATEGORY that it writes for the limit of a category a MAXJOBS.
"""

from __future__ import annotations

import keyword
import os
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from condor_pydagman.adapters.files import text_of
from condor_pydagman.api.dag_errors import DagError, problem
from condor_pydagman.cli.say import say
from condor_pydagman.errors import PydagmanError
from condor_pydagman.language import commands
from condor_pydagman.language.parser import Reading, iter_commands
from condor_pydagman.workflow.program_calls import call, described, making, refused
from condor_pydagman.workflow.program_edges import Edge, Position, edge_lines, without_joins

_DEFINING = (commands.Job, commands.Subdag, commands.Splice)
_JOIN = re.compile(r"__JOIN__\D*\d+")
_NUMBERED = re.compile(r"(.*?)(0|[1-9]\d*)")
_USED = ("Workflow", "flow", "range", "n", "parent", "child")


class Node:
    """A node of the file."""

    def __init__(self, name: str, made: tuple[str, str, str]) -> None:
        self.name = name
        self.made = made  # the method that makes it, its file or description, and its options
        self.row: dict[str, str] = {}  # its VARS
        self.calls: list[str] = []  # what else is said of it

    def follows(self, layer: Sequence[Node]) -> bool:
        """Whether it is the next of a layer, of which these are the first."""
        alike = (self.made, self.calls) == (layer[0].made, layer[0].calls)
        return alike and self.prefix(len(layer)) == layer[0].prefix(0) != ""

    def prefix(self, number: int) -> str:
        """Its name before that number; '' if it is not that of a node of a layer."""
        found = _NUMBERED.fullmatch(self.name)
        plain = self.made[0] == "job" and not re.search("noop=|done=", self.made[2])
        plain = plain and not set("{}") & set(self.name)  # which a layer would fill in
        return found[1] if found and plain and found[2] == str(number) else ""


class Program:
    """What a file becomes."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._nodes: dict[str, Node] = {}
        self._settings: list[str] = []
        self._edges: list[Edge] = []
        self._positions: dict[str, Position] = {}
        self._variables = set(_USED)

    def text(self) -> str:
        """The program.

        Raises:
            DagError: the file is wrong, or says what is not translated.
            FileError: it can't be read.
        """
        reading = Reading(self._file)
        for command in iter_commands(text_of(self._file, "DAG file"), reading):
            self._take(command)
        if reading.errors:
            raise DagError(map(problem, reading.errors))
        edges = list(without_joins(self._edges, self._take_joins()))
        made = [line for layer in self._layers() for line in self._making(layer)]
        name = f"{os.path.splitext(os.path.basename(self._file))[0]}.workflow.dag"
        head = ("from condor_pydagman import Workflow", "", "flow = Workflow()", *self._settings)
        end = f'if __name__ == "__main__":\n    flow.write({name!r})\n'
        return "\n".join((*head, "", *made, "", *edge_lines(edges, self._positions), "", end))

    def _take(self, command: Any) -> None:
        if isinstance(command, _DEFINING):
            self._nodes[command.name] = Node(command.name, making(command, self._file))
        elif isinstance(command, commands.SubmitDescription):
            lines = described(command.description, command, self._file)
            self._settings.append(f"flow.description({command.name!r}, {lines})")
        elif isinstance(command, commands.ParentChild):
            self._edges.append(Edge(command.parents, command.children, command.weak))
        elif hasattr(command, "node"):
            self._take_of_node(command)
        else:
            self._settings.append(f"flow{call(command, self._file)}")

    def _take_of_node(self, command: Any) -> None:
        node = self._nodes.get(command.node)
        if isinstance(command, commands.Vars) and node and command.append is None and not node.row:
            node.row.update(command.pairs)
        elif node:
            node.calls.append(call(command, self._file))
        elif command.node == "ALL_NODES":
            self._settings.append(f"flow.all_nodes{self._default(command)}")
        elif isinstance(command, commands.Category) and command.category.isdigit():
            self._settings.append(f"flow.maxjobs({command.node!r}, {command.category})")
        else:
            raise refused(command, self._file, f"of {command.node}, which is not defined before")

    def _default(self, command: Any) -> str:
        """What is said of all nodes; a Workflow has what is said of single ones come after it."""
        made = call(command, self._file)
        method = made.partition("(")[0] + "("
        for node in self._nodes.values():
            if any(one.startswith(method) for one in (*node.calls, ".vars(" * bool(node.row))):
                why = f"of all nodes stands behind that of {node.name}"
                raise refused(command, self._file, why)
        return made

    def _take_joins(self) -> set[str]:
        """The names of the nodes that only join others, which are taken away."""
        found = {
            name
            for name, node in self._nodes.items()
            if _JOIN.fullmatch(name) and node.made[1:] == ("'__JOIN__.sub'", ", noop=True")
        }
        for name in found:
            del self._nodes[name]
        return found

    def _layers(self) -> Iterator[list[Node]]:
        """The nodes, in their order; those of a layer together."""
        layer: list[Node] = []
        for node in self._nodes.values():
            if layer and not node.follows(layer):
                yield layer
                layer = []
            layer.append(node)
        if layer:
            yield layer

    def _making(self, layer: Sequence[Node]) -> Iterator[str]:
        """The lines that make a layer, or a single node."""
        first, size = layer[0], len(layer) if len(layer) > 1 else 0
        method, submit, options = first.made
        variable = self._variable(first.prefix(0) if size else first.name)
        for index, node in enumerate(layer):
            self._positions[node.name] = Position(variable, index, size)
        if not size:
            row = f", {first.row!r}" if first.row else ""
            yield f"{variable} = flow.{method}({first.name!r}, {submit}{row}{options})"
        elif any(node.row for node in layer):
            yield f"{variable} = flow.layer({first.prefix(0)!r}, {submit}, ["
            yield from (f"    {node.row!r}," for node in layer)
            yield f"]{options})"
        else:
            yield f"{variable} = flow.layer({first.prefix(0)!r}, {submit}, {size}{options})"
        yield from (f"{variable}{one}" for one in first.calls)

    def _variable(self, name: str) -> str:
        """A variable that is not used yet, of a name like this."""
        word = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
        if not word.isidentifier() or keyword.iskeyword(word):
            word = f"node_{word}".strip("_")
        tries = (f"{word}_{number}" if number > 1 else word for number in count(1))
        found = next(one for one in tries if one not in self._variables)
        self._variables.add(found)
        return found


def main(files: list[str]) -> int:
    """Print the program of a file; gives the exit code."""
    if len(files) != 1 or files[0].startswith("-"):
        print(__doc__)
        return 0 if files in (["-h"], ["--help"]) else 2
    try:
        print(Program(files[0]).text(), end="")
    except PydagmanError as error:
        say(*str(error).split("\n"), error=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
