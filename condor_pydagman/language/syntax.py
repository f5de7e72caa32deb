"""The SYNTAX table: how the line of each command of the core is read and written.

There is a row for each word of `language.keywords`; those of features are made by
`features.common.rows`.
Messages are stock DAGMan's, word for word (spelling included): tools and people search for them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from condor_pydagman.feature_table import FEATURE_OF, home, part
from condor_pydagman.language import commands, modifier_lines, node_lines
from condor_pydagman.language.commands import Command
from condor_pydagman.language.keywords import ROWS
from condor_pydagman.language.lexer import LineError, Words, file_word, name_word
from condor_pydagman.language.lines import (
    LOWEST,
    Context,
    end,
    needed,
    needed_file,
    node_name,
    number,
)
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeKind

# Lines of a fixed number of arguments: a list of the arguments says how to read and write one.
#
# Each argument is read with stock DAGMan's messages, and any word after the last is an error.


class Argument(NamedTuple):
    """How an argument is read from the words of a line, and written as one."""

    read: Callable[[Words], Any]  # raises LineError or QuotingError
    write: Callable[[Any], str]  # raises ValueError for a value that can't be written


NODE = Argument(node_name, name_word)  # ALL_NODES included


def name(missing: str) -> Argument:
    """A name of something else; `missing` is the message if there is none."""
    return Argument(lambda words: needed(words, missing), name_word)


def file(missing: str) -> Argument:
    """A file."""
    return Argument(lambda words: needed_file(words, missing), file_word)


def whole_number(missing: str, invalid: str, low: int = LOWEST) -> Argument:
    """A number, `low` or more; `invalid` has a place for the word."""
    return Argument(lambda words: number(words, missing, invalid, low), str)


def rest(missing: str) -> Argument:
    """The rest of the line as it stands."""

    def read(words: Words) -> str:
        text = words.rest()
        if not text:
            raise LineError(missing, words)
        return text

    return Argument(read, str)


class Syntax(NamedTuple):
    """How the line of a command is read and written."""

    word: str  # the command word, as in `language.keywords`
    command: type[Any]  # class of the command
    # reads the words after the command word; raises LineError or QuotingError
    read: Callable[[Words, Context], Command]
    # gives a line that is read as the command, if there is one; raises ValueError
    write: Callable[[Any], str]


def fixed(word: str, command: type[Any], *arguments: Argument) -> Syntax:
    """The row of a command whose fields are the number of its line, then its arguments."""

    def read(words: Words, context: Context) -> Command:
        values = [argument.read(words) for argument in arguments]
        end(words)
        made: Command = command(context.lines.number, *values)
        return made

    def write(one: Command) -> str:
        values = zip(arguments, one[1:])
        return " ".join([word, *(argument.write(value) for argument, value in values)])

    return Syntax(word, command, read, write)


_CATEGORY = name("No category name specified")
_SPLICE = name("Missing splice(s) to connect")
_PRIORITY = whole_number("Missing priority value", "Invalid priority value '{}'")
_EXIT_CODE = whole_number("Missing exit code", "Invalid exit code '{}'")
_LIMIT = whole_number("No throttle limit specified", "Invalid throttle limit '{}'", 0)
_ATTRIBUTE = rest("No attribute line (key = value) provided")
_INCLUDE = file("No include file specified")
_CONFIG = file("No configuration file specified")

_TABLE = (
    *(
        Syntax(
            kind.name, commands.Job, partial(node_lines.read_job, kind=kind), node_lines.write_job
        )
        for kind in (NodeKind.JOB, NodeKind.FINAL, NodeKind.PROVISIONER, NodeKind.SERVICE)
    ),
    Syntax("SUBDAG", commands.Subdag, node_lines.read_subdag, node_lines.write_subdag),
    Syntax("SPLICE", commands.Splice, node_lines.read_splice, node_lines.write_splice),
    Syntax(
        "SUBMIT_DESCRIPTION",
        commands.SubmitDescription,
        node_lines.read_submit_description,
        node_lines.write_submit_description,
    ),
    fixed("REJECT", commands.Reject),
    Syntax("DOT", commands.Dot, node_lines.read_dot, node_lines.write_dot),
    Syntax(
        "NODE_STATUS_FILE",
        commands.NodeStatusFile,
        node_lines.read_node_status_file,
        node_lines.write_node_status_file,
    ),
    fixed("JOBSTATE_LOG", commands.JobstateLog, _INCLUDE),  # stock's message is INCLUDE's
    fixed("INCLUDE", commands.Include, _INCLUDE),
    Syntax("PARENT", commands.ParentChild, node_lines.read_parent, node_lines.write_parent),
    Syntax("WEAK", commands.ParentChild, node_lines.read_weak, node_lines.write_parent),
    fixed("CONNECT", commands.Connect, _SPLICE, _SPLICE),
    Syntax("PIN_IN", commands.Pin, partial(node_lines.read_pin, out=False), node_lines.write_pin),
    Syntax("PIN_OUT", commands.Pin, partial(node_lines.read_pin, out=True), node_lines.write_pin),
    Syntax("SCRIPT", commands.ScriptLine, modifier_lines.read_script, modifier_lines.write_script),
    Syntax("RETRY", commands.RetryLine, modifier_lines.read_retry, modifier_lines.write_retry),
    Syntax(
        "ABORT_DAG_ON",
        commands.AbortDagOn,
        modifier_lines.read_abort_dag_on,
        modifier_lines.write_abort_dag_on,
    ),
    Syntax("VARS", commands.Vars, modifier_lines.read_vars, modifier_lines.write_vars),
    fixed("PRIORITY", commands.Priority, NODE, _PRIORITY),
    fixed("PRE_SKIP", commands.PreSkip, NODE, _EXIT_CODE),
    Syntax(
        "TOLERANCE",
        commands.ToleranceLine,
        modifier_lines.read_tolerance,
        modifier_lines.write_tolerance,
    ),
    fixed("CATEGORY", commands.Category, NODE, _CATEGORY),
    fixed("MAXJOBS", commands.MaxJobs, _CATEGORY, _LIMIT),
    fixed("NOT_DONE", commands.NotDone, NODE),
    fixed("DONE", commands.Done, NODE),
    Syntax(
        "SAVE_POINT_FILE",
        commands.SavePointFile,
        modifier_lines.read_save_point_file,
        modifier_lines.write_save_point_file,
    ),
    fixed("CONFIG", commands.ConfigFile, _CONFIG),
    fixed("SET_JOB_ATTR", commands.SetJobAttr, _ATTRIBUTE),
    Syntax("ENV", commands.Env, node_lines.read_env, node_lines.write_env),
)

SYNTAX: dict[str, Syntax] = {syntax.word: syntax for syntax in _TABLE}
# By the class of a command; of several words that make one, the first.
_OF_CLASS: dict[type[Any], Syntax] = {syntax.command: syntax for syntax in reversed(_TABLE)}


def of_word(word: str) -> Syntax | None:
    """The row of a word of the language, be it of a feature; None if it is no such word."""
    row = SYNTAX.get(word)
    if row is None and word in FEATURE_OF:
        row = _of_feature(word)
    return row


@cache
def _of_feature(word: str) -> Syntax:
    part(FEATURE_OF[word], "commands")  # which fills ROWS
    row = ROWS[word]
    return Syntax(word, row.command, row.read, row.write)


def of_class(command: type[Any]) -> Syntax:
    """The row of a class of commands."""
    row = _OF_CLASS.get(command)
    if row is None:
        part(home(command), "commands")  # which fills ROWS
        row = _of_feature(next(row.word for row in ROWS.values() if row.command is command))
    return row
