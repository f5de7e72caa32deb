"""From a command to its line in a DAG file: what the parser reads from it is the same command.

Everything printed is read back before it is given out: what no line can say (a file name with a
newline, a node called CHILD) is refused, never written as something else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.parser import Reading, iter_commands
from condor_pydagman.vocabulary import NodeKind

_BLANKS = " \t\r"
_QUOTES = "\"'"


def lines(command: Command, *, allow_any_node_name_characters: bool = False) -> str:
    """The line of `command`, or the lines if it has an inline description; no newline at the end.

    Raises:
        ValueError: the command can't be written in the DAG language.
    """
    text = _PRINTERS[type(command)](command)
    reading = Reading("", allow_any_node_name_characters=allow_any_node_name_characters)
    read = list(iter_commands(text, reading))
    if reading.errors or len(read) != 1 or not _same(read[0], command):
        raise ValueError(f"can't be written in a DAG file: {command!r}")
    return text


def node_word(name: str) -> str:
    """A node's name as the word that is read as that name; as it is if no word can say it."""
    if '"' not in name and "'" not in name:
        return name
    try:
        return _name(name)
    except ValueError:
        return name


def _same(one: Command, other: Command) -> bool:
    return type(one) is type(other) and one[1:] == other[1:]


def _name(name: str) -> str:
    """A word that keeps its quotes: what stands between them gets its backslashes back.

    A quote that was escaped is inside, one that was not opens or closes; several readings may be
    possible, and one of them that fits the whole word is taken.
    """
    closes = _closing_quotes(name)
    written: list[str] = []
    position = 0
    while position < len(name):
        character = name[position]
        position += 1
        written.append(character)
        if character in _QUOTES:
            end = closes.get(position - 1)
            if end is None:
                raise ValueError(f"a quote of {name!r} is not closed")
            inside = name[position:end].replace("\\", "\\\\").replace(character, "\\" + character)
            written += (inside, character)
            position = end + 1
    return "".join(written)


def _closing_quotes(name: str) -> dict[int, int]:
    """For each quote that can open a quoted part, where that part may end so that the rest fits."""
    fits = True  # whether what follows the position can be read by itself
    ends: dict[str, int] = {}
    closes: dict[int, int] = {}
    for position in range(len(name) - 1, -1, -1):
        character = name[position]
        if character not in _QUOTES:
            fits = fits and character not in _BLANKS
            continue
        rest_fits = fits
        fits = character in ends
        if fits:
            closes[position] = ends[character]
        if rest_fits:
            ends[character] = position
    return closes


def _file(name: str) -> str:
    """A word that loses its quotes."""
    if name and not any(c in name for c in " \t\r\v\f\"'\\"):
        return name
    return _quoted(name)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _joined(*words: str) -> str:
    return " ".join(word for word in words if word)


def _options(command: commands.Job | commands.Subdag) -> str:
    directory = f"DIR {_file(command.directory)}" if command.directory else ""
    return _joined(directory, "NOOP" * command.noop, "DONE" * command.done)


def _job(job: commands.Job) -> str:
    word = NodeKind(job.kind).name
    begin = f"{word} {_name(job.name)} "
    if job.description is None:
        return _joined(begin + _file(job.submit), _options(job))
    closing = "}" if job.submit[:1] == "{" else "@" + job.submit[2:]
    return _joined(_inline(begin + _file(job.submit), job.description, closing), _options(job))


def _submit_description(command: commands.SubmitDescription) -> str:
    begin = f"SUBMIT-DESCRIPTION {_name(command.name)} "
    closings = {line.split(" ", 1)[0] for line in command.description.split("\n")}
    if "}" not in closings:
        return _inline(begin + "{", command.description, "}")
    number = next(n for n in range(len(closings) + 1) if f"@END{n}" not in closings)
    return _inline(f"{begin}@=END{number}", command.description, f"@END{number}")


def _inline(opening: str, description: str, closing: str) -> str:
    return "\n".join([opening, *([description] if description else []), closing])


def _subdag(command: commands.Subdag) -> str:
    begin = f"SUBDAG EXTERNAL {_name(command.name)} {_file(command.file)}"
    return _joined(begin, _options(command))


def _splice(command: commands.Splice) -> str:
    directory = f"DIR {_file(command.directory)}" if command.directory else ""
    return _joined(f"SPLICE {_name(command.name)} {_file(command.file)}", directory)


def _parent(command: commands.ParentChild) -> str:
    parents, children = (" ".join(map(_name, side)) for side in (command.parents, command.children))
    return _joined("WEAK" * command.weak, f"PARENT {parents} CHILD {children}")


def _pin(command: commands.Pin) -> str:
    return f"PIN_{'OUT' if command.out else 'IN'} {_name(command.node)} {command.number}"


def _script(command: commands.ScriptLine) -> str:
    defer = debug = ""
    if command.defer_status is not None:
        defer = f"DEFER {command.defer_status} {command.defer_seconds}"
    if command.debug_file:
        debug = f"DEBUG {_name(command.debug_file)} {command.debug_stream}"
    what = f"{command.kind.value} {_name(command.node)} {command.command}"
    return _joined("SCRIPT", defer, debug, what)


def _retry(command: commands.RetryLine) -> str:
    return _joined(f"RETRY {_name(command.node)} {command.limit}", retry_options(command))


def retry_options(command: commands.RetryLine) -> str:
    """The options of a RETRY line, as they stand after the number of retries; '' if none."""
    return _options_of(
        ("UNLESS-EXIT", _codes(command.unless_exit)),
        ("ONLY-IF", _codes(command.only_if)),
        ("DELAY", command.delay),
        ("BACKOFF", _factor(command.backoff)),
        ("MAX-DELAY", command.max_delay),
    )


def _options_of(*options: tuple[str, int | str | None]) -> str:
    return " ".join(f"{word} {value}" for word, value in options if value is not None)


def _codes(codes: tuple[int, ...] | None) -> str | None:
    return None if codes is None else ",".join(map(str, codes))


def _factor(factor: float | None) -> str | None:
    if factor is None:
        return None
    return str(int(factor)) if factor.is_integer() else str(factor)


def _timeout(command: commands.TimeoutLine) -> str:
    limits = (("QUEUED", command.queued), ("RUNNING", command.running), ("TOTAL", command.total))
    return _joined("TIMEOUT", _name(command.node), _options_of(*limits))


def _abort_dag_on(command: commands.AbortDagOn) -> str:
    returns = "" if command.exit_code is None else f"RETURN {command.exit_code}"
    return _joined(f"ABORT-DAG-ON {_name(command.node)} {command.status}", returns)


def _vars(command: commands.Vars) -> str:
    where = {None: "", False: "PREPEND", True: "APPEND"}[command.append]
    pairs = " ".join(f"{key}={_quoted(value)}" for key, value in command.pairs)
    return _joined("VARS", _name(command.node), where, pairs)


def _tolerance(command: commands.ToleranceLine) -> str:
    how = {None: "", True: "FAIL-FAST", False: "WAIT"}[command.fail_fast]
    limit = f"{command.limit}{'%' * command.percent}"
    return _joined("TOLERANCE", _name(command.node), limit, how)


def _save_point_file(command: commands.SavePointFile) -> str:
    file = _file(command.file) if command.file else ""
    return _joined("SAVE_POINT_FILE", _name(command.node), file)


def _node_status_file(command: commands.NodeStatusFile) -> str:
    always = "ALWAYS-UPDATE" * command.always
    return _joined(f"NODE_STATUS_FILE {_file(command.file)} {command.interval}", always)


def _dot(command: commands.Dot) -> str:
    include = f"INCLUDE {_file(command.include)}" if command.include else ""
    options = ("UPDATE" * command.update, "OVERWRITE" * command.overwrite, include)
    return _joined(f"DOT {_file(command.file)}", *options)


_PRINTERS: dict[type[Any], Callable[[Any], str]] = {
    commands.Job: _job,
    commands.Subdag: _subdag,
    commands.Splice: _splice,
    commands.Include: lambda c: f"INCLUDE {_file(c.file)}",
    commands.Connect: lambda c: f"CONNECT {_name(c.parent)} {_name(c.child)}",
    commands.Pin: _pin,
    commands.SubmitDescription: _submit_description,
    commands.ParentChild: _parent,
    commands.ScriptLine: _script,
    commands.RetryLine: _retry,
    commands.AbortDagOn: _abort_dag_on,
    commands.Vars: _vars,
    commands.Priority: lambda c: f"PRIORITY {_name(c.node)} {c.value}",
    commands.PreSkip: lambda c: f"PRE_SKIP {_name(c.node)} {c.exit_code}",
    commands.ToleranceLine: _tolerance,
    commands.TimeoutLine: _timeout,
    commands.SavePointFile: _save_point_file,
    commands.Category: lambda c: f"CATEGORY {_name(c.node)} {_name(c.category)}",
    commands.MaxJobs: lambda c: f"MAXJOBS {_name(c.category)} {c.limit}",
    commands.Done: lambda c: f"DONE {_name(c.node)}",
    commands.NodeStatusFile: _node_status_file,
    commands.JobstateLog: lambda c: f"JOBSTATE_LOG {_file(c.file)}",
    commands.Dot: _dot,
    commands.Reject: lambda c: "REJECT",
    commands.ConfigFile: lambda c: f"CONFIG {_file(c.file)}",
    commands.SetJobAttr: lambda c: f"SET_JOB_ATTR {c.attribute}",
    commands.Env: lambda c: f"ENV {'SET' if c.set else 'GET'} {c.variables}",
}
