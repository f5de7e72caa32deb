"""What is said of a file by its name: its size, its age, its name as people see it."""

from __future__ import annotations

import os


def size_of(path: str) -> int:
    """Size of a file, bytes; 0 if there is none."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def changed_at(path: str) -> float:
    """When a file was changed last, seconds since the epoch; 0.0 if there is none."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def shown(path: str) -> str:
    """A path relative to here, if it is below."""
    try:
        relative = os.path.relpath(path)
    except FileNotFoundError:  # the working directory has been removed
        relative = ".."
    return os.path.normpath(path) if relative.startswith("..") else relative
