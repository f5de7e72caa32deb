"""What lets a DAG grow, EXTEND and SCATTER; and what has been added to it."""

from __future__ import annotations

import os.path
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any, Union

from condor_pydagman.errors import FileError
from condor_pydagman.features.common import rows
from condor_pydagman.graph.apply import Applied
from condor_pydagman.graph.building import Building, fail
from condor_pydagman.graph.grow import Growth, NumberedPiece, extend, numbered
from condor_pydagman.graph.model import Dag, FeatureData
from condor_pydagman.graph.problems import DagFileErrors, ProcessingError
from condor_pydagman.graph.stepwise import at_once
from condor_pydagman.language.commands import Command
from condor_pydagman.language.description import why_lost
from condor_pydagman.language.lexer import LineError, Words
from condor_pydagman.language.lines import Context
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeKind

_ITEM = "item|number|[1-9][0-9]?"
PLACE = re.compile(rf"\{{({_ITEM})\}}")  # in patterns of SCATTER

_NO_NAME = re.compile(r"[\s\"'\\]")  # what names of added nodes can't hold, nor a +
_BRACES = re.compile(r"\{[A-Za-z_]\w*\}")
_WRONG_PLACE = re.compile(
    r"\$\((?:item|number|[1-9][0-9]?)\)?|\{(?:item|number|[1-9][0-9]?)(?!\w*\})"
)
_KNOWN = "known are {item}, {number} and {1}, {2} ..."
_PAIR = re.compile(r"([A-Za-z_][A-Za-z_0-9]{0,99})=(.*)", re.S)
_QUOTED = re.compile(r"([\"'])(.*)\1", re.S)  # as VARS has its values
_AS_IT_IS = "nothing is replaced there: write the name as it is"
_OF_ITEM = f"{_AS_IT_IS}; VARS gives it to the node as a macro, for its submit description"


def _plain_file(word: str, words: Words, hint: str = _AS_IT_IS) -> str:
    """The name of a file or directory, in which nothing is replaced."""
    if "$(" in word or PLACE.search(word):
        raise LineError(f"The name '{word}' can't have macros", words, hint=hint)
    return word


def _file_of_item(word: str, words: Words) -> str:
    return _plain_file(word, words, _OF_ITEM)


def _submit(word: str, words: Words) -> str:
    if word == "{":
        hint = "name a submit file, or one of a SUBMIT-DESCRIPTION"
        raise LineError("Submit description '{' can't be inline", words, hint=hint)
    return _file_of_item(word, words)


class _Prefix(rows.Part):
    """What names begin with; NONE stands for ''."""

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        word = super().read(words, key)
        if _NO_NAME.search(word):
            hint = "expected what can stand in a node's name: no blanks, quotes or backslashes"
            raise LineError(f"Invalid prefix {word}", words, hint=hint)
        return "" if word.upper() == "NONE" else word

    def write(self, value: str) -> str:
        return super().write(value) if value else "NONE"


def _pattern(pattern: str, words: Words) -> str:
    """The pattern of names of a SCATTER."""
    column = words.column
    if not PLACE.search(pattern):
        hint = "expected {item}, {number} or {1}, {2} ... in it, so that names differ"
        if PLACE.search(words.next()):
            hint = "the pattern of the names comes before the submit description"
        message = f"Pattern '{pattern}' gives all nodes the same name"
        raise LineError(message, words, hint=hint, column=column)
    rest = PLACE.sub("", pattern)
    hint = ""
    if _NO_NAME.search(rest) or "+" in rest:
        hint = "names of nodes can't hold blanks, quotes, backslashes or +"
    elif "{" in rest or "}" in rest:
        hint = _KNOWN
    if hint:
        raise LineError(f"Invalid pattern '{pattern}'", words, hint=hint)
    _refuse_many_words(pattern, pattern, words)
    return pattern


def _refuse_many_words(pattern: str, text: str, words: Words, column: int | None = None) -> None:
    """A line of several words gives no name where {item}, all of it, is in the pattern."""
    several = next((one for one in PLACE.findall(text) if one.isdigit() and one != "1"), "")
    if several and "{item}" in pattern:
        hint = (
            "{item} in the pattern is the whole line, and names have no blanks: use {1} or {number}"
            " in the pattern"
        )
        message = f"{{{several}}} asks for several words in a line"
        raise LineError(message, words, hint=hint, column=column)


class _Pairs(rows.Part):
    """Variables, up to the end of the line."""

    sample = "x={item}"
    empty = ()

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        pairs: dict[str, str] = {}
        while words.peek():
            name, value = _pair(words.next(), words)
            if why_lost(name):
                words.remark(why_lost(name))
            _check_value(value, words)
            pairs[name] = value
        if not pairs:
            raise LineError(self.missing(key), words)
        return tuple(pairs.items())

    def write(self, value: tuple[tuple[str, str], ...]) -> str:
        return " ".join(f"{name}={text}" for name, text in value)


def _pair(word: str, words: Words) -> tuple[str, str]:
    found = _PAIR.fullmatch(word)
    if found is None:
        hint = "expected key=value, without blanks; {item} stands for an item of the list"
        if word.upper() in ("DIR", "PREFIX"):
            hint = f"{word} and its value stand before VARS, which is the last part of the line"
        raise LineError(f"Invalid variable '{word}'", words, hint=hint)
    key, value = found.groups()
    if key[:5].lower() == "queue":
        hint = "names of variables can't begin with 'queue'"
        raise LineError(f"Illegal variable name '{key}'", words, hint=hint)
    quoted = _QUOTED.fullmatch(value)
    return key, quoted[2] if quoted else value


def _check_value(value: str, words: Words) -> None:
    """Refuse what is meant as a place for sure, and tell of what may be."""
    found = _WRONG_PLACE.search(value)
    if found is not None:
        word = found[0]
        what = "is not closed" if word[0] == "{" else "is no macro"
        hint = f"expected {{{word.strip('${()')}}}"
        raise LineError(f"{word} {what} in a value of SCATTER", words, hint=hint)
    for unknown in _BRACES.findall(PLACE.sub("", value)):
        words.remark(f"{unknown} stays as it is: {_KNOWN}")


def _check_words(scatter: Scatter, words: Words, context: Context) -> None:
    for name, value in scatter.pairs:
        column = words.line.rfind(f"{name}=")
        _refuse_many_words(scatter.pattern, value, words, column)


_prefix: Any = _Prefix
_pairs: Any = _Pairs
_PREFIX = rows.option("PREFIX", _prefix("text", "<prefix>"), None, rows.LAST_COUNTS)


@rows.Row(
    "EXTEND",
    "A DAG file that the node writes, and that is added to the DAG when it has ended well.",
    after="BRAKE",
)
class Extend(NamedTuple):
    """EXTEND: the commands of a DAG file are added to the DAG when the node has ended well.

    Attributes:
        between: whether the new nodes stand between the node and its children.
        directory: of the new nodes; '' for that of the file with the line.
        prefix: what their names begin with; None: as names of this file.
        trusted: whether the file may have every command.
    """

    line: int
    node: str = rows.node()
    file: str = rows.file("DAG file", "<dag file>", _plain_file, sample="more.dag")
    between: bool = rows.flag({"BETWEEN": True, "ANYWHERE": False}, again=True)
    directory: str = rows.option("DIR", rows.file("directory", "<directory>"), "", rows.LAST_COUNTS)
    prefix: str | None = _PREFIX
    trusted: bool = rows.flag("TRUSTED", again=True)


@rows.Row(
    "SCATTER",
    "A node for each line of a file that the node writes, added when it has ended well.",
    after="EXTEND",
    check=_check_words,
)
class Scatter(NamedTuple):
    """SCATTER: a node for each line of a file is added when the node has ended well.

    Attributes:
        pattern: of the nodes' names.
        directory, prefix: as of EXTEND.
        retries: of each of the nodes, as of RETRY.
        pairs: variables of the nodes, with {item} and so on in their values.
    """

    line: int
    node: str = rows.node()
    file: str = rows.file("list file", "<list file>", _plain_file, sample="list.txt")
    pattern: str = rows.name(
        "pattern of the nodes' names", "<name pattern>", _pattern, sample="x-{item}"
    )
    submit: str = rows.file("submit description", "<submit description>", _submit, sample="x.sub")
    directory: str = rows.option(
        "DIR", rows.file("directory", "<directory>", _file_of_item), "", rows.LAST_COUNTS
    )
    prefix: str | None = _PREFIX
    retries: int = rows.option("RETRY", rows.number("number", 0), 0, rows.LAST_COUNTS)
    pairs: tuple[tuple[str, str], ...] = rows.option(
        "VARS", _pairs("variables", "<key>=<value> ..."), ()
    )

    @property
    def between(self) -> bool:
        """As of EXTEND."""
        return True

    @property
    def trusted(self) -> bool:
        """As of EXTEND: it adds only what the line says, with words of the list."""
        return True


@rows.Row(
    "GROWN",
    "What had been added to the DAG while it ran; only in a rescue file.",
    after="FEEDER",
    in_rescue=True,
)
class GrownLine(NamedTuple):
    """GROWN: what had been added to the DAG, in a rescue file."""

    line: int
    number: int = rows.number("number of the piece", 1, "<number>")
    digest: str = rows.name("digest of the piece")


_MAX_LOOKED_AT = 1000  # of the nodes that add to the DAG
_ANY = {"item": ".+", "number": "[0-9]+"}  # a word, too, is `.+`
_GROWN = re.compile(r"^GROWN ([0-9]{1,9}) ([0-9a-f]{32})$", re.M)


Extension = Union[Extend, Scatter]  # of a node; with what its file makes of names


class Feeding(NamedTuple):
    """What the FEEDER gives at a time."""

    number: int  # from 1
    last: bool = False  # the FEEDER has said that there is no more


class GrownPiece(NamedTuple):
    """What has been added to the DAG while it ran."""

    number: int  # pieces are counted from 1
    digest: str  # of its text
    node: str = ""  # name of the node that has added it; '' if a person or the FEEDER has
    size: int = 0  # how many nodes it has brought
    feeding: Feeding | None = None  # as of `Piece`


class GrowthOfDag(FeatureData):
    """What lets a DAG grow, and what has come of it."""

    by_node = ("extensions",)
    place = 1

    def __init__(self) -> None:
        self.extensions: dict[int, Extension] = {}  # by nodes that add to the DAG
        self.pieces: list[GrownPiece] = []  # what has been added

    def may_grow(self, but: int) -> bool:
        """As of `FeatureData`."""
        return len(self.extensions) > (but in self.extensions)

    def must_run(self, node: int) -> str:
        """As of `FeatureData`."""
        return "it adds to the DAG" if node in self.extensions else ""

    def submits_to_come(self) -> Collection[str] | None:
        """As of `FeatureData`."""
        scatters = scatters_of(self)
        if len(scatters) < len(self.extensions):
            return None
        return {how.submit for _, how in scatters}

    def advice(self, dag: Dag, name: str) -> str:
        """Whether a SCATTER may add a node of that name while the DAG runs."""
        for node, how in islice(self.extensions.items(), _MAX_LOOKED_AT):
            if not isinstance(how, Scatter):
                continue
            if re.fullmatch(_regular((how.prefix or "") + how.pattern), name):
                return (
                    f"it is to be added by the SCATTER of node {dag.names[node]}, while the DAG"
                    " runs: lines here can't name it. A file that EXTEND names can have such lines"
                )
        return ""

    def node_lines(self, dag: Dag, node: int) -> Iterator[Command]:
        """As of `FeatureData`."""
        extension = self.extensions.get(node)
        if extension is None:
            return
        yield extension._replace(node=dag.names[node], prefix=extension.prefix or None)

    def first_rescue_lines(self) -> Iterator[Command]:
        """As of `FeatureData`."""
        for piece in self.pieces:
            yield GrownLine(0, piece.number, piece.digest)


def _regular(pattern: str) -> str:
    """A regular expression for the names that a pattern gives."""
    pieces = PLACE.split(pattern)  # texts, and between them what their places ask for
    return "".join(
        _ANY.get(piece, ".+") if number % 2 else re.escape(piece)
        for number, piece in enumerate(pieces)
    )


def scatters_of(data: GrowthOfDag) -> list[tuple[int, Scatter]]:
    """Those of the nodes that add by a SCATTER."""
    return [(node, how) for node, how in data.extensions.items() if isinstance(how, Scatter)]


def growth_of(dag: Dag) -> GrowthOfDag:
    """What a DAG holds; to be read."""
    return GrowthOfDag.of(dag)


class Piece(NamedTuple):
    """Nodes and edges for a DAG."""

    dag: Dag  # the nodes, and behind them stand-ins of `known`
    known: tuple[int, ...]  # nodes that are in the DAG already, which edges lead from or to
    node: str = ""  # the node that has added it, '' if a person has
    digest: str = ""  # of its text, under which that is kept
    children: tuple[int, ...] = ()  # those of `known` that get new parents
    base: int = 0  # how often the DAG had changed when this one was read
    feeding: Feeding | None = None  # if the FEEDER has given it
    # it as it is to be in the DAG, if that has not changed since it was read
    numbered: NumberedPiece | None = None

    def __repr__(self) -> str:
        """For people: without the nodes, which may be very many."""
        shown = (self.size, self.known, self.node, self.digest, self.children, self.base)
        return f"Piece{(*shown, self.feeding)}"

    @property
    def size(self) -> int:
        """How many new nodes it has."""
        return len(self.dag) - len(self.known)


def add_piece(dag: Dag, piece: Piece, number: int) -> Growth:
    """Add a piece to its DAG; the node that has added it adds nothing any more."""
    more, data = piece.numbered, GrowthOfDag.put(dag)
    if more is None or piece.base != dag.changes:
        more = at_once(numbered(dag, piece.dag, piece.known))
    if piece.node:
        data.extensions.pop(dag.ids[piece.node], None)
    data.pieces.append(GrownPiece(number, piece.digest, piece.node, piece.size, piece.feeding))
    return extend(dag, more)


def grown_line(building: Building, command: GrownLine) -> None:
    """GROWN, which is applied before the other lines of a rescue file."""
    if all(piece.number != command.number for piece in growth_of(building.dag).pieces):
        fail(
            f"Piece {command.number} of the DAG is not there",
            "a GROWN line belongs into a rescue file; the file .grown beside the DAG has the text",
        )


def restore(dag: Dag, text: str, pieces: Mapping[str, Any]) -> None:
    """Add what had been added, as a rescue file says.

    Raises:
        DagFileErrors: it can't be added again.
    """
    for number, digest in _GROWN.findall(text):
        try:
            piece = pieces.get(digest)
        except FileError as error:
            raise DagFileErrors([ProcessingError(str(error))]) from None
        if piece is not None:
            add_piece(dag, piece, int(number))


def add_extension(building: Building, command: Extension) -> None:
    """EXTEND or SCATTER.

    Names of files, and of nodes, mean what they would in an INCLUDE at this place.
    """
    scope = building.scope
    node = _node(building, command)
    if node in building.special:
        kind = NodeKind(building.dag.kinds[node]).name
        fail(
            f"Node {building.shown(node)} can't add to the DAG",
            f"it is a {kind} node",
            at=command.node,
        )
    extensions = GrowthOfDag.put(building.dag).extensions
    if node in extensions:
        fail(
            f"Node {building.shown(node)} has an EXTEND or SCATTER already",
            "a node adds to the DAG once; the file that it names can INCLUDE others",
            at=command.node,
        )
    prefix = scope.prefix + scope.munge if command.prefix is None else command.prefix
    extensions[node] = command._replace(
        line=0,
        node="",
        file=building.text(os.path.join(scope.where, command.file)),
        directory=building.text(os.path.join(scope.directory, command.directory).rstrip("/")),
        prefix=building.text(prefix),
    )


def _node(building: Building, command: Extension) -> int:
    """The node that adds; somebody may have written its file before it."""
    name, file = command.node, command.file
    if building.find(name) is None and building.find(file) is not None:
        word = "EXTEND" if isinstance(command, Extend) else "SCATTER"
        hint = f"the node comes first: {word} {file} {name}"
        fail(f"Unknown node {building.scope.munge}{name} referenced", hint, at=name)
    return building.needed(name)


APPLIED = (
    Applied(Extend, add_extension),
    Applied(Scatter, add_extension),
    Applied(GrownLine, grown_line),
)
