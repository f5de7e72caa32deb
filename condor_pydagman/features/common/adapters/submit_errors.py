"""Finds the line of a submit file that the bindings can't read, and why: they do not name it.

They stop at the first line that they can't read, which is the last one of the shortest beginning
that they refuse.  `include` statements that run commands, also in included files, are left out of
these beginnings, as the commands have run already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from condor_pydagman.adapters import files
from condor_pydagman.adapters.descriptions import BINDINGS, Unreadable, expanded_text, parse
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.language.description import (
    Include,
    Statement,
    SubmitDescription,
    Template,
    statements,
    template_of,
)

MAX_INCLUDE_DEPTH = 20  # of included files; HTCondor's limit is 19
MAX_INCLUDED_FILES = 200  # searched for commands that a statement may run
_NAME = re.compile(r"[\w.]+", re.A)
_LINE_OF_OURS = re.compile(r" on line \d+$")

_CONDITION = (
    "this is not a condition that HTCondor can decide on: it takes true, false, a number, `defined"
    " NAME` and `version >= X.Y.Z`, with `!` before it or not; no comparison, no && and ||"
)
_COMMAND = "the command could not be run, or what it printed can't be read"
_TOO_DEEP = "{} has a queue statement, or files are included too deep"
_NO_STATEMENT = (
    "expected `NAME = VALUE`, queue, include, if, use, error or warning (is it the rest of a line"
    " that should end with a backslash?)"
)


def explained(error: PoolError, text: str, file_text: str, directory: str) -> str:
    """The reason of a failed submission, with the line of the submit file if one is the cause.

    Args:
        text: the whole description.
        file_text: the user's part of it.
        directory: in which it is read; '' for DAGMan's own.
    """
    if not isinstance(error, Unreadable):
        return at_queue(error.reason, file_text)
    with files.working_directory(directory):
        found = _first_unreadable(text, "")
    if found is None:
        return error.reason
    statement, reason = found
    number = _line_in_file(text, statement.line, template_of(file_text))
    place = f"line {number}" if number else "a line that does not stand in the submit file"
    return f"{place}, '{_head(statement)}': {reason}"


def at_queue(reason: str, file_text: str) -> str:
    """The reason of a failure, with the line of its queue statement if that is the cause."""
    if "queue " in reason.lower():
        queues = SubmitDescription(file_text).queues
        if len(queues) == len(template_of(file_text)) == 1:
            return f"line {queues[0].line}, '{_head(queues[0])}': {_LINE_OF_OURS.sub('', reason)}"
    return reason


def first_unreadable(text: str) -> tuple[int, str, str] | None:
    """The line of a submit file that the bindings can't read: its number, its text, and the reason.

    None if it can't be found.
    """
    found = _first_unreadable(text, "")
    return None if found is None else (found[0].line, _head(found[0]), found[1])


def _first_unreadable(
    text: str, before: str, including: tuple[str, ...] = ()
) -> tuple[Statement, str] | None:
    """The first unreadable statement, and the reason.

    `before` is readable text before this one; `including` are the files that include it."""
    kept: list[Statement] = []
    running: list[tuple[Statement, str]] = []  # with the text before them
    for statement in statements(text):
        begun = before + _joined(kept) if statement.word == "include" else ""
        if _runs_a_command(statement, begun, set(including)):
            running.append((statement, begun))
        else:
            kept.append(statement)

    def refused(count: int) -> bool:
        words = [statement.word for statement in kept[:count]]
        ends = "endif\n" * (words.count("if") - words.count("endif"))
        return not _readable(before + _joined(kept[:count]) + ends)

    if not refused(len(kept)):
        return _failed_command(running, including)
    count = _bisected(refused, len(kept))
    return kept[count - 1], _reason(kept[count - 1], before + _joined(kept[: count - 1]), including)


def _failed_command(
    running: list[tuple[Statement, str]], including: tuple[str, ...]
) -> tuple[Statement, str] | None:
    """The first statement that runs a command: if all else is readable, the command failed."""
    for statement, before in running:
        include = statement.include
        if include is None or include.runs:
            return statement, _COMMAND
        reason = _include_problem(include, before, including)
        if reason:
            return statement, reason
    return None


def _bisected(refused: Callable[[int], bool], high: int) -> int:
    """The smallest count that is refused; `high` is, 0 is not."""
    low = 0
    while high - low > 1:
        middle = (low + high) // 2
        if refused(middle):
            high = middle
        else:
            low = middle
    return high


def _reason(statement: Statement, before: str, including: tuple[str, ...]) -> str:
    word, head = statement.word, statement.whole
    if word in ("if", "elif"):
        return _CONDITION
    if word in ("else", "endif"):
        return f"no `if` is open that this {word} could belong to, or it has one already"
    if word == "include":
        include = statement.include
        if include is None:
            return "expected `include : FILE` or `include : COMMAND |`"
        return _include_problem(include, before, including) or _TOO_DEEP.format(include.source)
    if word == "use":
        return (
            "HTCondor's configuration has no submit template of that name (SUBMIT_TEMPLATE_NAMES)"
        )
    if word == "error":
        return "the submit file itself says that something is wrong"
    name = head.partition("@=" if statement.tag else "=")[0].strip()
    if statement.tag and _NAME.fullmatch(name):
        return (
            f"a line `@{statement.tag}` must end this value, and no line before that may end with a"
            " backslash"
        )
    return f"'{name}' is not a name of a command or macro" if "=" in head else _NO_STATEMENT


def _include_problem(include: Include, before: str, including: tuple[str, ...]) -> str:
    """The error in an included file; '' if none is found."""
    path = _path(include.source, before)
    if path in including:
        return f"{path} includes itself"
    if len(including) >= MAX_INCLUDE_DEPTH:
        return _TOO_DEEP.format(path)
    try:
        text = files.read_text(path)
    except (OSError, FileError) as error:
        return f"{path} can't be read: {getattr(error, 'strerror', None) or error}"
    inner = _first_unreadable(text, before, (*including, path))
    if inner is None:
        return ""
    statement, reason = inner
    return f"line {statement.line} of {path}, '{_head(statement)}': {reason}"


def _path(path: str, before: str) -> str:
    """A path with its macros expanded, as the lines before it set them."""
    try:
        return expanded_text(parse(before), path) or path
    except (*BINDINGS, PoolError):
        return path


def _readable(text: str) -> bool:
    try:
        parse(text + "\nqueue\n")
    except PoolError:
        return False
    return True


def _runs_a_command(statement: Statement, before: str, seen: set[str]) -> bool:
    """Whether a statement runs a command, or includes a file, not `seen` yet, that does."""
    include = statement.include
    if include is None or include.runs:
        return include is not None
    path = _path(include.source, before)
    if path in seen or len(seen) >= MAX_INCLUDED_FILES:
        return False
    seen.add(path)
    try:
        text = files.read_text(path)
    except (OSError, FileError):
        return False
    for inner in statements(text):
        if _runs_a_command(inner, before, seen):
            return True
        if inner.assigned is not None:
            before += inner.text
    return False


def _joined(parts: Iterable[Statement]) -> str:
    return "".join(statement.text for statement in parts)


def _head(statement: Statement) -> str:
    """Its first line."""
    return statement.text.partition("\n")[0].strip()


def _line_in_file(text: str, line: int, template: Template) -> int:
    """Number in the submit file, from 1, of a line of the description; 0 if DAGMan added the
    line."""
    position, number = 0, 1
    for body, statement in template:
        begin = text.find(f"{body}dag_node_name = ", position)
        if begin < 0:
            return 0
        first = text.count("\n", 0, begin) + 1
        if first <= line < first + body.count("\n"):
            return number + line - first
        number += body.count("\n") + statement.count("\n")
        position = begin + len(body)
    return 0
