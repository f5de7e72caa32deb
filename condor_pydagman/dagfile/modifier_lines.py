"""How the lines are read and written that say more of nodes: SCRIPT, VARS, TOLERANCE, ..."""

from __future__ import annotations

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.lexer import Words
from condor_pydagman.dagfile.line_error import LineError
from condor_pydagman.dagfile.line_parts import (
    Context,
    checked_number,
    end,
    needed,
    node_name,
    normal,
    number,
    unexpected,
)
from condor_pydagman.dagfile.quoting import file_word, joined, name_word, quoted
from condor_pydagman.dagfile.variables import read_pairs
from condor_pydagman.vocabulary import ScriptKind

_STREAMS = ("STDOUT", "STDERR", "ALL")
_SCRIPT_WORDS = ("PRE", "POST", "HOLD", "DEFER", "DEBUG")
_FAIL_FAST_WORDS = {"FAIL_FAST": True, "WAIT": False}


def read_script(words: Words, context: Context) -> Command:
    """SCRIPT."""
    defer_status, defer_seconds, debug_file, stream = None, 0, "", ""
    while True:
        option = normal(words.next())
        if option == "DEFER":
            invalid = "Invalid DEFER status value '{}'"
            defer_status = number(words, "DEFER missing status value", invalid)
            invalid = "Invalid DEFER time value '{}'"
            defer_seconds = number(words, "DEFER missing time value", invalid)
        elif option == "DEBUG":
            debug_file, stream = _debug(words)
        elif option in ScriptKind.__members__:
            break
        else:
            missing = (
                "Missing script type (PRE, POST, HOLD) and optional sub-commands (DEFER, DEBUG)"
            )
            raise LineError(missing, words, _SCRIPT_WORDS)
    node, kind = node_name(words), ScriptKind[option]
    command = words.rest()
    if not command:
        raise LineError("No script specified", words, hint="the script's file follows the node")
    where = (defer_status, defer_seconds, debug_file, stream)
    return commands.ScriptLine(context.lines.number, node, kind, command, *where)


def _debug(words: Words) -> tuple[str, str]:
    file = needed(words, "DEBUG missing filename")
    word = needed(words, "DEBUG missing output stream type (STDOUT, STDERR, ALL)", _STREAMS)
    if normal(word) not in _STREAMS:
        raise LineError(f"Unknown DEBUG output stream type '{word}'", words, _STREAMS)
    return file, normal(word)


def write_script(command: commands.ScriptLine) -> str:
    """SCRIPT."""
    defer = debug = ""
    if command.defer_status is not None:
        defer = f"DEFER {command.defer_status} {command.defer_seconds}"
    if command.debug_file:
        debug = f"DEBUG {name_word(command.debug_file)} {command.debug_stream}"
    what = f"{command.kind.value} {name_word(command.node)} {command.command}"
    return joined("SCRIPT", defer, debug, what)


def read_abort_dag_on(words: Words, context: Context) -> Command:
    """ABORT-DAG-ON."""
    node = node_name(words)
    word, invalid = (
        needed(words, "Missing exit status to abort on"),
        "Invalid exit status '{}' specified",
    )
    if normal(word) == "RETURN":
        hint = "expected the exit code of the node before RETURN"
        raise LineError(invalid.format(word), words, hint=hint)
    status = checked_number(word, words, invalid)
    exit_code = None
    word = words.next()
    if normal(word) == "RETURN":
        invalid = "Invalid RETURN code '{}' (Must be between 0 and 255)"
        exit_code = number(words, "RETURN is missing value", invalid, 0, 255)
        end(words)
    else:
        unexpected(word, words, "RETURN")
    return commands.AbortDagOn(context.lines.number, node, status, exit_code)


def write_abort_dag_on(command: commands.AbortDagOn) -> str:
    """ABORT-DAG-ON."""
    returns = "" if command.exit_code is None else f"RETURN {command.exit_code}"
    return joined(f"ABORT-DAG-ON {name_word(command.node)} {command.status}", returns)


def read_vars(words: Words, context: Context) -> Command:
    """VARS."""
    node = node_name(words)
    append, pairs = read_pairs(words)
    return commands.Vars(context.lines.number, node, append, tuple(pairs))


def write_vars(command: commands.Vars) -> str:
    """VARS."""
    where = {None: "", False: "PREPEND", True: "APPEND"}[command.append]
    pairs = " ".join(f"{key}={quoted(value)}" for key, value in command.pairs)
    return joined("VARS", name_word(command.node), where, pairs)


def read_tolerance(words: Words, context: Context) -> Command:
    """TOLERANCE; the `%` may be a word of its own."""
    node = node_name(words)
    value = needed(words, "Missing failure tolerance value")
    percent = value.endswith("%")
    if value == "%":
        raise LineError("Empty percentage specified for failure tolerance", words)
    column, invalid = words.column, "Invalid tolerance value '{}'"
    word = "%" if percent else words.next()  # before the value is looked at, as stock DAGMan does
    limit = checked_number(value[:-1] if percent else value, words, invalid, 0, column=column)
    if word == "%":
        percent, word = True, words.next()
    fail_fast = _FAIL_FAST_WORDS.get(normal(word))
    if fail_fast is None:
        unexpected(word, words, "FAIL-FAST", "WAIT", *(() if percent else ("%",)))
    else:
        end(words)
    return commands.ToleranceLine(context.lines.number, node, limit, percent, fail_fast)


def write_tolerance(command: commands.ToleranceLine) -> str:
    """TOLERANCE."""
    how = {None: "", True: "FAIL-FAST", False: "WAIT"}[command.fail_fast]
    limit = f"{command.limit}{'%' * command.percent}"
    return joined("TOLERANCE", name_word(command.node), limit, how)


def read_save_point_file(words: Words, context: Context) -> Command:
    """SAVE_POINT_FILE."""
    node = node_name(words)
    if node.upper() == "ALL_NODES":
        raise LineError("ALL_NODES cannot be used for save point file command", words)
    file = words.next_file()
    end(words)
    return commands.SavePointFile(context.lines.number, node, file)


def write_save_point_file(command: commands.SavePointFile) -> str:
    """SAVE_POINT_FILE."""
    file = file_word(command.file) if command.file else ""
    return joined("SAVE_POINT_FILE", name_word(command.node), file)
