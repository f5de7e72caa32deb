"""Which line of a submit file can't be read, and why: the bindings say only that there is one.

They stop at the first line that they can't read, so that is the last one of the shortest beginning
which they refuse.  Commands that `include` runs are left out of these beginnings: they have run.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import htcondor2

from condor_pydagman.adapters import files
from condor_pydagman.adapters.descriptions import BINDINGS, Unreadable, parsed
from condor_pydagman.errors import FileError, PoolError
from condor_pydagman.records.job_description import Template, split, statements

_INCLUDE = re.compile(r"\s*@?include\b\s*(\w*)[^:]*:\s*(.*?)\s*(\|?)\s*$", re.I | re.S)
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
_NO_STATEMENT = (
    "expected `NAME = VALUE`, queue, include, if, use, error or warning (is it the rest of a line"
    " that should end with a backslash?)"
)


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
    spans = list(statements(lines))
    kept = [(a, b) for a, b in spans if not _runs_a_command(lines[a])]

    def refused(count: int) -> bool:
        words = [_word(lines[a]) for a, _ in kept[:count]]
        ends = "endif\n" * (words.count("if") - words.count("endif"))
        return not _readable(before + "".join(_text(lines, *span) for span in kept[:count]) + ends)

    if not refused(len(kept)):
        commands = [a for a, b in spans if _runs_a_command(lines[a])]
        return (commands[0], _COMMAND) if commands else None
    count = _bisected(refused, len(kept))
    start, end = kept[count - 1]
    before += "".join(_text(lines, *span) for span in kept[: count - 1])
    return start, _why(_text(lines, start, end), before, above)


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
        return _why_not_included(head, before, above)
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


def _why_not_included(head: str, before: str, above: tuple[str, ...]) -> str:
    found = _INCLUDE.match(head)
    if found is None:
        return "expected `include : FILE` or `include : COMMAND |`"
    path = _path(found[2], before)
    if path in above:
        return f"{path} includes itself"
    try:
        lines = files.read_text(path).split("\n")
    except (OSError, FileError) as error:
        return f"{path} can't be read: {getattr(error, 'strerror', None) or error}"
    inner = _first(lines, before, (*above, path))
    if inner is None:
        return f"{path} has a queue statement, or files are included too deep"
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


def _runs_a_command(line: str) -> bool:
    found = _INCLUDE.match(line)
    return found is not None and (found[1].lower() == "command" or bool(found[3]))


def _word(line: str) -> str:
    found = _STATEMENT.match(line)
    return found[1].lower() if found else ""


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
