"""SWEEP and SWEEP_PARENT: many nodes, and the edges between them, from one line each.

A sweep is known by its name as its line has it, `sim_{energy}_{seed}`: wherever a file may name a
node, this stands for all its nodes.  In the Dag they are nodes like others.
"""

from __future__ import annotations

import os.path
import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, NoReturn

from condor_pydagman.errors import UsageError
from condor_pydagman.features.common import rows
from condor_pydagman.graph import define
from condor_pydagman.graph.apply import Applied
from condor_pydagman.graph.building import Building, fail
from condor_pydagman.graph.variable_table import Variable, in_order
from condor_pydagman.language.description import why_lost
from condor_pydagman.language.lexer import (
    LineError,
    Words,
    file_word,
    item_text,
    joined,
    name_word,
    quoted,
)
from condor_pydagman.language.lines import RESERVED_NAMES, Context, needed, new_node_name, normal
from condor_pydagman.language.modifier_lines import read_pairs
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import number_of

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
    if "..." in word:
        return "two dots stand between the ends of a range, not three"
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
_NO_RANGE = re.compile(r"[0-9]+[-:][0-9]+|[^/]*[^./]\.\.+[^./][^/]*")
_GOOD_NAME = "expected letters, digits and _, no digit first; nor can it begin with queue"
_EXAMPLE = "as in: SWEEP sim_{e}_{seed} sim.sub OVER e IN 10 20 OVER seed IN 1..100"


def is_variable(name: str) -> bool:
    """Whether a variable of a sweep, which becomes a macro of its nodes, may be called so."""
    return bool(_VARIABLE.fullmatch(name)) and name[:5].lower() != "queue"


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
            raise LineError(f"Invalid variable '{variable}'", words, hint=_GOOD_NAME)
        if why_lost(variable):
            words.remark(why_lost(variable))
        missing = f"{key} {variable} missing IN"
        if normal(needed(words, missing, ("IN",))) != "IN":
            raise LineError(missing, words, ("IN",))
        values = tuple(_values(words))
        if not values:
            raise LineError(f"{key} {variable} missing its values", words, hint=_EXAMPLE)
        return (Dimension(variable, values, key == ALONG),)

    def write(self, value: tuple[Dimension, ...]) -> str:
        return " ".join(
            joined(ALONG if along else OVER, variable, "IN", *map(file_word, values))
            for variable, values, along in value
        )


def _values(words: Words) -> Iterator[str]:
    while not rows.keyword(words, _CLAUSES):
        word = words.next_file()
        if not word:
            return
        why = mistake(word)
        if why:
            raise LineError(f"Invalid range '{word}'", words, hint=why)
        if "," in word or (word[0] == "[" and word[-1] == "]"):
            words.remark(f"'{word}' is one value: blanks stand between values")
        elif _NO_RANGE.fullmatch(word) and not _LIKE_A_RANGE.match(word):
            words.remark(f"'{word}' is one value: a range is numbers with .. between, as in 1..10")
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


MAX_NODES = 20_000_000  # of one sweep
MAX_CELL = 10_000  # characters in a cell of a table
_LINE_END = re.compile(r"[\n\r\0]")
MAX_SHOWN = 100  # characters of a wrong name

_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z_0-9]*)\}")
_ODD = re.compile(r"[\s\"'+\\]")  # in names: they need quotes, or belong to splices
_PARTS = re.compile(r"(\{[A-Za-z_][A-Za-z_0-9]*\})")

Columns = Mapping[str, Sequence[str]]


class Swept(NamedTuple):
    """A sweep that is defined: its nodes, and by variable the values of all of them."""

    nodes: range
    columns: Columns

    @property
    def kind(self) -> str:
        """As of `NodeSet`."""
        return "sweep"


class Table(NamedTuple):
    """The values of all variables: by variable one for each node, and where each row stands."""

    columns: Columns
    size: int
    lines: Sequence[int] = ()


def table_of(command: Sweep, text: str) -> Table:
    """The values of a sweep; `text` is that of its table, '' if it has none.

    Raises:
        UsageError: they can't be made.
    """
    return read_rows(text, command.rows) if command.rows else product(command.dimensions)


def product(dimensions: Sequence[Dimension]) -> Table:
    """All combinations of the values, the last OVER varying fastest; ALONG varies with the one
    before it.

    Raises:
        UsageError: a variable comes twice, or lengths do not fit.
    """
    lengths = [sum(map(count, one.values)) for one in dimensions]
    _refuse(dimensions, lengths)
    size = 1
    for one, length in zip(dimensions, lengths):
        size *= 1 if one.along else length
    if not 0 < size <= MAX_NODES:
        raise UsageError(f"The sweep would have {size:,} nodes: expected 1 to {MAX_NODES:,}")
    columns: dict[str, list[str]] = {}
    inner, outer = size, 1
    for one, length in zip(dimensions, lengths):
        if not one.along:
            inner, outer = inner // length, size // inner
        own = chain.from_iterable(map(values, one.values))
        column = list(chain.from_iterable(repeat(value, inner) for value in own))
        columns[one.variable] = column * outer
    return Table(columns, size)


def _refuse(dimensions: Sequence[Dimension], lengths: Sequence[int]) -> None:
    seen: set[str] = set()
    before = ""
    length_before = 0
    for one, length in zip(dimensions, lengths):
        if one.variable.lower() in seen:
            raise UsageError(f"Variable {one.variable} comes twice in the sweep")
        seen.add(one.variable.lower())
        if one.along and length != length_before:
            raise UsageError(
                f"ALONG {one.variable} has {length:,} values, and {before} has {length_before:,}"
            )
        before, length_before = one.variable, length


def read_rows(text: str, file: str) -> Table:
    """The rows of a CSV text whose first line names the variables (RFC 4180); empty lines count
    for nothing.

    Raises:
        UsageError: it is no such table; the message has file and line.
    """
    import csv  # imported late: few DAGs have a table

    text = text.removeprefix("\ufeff")  # which spreadsheets write at the beginning
    reader = csv.reader(text.splitlines(keepends=True), strict=True, skipinitialspace=True)
    lines: list[int] = []
    rows: list[list[str]] = []
    try:
        head = [name.strip() for name in next(reader, [])]
        _refuse_head(head, file)
        for row in reader:
            if not row:
                continue
            if len(row) != len(head):
                cells = number_of(len(row), "cell")
                raise UsageError(
                    f"{file}:{reader.line_num} has {cells}: expected {len(head)},"
                    f" for {', '.join(head)}"
                )
            if max(map(len, row)) > MAX_CELL:
                raise UsageError(
                    f"{file}:{reader.line_num} has a cell of over {MAX_CELL} characters"
                )
            odd = next((name for name, cell in zip(head, row) if _LINE_END.search(cell)), "")
            if odd:
                raise UsageError(
                    f"{file}:{reader.line_num} has a cell of more than one line: row"
                    f" {len(rows) + 1} below the names, column {odd}"
                )
            rows.append(row)
            lines.append(reader.line_num)
    except csv.Error as error:
        raise UsageError(f"{file}:{reader.line_num} can't be read as CSV: {error}") from None
    if not rows:
        raise UsageError(f"{file} has no rows below the one that names the variables")
    columns = {name: [row[place] for row in rows] for place, name in enumerate(head)}
    return Table(columns, len(rows), lines)


def _refuse_head(head: Sequence[str], file: str) -> None:
    if not any(head):
        raise UsageError(f"{file} has no first line that names the variables")
    for column, name in enumerate(head, 1):
        if not name:
            raise UsageError(f"{file}:1 has an empty cell, or a comma too many: column {column}")
        if not is_variable(name):
            commas = "; commas separate the columns" if len(head) == 1 else ""
            raise UsageError(f"{file}:1 can't name a variable {name[:40]!r}: {_GOOD_NAME}{commas}")
        if [other.lower() for other in head].count(name.lower()) > 1:
            raise UsageError(f"{file}:1 names the variable {name} twice")


def filled(text: str, table: Table, what: str) -> Iterator[str]:
    """`text` for each node, with the values of variables.

    Raises:
        UsageError: there is no such variable; `what` says what the text is.
    """
    for name in _PLACE.findall(text):
        if name not in table.columns:
            raise UsageError(
                f"{what} has {{{name}}}, and the sweep no variable of that name: it has"
                f" {', '.join(table.columns)}"
            )
    pieces = [piece for piece in _PARTS.split(text) if piece]
    if not pieces:
        return repeat("", table.size)
    columns = [
        table.columns[piece[1:-1]] if _PLACE.fullmatch(piece) else repeat(piece) for piece in pieces
    ]
    return map("".join, zip(repeat("", table.size), *columns))


def node_names(command: Sweep, table: Table) -> list[str]:
    """The names of a sweep's nodes, as its file calls them.

    Raises:
        UsageError: a name has a variable that is not there, is no name of a node, or comes twice.
    """
    names = list(filled(command.name, table, "The name"))
    if _ODD.search("\0".join(names)) or "" in names:
        _refuse_odd(names, table)
    if not RESERVED_NAMES.isdisjoint(map(str.upper, names)):
        raise UsageError("PARENT, CHILD and ALL_NODES, in any case, can't be names of nodes")
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        left = ", ".join(f"{{{variable}}}" for variable in unused(command, table))
        advice = f"put {left} into the name" if left else "the table has equal rows"
        raise UsageError(f"Node {twice} comes twice in the sweep: {advice}")
    return names


def _refuse_odd(names: Sequence[str], table: Table) -> NoReturn:
    number = next(number for number, name in enumerate(names) if not name or _ODD.search(name))
    row = f" (line {table.lines[number]} of its table)" if table.lines else ""
    raise UsageError(
        f"A node of the sweep would be called {names[number][:MAX_SHOWN]!r}{row}: names have no"
        " blanks, quotes, backslashes or +"
    )


def matched(
    command: SweepParent, parents: Swept, children: Swept
) -> Iterator[tuple[Sequence[int], Sequence[int]]]:
    """Parents and children that belong together: each of the first is a parent of each of the
    second.

    Raises:
        UsageError: they do not fit.
    """
    if not command.keys:
        if len(parents.nodes) != len(children.nodes):
            raise UsageError(
                f"{command.parent} has {len(parents.nodes):,} nodes, and {command.child}"
                f" {len(children.nodes):,}: ONE-TO-ONE needs as many; BY joins those with equal"
                " values of variables"
            )
        return zip(_singles(parents.nodes), _singles(children.nodes))
    for name, one in ((command.parent, parents), (command.child, children)):
        for key in command.keys:
            if key not in one.columns:
                known = ", ".join(one.columns)
                raise UsageError(f"Sweep {name} has no variable {key}: it has {known}")
    tails, heads = _by_keys(command.keys, parents), _by_keys(command.keys, children)
    for values_ in heads:
        if values_ not in tails:
            said = ", ".join(f"{key}={value}" for key, value in zip(command.keys, values_))
            raise UsageError(f"No node of {command.parent} has {said}, as {command.child} has")
    return ((tails[one], nodes) for one, nodes in heads.items())


def _singles(nodes: range) -> Iterator[Sequence[int]]:
    return (range(node, node + 1) for node in nodes)


def _by_keys(keys: Sequence[str], swept: Swept) -> dict[tuple[str, ...], array[int]]:
    """The nodes by the values of these variables."""
    found: dict[tuple[str, ...], array[int]] = {}
    for node, row in zip(swept.nodes, zip(*(swept.columns[key] for key in keys))):
        found.setdefault(row, array("i")).append(node)
    return found


def unused(command: Sweep, table: Table) -> list[str]:
    """Variables of the sweep that are not in the names of its nodes."""
    used = set(_PLACE.findall(command.name))
    return [name for name in table.columns if name not in used]


_SIMPLE = re.compile(r"[ !#-\[\]-~]*")  # values that `VariableTable.add_simple` takes
_BLOCK = 1 << 16  # nodes whose variables are written at a time
_SIMPLE_KEY = re.compile("[A-PR-Za-pr-z_][A-Za-z0-9_]*")


def sweep(building: Building, command: Sweep, text: str = "") -> None:
    """SWEEP; `text` is that of its table, if it has one."""
    scope = building.scope
    if scope.munge + command.name in scope.sets:
        fail(f"There is a sweep {command.name} already", "give one of the two another name")
    if command.directory and building.options.use_dag_dir:
        fail(
            "SWEEP DIR <directory> can not be used with -UseDagDir",
            "take the DIR out, or leave -usedagdir away",
        )
    try:
        table = table_of(command, text)
        names = node_names(command, table)
        directories = filled(command.directory, table, "DIR")
        pairs = _edges(command, table)
    except UsageError as error:
        fail(str(error))
    nodes = _define(building, command, names)
    _set_directories(building, nodes, directories, bool(command.directory))
    _set_variables(building, nodes, pairs, command.append)
    scope.sets[scope.munge + command.name] = Swept(nodes, table.columns)


def _edges(command: Sweep, table: Table) -> dict[str, Sequence[str]]:
    """By key the values of all nodes: variables, and what VARS says.

    Those of a table are text; those of OVER are the author's, like VARS.
    """
    if command.rows:
        columns = {key: list(map(item_text, column)) for key, column in table.columns.items()}
        table = table._replace(columns=columns)
    pairs = dict(table.columns)
    for key, value in command.pairs:
        pairs[key] = list(filled(value, table, f"VARS {key}"))
    return pairs


def _define(building: Building, command: Sweep, names: Sequence[str]) -> range:
    dag, scope = building.dag, building.scope
    full = building.full_names(names)
    if not dag.ids.keys().isdisjoint(full):
        known = next(name for name in full if name in dag.ids)
        fail(
            f"Node {known[len(scope.prefix) :]} already exists in DAG.",
            f"the first is defined at {dag.place(dag.ids[known]) or 'an unknown place'}",
        )
    if scope.splices and not {scope.munge + name for name in names}.isdisjoint(scope.splices):
        fail(f"A node of sweep {command.name} has the name of a splice", "rename one of them")
    first = len(dag)
    submits = repeat(building.text(command.submit), len(names))
    dag.add_jobs(full, submits, repeat(command.line, len(names)))
    scope.add(first, len(names))
    return range(first, first + len(names))


def _set_directories(
    building: Building, nodes: range, directories: Iterable[str], is_given: bool
) -> None:
    scope = building.scope
    if not is_given and not scope.directory:
        return
    for node, directory in zip(nodes, directories):
        path = os.path.join(scope.directory, directory)
        building.dag.directories[node] = building.text(path.rstrip("/") or "/")


def _set_variables(
    building: Building, nodes: range, pairs: dict[str, Sequence[str]], append: bool | None
) -> None:
    if append is None:
        append = building.options.default_append_vars
    if not _add_simple(building, nodes, pairs, append):
        keys = list(pairs)
        for node, row in zip(nodes, zip(*pairs.values())):
            found = in_order(zip(keys, row))
            building.dag.variables[node] = tuple(
                Variable(building.text(key), value, append) for key, value in found
            )


def _add_simple(
    building: Building, nodes: range, pairs: dict[str, Sequence[str]], append: bool
) -> bool:
    """Keep the variables as text, which takes the least memory; False if they are not as simple."""
    values = set().union(*pairs.values())
    if not all(map(_SIMPLE_KEY.fullmatch, pairs)) or not all(map(_SIMPLE.fullmatch, values)):
        return False
    form = " ".join(f'{key}="%s"' for key in pairs)
    columns = list(pairs.values())
    for begin in range(0, len(nodes), _BLOCK):
        rows = zip(*(column[begin : begin + _BLOCK] for column in columns))
        texts = list(map(form.__mod__, rows))
        building.dag.variables.add_simple(nodes[begin : begin + _BLOCK], texts, append)
    return True


def sweep_parent(building: Building, command: SweepParent) -> None:
    """SWEEP_PARENT."""
    parents, children = (_swept(building, name) for name in (command.parent, command.child))
    try:
        groups = matched(command, parents, children)
    except UsageError as error:
        fail(str(error))
    if command.keys:
        for tails, heads in groups:
            define.join(building, tails, heads)
    else:
        building.dag.edges.add_many(parents.nodes, children.nodes)


def _advice(building: Building, name: str) -> str:
    known = sorted(building.scope.sets)
    if building.find(name) is not None:
        return f"{name} is a node: a PARENT line joins it with all nodes of a sweep"
    if not known:
        return "no SWEEP line comes before this one"
    return f"the sweeps are {', '.join(known[:5])}{', ...' * (len(known) > 5)}"


def _swept(building: Building, name: str) -> Swept:
    found = building.scope.sets.get(building.scope.munge + name)
    if not isinstance(found, Swept):
        fail(
            f"Unknown sweep {name}",
            _advice(building, name),
            at=name,
        )
    return found


APPLIED = (Applied(Sweep, sweep, file="rows"), Applied(SweepParent, sweep_parent))
