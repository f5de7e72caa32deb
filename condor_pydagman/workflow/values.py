"""From what a program says to commands, and to their lines."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from condor_pydagman.api.dag_errors import DagError, DagProblem, Place
from condor_pydagman.features.common import rows
from condor_pydagman.language.commands import Command
from condor_pydagman.language.keywords import ROWS
from condor_pydagman.language.parser import Reading, iter_commands, lines_of
from condor_pydagman.language.syntax import of_class, of_word
from condor_pydagman.vocabulary import ScriptKind

MAX_SHOWN = 300  # characters of a line that is wrong


def command(word: str, values: Mapping[str, Any]) -> Command:
    """A command of the language.

    Args:
        word: its word, as in `language.keywords`.
        values: as of `methods.Commands`.

    Raises:
        TypeError: a value is of the wrong type.
    """
    syntax = of_word(word)
    assert syntax is not None
    kind = syntax.command
    fields: dict[str, Any] = {}
    for field, value in values.items():
        parts = ROWS[word].parts if word in ROWS else ()
        part = next((one for one in parts if one.fields[0] == field), None)
        if isinstance(part, rows.Variants):
            fields.update(part.given(_chosen(word, part, value)))
        else:
            if isinstance(part, rows.OneOf) and isinstance(value, bool):
                value = part.keywords[0] if value else part.default
            fields[field] = _value(kind.__annotations__[field], field, value)
    made: Command = kind(0, **fields)
    return made


def _chosen(word: str, part: rows.Variants, values: Mapping[str, Any]) -> tuple[str, Any]:
    """The word of a part of which there are several, and what follows it."""
    given = {key: value for key, value in values.items() if value is not None}
    alone = [
        key for key, one in part.variants.items() if one is None or isinstance(one, rows.Option)
    ]
    if len(given) > 1 or not (given or alone):
        raise TypeError(f"{word}: give one of {', '.join(key.lower() for key in values)}")
    if not given:
        inner = part.variants[alone[0]]
        return alone[0], part.empty if inner is None else inner.default
    ((key, value),) = given.items()
    if isinstance(part.variants[key], rows.Names):
        names = texts(key.lower(), value)
        is_word = len(names) == 1 and names[0] in alone  # nodes="ALL_NODES"
        return (names[0], part.empty) if is_word else (key, names)
    return key, value if isinstance(value, (int, tuple)) else text(key.lower(), value)


def _value(annotation: str, field: str, value: Any) -> Any:
    """A value of a field of that type."""
    if value is None and annotation.endswith("None"):
        return None
    if annotation.startswith("tuple[tuple"):
        return tuple(pairs(value))
    if annotation.startswith("tuple[str"):
        return texts(field, value)
    if annotation.startswith("tuple"):
        return tuple(value) if isinstance(value, Iterable) else (value,)
    if annotation == "ScriptKind":
        if value not in ScriptKind.__members__:
            raise TypeError(f"{field} is one of {', '.join(ScriptKind.__members__)}, not {value!r}")
        return ScriptKind[value]
    return text(field, value) if annotation.startswith("str") else value


def text(field: str, value: Any) -> str:
    """The text of a value: a text, a path, or what has a name."""
    found = value if isinstance(value, os.PathLike) else getattr(value, "name", value)
    found = os.fspath(found) if isinstance(found, os.PathLike) else found
    if not isinstance(found, str):
        raise TypeError(f"{field} must be a text, not {value!r}")
    return found


def texts(field: str, value: object) -> tuple[str, ...]:
    """The texts of one value or of several."""
    if isinstance(value, (str, os.PathLike)) or not isinstance(value, Iterable):
        return (text(field, value),)
    return tuple(text(field, one) for one in value)


def pairs(values: Mapping[str, Any] | Iterable[tuple[str, Any]]) -> Iterable[tuple[str, str]]:
    """Names and values of VARS: None is an empty value, anything else what `str` makes of it."""
    items = values.items() if isinstance(values, Mapping) else values
    return ((key_text(key), written(value)) for key, value in items)


def key_text(key: object) -> str:
    """The name of a variable as the parser reads it: `+x` is short for `My.x`."""
    found = text("a variable's name", key)
    return f"My.{found[1:]}" if found.startswith("+") else found


def written(value: object) -> str:
    """A value of VARS as a text; TypeError if it is bytes."""
    if isinstance(value, (bytes, bytearray)):
        raise TypeError(f"the value of a variable is bytes, which must be decoded: {value!r}")
    return "" if value is None else str(value)


def line(command: Command, place: Place) -> str:
    """The line of a command, or its lines, no newline at the end.

    Args:
        place: the line of the program that says it.

    Raises:
        DagError: no line of a DAG file says it.
    """
    try:
        return lines_of(command)
    except ValueError:
        raise _explained(command, place) from None


def _explained(command: Command, place: Place) -> DagError:
    """Why no line of a DAG file says a command."""
    syntax = of_class(type(command))
    try:
        found = syntax.write(command)
    except ValueError as error:
        return refused(f"{syntax.word}: {error}", place, word=syntax.word)
    reading = Reading("")
    read = list(iter_commands(found, reading))
    if reading.errors:
        first = reading.errors[0]
        hint = first.hint or (f"its line: {first.usage}" if first.usage else "")
        return refused(first.message, place, found, hint=hint, word=first.command)
    return refused("A DAG file can't say this", place, found, hint=_difference(command, read))


def _difference(command: Command, read: Sequence[Command]) -> str:
    """What DAGMan would take the line of a command for, if it is one of its kind."""
    if len(read) != 1 or type(read[0]) is not type(command):
        return ""
    fields = list(type(command).__annotations__)[1:]  # without the number of the line
    return "; ".join(
        f"{field} = {said!r} would be read as {found!r}: if that is meant, write {field}={found!r}"
        for field, said, found in zip(fields, command[1:], read[0][1:])
        if said != found
    )


def refused(message: str, place: Place, line: str = "", **more: str) -> DagError:
    """The error that a line of the program says something wrong; `more` as of `problem`."""
    return DagError([problem(message, place, line, **more)])


def problem(
    message: str, place: Place, line: str = "", *, hint: str = "", word: str = ""
) -> DagProblem:
    """What is wrong with what a line of the program says."""
    shown = line if len(line) <= MAX_SHOWN else f"{line[:MAX_SHOWN]}..."
    detail = "\n       ".join(filter(None, (f"{place}: {message}", shown, hint)))
    return DagProblem(message, place, shown, word, hint, detail)
