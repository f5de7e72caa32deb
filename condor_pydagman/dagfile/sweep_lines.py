"""How the lines of sweeps are read and written: SWEEP and SWEEP_PARENT.  Both are ours."""

from __future__ import annotations

import re

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command, Dimension
from condor_pydagman.dagfile.lexer import Words
from condor_pydagman.dagfile.line_error import LineError
from condor_pydagman.dagfile.line_parts import (
    Context,
    end,
    needed,
    needed_file,
    new_node_name,
    normal,
    unexpected,
)
from condor_pydagman.dagfile.quoting import file_word, joined, name_word, quoted
from condor_pydagman.dagfile.sweep_values import mistake
from condor_pydagman.dagfile.variables import read_pairs

OVER, ALONG = _DIMENSIONS = ("OVER", "ALONG")
_CLAUSES = (*_DIMENSIONS, "ROWS", "DIR", "VARS")
ONE_TO_ONE, BY = ("ONE_TO_ONE", "BY")
_SHOWN = ("ONE-TO-ONE", BY)
_VARIABLE = re.compile("[A-Za-z_][A-Za-z_0-9]{0,99}")
_NO_RANGE = re.compile("[0-9]+[-:][0-9]+")
_EXAMPLE = "as in: SWEEP sim_{e}_{seed} sim.sub OVER e IN 10 20 OVER seed IN 1..100"


def is_variable(name: str) -> bool:
    """Whether a variable of a sweep, which becomes a macro of its nodes, may be called so."""
    return bool(_VARIABLE.fullmatch(name)) and name[:5].lower() != "queue"


def read_sweep(words: Words, context: Context) -> Command:
    """SWEEP."""
    name = new_node_name(words, context)
    submit = needed_file(words, "No submit description provided")
    dimensions: list[Dimension] = []
    rows = directory = ""
    append: bool | None = None
    pairs: list[tuple[str, str]] = []
    word = words.next()
    while word:
        clause = normal(word)
        if clause in _DIMENSIONS:
            dimension, word = _dimension(words, clause, first=not dimensions)
            dimensions.append(dimension)
            continue
        if clause == "ROWS":
            rows = needed_file(words, "ROWS missing its file")
        elif clause == "DIR":
            directory = needed_file(words, "No directory path provided for DIR subcommand")
        elif clause == "VARS":
            append, pairs = read_pairs(words)
        else:
            unexpected(word, words, *_CLAUSES)
        word = words.next()
    if bool(dimensions) == bool(rows):
        message = "A sweep has either OVER or ROWS" if rows else "Missing OVER or ROWS"
        raise LineError(message, words, (OVER, "ROWS"), _EXAMPLE)
    _check_submit(name, submit, [dimension.variable for dimension in dimensions], words)
    return commands.Sweep(
        context.lines.number, name, submit, (*dimensions,), rows, directory, append, (*pairs,)
    )


def _check_submit(name: str, submit: str, variables: list[str], words: Words) -> None:
    """Refuse a variable in the name of the submit description, which is the same for all nodes."""
    for variable in variables:
        place = f"{{{variable}}}"
        if place in submit:
            hint = f"all nodes have one submit description: use $({variable}) in it"
            if place not in name:
                hint = f"the name of the nodes comes first: SWEEP {submit} {name}"
            message = f"{place} stands in the submit description '{submit}'"
            raise LineError(message, words, hint=hint, column=words.line.find(submit))


def _tell_of_list(word: str, words: Words) -> None:
    """A value may be any word, but is hardly meant to be such a one."""
    if "," in word or (word[0] == "[" and word[-1] == "]"):
        words.remark(f"'{word}' is one value: blanks stand between values")
    elif _NO_RANGE.fullmatch(word):
        words.remark(f"'{word}' is one value: a range is written with .. as in 1..10")


def _dimension(words: Words, clause: str, *, first: bool) -> tuple[Dimension, str]:
    """A variable and its values, and the word that follows them."""
    if first and clause == ALONG:
        raise LineError("ALONG needs an OVER before it", words, (OVER,))
    variable = needed(words, f"{clause} missing its variable")
    if not is_variable(variable):
        hint = "expected letters, digits and _, no digit first; nor can it begin with queue"
        raise LineError(f"Invalid variable '{variable}'", words, hint=hint)
    missing = f"{clause} {variable} missing IN"
    if normal(needed(words, missing, ("IN",))) != "IN":
        raise LineError(missing, words, ("IN",))
    values: list[str] = []
    while True:
        word = words.next_file()
        if not word or normal(word) in _CLAUSES:
            break
        why = mistake(word)
        if why:
            raise LineError(f"Invalid range '{word}'", words, hint=why)
        _tell_of_list(word, words)
        values.append(word)
    if not values:
        raise LineError(f"{clause} {variable} missing its values", words, hint=_EXAMPLE)
    return Dimension(variable, tuple(values), clause == ALONG), word


def write_sweep(command: commands.Sweep) -> str:
    """SWEEP."""
    begin = f"SWEEP {name_word(command.name)} {file_word(command.submit)}"
    rows = f"ROWS {file_word(command.rows)}" if command.rows else ""
    directory = f"DIR {file_word(command.directory)}" if command.directory else ""
    where = {None: "", False: "PREPEND", True: "APPEND"}[command.append]
    pairs = " ".join(f"{key}={quoted(value)}" for key, value in command.pairs)
    variables = joined("VARS", where, pairs) if pairs else ""
    return joined(begin, *map(_written, command.dimensions), rows, directory, variables)


def _written(dimension: Dimension) -> str:
    clause = ALONG if dimension.along else OVER
    return " ".join([clause, dimension.variable, "IN", *map(file_word, dimension.values)])


def read_sweep_parent(words: Words, context: Context) -> Command:
    """SWEEP_PARENT."""
    parent = needed(words, "No parent sweep specified")
    word = needed(words, "Missing CHILD specifier", ("CHILD",))
    if normal(word) != "CHILD":
        unexpected(word, words, "CHILD")
    child = needed(words, "No child sweep specified")
    word = needed(words, "Missing which nodes belong together", _SHOWN)
    keys: list[str] = []
    if normal(word) == BY:
        keys.append(needed(words, "BY missing its variables"))
        while words.peek():
            keys.append(words.next())
    elif normal(word) != ONE_TO_ONE:
        unexpected(word, words, *_SHOWN)
    end(words)
    return commands.SweepParent(context.lines.number, parent, child, tuple(keys))


def write_sweep_parent(command: commands.SweepParent) -> str:
    """SWEEP_PARENT."""
    how = joined(BY, *map(name_word, command.keys)) if command.keys else "ONE-TO-ONE"
    return f"SWEEP_PARENT {name_word(command.parent)} CHILD {name_word(command.child)} {how}"
