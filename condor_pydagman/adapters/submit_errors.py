"""Which line of a submit file can't be read, and why: the bindings say only that there is one.

They stop at the first line that they can't read, so that is the last one of the shortest beginning
which they refuse.  Commands that `include` runs, be it that an included file has it, are left out
of these beginnings: they have run.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

import htcondor2

from condor_pydagman.adapters import files
from condor_pydagman.adapters.descriptions import BINDINGS, Unreadable, parsed
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.records.job_description import Template, split, statements

_CONTINUED = re.compile(r"\\[ \t]*\r?\n[ \t]*")
_INCLUDE = re.compile(r"@?include\b([^:]*):", re.I)
DEPTH_MAX = 20  # files that include one another; HTCondor itself takes 19
FILES_MAX = 200  # files looked at for commands that a statement may run
_STATEMENT = re.compile(r"\s*@?(\w+)", re.A)
_BLOCK = re.compile(r"[^=]*@=\s*(\S*)")
_NAME = re.compile(r"[\w.]+", re.A)
_LINE_OF_OURS = re.compile(r" on line \d+$")
_PATH = "PYDAGMAN_PATH"  # a macro of ours, in a description that is not submitted

_CONDITION = (
    "this is no condition that HTCondor can decide on: it takes true, false, a number, `defined"
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
    """The reason of a failed submission, with the line of the submit file if one is to blame.

    Args:
        text: the whole description.
        file_text: the user's part of it.
        directory: where it is read; '' for where DAGMan runs.
    """
    template = split(file_text)
    if isinstance(error, Unreadable):
        with files.inside(directory):
            return _unreadable(text.split("\n"), template, error.reason)
    if "queue " in error.reason.lower() and len(template.parts) == 1:
        body, statement = template.parts[0]
        number = body.count("\n") + 1
        if number <= file_text.count("\n") + 1:
            head = statement.partition("\n")[0].strip()
            return f"line {number}, '{head}': {_LINE_OF_OURS.sub('', error.reason)}"
    return error.reason


def first_unreadable(text: str) -> tuple[int, str, str] | None:
    """Of a submit file's text that the bindings refuse: number and text of the line, and why.

    None if it can't be found out.
    """
    lines = text.split("\n")
    found = _first(lines, "")
    return None if found is None else (found[0] + 1, lines[found[0]].strip(), found[1])


def _unreadable(lines: list[str], template: Template, reason: str) -> str:
    found = _first(lines, "")
    if found is None:
        return reason
    start, text = found
    head = lines[start].strip()
    number = _line_in_file(lines, start, template)
    place = f"line {number}" if number else "a line that does not stand in the submit file"
    return f"{place}, '{head}': {text}"


def _first(lines: list[str], before: str, above: tuple[str, ...] = ()) -> tuple[int, str] | None:
    """Where the first statement begins that can't be read, and why; `before` can be."""
    kept: list[tuple[int, str]] = []
    running: list[tuple[int, str, str]] = []  # with what stands before
    for a, b in statements(lines):
        statement = _text(lines, a, b)
        begun = before + _joined(kept) if _include(statement) else ""
        if _runs_a_command(statement, begun, set(above)):
            running.append((a, statement, begun))
        else:
            kept.append((a, statement))

    def refused(count: int) -> bool:
        words = [_word(statement) for _, statement in kept[:count]]
        ends = "endif\n" * (words.count("if") - words.count("endif"))
        return not _readable(before + _joined(kept[:count]) + ends)

    if not refused(len(kept)):
        return _of_commands(running, above)
    count = _bisected(refused, len(kept))
    start, statement = kept[count - 1]
    return start, _why(statement, before + _joined(kept[: count - 1]), above)


def _of_commands(
    running: list[tuple[int, str, str]], above: tuple[str, ...]
) -> tuple[int, str] | None:
    """The first statement that runs a command which may be to blame, as nothing else is."""
    for start, statement, before in running:
        include = _include(statement)
        if include is None or include.runs:
            return start, _COMMAND
        reason = _why_not_included(include, before, above)
        if reason:
            return start, reason
    return None


def _bisected(refused: Callable[[int], bool], most: int) -> int:
    """The smallest count that is refused; `most` is, 0 is not."""
    least = 0
    while most - least > 1:
        middle = (least + most) // 2
        if refused(middle):
            most = middle
        else:
            least = middle
    return most


def _why(statement: str, before: str, above: tuple[str, ...]) -> str:
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
        return _why_not_included(include, before, above) or _TOO_DEEP.format(include.source)
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
    return f"'{name.strip()}' is no name of a command or macro" if equals else _NO_STATEMENT


def _why_not_included(include: _Include, before: str, above: tuple[str, ...]) -> str:
    """What is wrong with an included file; '' if nothing can be found."""
    path = _path(include.source, before)
    if path in above:
        return f"{path} includes itself"
    if len(above) >= DEPTH_MAX:
        return _TOO_DEEP.format(path)
    try:
        lines = files.read_text(path).split("\n")
    except (OSError, FileError) as error:
        return f"{path} can't be read: {getattr(error, 'strerror', None) or error}"
    inner = _first(lines, before, (*above, path))
    if inner is None:
        return ""
    start, reason = inner
    return f"line {start + 1} of {path}, '{lines[start].strip()}': {reason}"


def _path(path: str, before: str) -> str:
    """A path whose macros have been expanded, as the lines before it set them."""
    try:
        description = htcondor2.Submit(before)
        description[_PATH] = path
        return str(description.expand(_PATH))
    except (*BINDINGS, KeyError):
        return path


def _readable(text: str) -> bool:
    try:
        parsed(text + "\nqueue\n")
    except PoolError:
        return False
    return True


def _include(statement: str) -> _Include | None:
    """The parts of an `include` statement; None if it is none."""
    text = _CONTINUED.sub("", statement).strip()
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
    if path in seen or len(seen) >= FILES_MAX:
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
    """Number in the submit file, from 1, of a line of the description; 0 if it is none of it."""
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
