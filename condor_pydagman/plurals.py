"""Numbers of things in sentences: `1 node`, `12,345 nodes`."""

from __future__ import annotations


def number_of(count: int, noun: str) -> str:
    """`1 node`, `2 nodes`, `12,345 nodes`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def does(count: int, verb: str) -> str:
    """The verb for so many things: `waits`, `wait`; `is`, `are`."""
    if verb == "be":
        return "is" if count == 1 else "are"
    return f"{verb}s" if count == 1 else verb
