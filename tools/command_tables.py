"""Options and arguments of the commands, from their tables, for man pages and completion."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from condor_pydagman.cli import pydagman
from condor_pydagman.dagman_job.options import LETTERS, OPTIONS, Option, Takes
from condor_pydagman.follow.shown_states import KEYS
from condor_pydagman.report.node_list import FIELDS

# What a word can be; a tuple of words where only those can be.
NOTHING, FILE, DAG, DIRECTORY, RESCUE, SAVE, VARIABLE, COMMAND, NODE = (
    "nothing",  # no guess, a number or a text
    "file",
    "dag",
    "directory",
    "rescue",
    "save",
    "variable",
    "command",
    "node",  # of the DAG that is the operand before
)

# Where the name of an argument does not tell.
OF_OPTION: dict[str, tuple[str, ...]] = {
    "AutoRescue": ("0", "1"),
    "Dag": (DAG,),
    "Debug": tuple("01234567"),
    "Notification": ("always", "complete", "error", "never"),
    "RescueFile": (RESCUE,),
    "SubmitMethod": ("0", "1"),
    "include_env": (VARIABLE,),
    "load_save": (SAVE,),
    "outfile_dir": (DIRECTORY,),
}
_OF_ARGUMENT = {"<filename>": FILE, "<path>": FILE}
_OF_METAVAR = {
    "FILE": FILE,
    "DIR": DIRECTORY,
    "DAG": DAG,
    "DAGFILE": DAG,
    "DAGFILE|PATTERN": DAG,
    "COMMAND ...": COMMAND,
    "NODE": NODE,
}
# Of those that may have several of these values.
_WORDS_OF_METAVAR = {"STATE,...": KEYS, "ATTRIBUTE": FIELDS}

Parser = argparse.ArgumentParser


class Word(NamedTuple):
    """An option, or an operand.

    Attributes:
        names: how it may be written, dashes included; none for an operand.
        argument: what usage lines call its argument; '' if it takes none.
        values: what the argument can be, one of the words above or the values themselves.
        text: a line of help.
    """

    names: tuple[str, ...]
    argument: str
    values: tuple[str, ...]
    text: str


def words_of(option: Option) -> Word:
    """One of the options of condor_submit_dag and condor_dagman, its letter first."""
    letters = [letter for letter, name in LETTERS.items() if name == option.name]
    names = tuple(f"-{name}" for name in (*letters, option.name))
    if option.takes is Takes.NOTHING:
        return Word(names, "", (), option.text)
    guess = _OF_ARGUMENT.get(option.argument, NOTHING)
    argument = option.argument.replace("<", "").replace(">", "")
    return Word(names, argument, OF_OPTION.get(option.name, (guess,)), option.text)


def option_words(daemon: bool) -> list[Word]:
    """What condor_submit_dag shows, or condor_dagman."""
    return [words_of(row) for row in OPTIONS if (row.daemon if daemon else row.text)]


def parsers() -> dict[str, Parser]:
    """The parser of every command and action of condor_pydagman, by its words; '' for itself."""
    found: dict[str, Parser] = {}
    waiting = [("", pydagman._parser())]
    while waiting:
        words, parser = waiting.pop(0)
        found[words] = parser
        inner = [(f"{words} {name}".strip(), child) for name, child in children(parser).items()]
        waiting = inner + waiting
    return found


def children(parser: Parser) -> dict[str, Parser]:
    """The commands of a command, by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def is_required(parser: Parser, word: Word) -> bool:
    """Whether an option must be given."""
    return any(action.required for action in parser._actions if word.names == _names(action))


def parser_options(parser: Parser) -> list[Word]:
    """The options of a command, those that every program has left out."""
    general = (argparse._HelpAction, argparse._VersionAction)
    return [
        _word(parser, action)
        for action in parser._actions
        if action.option_strings
        and action.help != argparse.SUPPRESS
        and not isinstance(action, general)
    ]


def operands(parser: Parser) -> list[Word]:
    """What a command takes besides options; `...` ends the argument of what may come repeatedly,
    brackets are around what may be left out."""
    found = []
    for action in parser._actions:
        if action.option_strings or isinstance(action, argparse._SubParsersAction):
            continue
        word = _word(parser, action)
        if action.nargs == "+":
            word = word._replace(argument=f"{word.argument} ...")
        elif action.nargs == "*":
            word = word._replace(argument=f"[{word.argument} ...]")
        elif action.nargs == "?":
            word = word._replace(argument=f"[{word.argument}]")
        found.append(word)
    return found


def _names(action: argparse.Action) -> tuple[str, ...]:
    return tuple(action.option_strings)


def _word(parser: Parser, action: argparse.Action) -> Word:
    text = parser._get_formatter()._expand_help(action) if action.help else ""
    if action.default and action.option_strings and "default" not in text:
        text += f" (default: {action.default})"
    if action.nargs == 0:
        return Word(_names(action), "", (), text)
    if action.choices:
        choices = tuple(str(choice) for choice in action.choices)
        named = str(action.metavar or "") if action.option_strings else ""
        return Word(_names(action), named or "|".join(choices), choices, text)
    shown = action.metavar or action.dest.upper()
    argument = shown if isinstance(shown, str) else " ".join(shown)
    if argument in _WORDS_OF_METAVAR:
        return Word(_names(action), argument, _WORDS_OF_METAVAR[argument], text)
    values = _OF_METAVAR.get(argument, NOTHING)
    for name, what in (("--rescue", RESCUE), ("--dag", DAG)):
        values = what if name in action.option_strings else values
    return Word(_names(action), argument, (values,), text)
