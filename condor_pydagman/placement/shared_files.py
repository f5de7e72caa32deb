"""Files of directories that one process of a worker lists, for all of its processes.

All have the same socket: who lists puts files into it while there is room, and who has nothing else
to do takes one.  The kernel tells its end, also if a process is killed.
"""

from __future__ import annotations

import json
import select
import socket
from typing import Any

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.urls import Url

_MAX_BYTES = 1 << 20  # of one file: more than the system takes


class SharedFiles:
    """The socket; made before the processes, each of which closes what it needs no more."""

    def __init__(self) -> None:
        self._in, self._out = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._in.setblocking(False)
        self._out.setblocking(False)
        self.is_over = False  # whether `take` has come to the end

    def give(self, number: int, file: Transfer, seconds: float) -> bool:
        """Put a file in, and the number of its request; False if there is no room for so long.

        Raises:
            Fault: there is never room for it.
        """
        data = json.dumps((number, file)).encode()
        try:
            select.select((), (self._in,), (), seconds)
            self._in.send(data)
        except BlockingIOError:
            return False
        except OSError as error:
            raise Fault(FaultKind.REQUEST, f"{file.source}: {error.strerror}") from None
        return True

    def take(self) -> tuple[int, Transfer] | None:
        """The number of a request and a file of it; None if there is none now."""
        try:
            data = self._out.recv(_MAX_BYTES)
        except BlockingIOError:
            return None
        if not data:
            self.is_over = True
            return None
        number, (source, destination, *rest) = json.loads(data)
        return number, Transfer(Url(*source), Url(*destination), *map(_with_tuples, rest))

    def end_giving(self) -> None:
        """This process puts no more in."""
        self._in.close()

    def close(self) -> None:
        """This process neither gives nor takes."""
        self._in.close()
        self._out.close()


def _with_tuples(value: Any) -> Any:
    """What JSON made a list of was a tuple."""
    return tuple(map(_with_tuples, value)) if isinstance(value, list) else value
