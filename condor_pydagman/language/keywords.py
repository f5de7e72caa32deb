"""The LANGUAGE table: the command words of the DAG language, their form, and who applies them when.

Those of a feature are in its `commands`, imported by `about`; that they are words is known without.
How the line of each command is read and written is in `language.syntax`.  This module is kept apart
from it because it loads fast: condor_submit_dag uses it to pass over most DAG files unparsed.

Usage lines are stock DAGMan's, word for word: tools and people search for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any, cast

from condor_pydagman.feature_table import FEATURE_OF, FEATURES, part
from condor_pydagman.named_tuple import NamedTuple


class CommandWord(NamedTuple):
    """A command word of the language."""

    word: str  # as messages show it: upper case, with underscores
    usage: str  # the form of its line, as error messages show it
    summary: str  # what the command does, in one line, for the manual page
    # whether it is applied before all commands that are not, so that the definition of a node may
    # follow its use
    defines: bool = False
    inline: bool = False  # whether its line may open an inline submit description
    submit_only: bool = False  # whether it is applied by condor_submit_dag only
    called: str = ""  # the command word in error messages, if that is another one
    extension: bool = False  # whether stock DAGMan does not have it
    after: str = ""  # of a feature's word, the one that it stands behind in the manual
    in_rescue: bool = False  # whether it may stand in a rescue file


_OPTIONS = "[DIR <directory>] [NOOP] [DONE]"
_PARENT_USAGE = "[WEAK] PARENT p1 [p2 p3 ...] CHILD c1 [c2 c3 ...]"


def _node(word: str, summary: str) -> CommandWord:
    usage = f"{word} <name> <submit description> {_OPTIONS}"
    return CommandWord(word, usage, summary, defines=True, inline=True)


def _uses(usage: str, summary: str, **more: Any) -> CommandWord:
    return CommandWord(usage.split()[0], usage, summary, **more)


_defines = partial(_uses, defines=True)
_saved = partial(_uses, in_rescue=True)
_submit_only = partial(_uses, submit_only=True)

_TABLE = (
    _node("JOB", "A node that runs a job."),
    _node("FINAL", "A node that runs when all others have ended, whether or not they succeeded."),
    _node("PROVISIONER", "A node whose job prepares resources before any other node starts."),
    _node("SERVICE", "A node that runs beside the others, and is removed when they have ended."),
    _defines(f"SUBDAG EXTERNAL <name> <dag file> {_OPTIONS}", "A node that runs another DAG."),
    _defines(
        "SPLICE <name> <dag file> [DIR <directory>]",
        "The nodes of another DAG file, as nodes of this DAG.",
    ),
    _defines(
        r"SUBMIT_DESCRIPTION <name> {\n<inline description>\n}",
        "A submit description that several nodes can name.",
        inline=True,
    ),
    _defines("REJECT", "A mark that this DAG must not be run."),
    _defines(
        "DOT <file> [UPDATE|DONT-UPDATE] [OVERWRITE|DONT-OVERWRITE] [INCLUDE <header file>]",
        "A picture of the DAG, for Graphviz.",
    ),
    _defines(
        "NODE_STATUS_FILE <file> [<min update time>] [ALWAYS-UPDATE]",
        "A file that says how every node stands.",
    ),
    _defines("JOBSTATE_LOG <file>", "A log of job states, as Pegasus reads it."),
    _uses("INCLUDE <dag file>", "The commands of another file, as if they stood here."),
    CommandWord("PARENT", _PARENT_USAGE, "Dependencies: the children wait for the parents."),
    CommandWord(
        "WEAK",
        _PARENT_USAGE,
        "Dependencies that end with the parent, even if it has failed.",
        called="PARENT",
    ),
    _uses(
        "CONNECT <splice 1> <splice 2>",
        "Joins the output pins of a splice to the input pins of another.",
    ),
    _uses("PIN_IN <node> <pin number>", "Makes the node an input of the splice it is in."),
    _uses("PIN_OUT <node> <pin number>", "Makes the node an output of the splice it is in."),
    _uses(
        "SCRIPT [DEFER <status> <time>] [DEBUG <file> (STDOUT|STDERR|ALL)] (PRE|POST|HOLD)"
        " <node> <script> <arguments ...>",
        "A script before the node's jobs, after them, or when one of them is held.",
    ),
    _saved(
        "RETRY <node> <max retries> [UNLESS-EXIT <code>]", "How often a failed node is retried."
    ),
    _uses("ABORT_DAG_ON <node> <status> [RETURN <code>]", "A return value that ends the DAG."),
    _saved(
        "VARS <node> [PREPEND|APPEND] key1=value1 [key2=value2 key3=value3 ...]",
        "Macros for the node's submit description.",
    ),
    _saved("PRIORITY <node> <value>", "Which of the ready nodes are submitted first."),
    _uses("PRE_SKIP <node> <status>", "The exit code of the PRE script that skips the node's job."),
    _uses(
        "TOLERANCE <node> <value>[%] [FAIL-FAST|WAIT]",
        "How many of the node's jobs may fail before the node does.",
    ),
    _saved("CATEGORY <node> <name>", "Puts the node into a category."),
    _uses("MAXJOBS <category> <value>", "How many nodes of a category may be in the queue."),
    _saved(
        "NOT_DONE <node>",
        "A node that a JOB line calls DONE, and that has run anew; only in a rescue file.",
        extension=True,
    ),
    _saved("DONE <node>", "A node that need not run, as in a rescue file."),
    _uses("SAVE_POINT_FILE <node> [<file>]", "A file that saves the DAG's progress at this node."),
    _submit_only("CONFIG <file>", "A configuration file for this DAG."),
    _submit_only("SET_JOB_ATTR <key> = <value>", "An attribute of the DAGMan job itself."),
    _submit_only("ENV (SET|GET) <environment variables>", "Environment of the DAGMan job itself."),
)

LANGUAGE: dict[str, CommandWord] = {one.word: one for one in _TABLE}
# By the words of features whose grammar is loaded, see `features.common.rows`.
ROWS: dict[str, Any] = {}

WORDS = frozenset(LANGUAGE) | FEATURE_OF.keys()
DEFINING = frozenset(one.word for one in _TABLE if one.defines).union(
    *(feature.defines for feature in FEATURES)
)
SUBMIT_ONLY = frozenset(one.word for one in _TABLE if one.submit_only)
# The commands that condor_dagman applies when all nodes of their file are defined.
USING = WORDS - DEFINING - SUBMIT_ONLY

_PLAIN = "|".join(
    word.replace("_", "[-_]") for word in (*LANGUAGE, *FEATURE_OF) if word not in SUBMIT_ONLY
)
# Anything but comments and the words of commands that condor_dagman applies: a character that may
# open an inline description or is out of the ordinary, a continued line, another word.
_SUBMIT_DAG_LOOKS = re.compile(
    r"[^ -?A-z|}~\t\n]|\\[ \t]*$|"
    rf"^[ \t]*(?!#|(?:{_PLAIN})[ \t])[^ \t\n]",
    re.ASCII | re.IGNORECASE | re.MULTILINE,
)


def concerns_submit_dag(text: str) -> bool:
    """Whether a DAG file may hold a command, or an error, that condor_submit_dag acts upon.

    False is certain; True may be wrong.  Time is linear in the length of the text.
    """
    return _SUBMIT_DAG_LOOKS.search(text) is not None


def about(word: str) -> CommandWord:
    """The row of a word of the language, be it of a feature."""
    if word in LANGUAGE:
        return LANGUAGE[word]
    part(FEATURE_OF[word], "commands")
    return cast(CommandWord, ROWS[word].about)


def manual() -> Iterator[CommandWord]:
    """The rows of all words, in the order of the manual; imports all features."""
    behind: dict[str, list[CommandWord]] = {}
    for row in map(about, FEATURE_OF):
        behind.setdefault(row.after, []).append(row)
    for row in _TABLE:
        yield from _with_those_behind(row, behind)


def _with_those_behind(
    row: CommandWord, behind: dict[str, list[CommandWord]]
) -> Iterator[CommandWord]:
    yield row
    for other in behind.get(row.word, ()):
        yield from _with_those_behind(other, behind)
