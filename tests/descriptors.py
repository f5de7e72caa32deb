"""The descriptors of the tests' own process."""

from __future__ import annotations

import contextlib
import os
from collections import Counter


def descriptors() -> Counter[str]:
    """How many descriptors lead to each file, pipe and socket.

    What is left open is `descriptors() - before`.  The mere number of descriptors would also
    change by what earlier tests have left and Python closes meanwhile.
    """
    found: Counter[str] = Counter()
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed since
            found[os.readlink(f"/proc/self/fd/{name}")] += 1
    return found
