"""The commands that let a DAG grow, EXTEND and SCATTER; and GROWN and LET_GO, of rescue files."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from condor_pydagman.dagfile import rows
from condor_pydagman.dagfile.lexer import LineError, Words, node_word
from condor_pydagman.dagfile.lines import Context
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import LAST

_ITEM = "item|number|[1-9][0-9]?"
PLACE = re.compile(rf"\{{({_ITEM})\}}")  # in patterns of SCATTER

_NO_NODE = "ALL_NODES"  # which no node can be called; ends a line that could not end with a name
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


class _Adders(rows.Names):
    """Names of nodes, which may end with what joins lines, or is cut off their ends."""

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> Any:
        names = super().read(words, key)
        return names[:-1] if names[-1] == _NO_NODE else names

    def write(self, value: tuple[str, ...]) -> str:
        names = list(map(node_word, value))
        if names[-1][-1] in "\\\v\f":
            names.append(_NO_NODE)
        return " ".join(names)


_prefix: Any = _Prefix
_pairs: Any = _Pairs
_adders: Any = _Adders
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


@rows.Row(
    "LET_GO",
    "How much of that is done and has been let go; only in a rescue file.",
    after="GROWN",
    in_rescue=True,
)
class LetGo(NamedTuple):
    """LET_GO: what has been let go of that was added to the DAG while it ran: pieces, all nodes of
    which were done.

    Attributes:
        number: the highest number of such a piece; 0 if there is none.
        nodes: how many nodes they had.
        fed: the highest number of a feeding among them.
        fed_nodes: how many of the nodes the FEEDER had given.
        last: the FEEDER has said with one of them that there is no more.
        adders: nodes that are in the DAG and have added one of them.
    """

    line: int
    number: int = rows.number("number of a piece", 0, "<piece>")
    nodes: int = rows.number("number of nodes", 0, "<nodes>")
    fed: int = rows.number("number of a feeding", 0, "<feeding>")
    fed_nodes: int = rows.number("number of nodes fed", 0, "<nodes fed>")
    last: bool = rows.flag(LAST)
    adders: tuple[str, ...] = rows.option("BY", _adders("nodes", "<node> ..."), ())
