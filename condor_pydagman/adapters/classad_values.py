"""Values and expressions of ClassAds as they are written in the ClassAd language."""

from __future__ import annotations

import math
from typing import Any

import classad2

from condor_pydagman.adapters.descriptions import BINDINGS, reason_of

MAX_VALUE_BYTES = 500  # of one value, as it is written
MAX_DEPTH = 3  # of lists in lists

_NOT_FINITE = {"nan": 'real("NaN")', "inf": 'real("INF")', "-inf": 'real("-INF")'}
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def literal(value: Any, depth: int = MAX_DEPTH) -> str | None:
    """A value as the ClassAd language has it; None if it has no form that stays the same."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, classad2.Value):  # which is an int as well
        return "undefined" if value in (None, classad2.Value.Undefined) else None
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else _NOT_FINITE[str(value)]
    if isinstance(value, str):
        return '"' + "".join(_ESCAPES.get(c, c if c >= " " else " ") for c in value) + '"'
    if isinstance(value, list) and depth:
        parts = [literal(one, depth - 1) for one in value]
        return None if None in parts else "{" + ",".join(map(str, parts)) + "}"
    return None


def mistake(expression: str) -> str:
    """Why HTCondor can't read an expression; '' if it can."""
    try:
        classad2.ExprTree(expression)
    except (classad2.ClassAdException, *BINDINGS) as error:
        return reason_of(error)
    return ""
