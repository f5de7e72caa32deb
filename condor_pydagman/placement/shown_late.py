"""What servers have taken and show late: object stores, and what is in front of them, may tell
nothing, or an older size, of a file for some seconds."""

from __future__ import annotations

import time
from collections.abc import Callable

from condor_pydagman.data_requests.urls import Url
from condor_pydagman.placement.waits import Wait
from condor_pydagman.placement.way import Progress, Surroundings

LATE_S = 60.0  # that a server may take to show what it has
FIRST_PAUSE_S = 0.5  # between two looks; each pause is twice the one before


def what_stays_wrong(
    wrong: Callable[[], str], url: Url, surroundings: Surroundings, progress: Progress
) -> str:
    """What is wrong with a file that a server has taken, also after a while; '' if nothing.

    Raises:
        Fault: it can't be looked at, or the worker is to stop.
    """
    reason = wrong()
    if not reason:
        return ""
    wait = Wait(surroundings.say)
    wait.begins(f"{url.server} to show all of {url}")
    pause, end = FIRST_PAUSE_S, time.monotonic() + LATE_S
    while reason and (left := end - time.monotonic()) > 0:
        progress.wait(min(pause, left))
        pause *= 2
        reason = wrong()
    wait.over()
    return reason
