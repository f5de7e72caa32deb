"""Names, paths and values quoted for the submit language, so that it reads them unchanged.

The language cuts blanks off both ends of a value, takes a backslash at its end for "continued in
the next line", and `$(NAME)` or `$FUNCTION(...)` for a macro.
"""

from __future__ import annotations

import re

NOTHING = "$(DAGMAN_NOTHING:)"  # a macro that is never set, with an empty default
_DOLLAR = "$(DOLLAR)"
_DOLLARS = re.compile(r"\$+")


def literal(text: str) -> str:
    """A path or name as a value: no macro in it is expanded.

    The dollar macro stands for itself only at the end of a run of dollars, and an even number of
    dollars begins no macro.  The one text that has no such form is `$(DOLLAR)` itself.
    """
    if "$" in text:
        text = _DOLLARS.sub(_plain_dollars, text)
    return whole(text)


def attribute(text: str) -> str:
    """A string as the value of an attribute (`MY.NAME`): in the old syntax of ClassAds, where a
    backslash stands for itself unless a quote follows that is not the last."""
    return literal('"' + text.replace('"', '\\"') + '"')


def whole(text: str) -> str:
    """A value whose macros count, kept from its first character to its last."""
    if text.endswith("\\") or text[-1:].isspace():
        text += NOTHING
    return NOTHING + text if text[:1].isspace() else text


def _plain_dollars(run: re.Match[str]) -> str:
    dollars = run[0]
    return dollars[:-1] + _DOLLAR if len(dollars) % 2 else dollars
