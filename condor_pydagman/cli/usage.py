"""How much of its usage a command prints: all of it to a program, a hint on a terminal.

The stock tools print their whole usage after a wrong option, and so do ours where a program reads;
on a terminal the error message would scroll away.
"""

from __future__ import annotations

import sys
from typing import TextIO


def usage(text: str, command: str, *, given: bool) -> str:
    """The usage `text`, or where a person reads it, and has `given` arguments, a hint at it."""
    if given and person_reads(sys.stdout):
        return f"{command} -help shows all options"
    return text.rstrip("\n")


def person_reads(stream: TextIO | None) -> bool:
    """Whether what is written there is shown on a terminal."""
    return stream is not None and not stream.closed and stream.isatty()
