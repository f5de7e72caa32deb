"""Commands of a DAG file as calls of the methods of `Workflow` that say the same."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from enum import Enum
from typing import Any

from condor_pydagman.api.dag_errors import DagError, Place
from condor_pydagman.language import commands
from condor_pydagman.language.commands import Command
from condor_pydagman.language.syntax import of_class
from condor_pydagman.workflow import values
from condor_pydagman.workflow.methods import DagCommands, NodeCommands


def call(command: Any, file: str) -> str:
    """The call, without what stands before the dot.

    Raises:
        DagError: there is none that is made here.
    """
    if isinstance(command, commands.Vars):
        return f".vars({dict(command.pairs)!r}, append={command.append!r})"
    name = of_class(type(command)).word.lower()
    if isinstance(command, commands.Pin):
        name = "pin_out" if command.out else "pin_in"
    method = getattr(NodeCommands if hasattr(command, "node") else DagCommands, name, None)
    said = command._asdict()
    parameters = list(inspect.signature(method).parameters.values())[1:] if method else []
    if not method or not {one.name for one in parameters} <= said.keys():
        raise refused(command, file, "can't be translated")
    return f".{name}({', '.join(_arguments(parameters, said))})"


def _arguments(parameters: list[inspect.Parameter], said: dict[str, Any]) -> Iterator[str]:
    for one in parameters:
        value = said[one.name]
        if isinstance(value, Enum):
            value = value.name
        if one.default is inspect.Parameter.empty and one.kind is not one.KEYWORD_ONLY:
            yield repr(value)
        elif value != one.default:
            yield f"{one.name}={value!r}"


def making(command: Any, file: str) -> tuple[str, str, str]:
    """The method that makes a node, its file or description, and its options, as in a call.

    Raises:
        DagError: no dict is the same description.
    """
    if isinstance(command, commands.Job):
        method, text = command.kind.name.lower(), command.description
        submit = repr(command.submit) if text is None else described(text, command, file)
    else:
        method, submit = type(command).__name__.lower(), repr(command.file)
    found = ((name, getattr(command, name, False)) for name in ("directory", "noop", "done"))
    return method, submit, "".join(f", {name}={value!r}" for name, value in found if value)


def described(text: str, command: Command, file: str) -> str:
    """A submit description as a dict.

    Raises:
        DagError: no dict is the same.
    """
    found = {}
    for line in map(str.strip, text.splitlines()):
        name, equals, value = (part.strip() for part in line.partition("="))
        if line and not line.startswith("#"):
            is_word = len(name.split()) == 1 and name.lower() != "queue"
            if not equals or not is_word or value.endswith("\\"):
                raise refused(command, file, f"has a line that no dict can have: {line}")
            found[name] = value
    return repr(found)


def refused(command: Command, file: str, why: str) -> DagError:
    """The error that a command has no translation."""
    return values.refused(f"{of_class(type(command)).word} {why}", Place(file, command.line))
