"""Services: what rests after a failure and has limits, a protocol at a host and port.

A dead ftp server says nothing of the web server beside it.  All buckets of an object store are one
service.
"""

from __future__ import annotations

import zlib

from condor_pydagman.data_requests.urls import Url
from condor_pydagman.named_tuple import NamedTuple

# Protocols that are spoken by the same server.
_SAME = {
    **{"dav": "http", "davs": "https", "roots": "root", "xroot": "root", "xroots": "root"},
    **{"scp": "sftp", "ssh": "sftp", "s3a": "s3", "gcs": "gs"},
}
_PORTS = {"http": 80, "https": 443, "ftp": 21, "ftps": 21, "sftp": 22, "root": 1094, "s3": 443}


class Service(NamedTuple):
    """A service."""

    scheme: str  # as the URL has it
    server: str  # `host`, or `host:port` if the port is not the protocol's own
    also: tuple[str, ...] = ()  # other names of it, in the limits and in faults

    @property
    def names(self) -> tuple[str, ...]:
        """What limits may call it, the most exact first."""
        host, mark, port = self.server.rpartition(":")
        if mark and port.isdigit():
            return (self.server, host, *self.also)
        own = _PORTS.get(protocol_of(self.scheme))
        exact = (f"{self.server}:{own}",) if own else ()
        return (*exact, self.server, *self.also)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.server}"


def protocol_of(scheme: str) -> str:
    """The one name of protocols that the same server speaks."""
    return _SAME.get(scheme, scheme)


def service_of(url: Url, store: str = "") -> Service:
    """The service of a URL.

    Args:
        store: `host` or `host:port` of the object store that its bucket is in; '' if the URL's
            host is the server.
    """
    if store:
        return Service(url.scheme, store.lower(), (url.host, url.scheme))
    usual = url.port == _PORTS.get(protocol_of(url.scheme))
    return Service(url.scheme, url._replace(port=0).server if usual else url.server, (url.server,))


def protocol_label(scheme: str) -> str:
    """A protocol in names of files."""
    return "".join(c for c in scheme.lower() if c.isalnum() and c.isascii())[:20] or "x"


def service_label(host_label: str, scheme: str) -> str:
    """What stands for a service in names of files, by what stands for its server."""
    protocol = protocol_of(protocol_label(scheme))
    return f"{host_label}{zlib.crc32(protocol.encode()):08x}"
