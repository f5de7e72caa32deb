"""Which macros a value of a submit description refers to (manual: "Predefined Macros", "Function
Macros").

In some functions words stand for themselves: `$ENV(HOME)` uses no macro HOME.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_OPENING = re.compile(r"(?<!\$)\$(\w*)\(")  # `$$(x)` is an attribute of the machine
_PARENTHESIS = re.compile(r"[()]")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_LITERAL = ("env", "random_choice", "random_integer")
_WHOLE = ("eval", "substr")


def references(value: str, is_set: Callable[[str], bool] = lambda name: False) -> set[str]:
    """Lower-case names of the macros that a value refers to by itself.

    Args:
        is_set: whether a macro has a value; then its default, `$(NAME:DEFAULT)`, is not used.
    """
    found: set[str] = set()
    opening = _OPENING.search(value) if "$" in value else None
    closings = _closings(value) if opening is not None else {}
    while opening is not None:
        place = opening.end()
        function = opening[1].lower()
        inside = value[place : closings.get(place, place)]
        name, colon, _ = inside.partition(":")
        if function:
            found |= _arguments(function, inside)
        elif _NAME.fullmatch(name):
            found.add(name.lower())
            if colon and is_set(name.lower()):
                place += len(inside)
        opening = _OPENING.search(value, place)
    return found


def _arguments(function: str, inside: str) -> set[str]:
    """Names of macros among the arguments of a function, but for what is in `$(...)` there."""
    if function in _LITERAL:
        return set()
    if function in _WHOLE:
        return {name.lower() for name in _NAME.findall(inside)}
    words = [word.strip() for word in inside.split(",")]
    lists = function == "choice" and len(words) == 2  # the second one is the name of a list
    return {word.lower() for word in words[: 2 if lists else 1] if _NAME.fullmatch(word)}


def _closings(value: str) -> dict[int, int]:
    """Where what stands in parentheses ends, by where it begins; what has no end is left out."""
    found, open_now = {}, []
    for parenthesis in _PARENTHESIS.finditer(value):
        if parenthesis[0] == "(":
            open_now.append(parenthesis.end())
        elif open_now:
            found[open_now.pop()] = parenthesis.start()
    return found
