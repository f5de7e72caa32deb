"""The values of a sweep's variable: words of its line, among them ranges.

A range is `first..last` or `first..last..step`, as a shell's braces have it: whole numbers, or
numbers with a decimal point.  Leading zeros and decimal places are kept, so that `001..100` gives
`001`, `002` and so on, and `0.0..1.0..0.25` gives `0.00`, `0.25`, ..., `1.00`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal

_NUMBER = r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?"
_RANGE = re.compile(rf"({_NUMBER})\.\.({_NUMBER})(?:\.\.({_NUMBER}))?")
_LIKE_A_RANGE = re.compile(r"-?[0-9.]*[0-9]\.\.")


def mistake(word: str) -> str:
    """What is wrong with a word that is meant as a range, '' if nothing is."""
    if not _LIKE_A_RANGE.match(word):
        return ""
    found = _RANGE.fullmatch(word)
    if found is None:
        return "a range is first..last or first..last..step, of numbers with 15 digits at most"
    if found[3] is not None and not float(found[3]):
        return "the step of a range can't be 0"
    return ""


def count(word: str) -> int:
    """How many values a good word stands for."""
    found = _RANGE.fullmatch(word)
    if found is None:
        return 1
    first, last, step = _ends(found)
    return int((last - first) / step) + 1 if (last - first) / step >= 0 else 0


def values(word: str) -> Iterator[str]:
    """The values that a good word stands for, in their order."""
    found = _RANGE.fullmatch(word)
    if found is None:
        yield word
        return
    first, _, step = _ends(found)
    places = max(len(end.partition(".")[2]) for end in found.groups("") if end)
    padded = any(re.match("-?0[0-9]", end) for end in found.groups()[:2])
    width = max(map(len, found.groups()[:2])) if padded else 0
    for number in range(count(word)):
        yield f"{first + number * step:.{places}f}".zfill(width)


def _ends(found: re.Match[str]) -> tuple[Decimal, Decimal, Decimal]:
    """First, last, and a step that leads from one to the other."""
    from decimal import Decimal  # imported late: few DAGs have a sweep

    first, last = Decimal(found[1]), Decimal(found[2])
    step = abs(Decimal(found[3] or 1))
    return first, last, step if last >= first else -step
