"""How option words are compared, and suggestions for unknown ones: the nearest option."""

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


def one_spelling(word: str) -> str:
    """An option word as all its spellings have it: one or two dashes, any case, `-` or `_`."""
    return word.lstrip("-").lower().replace("-", "_")


def _bare(word: str) -> str:
    return one_spelling(word.partition("=")[0])
