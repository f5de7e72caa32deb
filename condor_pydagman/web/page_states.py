"""The table of states as the page gets it: in its first answer, and as a style sheet.

Both come from `follow.shown_states`, so that the page has no table of its own.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any

from condor_pydagman.follow.shown_states import BAR, LOOKS, paints
from condor_pydagman.picture.style import DASHES

STYLE_SHEET = "states.css"
_PLACE = '<meta name="states" content="">'  # of index.html


def states_of_page() -> dict[str, Any]:
    """Each state by its key, in the order of a bar."""
    return {
        LOOKS[state].key: {
            "word": LOOKS[state].word,
            "meaning": LOOKS[state].meaning,
            "sign": LOOKS[state].sign,
            "counted": LOOKS[state].counted,
        }
        for state in BAR
    }


def with_states(index: str) -> str:
    """The first file of the page, with the table in it."""
    data = escape(json.dumps(states_of_page(), separators=(",", ":")))
    return index.replace(_PLACE, _PLACE.replace('""', f'"{data}"'))


def style_sheet() -> str:
    """The colours of states, --strong of signs and bars, --body of boxes, and dashes of edges."""
    rules = [
        f".{name} {{ --strong: light-dark({paint.strong}, {paint.dark_strong});"
        f" --body: light-dark({paint.body}, {paint.dark_body}) }}"
        for name, paint in paints()
    ]
    rules += [f".edge.{name} {{ {dashes} }}" for name, dashes in DASHES.items()]
    return "\n".join(rules) + "\n"
