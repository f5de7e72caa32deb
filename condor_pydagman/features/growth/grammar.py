"""The commands that let a DAG grow, EXTEND and SCATTER; and GROWN and LET_GO, of rescue files.

All are ours.
"""

from __future__ import annotations

import re

from condor_pydagman.dagfile.language import extension
from condor_pydagman.dagfile.lexer import LineError, Words, file_word, joined, name_word, node_word
from condor_pydagman.dagfile.lines import (
    Context,
    needed,
    needed_file,
    node_name,
    normal,
    number_alone,
    unexpected,
)
from condor_pydagman.dagfile.syntax import Syntax, fixed, name, whole_number
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import LAST

BETWEEN, ANYWHERE, TRUSTED = "BETWEEN", "ANYWHERE", "TRUSTED"
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
_EXTEND = (BETWEEN, ANYWHERE, "DIR", "PREFIX", TRUSTED)
_SCATTER = ("VARS", "DIR", "PREFIX", "RETRY")


class ExtendLine(NamedTuple):
    """EXTEND: the commands of a DAG file are added to the DAG when the node has ended well.

    Attributes:
        between: whether the new nodes stand between the node and its children.
        directory: of the new nodes; '' for that of the file with the line.
        prefix: what their names begin with; None: as names of this file.
        trusted: whether the file may have every command.
    """

    line: int
    node: str
    file: str
    between: bool = True
    directory: str = ""
    prefix: str | None = None
    trusted: bool = False


class ScatterLine(NamedTuple):
    """SCATTER: a node for each line of a file is added when the node has ended well.

    Attributes:
        pattern: of the nodes' names.
        pairs: variables of the nodes, with {item} and so on in their values.
        directory, prefix: as of EXTEND.
        retries: of each of the nodes, as of RETRY.
    """

    line: int
    node: str
    file: str
    pattern: str
    submit: str
    pairs: tuple[tuple[str, str], ...] = ()
    directory: str = ""
    prefix: str | None = None
    retries: int = 0


class GrownLine(NamedTuple):
    """GROWN: what had been added to the DAG, in a rescue file."""

    line: int
    number: int
    digest: str


class LetGoLine(NamedTuple):
    """LET_GO: what has been let go of that had been added to the DAG, in a rescue file.

    Attributes: as of `graph.LetGo`.
    """

    line: int
    number: int
    nodes: int
    fed: int
    fed_nodes: int
    last: bool = False
    adders: tuple[str, ...] = ()


def read_extend(words: Words, context: Context) -> ExtendLine:
    """EXTEND."""
    node = node_name(words)
    file = _plain_file(words, "Missing DAG file", _AS_IT_IS)
    found = ExtendLine(context.lines.number, node, file)
    while True:
        word = words.next()
        option = normal(word)
        if not word:
            return found
        if option in (BETWEEN, ANYWHERE):
            found = found._replace(between=option == BETWEEN)
        elif option == "DIR":
            found = found._replace(directory=needed_file(words, "DIR missing its directory"))
        elif option == "PREFIX":
            found = found._replace(prefix=_prefix(words))
        elif option == TRUSTED:
            found = found._replace(trusted=True)
        else:
            unexpected(word, words, *_EXTEND)


def write_extend(command: ExtendLine) -> str:
    """EXTEND."""
    return joined(
        f"EXTEND {name_word(command.node)} {file_word(command.file)}",
        "" if command.between else ANYWHERE,
        _written_options(command),
        TRUSTED if command.trusted else "",
    )


def read_scatter(words: Words, context: Context) -> ScatterLine:
    """SCATTER."""
    node = node_name(words)
    file = _plain_file(words, "Missing list file", _AS_IT_IS)
    pattern = _pattern(words)
    submit = _plain_file(words, "Missing submit description", _OF_ITEM)
    if submit == "{":
        hint = "name a submit file, or one of a SUBMIT-DESCRIPTION"
        raise LineError("Submit description '{' can't be inline", words, hint=hint)
    found = ScatterLine(context.lines.number, node, file, pattern, submit)
    while True:
        word = words.next()
        option = normal(word)
        if not word:
            return found
        if option == "DIR":
            directory = _plain_file(words, "DIR missing its directory", _OF_ITEM)
            found = found._replace(directory=directory)
        elif option == "PREFIX":
            found = found._replace(prefix=_prefix(words))
        elif option == "RETRY":
            retries = number_alone(
                words, "RETRY missing its number", "Invalid RETRY number '{}'", 0
            )
            found = found._replace(retries=retries)
        elif option == "VARS":
            return found._replace(pairs=_pairs(words, pattern))
        else:
            unexpected(word, words, *_SCATTER)


def _plain_file(words: Words, missing: str, hint: str) -> str:
    """The name of a file or directory, in which nothing is replaced."""
    word = needed_file(words, missing)
    if "$(" in word or PLACE.search(word):
        raise LineError(f"The name '{word}' can't have macros", words, hint=hint)
    return word


def _pattern(words: Words) -> str:
    """The pattern of names of a SCATTER."""
    pattern = needed(words, "Missing pattern of the nodes' names")
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


def _refuse_many_words(pattern: str, text: str, words: Words) -> None:
    """A line of several words gives no name where {item}, all of it, is in the pattern."""
    several = next((one for one in PLACE.findall(text) if one.isdigit() and one != "1"), "")
    if several and "{item}" in pattern:
        hint = "{item} in the pattern is the whole line, and names have no blanks: "
        message = f"{{{several}}} asks for several words in a line"
        raise LineError(message, words, hint=hint + "use {1} or {number} in the pattern")


def write_scatter(command: ScatterLine) -> str:
    """SCATTER."""
    pairs = " ".join(f"{key}={value}" for key, value in command.pairs)
    return joined(
        f"SCATTER {name_word(command.node)} {file_word(command.file)}"
        f" {name_word(command.pattern)} {file_word(command.submit)}",
        _written_options(command),
        f"RETRY {command.retries}" if command.retries else "",
        f"VARS {pairs}" if pairs else "",
    )


def _written_options(command: ExtendLine | ScatterLine) -> str:
    directory = f"DIR {file_word(command.directory)}" if command.directory else ""
    if command.prefix is None:
        return directory
    return joined(directory, f"PREFIX {name_word(command.prefix) if command.prefix else 'NONE'}")


def _prefix(words: Words) -> str:
    """NONE stands for ''."""
    word = needed(words, "PREFIX missing its text")
    if _NO_NAME.search(word):
        hint = "expected what can stand in a node's name: no blanks, quotes or backslashes"
        raise LineError(f"Invalid prefix {word}", words, hint=hint)
    return "" if word.upper() == "NONE" else word


def _pairs(words: Words, pattern: str) -> tuple[tuple[str, str], ...]:
    """The rest of the line."""
    pairs: dict[str, str] = {}
    while True:
        word = words.next()
        if not word:
            break
        key, value = _pair(word, words)
        _check_value(value, words)
        _refuse_many_words(pattern, value, words)
        pairs[key] = value
    if not pairs:
        raise LineError("VARS missing its variables", words)
    return tuple(pairs.items())


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


def read_let_go(words: Words, context: Context) -> LetGoLine:
    """LET_GO."""
    what = ("number of a piece", "number of nodes", "number of a feeding", "number of nodes fed")
    numbers = [number_alone(words, f"Missing {one}", f"Invalid {one} '{{}}'", 0) for one in what]
    word = words.next()
    last = normal(word) == LAST
    if last:
        word = words.next()
    adders: list[str] = []
    if normal(word) == "BY":
        adders.append(node_name(words))
        word = words.next()
        while word:
            adders.append(word)
            word = words.next()
        if adders[-1] == _NO_NODE:
            adders.pop()
    if word:
        unexpected(word, words, LAST, "BY")
    number, nodes, fed, fed_nodes = numbers
    return LetGoLine(context.lines.number, number, nodes, fed, fed_nodes, last, tuple(adders))


def write_let_go(command: LetGoLine) -> str:
    """LET_GO."""
    names = list(map(node_word, command.adders))
    if names and names[-1][-1] in "\\\v\f":  # what joins lines, or is cut off their ends
        names.append(_NO_NODE)
    return joined(
        f"LET_GO {command.number} {command.nodes} {command.fed} {command.fed_nodes}",
        LAST if command.last else "",
        f"BY {' '.join(names)}" if names else "",
    )


LANGUAGE = (
    extension(
        "EXTEND <node> <dag file> [BETWEEN|ANYWHERE] [DIR <directory>] [PREFIX <prefix>] [TRUSTED]",
        "A DAG file that the node writes, and that is added to the DAG when it has ended well.",
        after="BRAKE",
    ),
    extension(
        "SCATTER <node> <list file> <name pattern> <submit description> [DIR <directory>]"
        " [PREFIX <prefix>] [RETRY <n>] [VARS <key>=<value> ...]",
        "A node for each line of a file that the node writes, added when it has ended well.",
        after="EXTEND",
    ),
    extension(
        "GROWN <number> <digest>",
        "What had been added to the DAG while it ran; only in a rescue file.",
        after="FEEDER",
    ),
    extension(
        "LET_GO <piece> <nodes> <feeding> <nodes fed> [LAST] [BY <node> ...]",
        "How much of that is done and has been let go; only in a rescue file.",
        after="GROWN",
    ),
)
SYNTAX = (
    Syntax("EXTEND", ExtendLine, read_extend, write_extend),
    Syntax("SCATTER", ScatterLine, read_scatter, write_scatter),
    fixed(
        "GROWN",
        GrownLine,
        whole_number("Missing number of the piece", "Invalid number of the piece '{}'", 1),
        name("Missing digest of the piece"),
    ),
    Syntax("LET_GO", LetGoLine, read_let_go, write_let_go),
)
