"""Suggestions for unknown options: the nearest option.

The stock tools print their whole usage, and so do ours where a program reads; on a terminal the
error message would scroll away.
"""

from __future__ import annotations

from collections.abc import Iterable

from condor_pydagman.errors import UsageError

MIN_PREFIX_LENGTH = 3  # characters for a prefix to count as an abbreviation


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
    if not near or len(bare) < MIN_PREFIX_LENGTH:
        near = difflib.get_close_matches(bare, list(words), 1, 0.65)
    return words[near[0]] if near else ""


def _bare(word: str) -> str:
    return word.lstrip("-").partition("=")[0].lower()
