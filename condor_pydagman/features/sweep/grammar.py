"""The commands SWEEP and SWEEP_PARENT, and how their lines are read and written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from condor_pydagman.dagfile.language import extension
from condor_pydagman.dagfile.lexer import LineError, Words, file_word, joined, name_word, quoted
from condor_pydagman.dagfile.lines import (
    Context,
    end,
    needed,
    needed_file,
    new_node_name,
    normal,
    unexpected,
)
from condor_pydagman.dagfile.modifier_lines import read_pairs
from condor_pydagman.dagfile.syntax import Syntax
from condor_pydagman.named_tuple import NamedTuple

if TYPE_CHECKING:
    from decimal import Decimal


class Dimension(NamedTuple):
    """A variable of a SWEEP: its values, or ranges of them; `along` that it varies with the one
    before it."""

    variable: str
    values: tuple[str, ...]
    along: bool = False


class Sweep(NamedTuple):
    """SWEEP: nodes for all combinations of values, or for the rows of a table.

    Attributes:
        name: of the nodes, with `{variable}` for its value.
        rows: the file of the table, '' if there are `dimensions`.
        directory: of the nodes, with variables.
        append, pairs: as of Vars; values have variables.
    """

    line: int
    name: str
    submit: str
    dimensions: tuple[Dimension, ...] = ()
    rows: str = ""
    directory: str = ""
    append: bool | None = None
    pairs: tuple[tuple[str, str], ...] = ()


class SweepParent(NamedTuple):
    """SWEEP_PARENT: edges between the nodes of two sweeps with equal values of `keys`, or, without
    any, between the first of both, the second of both, and so on."""

    line: int
    parent: str
    child: str
    keys: tuple[str, ...] = ()


# The values of a sweep's variable: words of its line, among them ranges.
#
# A range is `first..last` or `first..last..step`, as a shell's braces have it: whole numbers, or
# numbers with a decimal point.  Leading zeros and decimal places are kept, so that `001..100` gives
# `001`, `002` and so on, and `0.0..1.0..0.25` gives `0.00`, `0.25`, ..., `1.00`.

_NUMBER = r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:\.\.({_NUMBER}))?")
_LIKE_A_RANGE = re.compile(r"-?[0-9.]*[0-9]\.\.")


def mistake(word: str) -> str:
    """What is wrong with a word that is meant as a range, '' if nothing is."""
    if not _LIKE_A_RANGE.match(word):
        return ""
    found = _RANGE.fullmatch(word)
    if found is None:
        return "a range is first..last or first..last..step, of numbers with 15 digits at most"
    if found[3] is not None and not float(found[3]):
        return "the step of a range can't be 0"
    return ""


def count(word: str) -> int:
    """How many values a good word stands for."""
    found = _RANGE.fullmatch(word)
    if found is None:
        return 1
    first, last, step = _ends(found)
    return int((last - first) / step) + 1 if (last - first) / step >= 0 else 0


def values(word: str) -> Iterator[str]:
    """The values that a good word stands for, in their order."""
    found = _RANGE.fullmatch(word)
    if found is None:
        yield word
        return
    first, _, step = _ends(found)
    places = max(len(end.partition(".")[2]) for end in found.groups("") if end)
    padded = any(re.match("-?0[0-9]", end) for end in found.groups()[:2])
    width = max(map(len, found.groups()[:2])) if padded else 0
    for number in range(count(word)):
        yield f"{first + number * step:.{places}f}".zfill(width)


def _ends(found: re.Match[str]) -> tuple[Decimal, Decimal, Decimal]:
    """First, last, and a step that leads from one to the other."""
    from decimal import Decimal  # imported late: few DAGs have a sweep

    first, last = Decimal(found[1]), Decimal(found[2])
    step = abs(Decimal(found[3] or 1))
    return first, last, step if last >= first else -step


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


def read_sweep(words: Words, context: Context) -> Sweep:
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
    return Sweep(
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


def write_sweep(command: Sweep) -> str:
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


def read_sweep_parent(words: Words, context: Context) -> SweepParent:
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
    return SweepParent(context.lines.number, parent, child, tuple(keys))


def write_sweep_parent(command: SweepParent) -> str:
    """SWEEP_PARENT."""
    how = joined(BY, *map(name_word, command.keys)) if command.keys else "ONE-TO-ONE"
    return f"SWEEP_PARENT {name_word(command.parent)} CHILD {name_word(command.child)} {how}"


LANGUAGE = (
    extension(
        "SWEEP <name> <submit description> (OVER <variable> IN <values> [OVER|ALONG ...]|ROWS"
        " <table>) [DIR <directory>] [VARS ...]",
        "Nodes for all combinations of values, or for the rows of a table.",
        after="SUBDAG",
    ),
    extension(
        "SWEEP_PARENT <sweep> CHILD <sweep> (ONE_TO_ONE|BY <variable> [<variable> ...])",
        "Dependencies between the nodes of two sweeps that belong together.",
        after="WEAK",
    ),
)
SYNTAX = (
    Syntax("SWEEP", Sweep, read_sweep, write_sweep),
    Syntax("SWEEP_PARENT", SweepParent, read_sweep_parent, write_sweep_parent),
)
