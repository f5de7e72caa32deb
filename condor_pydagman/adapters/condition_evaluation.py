"""What a condition comes to, by HTCondor's own ClassAds.

It is evaluated in a process of its own (`condition_process`), since an expression of a user may
take any time and memory.
"""

from __future__ import annotations

from collections.abc import Sequence

import classad2

from condor_pydagman.adapters.classad_values import literal
from condor_pydagman.adapters.descriptions import BINDINGS, reason_of

TRUE, FALSE, UNKNOWN = 1, 0, -1
MAX_SHOWN = 8  # values
MAX_SHOWN_CHARACTERS = 60  # of one value
_RESULT = "RunIf"


def mistake(expression: str) -> str:
    """Why HTCondor can't read an expression; '' if it can."""
    try:
        classad2.ExprTree(expression)
    except (classad2.ClassAdException, *BINDINGS) as error:
        return reason_of(error)
    return ""


def evaluate(expression: str, ad: str, shown: Sequence[Sequence[str]]) -> tuple[int, str]:
    """What an expression comes to in an ad (TRUE, FALSE, UNKNOWN), and by which values.

    `shown` are parts of the expression, as people know them and as they are in it.
    """
    try:
        # One text: to read it takes longer than to evaluate it.  A remark may end the expression.
        whole = classad2.ClassAd(f"{ad.rstrip()[:-1]};{_RESULT}=({expression}\n)]")
        value = whole.eval(_RESULT)
    except (KeyError, classad2.ClassAdException, *BINDINGS) as error:
        return UNKNOWN, f"it can't be read: {reason_of(error)}"
    by = _shown(whole, shown)
    if isinstance(value, bool):
        return (TRUE if value else FALSE), by
    written = literal(value) or ("an error" if isinstance(value, classad2.Value) else "no value")
    return UNKNOWN, f"it is {written[:MAX_SHOWN_CHARACTERS]}, not true or false" + (
        f"; {by}" if by else ""
    )


def _shown(ad: object, shown: Sequence[Sequence[str]]) -> str:
    parts = []
    for name, inside in shown[:MAX_SHOWN]:
        try:
            value = literal(classad2.ExprTree(inside).eval(ad))
        except (classad2.ClassAdException, *BINDINGS):
            value = None
        parts.append(f"{name} is {(value or 'an error')[:MAX_SHOWN_CHARACTERS]}")
    return ", ".join(parts)
