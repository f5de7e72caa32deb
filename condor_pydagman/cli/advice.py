"""What to tell people who have typed something that is no option: the nearest word, a short hint.

The stock tools answer with their whole usage, and so do ours where a program reads; on a terminal
that would push the message itself out of sight.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TextIO

from condor_pydagman.errors import UsageError

SHORTEST = 3  # characters that are enough to be taken for the beginning of a word


class UnknownOption(UsageError):
    """A word that is no option; `near` is one that may have been meant, with its dash, or ''."""

    def __init__(self, message: str, near: str) -> None:
        super().__init__(message)
        self.near = near


def nearest(typed: str, known: Iterable[str]) -> str:
    """The one of `known` that may have been meant, '' if none is near; dashes before words, letter
    case and what follows a `=` don't count."""
    import difflib  # late: most command lines are right

    words = {_bare(word): word for word in known}
    bare = _bare(typed)
    near = [bare] if bare in words else [word for word in words if word.startswith(bare)]
    if not near or len(bare) < SHORTEST:
        near = difflib.get_close_matches(bare, list(words), 1, 0.65)
    return words[near[0]] if near else ""


def _bare(word: str) -> str:
    return word.lstrip("-").partition("=")[0].lower()


def usage(text: str, command: str, *, given: bool) -> str:
    """The usage `text`, or where a person reads it, and has `given` arguments, a hint at it."""
    if given and person_reads(sys.stdout):
        return f"{command} -help shows all options"
    return text.rstrip("\n")


def person_reads(stream: TextIO | None) -> bool:
    """Whether what is written there is shown on a terminal."""
    return stream is not None and not stream.closed and stream.isatty()
