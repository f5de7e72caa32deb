"""What a condition comes to, by HTCondor's own ClassAds.

It is evaluated in a process of its own (`features.run_if.helper`), since an expression of a user
may take any time and memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import classad2

from condor_pydagman.adapters.classad_values import literal
from condor_pydagman.adapters.descriptions import BINDINGS, reason_of

TRUE, FALSE, UNKNOWN = 1, 0, -1
MAX_SHOWN = 8  # values
MAX_SHOWN_CHARACTERS = 60  # of one value
_MAX_KEPT = 256  # expressions, read
_MAX_KEPT_CHARACTERS = 500  # of one of them: what is kept is memory that others can't have


def evaluate(expression: str, ad: str, shown: Sequence[Sequence[str]]) -> tuple[int, str]:
    """What an expression comes to in an ad (TRUE, FALSE, UNKNOWN), and by which values.

    `shown` are parts of the expression, as people know them and as they are in it.
    """
    try:
        whole = classad2.ClassAd(ad)
        value = _expression(expression).eval(whole)
    except (classad2.ClassAdException, *BINDINGS) as error:
        return UNKNOWN, f"it can't be read: {reason_of(error)}"
    by = _shown(whole, shown)
    if isinstance(value, bool):
        return (TRUE if value else FALSE), by
    written = literal(value) or ("an error" if isinstance(value, classad2.Value) else "no value")
    return UNKNOWN, f"it is {written[:MAX_SHOWN_CHARACTERS]}, not true or false" + (
        f"; {by}" if by else ""
    )


def _expression(text: str) -> Any:
    """An expression that has been read, which takes longer than to evaluate it.  Nodes of one kind
    have the same one: names of parents are replaced."""
    return _kept(text) if len(text) <= _MAX_KEPT_CHARACTERS else _read(text)


def _read(text: str) -> Any:
    return classad2.ExprTree(f"({text}\n)")  # a remark may end it


_kept = lru_cache(_MAX_KEPT)(_read)


def _shown(ad: object, shown: Sequence[Sequence[str]]) -> str:
    parts = []
    for name, inside in shown[:MAX_SHOWN]:
        try:
            found = _expression(inside).eval(ad)
            if isinstance(found, list):  # real("NaN") in one is an expression yet
                found = [getattr(one, "eval", lambda one=one: one)() for one in found]
            value = literal(found)
        except (classad2.ClassAdException, *BINDINGS):
            value = None
        parts.append(f"{name} is {(value or 'an error')[:MAX_SHOWN_CHARACTERS]}")
    return ", ".join(parts)
