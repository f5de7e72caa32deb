"""Definitions of shared limits, as the administrator's knob and a user's file have them.

    production = JOBS 1000 IDLE 200 PRE 50 POST 50 STARTS-PER-MINUTE 600
    tape = JOBS 20

One definition in a line, or several with semicolons between them; # begins a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum

from condor_pydagman.errors import ConfigError
from condor_pydagman.named_tuple import NamedTuple

MAX_NUMBER = 10**7
RESTART = "*restart*"  # stands for the pace of PRE scripts of all DAGs after a restart
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_OWN = "~"


class Kind(IntEnum):
    """What a limit can be about."""

    JOBS = 0  # nodes that have jobs in the queue
    IDLE = 1  # their idle procs
    PRE = 2  # PRE scripts that run
    POST = 3  # POST scripts that run
    STARTS = 4  # nodes submitted in a minute


# Kinds of which places are taken and given back; a start is used up.
PLACES = (Kind.JOBS, Kind.IDLE, Kind.PRE, Kind.POST)
WORDS = {
    "JOBS": Kind.JOBS,
    "IDLE": Kind.IDLE,
    "PRE": Kind.PRE,
    "POST": Kind.POST,
    "STARTS-PER-MINUTE": Kind.STARTS,
}
WORD_OF = {kind: word for word, kind in WORDS.items()}


class Limit(NamedTuple):
    """A limit."""

    name: str  # as it is written
    most: Mapping[Kind, int]  # by kind, how many there may be
    own: bool = False  # whether it is a user's own, over that user's DAGs alone

    @property
    def key(self) -> str:
        """What tells it from all others of the access point, or of its user."""
        return (_OWN if self.own else "") + self.name.lower()


def is_own(key: str) -> bool:
    """Whether it is the key of a user's own limit."""
    return key.startswith(_OWN)


def parse(text: str, place: str, *, own: bool = False) -> list[Limit]:
    """The limits that a text defines.

    Args:
        text: the value of the knob, or the contents of the file.
        place: where it stands, for messages.
        own: whether they are a user's own.

    Raises:
        ConfigError: it has mistakes; all of them are told.
    """
    limits: list[Limit] = []
    mistakes = []
    for line in statements(text):
        try:
            limit = _limit(line, own)
        except ValueError as error:
            mistakes.append(f"{' '.join(line.split())}: {error}")
            continue
        if any(one.key == limit.key for one in limits):
            mistakes.append(f"{limit.name} is defined twice")
        limits.append(limit)
    if mistakes:
        form = "expected NAME = JOBS <n> IDLE <n> PRE <n> POST <n> STARTS-PER-MINUTE <n>"
        raise ConfigError(f"{place}: {'; '.join(mistakes)} ({form}; one of them at least)")
    return limits


def statements(text: str) -> Iterator[str]:
    """The definitions in a text, or the rules."""
    parts = re.split(r"[;\n]", re.sub(r"#[^\n]*", "", text))
    return (part for part in parts if part.strip())


def _limit(line: str, own: bool) -> Limit:
    name, equals, rest = (part.strip() for part in line.partition("="))
    if not equals:
        raise ValueError("there is no '='")
    if not _NAME.fullmatch(name):
        raise ValueError(f"'{name}' can't be a name: letters, digits, '_', '-' and '.', 64 at most")
    words = rest.split()
    if not words or len(words) % 2:
        raise ValueError("each of JOBS, IDLE, ... needs a number after it")
    most: dict[Kind, int] = {}
    for word, number in zip(words[::2], words[1::2]):
        kind = WORDS.get(word.upper().replace("_", "-"))
        if kind is None:
            raise ValueError(f"'{word}' is none of {', '.join(WORDS)}")
        if kind in most:
            raise ValueError(f"{word} is there twice")
        most[kind] = _number(word, number)
    return Limit(name, most, own)


def _number(word: str, text: str) -> int:
    if not re.fullmatch("[0-9]{1,9}", text) or not 1 <= int(text) <= MAX_NUMBER:
        raise ValueError(
            f"{word} {text}: expected a number from 1 to {MAX_NUMBER}; without {word} there is no"
            " limit of it"
        )
    return int(text)


def together(shared: Iterable[Limit], own: Iterable[Limit]) -> dict[str, Limit]:
    """All limits by the name that DAG files know, in lower case.

    A user's own does not replace one of the access point.
    """
    found = {limit.name.lower(): limit for limit in own}
    found.update({limit.name.lower(): limit for limit in shared})
    return found


def unknown(name: str, limits: Mapping[str, Limit], places: str) -> str:
    """The message about a name that no limit has.

    Args:
        name: what the DAG file says.
        limits: those that there are.
        places: where limits are defined.
    """
    if not limits:
        none = "no limit is defined; limits are defined by"
        return f"SHARED_LIMIT {name}: {none} {places} (docs/limits.md)"
    import difflib  # imported late: most names are right

    names = ", ".join(sorted(limit.name for limit in limits.values()))
    near = difflib.get_close_matches(name.lower(), list(limits), 1, 0.6)
    hint = f"; did you mean {limits[near[0]].name}?" if near else ""
    return f"SHARED_LIMIT {name}: no such limit; the limits are {names} (defined by {places}){hint}"


def shown(limit: Limit) -> str:
    """A limit as it is defined."""
    return " ".join(f"{WORD_OF[kind]} {limit.most[kind]}" for kind in sorted(limit.most))
