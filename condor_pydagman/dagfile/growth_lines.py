"""How lines are read and written that let a DAG grow: EXTEND, SCATTER, FEEDER; and LET_GO, of
rescue files.  All are ours."""

from __future__ import annotations

import re

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.commands import Command
from condor_pydagman.dagfile.growth_commands import FEEDER_RETRIES, FEEDER_TIMEOUT_S
from condor_pydagman.dagfile.lexer import Words
from condor_pydagman.dagfile.line_error import LineError
from condor_pydagman.dagfile.line_parts import (
    Context,
    end,
    needed,
    needed_file,
    node_name,
    normal,
    number_alone,
    unexpected,
)
from condor_pydagman.dagfile.quoting import file_word, joined, name_word
from condor_pydagman.vocabulary import LAST

BETWEEN, ANYWHERE = "BETWEEN", "ANYWHERE"
PLACE = re.compile(r"\{(item|number|[1-9][0-9]?)\}")  # in patterns of SCATTER

_PAIR = re.compile(r"([A-Za-z_][A-Za-z_0-9]{0,99})=(.*)", re.S)
_QUOTED = re.compile(r'"([^"]*)"')  # as VARS has its values
_EXTEND = (BETWEEN, ANYWHERE, "DIR", "PREFIX")
_SCATTER = ("VARS", "DIR", "PREFIX")
_FEEDER = {"BELOW": 1, "AT_MOST": 1, "TIMEOUT": 1, "RETRIES": 0}  # and the lowest value
# Macros of a FEEDER's arguments, as those of scripts.
FEEDER_MACROS = frozenset(
    (
        *("FEEDING", "FED_COUNT", "OPEN_COUNT", "NODE_COUNT", "DONE_COUNT", "QUEUED_COUNT"),
        *("FAILED_COUNT", "FUTILE_COUNT", "DAG_STATUS", "DAGID"),
    )
)


def read_extend(words: Words, context: Context) -> Command:
    """EXTEND."""
    node = node_name(words)
    file = needed_file(words, "Missing DAG file")
    found = commands.ExtendLine(context.lines.number, node, file)
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
        else:
            unexpected(word, words, *_EXTEND)


def write_extend(command: commands.ExtendLine) -> str:
    """EXTEND."""
    return joined(
        f"EXTEND {name_word(command.node)} {file_word(command.file)}",
        "" if command.between else ANYWHERE,
        _written_options(command),
    )


def read_scatter(words: Words, context: Context) -> Command:
    """SCATTER."""
    node = node_name(words)
    file = needed_file(words, "Missing list file")
    pattern = needed(words, "Missing pattern of the nodes' names")
    if not PLACE.search(pattern):
        hint = "expected {item}, {number} or {1}, {2} ... in it, so that names differ"
        raise LineError(f"Pattern '{pattern}' gives all nodes the same name", words, hint=hint)
    submit = needed_file(words, "Missing submit description")
    found = commands.ScatterLine(context.lines.number, node, file, pattern, submit)
    while True:
        word = words.next()
        option = normal(word)
        if not word:
            return found
        if option == "DIR":
            found = found._replace(directory=needed_file(words, "DIR missing its directory"))
        elif option == "PREFIX":
            found = found._replace(prefix=_prefix(words))
        elif option == "VARS":
            return found._replace(pairs=_pairs(words))
        else:
            unexpected(word, words, *_SCATTER)


def write_scatter(command: commands.ScatterLine) -> str:
    """SCATTER."""
    pairs = " ".join(f"{key}={value}" for key, value in command.pairs)
    return joined(
        f"SCATTER {name_word(command.node)} {file_word(command.file)}"
        f" {name_word(command.pattern)} {file_word(command.submit)}",
        _written_options(command),
        f"VARS {pairs}" if pairs else "",
    )


def _written_options(command: commands.ExtendLine | commands.ScatterLine) -> str:
    directory = f"DIR {file_word(command.directory)}" if command.directory else ""
    if command.prefix is None:
        return directory
    return joined(directory, f"PREFIX {name_word(command.prefix) if command.prefix else 'NONE'}")


def _prefix(words: Words) -> str:
    """NONE stands for ''."""
    word = needed(words, "PREFIX missing its text")
    return "" if word.upper() == "NONE" else word


def _pairs(words: Words) -> tuple[tuple[str, str], ...]:
    """The rest of the line."""
    pairs: dict[str, str] = {}
    while True:
        word = words.next()
        if not word:
            break
        found = _PAIR.fullmatch(word)
        if found is None:
            hint = "expected key=value, without blanks; {item} stands for an item of the list"
            raise LineError(f"Invalid variable '{word}'", words, hint=hint)
        quoted = _QUOTED.fullmatch(found[2])
        pairs[found[1]] = quoted[1] if quoted else found[2]
    end(words)
    if not pairs:
        raise LineError("VARS missing its variables", words)
    return tuple(pairs.items())


def read_feeder(words: Words, context: Context) -> Command:
    """FEEDER."""
    found: dict[str, int] = {}
    while True:
        word = needed(words, "Missing PROGRAM of the feeder", ("PROGRAM",))
        key = normal(word)
        left = [option for option in _FEEDER if option not in found]
        if key == "PROGRAM":
            break
        if key not in left:
            unexpected(word, words, *(option.replace("_", "-") for option in left), "PROGRAM")
        shown = key.replace("_", "-")
        missing, invalid = f"{shown} missing its number", f"Invalid {shown} number '{{}}'"
        found[key] = number_alone(words, missing, invalid, _FEEDER[key])
    if "BELOW" not in found:
        hint = "expected BELOW <n>: the program runs when fewer than n nodes have not ended"
        raise LineError("The feeder has no BELOW", words, hint=hint)
    return commands.FeederLine(
        context.lines.number,
        found["BELOW"],
        _program(words),
        found.get("AT_MOST", 0),
        found.get("TIMEOUT", FEEDER_TIMEOUT_S),
        found.get("RETRIES", FEEDER_RETRIES),
    )


def _program(words: Words) -> str:
    """The rest of the line: as of a script, without quotes."""
    program = words.rest().strip()
    if not program:
        raise LineError("PROGRAM missing its path", words)
    for word in program.split():
        if word.startswith("$") and word[1:].upper() not in FEEDER_MACROS:
            known = ", ".join(f"${name}" for name in sorted(FEEDER_MACROS))
            raise LineError(f"Unknown macro '{word}' of a feeder", words, hint=f"known are {known}")
    return program


def write_feeder(command: commands.FeederLine) -> str:
    """FEEDER."""
    return joined(
        f"FEEDER BELOW {command.below}",
        f"AT-MOST {command.at_most}" if command.at_most else "",
        f"TIMEOUT {command.timeout_s}" if command.timeout_s != FEEDER_TIMEOUT_S else "",
        f"RETRIES {command.retries}" if command.retries != FEEDER_RETRIES else "",
        f"PROGRAM {command.program}",
    )


def read_let_go(words: Words, context: Context) -> Command:
    """LET_GO."""
    what = ("number of a piece", "number of nodes", "number of a feeding", "number of nodes fed")
    numbers = [
        checked_number(needed(words, f"Missing {one}"), words, f"Invalid {one} '{{}}'", 0)
        for one in what
    ]
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
    if word:
        unexpected(word, words, LAST, "BY")
    number, nodes, fed, fed_nodes = numbers
    return commands.LetGoLine(
        context.lines.number, number, nodes, fed, fed_nodes, last, tuple(adders)
    )


def write_let_go(command: commands.LetGoLine) -> str:
    """LET_GO."""
    return joined(
        f"LET_GO {command.number} {command.nodes} {command.fed} {command.fed_nodes}",
        LAST if command.last else "",
        f"BY {' '.join(map(name_word, command.adders))}" if command.adders else "",
    )
