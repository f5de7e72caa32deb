"""Works around an error in the bindings' reference counting of None.

Each `Schedd.submit` of the bindings (25.14), and some calls of `Schedd.act`, release one reference
to None too many.  Python before 3.12 starts with about 5,000 references to None, and aborts the
process when the count is 0: a DAG of so many jobs would never end.
"""

from __future__ import annotations

import ctypes
import sys

EXTRA_REFERENCES = 1 << 30  # more than the bindings can release


def keep_none_alive() -> None:
    """Add EXTRA_REFERENCES to None's reference count; from Python 3.12 on None is immortal."""
    if sys.version_info >= (3, 12) or sys.getrefcount(None) >= EXTRA_REFERENCES:
        return
    count = ctypes.c_ssize_t.from_address(id(None))  # the first field of every object
    # A Python that is built for debugging has other fields before it.
    if abs(count.value - sys.getrefcount(None)) < 100:
        count.value += EXTRA_REFERENCES
