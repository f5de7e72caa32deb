"""Removes work orders of DATA nodes that nobody will carry out any more: they may have secrets."""

from __future__ import annotations

import contextlib
import os

SUFFIX = ".order"


def forget(directory: str) -> None:
    """Remove the work orders in a directory, if it is there; what can't be removed stays."""
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.endswith(SUFFIX):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)
