"""SiteEnvironment: variables that a site gives to the jobs and scripts of its groups.

Both forms of HTCondor's submit command `environment` are read (man page condor_submit): `A=1;B=2`,
and, between blanks, `A=1 B='x y'`, as it stands within double quotes there.
"""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_MAX = 500  # variables
_REFUSED = re.compile("[\\0\\n\\r]")  # the schedd takes no attribute that has one


def parse_environment(text: str) -> dict[str, str]:
    """The variables; what is none is left out."""
    found = {}
    for piece in _pieces(text)[:_MAX]:
        if _is_variable(piece):
            name, _, value = piece.partition("=")
            found[name] = value
    return found


def left_out(text: str) -> list[str]:
    """What is no variable, and those that are too many."""
    pieces = _pieces(text)
    return [one for one in pieces[:_MAX] if not _is_variable(one)] + pieces[_MAX:]


def _pieces(text: str) -> list[str]:
    by_semicolon = ";" in text or " " not in text.strip()
    pieces = map(str.strip, text.split(";")) if by_semicolon else _words(text)
    return [one for one in pieces if one]


def _is_variable(piece: str) -> bool:
    name, equals, value = piece.partition("=")
    return bool(equals and _NAME.fullmatch(name) and not _REFUSED.search(value))


def _words(text: str) -> list[str]:
    """Words between blanks; a part in single quotes may have blanks, and '' is one quote."""
    words, word, quoted, position = [], "", False, 0
    while position < len(text):
        character = text[position]
        position += 1
        if character == "'":
            if quoted and text[position : position + 1] == "'":
                word += "'"
                position += 1
            else:
                quoted = not quoted
        elif character in " \t\n" and not quoted:
            words.append(word)
            word = ""
        else:
            word += character
    return [one for one in (*words, word) if one]
