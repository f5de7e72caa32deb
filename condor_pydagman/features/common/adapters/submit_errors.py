"""Finds the line of a submit file that the bindings can't read, and why: they do not name it.

They stop at the first line that they can't read, which is the last one of the shortest beginning
that they refuse.  `include` statements that run commands, also in included files, are left out of
these beginnings, as the commands have run already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import htcondor2

from condor_pydagman.adapters import files
from condor_pydagman.adapters.descriptions import BINDINGS, Unreadable, parse
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.language.submit_file import one_line
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.job_description import Template, split, statements

_INCLUDE = re.compile(r"@?include\b([^:]*):", re.I)
MAX_INCLUDE_DEPTH = 20  # of included files; HTCondor's limit is 19
MAX_INCLUDED_FILES = 200  # searched for commands that a statement may run
_STATEMENT = re.compile(r"\s*@?(\w+)", re.A)
_BLOCK = re.compile(r"[^=]*@=\s*(\S*)")
_NAME = re.compile(r"[\w.]+", re.A)
_LINE_OF_OURS = re.compile(r" on line \d+$")
_PATH = "PYDAGMAN_PATH"  # a macro, only in descriptions that are not submitted

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


class _Include(NamedTuple):
    """An `include` statement: the file or command, and whether it is a command."""

    source: str
    runs: bool


def explained(error: PoolError, text: str, file_text: str, directory: str) -> str:
    """The reason of a failed submission, with the line of the submit file if one is the cause.

    Args:
        text: the whole description.
        file_text: the user's part of it.
        directory: in which it is read; '' for DAGMan's own.
    """
    if isinstance(error, Unreadable):
        with files.working_directory(directory):
            return _unreadable(text.split("\n"), split(file_text), error.reason)
    return at_queue(error.reason, file_text)


def at_queue(reason: str, file_text: str) -> str:
    """The reason of a failure, with the line of its queue statement if that is the cause."""
    parts = split(file_text).parts
    if file_text and "queue " in reason.lower() and len(parts) == 1:
        body, statement = parts[0]
        number = body.count("\n") + 1
        if number <= file_text.count("\n") + 1:
            head = statement.partition("\n")[0].strip()
            return f"line {number}, '{head}': {_LINE_OF_OURS.sub('', reason)}"
    return reason


def first_unreadable(text: str) -> tuple[int, str, str] | None:
    """The line of a submit file that the bindings can't read: its number, its text, and the reason.

    None if it can't be found.
    """
    lines = text.split("\n")
    found = _first_unreadable(lines, "")
    return None if found is None else (found[0] + 1, lines[found[0]].strip(), found[1])


def _unreadable(lines: list[str], template: Template, reason: str) -> str:
    found = _first_unreadable(lines, "")
    if found is None:
        return reason
    start, text = found
    head = lines[start].strip()
    number = _line_in_file(lines, start, template)
    place = f"line {number}" if number else "a line that does not stand in the submit file"
    return f"{place}, '{head}': {text}"


def _first_unreadable(
    lines: list[str], before: str, including: tuple[str, ...] = ()
) -> tuple[int, str] | None:
    """The line at which the first unreadable statement begins, and the reason.

    `before` is readable text before these lines; `including` are the files that include them."""
    kept: list[tuple[int, str]] = []
    running: list[tuple[int, str, str]] = []  # with the text before them
    for a, b in statements(lines):
        statement = _text(lines, a, b)
        begun = before + _joined(kept) if _include(statement) else ""
        if _runs_a_command(statement, begun, set(including)):
            running.append((a, statement, begun))
        else:
            kept.append((a, statement))

    def refused(count: int) -> bool:
        words = [_word(statement) for _, statement in kept[:count]]
        ends = "endif\n" * (words.count("if") - words.count("endif"))
        return not _readable(before + _joined(kept[:count]) + ends)

    if not refused(len(kept)):
        return _failed_command(running, including)
    count = _bisected(refused, len(kept))
    start, statement = kept[count - 1]
    return start, _reason(statement, before + _joined(kept[: count - 1]), including)


def _failed_command(
    running: list[tuple[int, str, str]], including: tuple[str, ...]
) -> tuple[int, str] | None:
    """The first statement that runs a command: if all else is readable, the command failed."""
    for start, statement, before in running:
        include = _include(statement)
        if include is None or include.runs:
            return start, _COMMAND
        reason = _include_problem(include, before, including)
        if reason:
            return start, reason
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


def _reason(statement: str, before: str, including: tuple[str, ...]) -> str:
    head = statement.strip()
    word = _word(head)
    block = _BLOCK.match(head.partition("\n")[0])
    if word in ("if", "elif"):
        return _CONDITION
    if word in ("else", "endif"):
        return f"no `if` is open that this {word} could belong to, or it has one already"
    if word == "include":
        include = _include(statement)
        if include is None:
            return "expected `include : FILE` or `include : COMMAND |`"
        return _include_problem(include, before, including) or _TOO_DEEP.format(include.source)
    if word == "use":
        return (
            "HTCondor's configuration has no submit template of that name (SUBMIT_TEMPLATE_NAMES)"
        )
    if word == "error" and ":" in head:
        return "the submit file itself says that something is wrong"
    if block and _NAME.fullmatch(head.partition("@")[0].strip()):
        return (
            f"a line `@{block[1]}` must end this value, and no line before that may end with a"
            " backslash"
        )
    name, equals, _ = head.partition("=")
    name = name.strip().removesuffix("@") if block else name.strip()
    return f"'{name.strip()}' is not a name of a command or macro" if equals else _NO_STATEMENT


def _include_problem(include: _Include, before: str, including: tuple[str, ...]) -> str:
    """The error in an included file; '' if none is found."""
    path = _path(include.source, before)
    if path in including:
        return f"{path} includes itself"
    if len(including) >= MAX_INCLUDE_DEPTH:
        return _TOO_DEEP.format(path)
    try:
        lines = files.read_text(path).split("\n")
    except (OSError, FileError) as error:
        return f"{path} can't be read: {getattr(error, 'strerror', None) or error}"
    inner = _first_unreadable(lines, before, (*including, path))
    if inner is None:
        return ""
    start, reason = inner
    return f"line {start + 1} of {path}, '{lines[start].strip()}': {reason}"


def _path(path: str, before: str) -> str:
    """A path with its macros expanded, as the lines before it set them."""
    try:
        description = htcondor2.Submit(before)
        description[_PATH] = path
        return str(description.expand(_PATH))
    except (*BINDINGS, KeyError):
        return path


def _readable(text: str) -> bool:
    try:
        parse(text + "\nqueue\n")
    except PoolError:
        return False
    return True


def _include(statement: str) -> _Include | None:
    """The parts of an `include` statement; None if it is none."""
    text = one_line(statement).strip()
    found = _INCLUDE.match(text)
    if found is None:
        return None
    source = text[found.end() :].strip()
    runs = source.endswith("|") or "command" in found[1].lower().split()
    return _Include(source.removesuffix("|").rstrip(), runs)


def _runs_a_command(statement: str, before: str, seen: set[str]) -> bool:
    """Whether a statement runs a command, or includes a file, not `seen` yet, that does."""
    include = _include(statement)
    if include is None or include.runs:
        return include is not None
    path = _path(include.source, before)
    if path in seen or len(seen) >= MAX_INCLUDED_FILES:
        return False
    seen.add(path)
    try:
        lines = files.read_text(path).split("\n")
    except (OSError, FileError):
        return False
    for a, b in statements(lines):
        inner = _text(lines, a, b)
        if _runs_a_command(inner, before, seen):
            return True
        if "=" in inner and not _include(inner):
            before += inner
    return False


def _word(line: str) -> str:
    found = _STATEMENT.match(line)
    return found[1].lower() if found else ""


def _joined(parts: Iterable[tuple[int, str]]) -> str:
    return "".join(statement for _, statement in parts)


def _text(lines: list[str], start: int, end: int) -> str:
    return "".join(f"{line}\n" for line in lines[start:end])


def _line_in_file(lines: list[str], place: int, template: Template) -> int:
    """Number in the submit file, from 1, of a line of the description; 0 if DAGMan added the
    line."""
    text, position, number = "\n".join(lines), 0, 1
    offset = sum(len(line) + 1 for line in lines[:place])
    for body, statement in template.parts:
        begin = text.find(f"{body}dag_node_name = ", position)
        if begin < 0:
            return 0
        if begin <= offset < begin + len(body):
            return number + body[: offset - begin].count("\n")
        number += body.count("\n") + statement.count("\n")
        position = begin + len(body)
    return 0
