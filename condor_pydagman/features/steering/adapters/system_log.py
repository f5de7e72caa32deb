"""Lines in the system's log, from a process that waits for nobody."""

from __future__ import annotations

import contextlib
import os
import socket
import syslog

_PLACE = "/dev/log"  # syslog(3) has its socket there, but waits for a daemon that hangs


def tell(text: str) -> None:
    """Give the log a line; it is lost if no daemon takes it at once."""
    priority = syslog.LOG_AUTH | syslog.LOG_NOTICE
    line = f"<{priority}>condor_pydagman[{os.getpid()}]: {text}"
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.setblocking(False)
        log.sendto(line.encode("utf-8", "backslashreplace"), _PLACE)
