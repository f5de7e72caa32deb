"""Keeps None alive, which the bindings would use up.

Each `Schedd.submit` of the bindings (25.14), and some calls of `Schedd.act`, take one reference to
None away that is not theirs.  A Python below 3.12 begins with about 5,000 of them, counts, and
aborts the process when none is left: a DAG of so many jobs would never end.
"""

from __future__ import annotations

import ctypes
import sys

PLENTY = 1 << 30  # references, more than the bindings can use up


def keep_none_alive() -> None:
    """Give None so many references that it lives for ever, as it does by itself from 3.12 on."""
    if sys.version_info >= (3, 12) or sys.getrefcount(None) >= PLENTY:
        return
    count = ctypes.c_ssize_t.from_address(id(None))  # the first field of every object
    # A Python that is built for debugging has other fields before it.
    if abs(count.value - sys.getrefcount(None)) < 100:
        count.value += PLENTY
