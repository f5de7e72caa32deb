"""What a placement waits for, in the worker's log: a line when it begins, and one when it is over.

`condor_pydagman explain` and `watch` read them (`follow.notices.data_waits`).
"""

from __future__ import annotations

import time
from collections.abc import Callable

from condor_pydagman.words import duration


class Wait:
    """One placement's, for one thing after the other; `say` adds a line to the log."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._text = ""
        self._since = 0.0

    def begins(self, text: str) -> None:
        """It waits for that from now on, and for nothing else."""
        if text != self._text:
            self.over()
            self._text, self._since = text, time.monotonic()
            self._say(f"waits for {text}")

    def over(self) -> None:
        """It waits no more."""
        if self._text:
            waited = duration(time.monotonic() - self._since)
            self._say(f"has waited {waited} for {self._text}")
            self._text = ""
