"""What `dry-run --commands` shows: the command of each node, as one would type it in a shell."""

from __future__ import annotations

import os.path
import shlex
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from condor_pydagman.printable import number_of
from condor_pydagman.vocabulary import ScriptKind

if TYPE_CHECKING:
    from condor_pydagman.lint.node_commands import JobCommand, NodeCommands

_INDENT = "    "
_LATER = (ScriptKind.HOLD, ScriptKind.POST)  # scripts behind the begin of the jobs
_STREAMS = (("<", "input"), (">", "output"), ("2>", "error"))


def command_lines(found: Sequence[NodeCommands]) -> Iterator[str]:
    """A block of lines for each node."""
    yield "Commands:"
    for one in found:
        for line in _block(one):
            yield _INDENT + line


def _block(one: NodeCommands) -> Iterator[str]:
    yield one.node + (f", in {one.directory}" if one.directory else "")
    if ScriptKind.PRE in one.scripts:
        yield f"{_INDENT}PRE: {shlex.join(one.scripts[ScriptKind.PRE])}"
    if one.note:
        yield f"{_INDENT}{one.note}"
    if one.jobs > 1:
        which = "all" if len(one.commands) == 1 else f"the first {len(one.commands)} of them"
        yield f"{_INDENT}{number_of(one.jobs, 'job')}, {which}:"
    for command in one.commands:
        yield _INDENT + shell_text(command)
    for kind in _LATER:
        if kind in one.scripts:
            yield f"{_INDENT}{kind.value}: {shlex.join(one.scripts[kind])}"


def shell_text(command: JobCommand) -> str:
    """A command as one would type it: names of files are relative to its initial directory."""
    words = [shlex.join(command.words)] if command.words else ["(what its image runs)"]
    for sign, stream in _STREAMS:
        file = getattr(command, stream)
        if file and file != os.path.devnull:
            words += [sign, shlex.quote(file)]
    remarks = [f"initialdir {command.directory}"] if command.directory else []
    remarks += [f"in {command.image}"] if command.image else []
    return " ".join(words) + (f"  # {', '.join(remarks)}" if remarks else "")


def as_json(one: NodeCommands) -> dict[str, Any]:
    """The fields by their names, and the text of each command."""
    fields = {**one._asdict(), "kind": one.kind.name}
    fields["commands"] = [
        {**command._asdict(), "words": list(command.words), "text": shell_text(command)}
        for command in one.commands
    ]
    fields["scripts"] = {kind.value: list(words) for kind, words in one.scripts.items()}
    return fields
