"""How each command's line is read, and the SYNTAX table of all command words.

Messages and usage lines are stock DAGMan's, word for word (spelling included): tools and people
search for them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.lexer import Lines, QuotingError, Words
from condor_pydagman.dagfile.variables import read_pairs
from condor_pydagman.dagfile.wrong import Wrong
from condor_pydagman.vocabulary import ScriptKind

RESERVED_NAMES = frozenset(("PARENT", "CHILD", "ALL_NODES"))

_INTEGER = re.compile(r"([+-]?)0*([0-9]+)")
_STREAMS = ("STDOUT", "STDERR", "ALL")
_NODE_OPTIONS = "<name> <submit description> [DIR <directory>] [NOOP] [DONE]"


class Context(NamedTuple):
    """What reading a command takes besides its words: the lines after it, what names may hold."""

    lines: Lines
    allow_any_node_name_characters: bool = False


class Syntax(NamedTuple):
    """A command word of the language.

    Attributes:
        word: the command word as messages show it.
        usage: what stock DAGMan prints as its example.
        parse: reads the words after the command word; raises Wrong or QuotingError.
        defines: whether it is obeyed before all commands that are not, so that the definition of a
            node may follow its use.
        inline: whether its line may open an inline submit description.
        manager: whether it is obeyed by condor_submit_dag only.
        supported: False for words that a later version will obey.
    """

    word: str
    usage: str
    parse: Callable[[Words, Context], Command] | None
    defines: bool = False
    inline: bool = False
    manager: bool = False
    supported: bool = True


def normal(word: str) -> str:
    """The form in which words of the language are compared: upper case, `-` and `_` alike."""
    return word.upper().replace("-", "_")


def integer(word: str) -> int | None:
    """The number that `word` begins with, whatever follows it; None if none or beyond 32 bits."""
    found = _INTEGER.match(word)
    if found is None or len(found.group(2)) > 10:
        return None
    number = int(found.group(1) + found.group(2))
    return number if -(2**31) <= number < 2**31 else None


def _number(
    words: Words, missing: str, invalid: str, low: int = -(2**31), high: int = 2**31
) -> int:
    word = words.next()
    if not word:
        raise Wrong(missing, words)
    value = integer(word)
    if value is None or not low <= value <= high:
        raise Wrong(invalid.format(word), words)
    return value


def _needed(words: Words, missing: str) -> str:
    word = words.next()
    if not word:
        raise Wrong(missing, words)
    return word


def _needed_file(words: Words, missing: str) -> str:
    word = words.next_file()
    if not word:
        raise Wrong(missing, words)
    return word


def _node(words: Words) -> str:
    return _needed(words, "No node name specified")


def _end(words: Words) -> None:
    word = words.next()
    if word:
        raise Wrong(f"Unexpected token '{word}'", words)


def _job(words: Words, context: Context) -> Command:
    line = context.lines.number
    name = _needed(words, "Missing node name")
    if name.upper() in RESERVED_NAMES:
        raise Wrong("Node name is a reserved word", words)
    if "+" in name and not context.allow_any_node_name_characters:
        raise Wrong("Node name contains illegal charater", words)
    submit = _needed_file(words, "No submit description provided")
    description = None
    if _opens_description(submit):
        description, words = _description(submit, words, context.lines)
    directory, noop, done = "", False, False
    while True:
        word = words.next()
        option = normal(word)
        if not word:
            return commands.Job(line, name, submit, directory, noop, done, description)
        if option == "DIR":
            directory = _needed_file(words, "No directory path provided for DIR subcommand")
        elif option == "NOOP":
            noop = True
        elif option == "DONE":
            done = True
        else:
            raise Wrong(f"Unexpected token '{word}'", words)


def _submit_description(words: Words, context: Context) -> Command:
    line = context.lines.number
    name = _needed(words, "No submit description name provided")
    opening = words.next_file()
    if not _opens_description(opening):
        raise Wrong("No inline description provided", words)
    description, _ = _description(opening, words, context.lines)
    return commands.SubmitDescription(line, name, description)


def skip_description(words: Words, context: Context) -> None:
    """Read over the inline description that the line of a node or a SUBMIT-DESCRIPTION may open.

    Raises:
        Wrong: it does not end.
    """
    try:
        words.next()
        opening = words.next_file()
    except QuotingError:
        return
    if _opens_description(opening):
        _description(opening, words, context.lines)


def _opens_description(word: str) -> bool:
    return word.startswith(("{", "@="))


def _description(opening: str, words: Words, lines: Lines) -> tuple[str, Words]:
    """Text of an inline description, and the words that follow its end."""
    closing = "}" if opening[0] == "{" else "@" + opening[2:]
    if closing == "@":
        raise Wrong("No inline description closing token specified (@=TOKEN)", words)
    found = lines.description(closing)
    if found is None:
        raise Wrong(f"Missing inline description closing token: {closing}", words)
    kept, closing_line = found
    return "\n".join(kept), Words(closing_line, len(closing))


def _parent(words: Words, context: Context) -> Command:
    parents: list[str] = []
    while True:
        word = words.next()
        if word.upper() == "CHILD":
            break
        if not word:
            message = "Missing CHILD specifier" if parents else "No parent node(s) specified"
            raise Wrong(message, words)
        parents.append(word)
    if not parents:
        raise Wrong("No parent node(s) specified", words)
    children: list[str] = []
    while word:
        word = words.next()
        if word and word.upper() != "CHILD":
            children.append(word)
    if not children:
        raise Wrong("No children node(s) specified", words)
    return commands.ParentChild(context.lines.number, tuple(parents), tuple(children))


def _script(words: Words, context: Context) -> Command:
    defer_status, defer_seconds, debug_file, stream = None, 0, "", ""
    while True:
        option = normal(words.next())
        if option == "DEFER":
            defer_status = _number(
                words, "DEFER missing status value", "Invalid DEFER status value '{}'"
            )
            defer_seconds = _number(
                words, "DEFER missing time value", "Invalid DEFER time value '{}'"
            )
        elif option == "DEBUG":
            debug_file, stream = _debug(words)
        elif option in ScriptKind.__members__:
            break
        else:
            raise Wrong(
                "Missing script type (PRE, POST, HOLD) and optional sub-commands (DEFER, DEBUG)",
                words,
            )
    node = _node(words)
    command = words.rest()
    if not command:
        raise Wrong("No script specified", words)
    return commands.ScriptLine(
        context.lines.number,
        node,
        ScriptKind[option],
        command,
        defer_status,
        defer_seconds,
        debug_file,
        stream,
    )


def _debug(words: Words) -> tuple[str, str]:
    file = _needed(words, "DEBUG missing filename")
    word = _needed(words, "DEBUG missing output stream type (STDOUT, STDERR, ALL)")
    if normal(word) not in _STREAMS:
        raise Wrong(f"Unknown DEBUG output stream type '{word}'", words)
    return file, normal(word)


def _retry(words: Words, context: Context) -> Command:
    node = _node(words)
    invalid = "Invalid max retry value '{}' (Must be positive integer)"
    limit = _number(words, "Missing max retry value", invalid, 0)
    unless_exit = None
    word = words.next()
    if normal(word) == "UNLESS_EXIT":
        unless_exit = _number(
            words, "UNLESS-EXIT missing exit code", "Invalid UNLESS-EXIT code '{}' specified"
        )
        _end(words)
    elif word:
        raise Wrong(f"Unexpected token '{word}'", words)
    return commands.RetryLine(context.lines.number, node, limit, unless_exit)


def _abort_dag_on(words: Words, context: Context) -> Command:
    node = _node(words)
    status = _number(words, "Missing exit status to abort on", "Invalid exit status '{}' specified")
    exit_code = None
    word = words.next()
    if normal(word) == "RETURN":
        invalid = "Invalid RETURN code '{}' (Must be between 0 and 255)"
        exit_code = _number(words, "RETURN is missing value", invalid, 0, 255)
        _end(words)
    elif word:
        raise Wrong(f"Unexpected token '{word}'", words)
    return commands.AbortDagOn(context.lines.number, node, status, exit_code)


def _vars(words: Words, context: Context) -> Command:
    node = _node(words)
    append, pairs = read_pairs(words)
    return commands.Vars(context.lines.number, node, append, tuple(pairs))


def _priority(words: Words, context: Context) -> Command:
    node = _node(words)
    value = _number(words, "Missing priority value", "Invalid priority value '{}'")
    _end(words)
    return commands.Priority(context.lines.number, node, value)


def _pre_skip(words: Words, context: Context) -> Command:
    node = _node(words)
    exit_code = _number(words, "Missing exit code", "Invalid exit code '{}'")
    _end(words)
    return commands.PreSkip(context.lines.number, node, exit_code)


def _category(words: Words, context: Context) -> Command:
    node = _node(words)
    category = _needed(words, "No category name specified")
    _end(words)
    return commands.Category(context.lines.number, node, category)


def _maxjobs(words: Words, context: Context) -> Command:
    category = _needed(words, "No category name specified")
    limit = _number(words, "No throttle limit specified", "Invalid throttle limit '{}'", 0)
    _end(words)
    return commands.MaxJobs(context.lines.number, category, limit)


def _done(words: Words, context: Context) -> Command:
    node = _node(words)
    _end(words)
    return commands.Done(context.lines.number, node)


def _node_status_file(words: Words, context: Context) -> Command:
    file = _needed_file(words, "No file specified")
    interval, always = 60, False
    while True:
        word = words.next()
        number = integer(word)
        if not word:
            return commands.NodeStatusFile(context.lines.number, file, interval, always)
        if normal(word) == "ALWAYS_UPDATE":
            always = True
        elif number is not None:
            interval = number
        else:
            raise Wrong(f"Unexpected token '{word}'", words)


def _jobstate_log(words: Words, context: Context) -> Command:
    file = _needed_file(words, "No include file specified")  # sic
    _end(words)
    return commands.JobstateLog(context.lines.number, file)


def _dot(words: Words, context: Context) -> Command:
    file = _needed_file(words, "No file specified")
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
            include = _needed_file(words, "Missing INCLUDE header file")
        else:
            raise Wrong(f"Unexpected token '{word}'", words)


def _reject(words: Words, context: Context) -> Command:
    _end(words)
    return commands.Reject(context.lines.number)


def _config(words: Words, context: Context) -> Command:
    file = _needed_file(words, "No configuration file specified")
    _end(words)
    return commands.ConfigFile(context.lines.number, file)


def _set_job_attr(words: Words, context: Context) -> Command:
    attribute = words.rest()
    if not attribute:
        raise Wrong("No attribute line (key = value) provided", words)
    return commands.SetJobAttr(context.lines.number, attribute)


def _env(words: Words, context: Context) -> Command:
    action = _needed(words, "Missing action (SET or GET) and variables")
    if normal(action) not in ("SET", "GET"):
        raise Wrong(f"Unexpected token '{action}'", words)
    variables = words.rest()
    if not variables:
        raise Wrong("No environment variables provided", words)
    return commands.Env(context.lines.number, normal(action) == "SET", variables)


# Commands of the language that a later version obeys; their lines are not read any further, except
# that the nodes among them may bring an inline description, which must not be taken for commands.
_LATER = {
    "FINAL": _job,
    "PROVISIONER": _job,
    "SERVICE": _job,
    "SUBDAG": None,
    "SPLICE": None,
    "INCLUDE": None,
    "CONNECT": None,
    "PIN_IN": None,
    "PIN_OUT": None,
    "WEAK": None,
    "TOLERANCE": None,
    "SAVE_POINT_FILE": None,
}

_SCRIPT_USAGE = (
    "SCRIPT [DEFER <status> <time>] [DEBUG <file> (STDOUT|STDERR|ALL)] (PRE|POST|HOLD)"
    " <node> <script> <arguments ...>"
)
_VARS_USAGE = "VARS <node> [PREPEND|APPEND] key1=value1 [key2=value2 key3=value3 ...]"
_DOT_USAGE = "DOT <file> [UPDATE|DONT-UPDATE] [OVERWRITE|DONT-OVERWRITE] [INCLUDE <header file>]"

_NOW = (
    Syntax("JOB", f"JOB {_NODE_OPTIONS}", _job, defines=True, inline=True),
    Syntax(
        "SUBMIT_DESCRIPTION",
        r"SUBMIT_DESCRIPTION <name> {\n<inline description>\n}",
        _submit_description,
        defines=True,
        inline=True,
    ),
    Syntax("REJECT", "REJECT", _reject, defines=True),
    Syntax("DOT", _DOT_USAGE, _dot, defines=True),
    Syntax(
        "NODE_STATUS_FILE",
        "NODE_STATUS_FILE <file> [<min update time>] [ALWAYS-UPDATE]",
        _node_status_file,
        defines=True,
    ),
    Syntax("JOBSTATE_LOG", "JOBSTATE_LOG <file>", _jobstate_log, defines=True),
    Syntax("PARENT", "[WEAK] PARENT p1 [p2 p3 ...] CHILD c1 [c2 c3 ...]", _parent),
    Syntax("SCRIPT", _SCRIPT_USAGE, _script),
    Syntax("RETRY", "RETRY <node> <max retries> [UNLESS-EXIT <code>]", _retry),
    Syntax("ABORT_DAG_ON", "ABORT_DAG_ON <node> <status> [RETURN <code>]", _abort_dag_on),
    Syntax("VARS", _VARS_USAGE, _vars),
    Syntax("PRIORITY", "PRIORITY <node> <value>", _priority),
    Syntax("PRE_SKIP", "PRE_SKIP <node> <status>", _pre_skip),
    Syntax("CATEGORY", "CATEGORY <node> <name>", _category),
    Syntax("MAXJOBS", "MAXJOBS <category> <value>", _maxjobs),
    Syntax("DONE", "DONE <node>", _done),
    Syntax("CONFIG", "CONFIG <file>", _config, manager=True),
    Syntax("SET_JOB_ATTR", "SET_JOB_ATTR <key> = <value>", _set_job_attr, manager=True),
    Syntax("ENV", "ENV (SET|GET) <environment variables>", _env, manager=True),
)
_TABLE = (
    *_NOW,
    *(
        Syntax(
            word,
            f"{word} {_NODE_OPTIONS}" if parse else "",
            parse,
            inline=parse is not None,
            supported=False,
        )
        for word, parse in _LATER.items()
    ),
)

SYNTAX: dict[str, Syntax] = {syntax.word: syntax for syntax in _TABLE}
