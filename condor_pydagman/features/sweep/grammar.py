"""The commands SWEEP and SWEEP_PARENT."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any

from condor_pydagman.dagfile import rows
from condor_pydagman.dagfile.lexer import LineError, Words, file_word, joined, name_word, quoted
from condor_pydagman.dagfile.lines import Context, needed, new_node_name, normal
from condor_pydagman.dagfile.modifier_lines import read_pairs
from condor_pydagman.named_tuple import NamedTuple

if TYPE_CHECKING:
    from decimal import Decimal

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
BY, ONE_TO_ONE = ("BY", "ONE-TO-ONE")
_VARIABLE = re.compile("[A-Za-z_][A-Za-z_0-9]{0,99}")
_NO_RANGE = re.compile("[0-9]+[-:][0-9]+")
_EXAMPLE = "as in: SWEEP sim_{e}_{seed} sim.sub OVER e IN 10 20 OVER seed IN 1..100"


def is_variable(name: str) -> bool:
    """Whether a variable of a sweep, which becomes a macro of its nodes, may be called so."""
    return bool(_VARIABLE.fullmatch(name)) and name[:5].lower() != "queue"


def _tell_of_list(word: str, words: Words) -> None:
    """A value may be any word, but is hardly meant to be such a one."""
    if "," in word or (word[0] == "[" and word[-1] == "]"):
        words.remark(f"'{word}' is one value: blanks stand between values")
    elif _NO_RANGE.fullmatch(word):
        words.remark(f"'{word}' is one value: a range is written with .. as in 1..10")


class Dimension(NamedTuple):
    """A variable of a SWEEP: its values, or ranges of them; `along` that it varies with the one
    before it."""

    variable: str
    values: tuple[str, ...]
    along: bool = False


class _Dimension(rows.Part):
    """A variable and its values."""

    empty = ()
    sample = "x IN 1..3"
    says_keyword = True

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        variable = needed(words, self.missing(key))
        if not is_variable(variable):
            hint = "expected letters, digits and _, no digit first; nor can it begin with queue"
            raise LineError(f"Invalid variable '{variable}'", words, hint=hint)
        missing = f"{key} {variable} missing IN"
        if normal(needed(words, missing, ("IN",))) != "IN":
            raise LineError(missing, words, ("IN",))
        values = tuple(_values(words))
        if not values:
            raise LineError(f"{key} {variable} missing its values", words, hint=_EXAMPLE)
        return (Dimension(variable, values, key == ALONG),)

    def write(self, value: tuple[Dimension, ...]) -> str:
        return " ".join(
            joined(ALONG if one.along else OVER, one.variable, "IN", *map(file_word, one.values))
            for one in value
        )


def _values(words: Words) -> Iterator[str]:
    while not rows.keyword(words, _CLAUSES):
        word = words.next_file()
        if not word:
            return
        why = mistake(word)
        if why:
            raise LineError(f"Invalid range '{word}'", words, hint=why)
        _tell_of_list(word, words)
        yield word


class _Pairs(rows.Part):
    """What VARS has: whether the pairs are appended, and the pairs."""

    width = 2
    sample = 'x="1"'

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        append, pairs = read_pairs(words)
        return append, tuple(pairs)

    def write(self, value: tuple[bool | None, tuple[tuple[str, str], ...]]) -> str:
        where = {None: "", False: "PREPEND", True: "APPEND"}[value[0]]
        return joined(where, *(f"{key}={quoted(text)}" for key, text in value[1]))


class _Keys(rows.Names):
    """The variables behind BY; none behind ONE-TO-ONE."""

    says_keyword = True
    sample = ""

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        return super().read(words, key) if key == BY else ()

    def write(self, value: tuple[str, ...]) -> str:
        return joined(BY, *map(name_word, value)) if value else ONE_TO_ONE


def _check(sweep: Sweep, words: Words, context: Context) -> None:
    new_node_name(Words(words.line, len("SWEEP")), context)
    if bool(sweep.dimensions) == bool(sweep.rows):
        message = "A sweep has either OVER or ROWS" if sweep.rows else "Missing OVER or ROWS"
        raise LineError(message, words, (OVER, "ROWS"), _EXAMPLE)
    if sweep.dimensions and sweep.dimensions[0].along:
        column = words.line.upper().find(f" {ALONG}") + 1
        raise LineError("ALONG needs an OVER before it", words, (OVER,), column=column)
    for dimension in sweep.dimensions:
        _check_submit(sweep, f"{{{dimension.variable}}}", words)


def _check_submit(sweep: Sweep, place: str, words: Words) -> None:
    """Refuse a variable in the name of the submit description, which is the same for all nodes."""
    name, submit = sweep.name, sweep.submit
    if place in submit:
        hint = f"all nodes have one submit description: use $({place[1:-1]}) in it"
        if place not in name:
            hint = f"the name of the nodes comes first: SWEEP {submit} {name}"
        message = f"{place} stands in the submit description '{submit}'"
        raise LineError(message, words, hint=hint, column=words.line.find(submit))


_dimension: Any = _Dimension
_pairs: Any = _Pairs
_keys: Any = _Keys
_DIRECTORY = rows.option("DIR", rows.file("directory"), "", rows.LAST_COUNTS)
_VARS = rows.option("VARS", _pairs(), (None, ()), rows.LAST_COUNTS)


@rows.Row(
    "SWEEP",
    "Nodes for all combinations of values, or for the rows of a table.",
    after="SUBDAG",
    check=_check,
    usage="SWEEP <name> <submit description> (OVER <variable> IN <values> [OVER|ALONG ...]|ROWS"
    " <table>) [DIR <directory>] [VARS ...]",
    example="SWEEP s{x} x.sub OVER x IN 1..3",
)
class Sweep(NamedTuple):
    """SWEEP: nodes for all combinations of values, or for the rows of a table.

    Attributes:
        name: of the nodes, with `{variable}` for its value.
        rows: the file of the table, '' if there are `dimensions`.
        directory: of the nodes, with variables.
        append, pairs: as of Vars; values have variables.
    """

    line: int
    name: str = rows.name("node name", sample="s{x}")
    submit: str = rows.file("submit description")
    dimensions: tuple[Dimension, ...] = rows.option(
        _DIMENSIONS, _dimension("variable"), (), rows.ADDED_UP
    )
    rows: str = rows.option("ROWS", rows.file("file"), "", rows.LAST_COUNTS)
    directory: str = _DIRECTORY
    append: bool | None = _VARS
    pairs: tuple[tuple[str, str], ...] = ()


@rows.Row(
    "SWEEP_PARENT",
    "Dependencies between the nodes of two sweeps that belong together.",
    after="WEAK",
)
class SweepParent(NamedTuple):
    """SWEEP_PARENT: edges between the nodes of two sweeps with equal values of `keys`, or, without
    any, between the first of both, the second of both, and so on."""

    line: int
    parent: str = rows.name("parent sweep", "<sweep>", sample="s{x}")
    child: str = rows.option("CHILD", rows.name("sweep", "<sweep>", sample="s{x}"))
    keys: tuple[str, ...] = rows.option(
        (ONE_TO_ONE, BY), _keys("variables", "(ONE_TO_ONE|BY <variable> [<variable> ...])")
    )
