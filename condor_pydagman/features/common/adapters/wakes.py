"""DAGMans of an access point wake each other, so that who waits need not look again and again.

Addresses are in the abstract name space of sockets: nothing is left to be removed, and one at which
nobody hears any more is known to be so.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
from collections.abc import Iterable

from condor_pydagman.named_tuple import NamedTuple

_MAX_ADDRESS = 32  # characters that count: others may have written them


class Line(NamedTuple):
    """What is waited for; `name` tells its addresses from those of others."""

    name: str

    def wake(self, addresses: Iterable[str]) -> None:
        """Wake those who wait at these addresses."""
        with _socket() as out:
            for one in addresses:
                with contextlib.suppress(OSError):  # nobody is there, or it has been told already
                    out.sendto(b"", self._path(one))

    def is_heard(self, address: str) -> bool:
        """Whether there is somebody who could be woken."""
        try:
            with _socket() as out:
                out.connect(self._path(address))
                return True
        except OSError:
            return False

    def _path(self, address: str) -> bytes:
        return f"\0condor_pydagman-{self.name}-{address[:_MAX_ADDRESS]}".encode("ascii", "replace")


class Waker:
    """Is woken by others."""

    def __init__(self, line: Line) -> None:
        self.address = os.urandom(8).hex()  # where; nobody can foresee it
        self._socket = _socket()
        self._socket.bind(line._path(self.address))

    def begin(self, epoll: select.epoll) -> None:
        """Have it become readable when somebody wakes us."""
        epoll.register(self._socket.fileno(), select.EPOLLIN)

    def was_woken(self) -> bool:
        """Whether somebody has, since the last call."""
        heard = False
        with contextlib.suppress(OSError):
            for _ in range(100):
                self._socket.recv(1)
                heard = True
        return heard

    def end(self, epoll: select.epoll) -> None:
        """Hear nobody any more."""
        if self._socket.fileno() >= 0:
            epoll.unregister(self._socket.fileno())
            self.close()

    def close(self) -> None:
        """As `end`, if nothing has begun."""
        self._socket.close()


def _socket() -> socket.socket:
    return socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
