"""Times for people, in the local time of this machine."""

from __future__ import annotations

import time


def local_text(seconds: float) -> str:
    """Seconds since the epoch, `2026-11-21 11:56:29`."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))
