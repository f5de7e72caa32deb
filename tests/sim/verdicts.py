"""The exception of the oracles."""

from __future__ import annotations


class Violation(AssertionError):
    """An oracle objects; the text begins with its number."""


def require(holds: bool, what: str) -> None:
    """Raise Violation unless it holds."""
    if not holds:
        raise Violation(what)
