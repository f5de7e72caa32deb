"""How the lines are read and written that concern the whole DAG: DOT, NODE_STATUS_FILE, ENV."""

from __future__ import annotations

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.lexer import Words
from condor_pydagman.dagfile.line_error import LineError
from condor_pydagman.dagfile.line_parts import (
    Context,
    checked_number,
    integer,
    needed,
    needed_file,
    normal,
    unexpected,
)
from condor_pydagman.dagfile.quoting import file_word, joined

_DOT_WORDS = ("UPDATE", "DONT-UPDATE", "OVERWRITE", "DONT-OVERWRITE", "INCLUDE")


def read_node_status_file(words: Words, context: Context) -> Command:
    """NODE_STATUS_FILE; its options may come in any order, the last of a kind counts."""
    file = needed_file(words, "No file specified")
    interval, always = 60, False
    while True:
        word = words.next()
        if not word:
            return commands.NodeStatusFile(context.lines.number, file, interval, always)
        if normal(word) == "ALWAYS_UPDATE":
            always = True
        elif integer(word) is not None:
            interval = checked_number(word, words, "")
        else:
            unexpected(word, words, "ALWAYS-UPDATE", "a number of seconds")


def write_node_status_file(command: commands.NodeStatusFile) -> str:
    """NODE_STATUS_FILE."""
    always = "ALWAYS-UPDATE" * command.always
    return joined(f"NODE_STATUS_FILE {file_word(command.file)} {command.interval}", always)


def read_dot(words: Words, context: Context) -> Command:
    """DOT; its options may come in any order, the last of a kind counts."""
    file = needed_file(words, "No file specified")
    update, overwrite, include = False, False, ""
    while True:
        word = words.next()
        option = normal(word)
        if not word:
            return commands.Dot(context.lines.number, file, update, overwrite, include)
        if option in ("UPDATE", "DONT_UPDATE"):
            update = option == "UPDATE"
        elif option in ("OVERWRITE", "DONT_OVERWRITE"):
            overwrite = option == "OVERWRITE"
        elif option == "INCLUDE":
            include = needed_file(words, "Missing INCLUDE header file")
        else:
            unexpected(word, words, *_DOT_WORDS)


def write_dot(command: commands.Dot) -> str:
    """DOT."""
    include = f"INCLUDE {file_word(command.include)}" if command.include else ""
    options = ("UPDATE" * command.update, "OVERWRITE" * command.overwrite, include)
    return joined(f"DOT {file_word(command.file)}", *options)


def read_env(words: Words, context: Context) -> Command:
    """ENV."""
    actions = ("SET", "GET")
    action = needed(words, "Missing action (SET or GET) and variables", actions)
    if normal(action) not in actions:
        unexpected(action, words, *actions)
    variables = words.rest()
    if not variables:
        raise LineError("No environment variables provided", words)
    return commands.Env(context.lines.number, normal(action) == "SET", variables)


def write_env(command: commands.Env) -> str:
    """ENV."""
    return f"ENV {'SET' if command.set else 'GET'} {command.variables}"
