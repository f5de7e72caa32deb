"""Where connections may lead: a server from elsewhere must not lead to services of this machine.

It could by a redirection, or by a name whose address it changes; what listens on loopback, on the
link or is the cloud's own service takes every request for one of the user's.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from typing import Union

from condor_pydagman.data_requests.faults import Fault, FaultKind

_Address = Union[ipaddress.IPv4Address, ipaddress.IPv6Address]
LOOPBACK = "loopback"
_LINK_LOCAL = "link-local"
_METADATA = "metadata"
_THIS_HOST = ipaddress.ip_network("0.0.0.0/8")
_METADATA_NAMES = ("metadata.google.internal",)
_METADATA_ADDRESSES = frozenset(
    ipaddress.ip_address(text)
    for text in ("fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192")
)
# Addresses of version 6 that stand for one of version 4: how many bits follow it.
_EMBEDDING = tuple(
    (ipaddress.ip_network(network), bits)
    for network, bits in (
        ("::/96", 0),
        ("::ffff:0:0/96", 0),
        ("64:ff9b::/96", 0),
        ("64:ff9b:1::/48", 0),
        ("2002::/16", 80),
    )
)


class Reach:
    """Where the connections for the files of one server may lead.

    The first one is to the server that was named, wherever that is.  If it is on this machine, it
    may lead to others here, but not where it leads to may lead back.

    Args:
        host: that was named.
    """

    def __init__(self, host: str) -> None:
        self._host = host
        self._named: str | None = None  # kind of address of the server that was named
        self._led_by: str | None = None  # kind of the one that led on, None for nobody

    @property
    def is_near(self) -> bool:
        """Whether the server that was named is on this machine."""
        return self._named == LOOPBACK

    def begin(self) -> None:
        """What follows is for another request, which nobody has led on yet."""
        self._led_by = None

    def leads_on(self, kind: str) -> None:
        """A server of this kind has redirected the request."""
        self._led_by = kind

    def check(self, host: str, address: str) -> None:
        """Refuse a connection to a host that has this address, or its name if a proxy connects.

        Raises:
            Fault: it must not lead there.
        """
        self.check_kind(host, kind_of_address(address))

    def check_kind(self, host: str, kind: str) -> None:
        """As `check`, of a host whose kind of address is known."""
        if not kind or self._named is None:
            return
        if self._named == LOOPBACK and self._led_by in (None, LOOPBACK):
            return
        if not (kind == self._named and host == self._host):
            reason = f"{self._host} leads to {host}, which is a {kind} address"
            raise Fault(FaultKind.REFUSED, reason)

    def reached(self, address: str) -> str:
        """There is a connection to this address; its kind."""
        kind = kind_of_address(address)
        if self._named is None:
            self._named = kind
        return kind


def kind_of_address(text: str) -> str:
    """What kind of address it is, if it is one for this machine alone; '' for others and names."""
    found = _address(text)
    if found is None:
        name = text.rstrip(".").lower()
        if name in _METADATA_NAMES:
            return _METADATA
        return LOOPBACK if name.rpartition(".")[2] == "localhost" else ""
    if found.is_loopback or found.is_unspecified or found in _THIS_HOST:
        return LOOPBACK
    if found.is_link_local or found.is_multicast:
        return _LINK_LOCAL
    return _METADATA if found in _METADATA_ADDRESSES else ""


def _address(text: str) -> _Address | None:
    """The address that a text is for the system's resolver: also 127.1 and 2130706433."""
    bare = text.partition("%")[0].strip("[]").rstrip(".")
    with contextlib.suppress(ValueError):
        return _inner(ipaddress.ip_address(bare))
    with contextlib.suppress(OSError, ValueError):
        return ipaddress.IPv4Address(socket.inet_aton(bare))
    return None


def _inner(address: _Address) -> _Address:
    if isinstance(address, ipaddress.IPv4Address) or int(address) <= 1:
        return address
    if address.teredo is not None:
        return address.teredo[1]
    for network, bits in _EMBEDDING:
        if address in network:
            return ipaddress.IPv4Address((int(address) >> bits) & 0xFFFFFFFF)
    return address
