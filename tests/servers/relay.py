"""A proxy that speaks http (CONNECT, too), socks4, socks4a, socks5 and socks5h, whatever comes.

All hosts are this machine, so names that nobody can look up reach the servers of a test.
"""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import threading
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

_SOCKS4, _SOCKS5 = 4, 5
_NO_CREDENTIALS, _PASSWORD = 0, 2
_NAME, _IPV6 = 3, 4


class Asked(NamedTuple):
    """What a connection was asked for.

    Attributes:
        kind: "CONNECT" or another method of http, "socks4", "socks4a", "socks5" or "socks5h".
        host: name or address.
        user: `user:password` that socks5 was told, or the value of Proxy-Authorization.
    """

    kind: str
    host: str
    port: int
    user: str = ""


class Relay:
    """The proxy.

    Attributes:
        asked: of each connection.
        place: `127.0.0.1:port`.
    """

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.asked: list[Asked] = []
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.place = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Take no more connections."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _run(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                made = self._listener.accept()[0]
                threading.Thread(target=self._serve, args=(made,), daemon=True).start()

    def _serve(self, made: socket.socket) -> None:
        with contextlib.suppress(OSError, EOFError), contextlib.ExitStack() as closing:
            client = closing.enter_context(made)
            if self._tls is not None:
                client = closing.enter_context(self._tls.wrap_socket(made, server_side=True))
            source = closing.enter_context(client.makefile("rb"))
            asked, first = _greet(source, client)
            self.asked.append(asked)
            server = closing.enter_context(socket.create_connection(("127.0.0.1", asked.port)))
            server.sendall(first)
            upwards = threading.Thread(target=_pass_on, args=(source, server), daemon=True)
            upwards.start()
            while data := server.recv(65536):
                client.sendall(data)
            if self._tls is None:
                client.shutdown(socket.SHUT_WR)
            upwards.join()


def _pass_on(source: BinaryIO, server: socket.socket) -> None:
    with contextlib.suppress(OSError, ValueError):
        while data := source.read1(65536):  # type: ignore[attr-defined]
            server.sendall(data)
    with contextlib.suppress(OSError):
        server.shutdown(socket.SHUT_WR)


def _greet(source: BinaryIO, client: socket.socket) -> tuple[Asked, bytes]:
    """What a client wants, and what of it is for the server."""
    first = _read(source, 1)
    if first[0] == _SOCKS4:
        return _socks4(source, client), b""
    if first[0] == _SOCKS5:
        return _socks5(source, client), b""
    return _http(first, source, client)


def _socks4(source: BinaryIO, client: socket.socket) -> Asked:
    _, port, address = struct.unpack("!BH4s", _read(source, 7))
    user = _word(source)
    kind, host = "socks4", socket.inet_ntoa(address)
    if address[:3] == b"\0\0\0":
        kind, host = "socks4a", _word(source)
    client.sendall(b"\0\x5a" + bytes(6))
    return Asked(kind, host, port, user)


def _socks5(source: BinaryIO, client: socket.socket) -> Asked:
    methods = _read(source, _read(source, 1)[0])
    user = ""
    method = _PASSWORD if _PASSWORD in methods else _NO_CREDENTIALS
    client.sendall(bytes((_SOCKS5, method)))
    if method == _PASSWORD:
        _read(source, 1)
        user = ":".join(_read(source, _read(source, 1)[0]).decode() for _ in range(2))
        client.sendall(b"\x01\0")
    kind = _read(source, 4)[3]
    if kind == _NAME:
        host = _read(source, _read(source, 1)[0]).decode()
    elif kind == _IPV6:
        host = socket.inet_ntop(socket.AF_INET6, _read(source, 16))
    else:
        host = socket.inet_ntoa(_read(source, 4))
    (port,) = struct.unpack("!H", _read(source, 2))
    client.sendall(bytes((_SOCKS5, 0, 0, 1)) + bytes(6))
    return Asked("socks5h" if kind == _NAME else "socks5", host, port, user)


def _http(first: bytes, source: BinaryIO, client: socket.socket) -> tuple[Asked, bytes]:
    head = first + source.readline()
    method, target, _ = head.decode().split()
    user = ""
    while (line := source.readline()) not in (b"\r\n", b""):
        name, _, value = line.decode().partition(": ")
        if name == "Proxy-Authorization":
            user = value.strip()
        head += line
    if method == "CONNECT":
        client.sendall(b"HTTP/1.1 200 Go on\r\n\r\n")
        host, _, port = target.rpartition(":")
        return Asked(method, host, int(port), user), b""
    host, _, port = target.split("/")[2].rpartition(":")
    return Asked(method, host, int(port), user), head + b"\r\n"


def _read(source: BinaryIO, size: int) -> bytes:
    data = source.read(size)
    if len(data) < size:
        raise EOFError
    return data


def _word(source: BinaryIO) -> str:
    data = b""
    while (one := _read(source, 1)) != b"\0":
        data += one
    return data.decode()


@contextlib.contextmanager
def relay(tls: ssl.SSLContext | None = None) -> Iterator[Relay]:
    """A running proxy.

    Args:
        tls: what it speaks TLS with; None for a proxy that is reached without.
    """
    with contextlib.closing(Relay(tls)) as made:
        yield made
