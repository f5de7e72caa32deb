"""Connections to the server: none of another user, not too many, and none that asks for nothing.

aiohttp waits for the first request of a connection as long as it takes.  So anybody on this machine
could open connections until the server has no file descriptors left.
"""

from __future__ import annotations

import asyncio
from typing import Callable

from condor_pydagman.web.access import Refused, check_peer

MAX_CONNECTIONS = 250  # browsers have up to six for each tab
FIRST_REQUEST_S = 20.0


class Connections:
    """Makes the protocol of each connection.

    Args:
        serve: makes what answers requests.
        has_asked: whether a connection has had a request that was not refused as another user's.
    """

    def __init__(
        self,
        serve: Callable[[], asyncio.Protocol],
        has_asked: Callable[[asyncio.BaseTransport], bool],
    ) -> None:
        self._serve, self._has_asked = serve, has_asked
        self._count = 0

    def __call__(self) -> asyncio.Protocol:
        """For one connection."""
        return _Connection(self)

    def begin(self, transport: asyncio.Transport) -> asyncio.Protocol | None:
        """What serves a connection that has just come; None if it is not wanted."""
        peer, own = (transport.get_extra_info(end) for end in ("peername", "sockname"))
        if not peer or not own or self._count >= MAX_CONNECTIONS:
            return None
        try:
            check_peer(peer[:2], own[:2])
        except Refused:
            return None
        self._count += 1
        asyncio.get_running_loop().call_later(FIRST_REQUEST_S, self._end_silent, transport)
        return self._serve()

    def end(self) -> None:
        """One that had begun is over."""
        self._count -= 1

    def _end_silent(self, transport: asyncio.Transport) -> None:
        if not self._has_asked(transport):
            transport.abort()


class _Connection(asyncio.Protocol):
    """Hands on what happens, if the connection is wanted."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._served: asyncio.Protocol | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._served = self._connections.begin(transport)
        if self._served is None:
            transport.abort()
        else:
            self._served.connection_made(transport)

    def connection_lost(self, error: Exception | None) -> None:
        if self._served is not None:
            self._connections.end()
            self._served.connection_lost(error)

    def data_received(self, data: bytes) -> None:
        if self._served is not None:
            self._served.data_received(data)

    def eof_received(self) -> bool | None:
        return self._served.eof_received() if self._served is not None else None

    def pause_writing(self) -> None:
        if self._served is not None:
            self._served.pause_writing()

    def resume_writing(self) -> None:
        if self._served is not None:
            self._served.resume_writing()
