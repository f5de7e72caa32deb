"""Copies in processes that are killed; a program, so that nothing of a test run is forked.

Called with a source and a destination; then each line of the input is the number of a step, and is
answered by "killed" or "done".  A step is a line of `placement/` that the copy comes to: the
process is killed by SIGKILL when it comes to the one of that number.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from types import FrameType
from typing import Any

from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.data_requests.urls import parse_url
from condor_pydagman.placement.direct_way import DirectWay
from condor_pydagman.placement.endpoints import (
    http_files,  # noqa: F401  # imported before the steps are counted
)
from condor_pydagman.placement.way import Progress, Surroundings
from tests.waiting import LIMIT_S

PLACE = f"condor_pydagman{os.sep}placement{os.sep}"


def kill_at(step: int) -> None:
    """Let this process be killed at a step."""
    left = step

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        if PLACE not in frame.f_code.co_filename:
            return None
        if event == "line":
            left -= 1
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def copy(source: str, destination: str, checksum: str) -> None:
    transfer = Transfer(parse_url(source), parse_url(destination), checksum=checksum)
    around = Surroundings(Settings(stall_timeout_s=LIMIT_S), {}, "/", lambda text: None)
    DirectWay().perform(transfer, around, Progress(threading.Event()))


def main(source: str, destination: str, checksum: str) -> None:
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            kill_at(int(line))
            copy(source, destination, checksum)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        print("killed" if killed else "done" if not status else f"failed {status}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
