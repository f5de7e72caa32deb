"""How the lines are read that concern the whole DAG, or another file: CONFIG, DOT, INCLUDE, ..."""

from __future__ import annotations

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.lexer import Words
from condor_pydagman.dagfile.line_parts import (
    Context,
    checked_number,
    end,
    integer,
    needed,
    needed_file,
    normal,
    unexpected,
)
from condor_pydagman.dagfile.wrong import Wrong

_DOT_WORDS = ("UPDATE", "DONT-UPDATE", "OVERWRITE", "DONT-OVERWRITE", "INCLUDE")


def read_include(words: Words, context: Context) -> Command:
    """INCLUDE."""
    file = needed_file(words, "No include file specified")
    end(words)
    return commands.Include(context.lines.number, file)


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


def read_jobstate_log(words: Words, context: Context) -> Command:
    """JOBSTATE_LOG."""
    file = needed_file(words, "No include file specified")  # sic
    end(words)
    return commands.JobstateLog(context.lines.number, file)


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


def read_reject(words: Words, context: Context) -> Command:
    """REJECT."""
    end(words)
    return commands.Reject(context.lines.number)


def read_config(words: Words, context: Context) -> Command:
    """CONFIG."""
    file = needed_file(words, "No configuration file specified")
    end(words)
    return commands.ConfigFile(context.lines.number, file)


def read_set_job_attr(words: Words, context: Context) -> Command:
    """SET_JOB_ATTR."""
    attribute = words.rest()
    if not attribute:
        raise Wrong("No attribute line (key = value) provided", words)
    return commands.SetJobAttr(context.lines.number, attribute)


def read_env(words: Words, context: Context) -> Command:
    """ENV."""
    actions = ("SET", "GET")
    action = needed(words, "Missing action (SET or GET) and variables", actions)
    if normal(action) not in actions:
        unexpected(action, words, *actions)
    variables = words.rest()
    if not variables:
        raise Wrong("No environment variables provided", words)
    return commands.Env(context.lines.number, normal(action) == "SET", variables)
