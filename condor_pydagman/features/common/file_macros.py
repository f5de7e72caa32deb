"""Macros in the names of files of CACHE and PUBLISH: `$(JOB)`, and the keys of the node's VARS.

They are written as in a submit description, but there are no defaults and no functions: a name that
is not what its author meant would be told only when the node has run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from condor_pydagman.language.lexer import ITEM_DOLLAR, LineError, Words

_MACRO = re.compile(r"(?<!\$)\$\(([\w.+-]+)\)")
# What begins as a macro does elsewhere: $(x, ${x}, $$(x), $ENV(x), and $JOB as in a SCRIPT line.
_BEGUN = re.compile(r"\$\(|\$\{|\$+\$\(|\$\w+\(|\$(?:JOB|NODE|RETRY)\b", re.IGNORECASE)
_MAX_NESTED = 10  # macros in values of macros
_MAX_LENGTH = 4096
_EXPECTED = "expected $(JOB) or $(key) for a key of the node's VARS, without blanks, : or functions"


def checked_file(word: str, words: Words) -> str:
    """`word`, the name of a file that was read last, if each macro in it is written well.

    Raises:
        LineError: one is not.
    """
    if "$" not in word:
        return word
    found = _BEGUN.search(_MACRO.sub(lambda good: " " * len(good[0]), word))
    if found is None:
        return word
    begun = word[found.start() :]
    hint = f"the ) is missing: {_EXPECTED}" if begun.startswith("$(") and ")" not in begun else ""
    column = max(words.line.find(begun, words.column), words.column)
    raise LineError(
        f"Invalid macro '{begun}' in the name of a file '{word}'",
        words,
        hint=hint or _EXPECTED,
        column=column,
    )


def known_macros(name: str, variables: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The values of a node's macros, by their names in lower case; `name` is the node's full."""
    return {**{key.lower(): value for key, value in variables}, "job": name}


def expanded(text: str, known: Mapping[str, str]) -> str:
    """The text with macros replaced whose names in lower case are known, and those in their values;
    others stay."""
    for _ in range(_MAX_NESTED):
        new = _MACRO.sub(lambda found: known.get(found[1].lower(), found[0]), text)
        if new == text or len(new) > _MAX_LENGTH:
            break
        text = new
    return text.replace(ITEM_DOLLAR, "$")


def unset_macros(text: str) -> list[str]:
    """The names of the macros that are left in an expanded text."""
    return _MACRO.findall(text)
