"""Lines of one kind with nothing but single blanks between their words, read without groups.

Programs write all lines of a kind in one form.  To cut such lines at every blank takes a quarter of
the time of a regular expression that takes words out of them.  Whatever is not as plain as that is
left to the regular expressions of `bulk`: None does not mean that a line is wrong.

A text has a line feed before each of its lines and none after the last one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import product

from condor_pydagman.named_tuple import NamedTuple

MAX_CHILDREN = 8  # of a PARENT line
MAX_PAIRS = 50  # of a VARS line, as in `bulk`

_PLAIN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:/,%$()- \n"
_NAME = r"[A-Za-z0-9_.:/,%$()-]+"
_VALUE = r'"[ !#-\[\]-~]*"'
_FIRST_VARS = re.compile(
    rf"\nVARS {_NAME}((?: \+?[A-PR-Za-pr-z_][A-Za-z0-9_]*={_VALUE}){{1,{MAX_PAIRS}}})(?=\n|\Z)"
)
_KEY = re.compile(rf" (\+?[A-Za-z_][A-Za-z0-9_]*=){_VALUE}")


class Edges(NamedTuple):
    """PARENT lines with as many children each.

    Attributes:
        parents: the parent of each line.
        children: the first child of each line, the second child of each, and so on.
    """

    parents: Sequence[str]
    children: Sequence[Sequence[str]]


def jobs(text: str, lines: int) -> tuple[list[str], list[str]] | None:
    """Names and submit files of JOB lines, if they are all of the text."""
    if ".condor.sub" in text:
        return None
    words = _words("JOB", text, lines, 3)
    if words is None or not _forms_of("PARENT", "CHILD", "ALL_NODES", "ALL-NODES").isdisjoint(
        words[2::3]
    ):
        return None
    return words[2::3], words[3::3]


def edges(text: str, lines: int) -> Edges | None:
    """The PARENT lines, if they are all of the text, and have as many children each."""
    width = text[1 : text.find("\n", 1) if lines > 1 else len(text)].count(" ") + 1
    if not 4 <= width <= 3 + MAX_CHILDREN:
        return None
    words = _words("PARENT", text, lines, width)
    if words is None or words[3::width].count("CHILD") != lines:
        return None
    names = [words[2::width], *(words[place::width] for place in range(4, width + 1))]
    if text.upper().count("CHILD") != lines and not all(map(_forms_of("CHILD").isdisjoint, names)):
        return None
    return Edges(names[0], names[1:])


def variables(text: str, lines: int) -> list[tuple[str, str]] | None:
    """Node and pairs of VARS lines, if they are all of the text, and all have the same keys."""
    first = _FIRST_VARS.match(text)
    if first is None:
        return None
    rows = _same_keys(tuple(_KEY.findall(first[1]))).findall(text)
    return rows if len(rows) == lines else None


@lru_cache(maxsize=64)
def _same_keys(keys: tuple[str, ...]) -> re.Pattern[str]:
    pairs = " ".join(re.escape(key) + _VALUE for key in keys)
    return re.compile(rf"\nVARS ({_NAME}) ({pairs})(?=\n|\Z)")


def _words(word: str, text: str, lines: int, width: int) -> list[str] | None:
    """The words of lines that begin with `word` and have `width` words.

    The first is empty; `word` is replaced by a line feed, so that each stands where it should.
    """
    if not text.isascii() or text.encode("ascii").translate(None, _PLAIN):
        return None
    spaced = text.replace(f"\n{word} ", " \n ")
    if "  " in spaced or spaced[-1] == " ":  # a word would be empty
        return None
    words = spaced.split(" ")
    if len(words) != width * lines + 1 or words[1::width].count("\n") != lines:
        return None
    return words


@cache
def _forms_of(*words: str) -> frozenset[str]:
    """The words in each mixture of small and capital letters."""
    return frozenset(
        "".join(letters)
        for word in words
        for letters in product(*({letter, letter.lower()} for letter in word))
    )
