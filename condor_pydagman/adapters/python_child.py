"""The command line of a Python process of this package."""

from __future__ import annotations

import os
import sys

_OURS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def python_command(statements: str, *words: str) -> list[str]:
    """Words that run `statements`, which may use `sys`; `words` are its sys.argv[1:].

    The process looks for modules where this one does, but not in its working directory, which may
    be that of a DAG of another user: Python puts it first for `-c`, and for people who type.
    """
    places = [*filter(None, sys.path), _OURS]
    return [sys.executable, "-c", f"import sys; sys.path[:] = {places!r}; {statements}", *words]
