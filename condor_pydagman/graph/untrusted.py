"""What a job may add to its DAG: nodes that run what the author's DAG names, and text for them.

Whoever can write the output of a job is not the author of the DAG: nothing that an EXTEND without
TRUSTED reads runs a command on the access point, names a file outside the DAG's directory or
changes what a submit description says.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.quoting import item_text
from condor_pydagman.dagfile.syntax import SYNTAX
from condor_pydagman.graph.building import fail
from condor_pydagman.graph.lint.submit_commands import ALL
from condor_pydagman.graph.problems import ProcessingError

if TYPE_CHECKING:
    from condor_pydagman.graph.model import Dag

_COMMANDS = ("+", "my.", "request_", "remote_")  # what begins so is one, whatever follows
_KEY = re.compile(r"(\w+)[ \t]*=")
_SCRIPT = re.compile(r"^\s*SCRIPT\b", re.I | re.M)
Pairs = tuple[tuple[str, str], ...]

_ALLOWED = frozenset(
    (
        commands.Job,
        commands.ParentChild,
        commands.Vars,
        commands.RetryLine,
        commands.AbortDagOn,
        commands.Priority,
        commands.ToleranceLine,
        commands.TimeoutLine,
        commands.Category,
        commands.MaxJobs,
        commands.RunIf,
        commands.Publish,
        commands.EnoughLine,
        commands.Cache,
        commands.SharedLimit,
        commands.ExtendLine,
        commands.ScatterLine,
        commands.Done,
    )
)
TRUST = "TRUSTED on the EXTEND line takes all commands: what the job writes can run programs here"


class Named:
    """The submit descriptions that a DAG names: those of its nodes, and of its SCATTER lines."""

    def __init__(self, dag: Dag) -> None:
        self._descriptions = frozenset(dag.descriptions)
        nodes = set(zip(dag.submits, _directories(dag, len(dag))))
        nodes -= {(dag.submits[node], dag.directories.get(node, "")) for node in dag.subdags}
        lines = {(how.submit, how.directory) for how in dag.extensions.values() if how.pattern}
        self._files = {_path(submit, directory) for submit, directory in nodes | lines}

    def has(self, submit: str, directory: str) -> bool:
        """Whether the DAG names the description that a node in this directory does."""
        return submit in self._descriptions or _path(submit, directory) in self._files


def admitted(command: Command) -> Command:
    """The command as a job may give it: its values are text.

    Raises:
        ProcessingError: a job may not give it; without its place.
    """
    if type(command) not in _ALLOWED:
        word = next(word for word, one in SYNTAX.items() if one.command is type(command))
        fail(f"What a job adds to the DAG can't have {word}", TRUST, at=word)
    if isinstance(command, commands.Job):
        if command.description is not None:
            fail(
                f"Node {command.name} has a description of its own",
                f"a job can only name those of the DAG. {TRUST}",
                at=command.name,
            )
        _check_inside(command.directory)
    elif isinstance(command, (commands.ExtendLine, commands.ScatterLine)):
        _check_inside(command.directory, command.file)
        if isinstance(command, commands.ScatterLine):
            return command._replace(pairs=_texts(command.pairs))
        if command.trusted:
            fail("A job can't trust what comes next", TRUST, at="TRUSTED")
    elif isinstance(command, commands.Publish):
        _check_inside(command.file)
    elif isinstance(command, commands.Cache):
        _check_inside(*command.inputs, *command.outputs)
    elif isinstance(command, commands.Vars):
        if command.append:
            fail("A job's VARS can't have APPEND", f"descriptions come last. {TRUST}", at="APPEND")
        return command._replace(pairs=_texts(command.pairs), append=False)
    return command


def is_plain(text: str) -> bool:
    """Whether a DAG file has nothing that `admitted` would refuse or change but in lines that are
    never simple (`dagfile.bulk`): else its lines are read one by one."""
    keys = {key.lower() for key in _KEY.findall(text)}
    return "$" not in text and not _SCRIPT.search(text) and keys.isdisjoint(ALL)


def mistakes(piece: Dag, count: int, named: Named, file: str) -> list[ProcessingError]:
    """What of the first `count` nodes of a piece names a description that the DAG does not."""
    lines = [(node, how) for node, how in piece.extensions.items() if how.pattern and node < count]
    by = {(how.submit, how.directory): node for node, how in lines}
    by.update(zip(zip(piece.submits[:count], _directories(piece, count)), range(count)))
    return [
        ProcessingError(
            f"Node {piece.names[node]}: the DAG names no submit description {submit}",
            file=file,
            hint=f"a job can only name those that the DAG's own lines do. {TRUST}",
        )
        for (submit, directory), node in sorted(by.items(), key=lambda one: one[1])
        if not named.has(submit, directory)
    ]


def _directories(dag: Dag, count: int) -> Iterator[str]:
    return (dag.directories.get(node, "") for node in range(count))


def _texts(pairs: Sequence[tuple[str, str]]) -> Pairs:
    for key, _ in pairs:
        if key.lower().startswith(_COMMANDS) or key.lower() in ALL:
            fail(
                f"VARS {key} would change the submit description",
                f"a job can only set macros that are no commands of it. {TRUST}",
                at=key,
            )
    return tuple((key, item_text(value)) for key, value in pairs)


def _check_inside(*names: str) -> None:
    for name in names:
        if os.path.isabs(name) or ".." in name.split("/") or "$" in name:
            fail(
                f"A job can't name {name}",
                f"names lead from the DAG's directory into it, without .. or macros. {TRUST}",
                at=name,
            )


def _path(submit: str, directory: str) -> str:
    return os.path.normpath(os.path.join(directory, submit))
