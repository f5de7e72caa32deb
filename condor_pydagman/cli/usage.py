"""How much of its usage a command prints: all of it if it is given nothing, else a hint.

The stock tools print their whole usage after a wrong option, and the error message is lost in it.
"""

from __future__ import annotations

from typing import TextIO


def usage(text: str, command: str, *, given: bool) -> str:
    """The usage `text`, or if some arguments are `given`, a hint at it."""
    return f"{command} -help shows all options" if given else text.rstrip("\n")


def person_reads(stream: TextIO | None) -> bool:
    """Whether what is written there is shown on a terminal."""
    return stream is not None and not stream.closed and stream.isatty()
