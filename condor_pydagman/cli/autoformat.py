"""Lists as HTCondor's tools print them: the option `-af:LETTERS ATTRIBUTE ...`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from condor_pydagman.errors import UsageError
from condor_pydagman.language.lexer import quoted
from condor_pydagman.printable import printable

LETTERS = "jlhVr,tng"
_JOB = "job"  # the field that the letter j puts first
_APART = (("l", "h"), (",", "n"), ("h", "n"), ("h", "g"))  # of which a list has only one


class AutoFormat:
    """How the rows of a list are printed.

    Args:
        letters: some of LETTERS.
        fields: the names of the values of a row.
        unknown: stands for what is not known.

    Raises:
        UsageError: there is no such letter, or letters exclude each other.
    """

    def __init__(self, letters: str, fields: Sequence[str], unknown: str = "undefined") -> None:
        for letter in letters:
            if letter not in LETTERS:
                raise UsageError(f"-af has no letter {letter}; those of condor_q are {LETTERS}")
        for one, other in _APART:
            if {one, other} <= set(letters):
                raise UsageError(f"-af takes only one of the letters {one} and {other}")
        self.fields = [_JOB, *fields] if "j" in letters else list(fields)
        self._titles = ["ID", *fields] if "j" in letters else list(fields)
        self._has_heads, self._has_labels = "h" in letters, "l" in letters
        self._text = _expression if set(letters) & set("Vr") else _plain
        blank = "" if "g" in letters else "\t" if "t" in letters else " "
        self._between = ("," if "," in letters else "\n" if "n" in letters else "") + blank
        self._before = "\n" if "g" in letters else ""
        self._unknown = unknown

    def lines(self, rows: Callable[[], Iterable[Sequence[Any]]]) -> Iterator[str]:
        """The text of each row, without an end of line.

        Args:
            rows: makes them; it is called twice if there are heads, for the widths of columns.
        """
        if not self._has_heads:
            yield from (self._before + self._between.join(texts) for texts in self._texts(rows()))
            return
        widths = list(map(len, self._titles))
        for texts in self._texts(rows()):
            widths = list(map(max, widths, map(len, texts)))
        for texts in chain((self._titles,), self._texts(rows())):
            yield self._between.join(map(str.ljust, texts, widths)).rstrip(" ")

    def _texts(self, rows: Iterable[Sequence[Any]]) -> Iterator[list[str]]:
        for row in rows:
            texts = [self._unknown if one is None else self._text(one) for one in row]
            if self._has_labels:
                texts = [f"{title} = {text}" for title, text in zip(self._titles, texts)]
            yield texts


def _plain(value: Any) -> str:
    return printable(value) if isinstance(value, str) else _expression(value)


def _expression(value: Any) -> str:
    """A value as ClassAds write it."""
    if isinstance(value, str):
        return quoted(printable(value))
    if isinstance(value, list):
        return f"{{ {','.join(map(_expression, value))} }}"
    return str(value).lower() if isinstance(value, bool) else repr(value)
