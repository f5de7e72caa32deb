"""A rescue file: what an earlier run of the same DAG had done.

It is read after the DAG files (manual: "The Rescue DAG").  Save files have the same form.

DAGMan, stock's too, writes DONE and RETRY lines into them, ours also what a person has set for
nodes while the DAG ran; nothing else is applied here.  Stock applies any line of a DAG file, new
nodes and scripts as well: a file that is found by its name alone could say which programs run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Union

from condor_pydagman.feature_table import FEATURES, part
from condor_pydagman.graph.apply import applied, apply
from condor_pydagman.graph.build import placed
from condor_pydagman.graph.building import Building, BuildOptions, fail
from condor_pydagman.graph.model import Dag, Retry, Variable
from condor_pydagman.graph.problems import MAX_ERRORS, DagFileErrors, ProcessingError
from condor_pydagman.language import commands
from condor_pydagman.language.commands import Command
from condor_pydagman.language.keywords import about, manual
from condor_pydagman.language.lexer import node_word
from condor_pydagman.language.lines import in_blocks
from condor_pydagman.language.parser import CommandReader, Reading
from condor_pydagman.language.syntax import of_class, of_word
from condor_pydagman.named_tuple import NamedTuple

# What a person sets for nodes (docs/steering.md).
_SETTINGS = (commands.Priority, commands.Category, commands.Vars)
Setting = Union[commands.Priority, commands.Category, commands.Vars]
_FULL_RESCUE = (
    "a rescue DAG that holds the whole DAG, as versions before 7.7.2 wrote it, is a DAG file of its"
    " own: submit that one"
)

_ELSEWHERE = "put what else the DAG needs into the DAG file itself"

# Lines that end with the name of a node which ends with what joins lines, or is cut off them.
_ODD_ENDS = ("\\\n", "\v\n", "\f\n")
_ODD_END = re.compile(r"^([A-Z_]+) (.*[\\\v\f])$", re.M)
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Progress(NamedTuple):
    """What a rescue file says: nodes that are done, and retries that are left."""

    done: list[int]
    retries: dict[int, Retry]


def apply_progress(
    dag: Dag,
    text: str,
    file: str,
    options: BuildOptions | None = None,
    given: Mapping[str, Any] = _NOTHING,
) -> Progress:
    """Mark the nodes of `dag` that a rescue file calls DONE and set the RETRY values it brings.

    Names in a rescue file are full names, as in `dag.names`.  `given`: what features
    begin with, by their names.

    Raises:
        DagFileErrors: a line can't be read or applied.
    """
    _restore(dag, text, given)
    building = Building.of(dag, options or BuildOptions())
    reading = Reading(file, max_errors=MAX_ERRORS)
    progress = Progress([], {})
    if any(end in text for end in _ODD_ENDS):
        names = {node_word(name): name for name in dag.names if name[-1] in "\\\v\f"}
        text = _ODD_END.sub(lambda line: _apply_at_once(building, names, line, progress), text)
    reader = CommandReader(in_blocks(text), reading, in_bulk=False)
    for command in reader.commands():
        try:
            _apply(building, command, progress)
        except ProcessingError as error:
            if not reading.full:
                reading.errors.append(placed(error, file, command.line, reader.text()))
    if reading.errors:
        raise DagFileErrors(reading.errors, dag.warnings, reading.lost)
    progress.done[:] = dict.fromkeys(progress.done)
    return progress


def _restore(dag: Dag, text: str, given: Mapping[str, Any]) -> None:
    """Have features apply lines that come before all others."""
    for entry in FEATURES:
        if any(re.search(rf"^{word} ", text, re.M) for word in entry.restored):
            part(entry.name, "commands").restore(dag, text, given.get(entry.name, _NOTHING))


class Saved(NamedTuple):
    """What a rescue file says, by the full names of nodes: those that are done, retries left."""

    done: list[str]
    retries: dict[str, int]


def read_saved(text: str, file: str) -> Saved:
    """What a rescue file says, without the DAG that it is of.

    DAGMan continues no line in such a file: a backslash at the end of a name belongs to the name.

    Raises:
        DagFileErrors: a line can't be read, or is none of a rescue file.
    """
    saved = Saved([], {})
    if any(end in text for end in _ODD_ENDS):
        text = _ODD_END.sub(lambda line: _saved_at_once(line, saved), text)
    reading = Reading(file, max_errors=MAX_ERRORS, allow_any_node_name_characters=True)
    reader = CommandReader(in_blocks(text), reading, in_bulk=False)
    for command in reader.commands():
        if _says_done(type(command)):
            saved.done.append(_node_of(command))
        elif isinstance(command, commands.RetryLine):
            saved.retries[command.node] = command.limit
        elif _in_rescue(type(command)):
            continue
        elif not reading.full:
            error = ProcessingError(_only(), file=file, hint=_ELSEWHERE)
            reading.errors.append(placed(error, file, command.line, reader.text()))
    if reading.errors:
        raise DagFileErrors(reading.errors, lost=reading.lost)
    saved.done[:] = dict.fromkeys(saved.done)
    return saved


def _apply_at_once(
    building: Building, names: dict[str, str], line: re.Match[str], progress: Progress
) -> str:
    """What is left to read of such a line: a remark, if it names a node."""
    kind = _about_node(line[1])
    if kind is None or line[2] not in names:
        return line[0]
    _apply(building, kind(0, names[line[2]]), progress)
    return "#"


def _saved_at_once(line: re.Match[str], saved: Saved) -> str:
    kind = _about_node(line[1])
    if kind is None:
        return line[0]
    if _says_done(kind):
        saved.done.append(line[2])
    return "#"


def _about_node(word: str) -> type[Any] | None:
    """The class of the commands of a word, if they say the name of a node and nothing else."""
    row = of_word(word)
    is_so = row is not None and getattr(row.command, "_fields", ()) == ("line", "node")
    return row.command if row is not None and is_so else None


def _node_of(command: Any) -> str:
    return str(command.node)


def _says_done(command: type) -> bool:
    row = applied(command)
    return command is commands.Done or (row is not None and row.says_done)


def _apply(building: Building, command: Command, progress: Progress) -> None:
    if isinstance(command, _SETTINGS):
        _set(building, command)
        return
    # REJECT, too, was written once: it stops the DAG.
    if not isinstance(command, commands.Reject) and not _in_rescue(type(command)):
        if isinstance(command, commands.Job) and building.find(command.name) is not None:
            fail(f"Node {command.name} already exists in DAG.", _FULL_RESCUE)
        fail(_only(), _ELSEWHERE)
    apply(building, command)
    if _says_done(type(command)):
        node = building.needed(_node_of(command))
        if node not in building.special:
            progress.done.append(node)
    elif isinstance(command, commands.RetryLine):
        for node in building.nodes(command.node):
            progress.retries[node] = building.dag.retries[node]


@cache
def _in_rescue(command: type) -> bool:
    return about(of_class(command).word).in_rescue


def _only() -> str:
    *most, last = (row.word for row in manual() if row.in_rescue)
    return f"A rescue or save file can hold {', '.join(most)} and {last} lines only"


def _set(building: Building, command: Setting) -> None:
    """What a person had set goes before what the DAG file says, without a warning."""
    dag = building.dag
    node = building.needed(command.node)
    if isinstance(command, commands.Priority):
        dag.priorities[node] = command.value + dag.priority
    elif isinstance(command, commands.Category):
        dag.categories[node] = command.category
    else:
        known = {variable.key: variable for variable in dag.variables.get(node, ())}
        for key, value in command.pairs:
            old = known.get(key) or Variable(key, value, bool(command.append))
            known[key] = old._replace(value=value)
        dag.variables[node] = tuple(known.values())
