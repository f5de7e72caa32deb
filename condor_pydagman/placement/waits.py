"""What a placement waits for, in the worker's log: a line when it begins, and one when it is over.

`condor_pydagman explain` and `watch` read them (`follow.notices.data_waits`).  One thing is what
servers have taken and show late: object stores, and what is in front of them, may tell nothing, or
an older size, of a file for some seconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.urls import Url
from condor_pydagman.placement.way import Progress, Surroundings
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


LATE_S = 60.0  # that a server may take to show what it has
FIRST_PAUSE_S = 0.5  # between two looks; each pause is twice the one before


def what_stays_wrong(
    wrong: Callable[[], str], url: Url, surroundings: Surroundings, progress: Progress
) -> str:
    """What is wrong with a file that a server has taken, also after a while; '' if nothing, or
    nobody may know.

    Raises:
        Fault: it can't be looked at, or the worker is to stop.
    """
    pause, end = FIRST_PAUSE_S, time.monotonic() + LATE_S
    wait = Wait(surroundings.say)
    try:
        while (reason := wrong()) and (left := end - time.monotonic()) > 0:
            wait.begins(f"{url.server} to show all of {url}")
            progress.wait(min(pause, left))
            pause *= 2
    except Fault as fault:
        if fault.kind is FaultKind.DENIED:
            return ""  # who may write there may not be allowed to look
        raise
    finally:
        wait.over()
    return reason
