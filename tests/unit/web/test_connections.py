"""Connections that nobody may keep open: silent ones, too many, those of other users."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct

import pytest

from condor_pydagman.web import access, connections
from condor_pydagman.web.connections import Connections
from tests.unit.web.page_client import run


class Echo(asyncio.Protocol):
    """What a server would be: it returns what it gets."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(data)


class Echoing:
    """A server, and connections to it."""

    def __init__(self) -> None:
        self.writers: list[asyncio.StreamWriter] = []
        self.have_asked = False

    def has_asked(self, transport: asyncio.BaseTransport) -> bool:
        return self.have_asked

    async def connect(self) -> asyncio.StreamReader:
        """A new connection, the last of `writers`."""
        reader, writer = await asyncio.open_connection(*self.address)
        self.writers.append(writer)
        return reader

    async def echo(self) -> asyncio.StreamReader:
        """A connection that is served."""
        reader = await self.connect()
        self.writers[-1].write(b"x")
        assert await reader.readexactly(1) == b"x"
        return reader

    async def __aenter__(self) -> Echoing:
        factory = Connections(Echo, self.has_asked)
        self._server = await asyncio.get_running_loop().create_server(factory, "127.0.0.1", 0)
        self.address = self._server.sockets[0].getsockname()[:2]
        return self

    async def __aexit__(self, *error: object) -> None:
        self._server.close()
        for writer in self.writers:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


async def is_ended(reader: asyncio.StreamReader) -> bool:
    """Waits for it."""
    try:
        return await reader.read() == b""
    except ConnectionError:
        return True


def test_a_silent_connection_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "FIRST_REQUEST_S", 0.0)

    async def test() -> None:
        async with Echoing() as server:
            assert await is_ended(await server.connect())
            server.have_asked = True
            await server.echo()
            await server.echo()

    run(test)


def test_more_connections_than_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 2)

    async def test() -> None:
        async with Echoing() as server:
            first = await server.echo()
            await server.echo()
            assert await is_ended(await server.connect())
            server.writers[0].write_eof()
            assert await is_ended(first)
            await server.echo()

    run(test)


def test_another_users_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "owner_of_connection", lambda peer, own: os.getuid() + 1)

    async def test() -> None:
        async with Echoing() as server:
            assert await is_ended(await server.connect())

    run(test)


def test_connections_that_are_reset_at_once() -> None:
    """They are none when the server looks at them; the next one is served."""

    async def test() -> None:
        async with Echoing() as server:
            for _ in range(20):
                with socket.create_connection(server.address) as client:
                    linger = struct.pack("ii", 1, 0)
                    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            await server.echo()

    run(test)
