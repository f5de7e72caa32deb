"""Text in pictures: safe for XML whatever it holds, short enough, and about how wide it is."""

from __future__ import annotations

import re

from condor_pydagman.printable import printable

_MARKUP = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"}
_SPECIAL = re.compile("[&<>\"']")

# Widths in em of a common sans-serif font, on the wide side so that text never leaves its box.
_NARROW = frozenset("iljI.,:;|!'`()[]{}/\\ ")
_HALF = frozenset('ftr-"*°·')
_WIDE = frozenset("mwMWQO@%…→—#&+=<>~")


def plain(text: str, limit: int = 1000) -> str:
    """The text as `printable` has it, so that XML takes it, cut to at most `limit` characters."""
    text = printable(text[: limit + 1])
    return text if len(text) <= limit else text[: limit - 1] + "…"


def escaped(text: str) -> str:
    """`plain` text as the content of an element or attribute."""
    return _SPECIAL.sub(lambda match: _MARKUP[match[0]], text)


def shortened(text: str, limit: int) -> str:
    """At most `limit` characters, both ends kept: names differ at either."""
    text, tail = printable(text), (limit - 1) // 2
    return text if len(text) <= limit else f"{text[: limit - 1 - tail]}…{text[len(text) - tail :]}"


def width(text: str, size: float) -> float:
    """About how wide the text is in a sans-serif font of that size, in the size's unit."""
    total = 0.0
    for character in text:
        if character in _NARROW:
            total += 0.36
        elif character in _HALF:
            total += 0.44
        elif character in _WIDE:
            total += 0.9
        elif character.isupper():
            total += 0.72
        elif character < "\u2000":
            total += 0.62
        else:
            total += 1.05
    return total * size


def number(value: int) -> str:
    """1234567 as `1,234,567`."""
    return f"{value:,}"


def tenths(value: float) -> str:
    """A number with at most one digit after the point."""
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text
