"""Who may ask the server, and which headers every answer has.

The server listens on the loopback addresses, where other users of the machine, and pages of any web
site that the user visits, can reach it.  So a request must come from this user's processes, name
this server as its host, and have a cookie that only somebody who knew the token got.

The host's name is another random one at each start, below `.localhost`, which browsers take for the
loopback addresses (RFC 6761).  So the page's origin is one that nobody had before: what another
user's page left in the browser when it was served from the same port (a service worker, which would
get every request) is not the page's, and cookies are shown to nobody else.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import os
import secrets
import sys
from collections.abc import Mapping
from typing import Callable
from weakref import WeakSet

from condor_pydagman.errors import PydagmanError

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
        " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# Of Linux: who has opened each connection; what addresses of version 4 begin with there.
_CONNECTIONS = {
    "/proc/net/tcp": "",
    "/proc/net/tcp6": f"{0:016X}{int.from_bytes(bytes((0, 0, 255, 255)), sys.byteorder):08X}",
}
_ROOT = 0
MAX_CONNECTIONS = 250  # browsers have up to six for each tab
FIRST_REQUEST_S = 20.0
GONE = -1  # in place of the user of a connection


class Refused(PydagmanError):
    """A request that is not answered."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status  # of the answer, 400 to 503


class Access:
    """The secrets of one server, and what it demands of requests."""

    def __init__(self, port: int = 0) -> None:
        self.port = port  # on which it listens; known when it does
        self.name = f"{secrets.token_hex(16)}.localhost"  # of the host, in the URL
        self.token = secrets.token_urlsafe(32)  # for the URL that the user opens
        self._session = secrets.token_urlsafe(32)

    @property
    def url(self) -> str:
        """What the user opens; it has the token in it."""
        return f"http://{self.host}/?token={self.token}"

    @property
    def host(self) -> str:
        """Name and port, as a browser sends them."""
        return f"{self.name}:{self.port}"

    @property
    def cookie_name(self) -> str:
        """One for each port, as cookies are shared by all ports of a host."""
        return f"pydagman-{self.port}"

    def session_for(self, token: str) -> str:
        """The cookie's value, for somebody who has the token.

        Raises:
            Refused: that is not the token.
        """
        if not _same(token, self.token):
            raise Refused(
                403,
                "this address is from an earlier start of the server: open the one that"
                " `condor_pydagman web` printed last",
            )
        return self._session

    def check_host(self, host: str) -> None:
        """Refuse a request under another name: a web site may let its own name lead here, and of
        127.0.0.1 somebody else may have been the server.

        Raises:
            Refused: it is not this server's name.
        """
        if host != self.host:
            raise Refused(
                403,
                "this server answers only under the name in the address that `condor_pydagman web`"
                " printed last",
            )

    def check_cookie(self, cookies: Mapping[str, str]) -> None:
        """Refuse a request without the cookie.

        Raises:
            Refused: it has none, or a wrong one.
        """
        if not _same(cookies.get(self.cookie_name, ""), self._session):
            raise Refused(
                403,
                "this browser has no access yet: open the whole address that `condor_pydagman web`"
                " printed, including the token",
            )

    def check_site(self, headers: Mapping[str, str]) -> None:
        """Refuse a request that the browser says is another page's.

        Raises:
            Refused: it is.
        """
        if headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise Refused(403, "only this server's own page may ask it")

    def check_post(self, headers: Mapping[str, str], content_type: str) -> None:
        """Refuse a request to do something, unless this server's own page makes it.

        Raises:
            Refused: another page makes it, or it is a form.
        """
        host = headers.get("Host", "")
        if host != self.host or headers.get("Origin") != f"http://{host}":
            raise Refused(403, "only this server's own page may ask for that")
        if content_type != "application/json":
            raise Refused(400, "a request to do something is JSON: Content-Type: application/json")


def check_peer(peer: tuple[str, int], server: tuple[str, int]) -> None:
    """Refuse a connection of another user of this machine, where the system tells whose it is.

    Raises:
        Refused: it is of another user, who is not root; or of somebody who has left already, so
            that nobody can tell any more.
    """
    owner = owner_of_connection(peer, server)
    if owner == GONE:
        raise Refused(403, "can't find out any more which user opened this connection")
    if owner is not None and owner not in (os.getuid(), _ROOT):
        raise Refused(403, "this server belongs to another user")


def owner_of_connection(peer: tuple[str, int], server: tuple[str, int]) -> int | None:
    """The user whose process has opened a connection of this machine; GONE if it has closed it
    meanwhile; None if nobody tells of connections here."""
    tells = False
    for path, mapped in _CONNECTIONS.items():
        prefix, own = mapped if "." in server[0] else "", _hex(server)
        ends = f"{prefix}{_hex(peer)} {prefix}{own}"
        try:
            with open(path, encoding="ascii", errors="replace") as file:
                for line in file:
                    if f" {ends} " in line:
                        return _owner(line.split())
                    tells |= f": {own} " in line
        except (OSError, ValueError, IndexError):
            continue
    return GONE if tells else None


def _owner(fields: list[str]) -> int:
    """Some kernels say that a socket without a process is root's."""
    owner, inode = int(fields[7]), int(fields[9])
    return GONE if owner == _ROOT and not inode else owner


def _hex(end: tuple[str, int]) -> str:
    """As the kernel writes an address: each four bytes in the order of the machine."""
    address, port = end
    packed = ipaddress.ip_address(address).packed
    words = (packed[at : at + 4] for at in range(0, len(packed), 4))
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words) + f":{port:04X}"


def _same(one: str, other: str) -> bool:
    """In a time that does not tell how much of them is the same."""
    encoded = (text.encode("utf-8", "surrogatepass") for text in (one, other))
    return hmac.compare_digest(*encoded)


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
        self._open: WeakSet[asyncio.Transport] = WeakSet()

    def __call__(self) -> asyncio.Protocol:
        """For one connection."""
        return _Arrival(self)

    def begin(self, transport: asyncio.Transport) -> asyncio.Protocol | None:
        """What serves a connection that has just come; None if it is not wanted."""
        peer, own = (transport.get_extra_info(end) for end in ("peername", "sockname"))
        count = sum(not one.is_closing() for one in self._open)
        if not peer or not own or count >= MAX_CONNECTIONS:
            return None
        try:
            check_peer(peer[:2], own[:2])
        except Refused:
            return None
        self._open.add(transport)
        asyncio.get_running_loop().call_later(FIRST_REQUEST_S, self._end_silent, transport)
        return self._serve()

    def _end_silent(self, transport: asyncio.Transport) -> None:
        if not self._has_asked(transport):
            transport.abort()


class _Arrival(asyncio.Protocol):
    """Until it is known whether the connection is wanted."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        served = self._connections.begin(transport)
        if served is None:
            transport.abort()
        else:
            transport.set_protocol(served)
            served.connection_made(transport)
