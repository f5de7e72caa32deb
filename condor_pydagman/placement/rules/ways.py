"""Which ways are tried for a transfer, and between which URLs.

A way is left out if something is in its way.  If none is left, the fault says of each way why it
was not taken: that is what a person needs to know who wonders where a module or a package is
missing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.settings import DIRECT, GFAL, WAYS
from condor_pydagman.data_requests.urls import LOCAL, QUERY_SCHEMES, Url

# Schemes whose servers listen at one port: it is kept if one of them replaces another.
_SAME_PORT = (
    frozenset(("http", "dav")),
    frozenset(("https", "davs", "s3")),
    frozenset(("root", "roots", "xroot", "xroots")),
    frozenset(("sftp", "scp", "ssh")),
    frozenset(("ftp", "ftps")),
)


def names_in_order(transfer: Transfer, configured: Iterable[str]) -> tuple[str, ...]:
    """Names of the ways to look at: those of the request, else those of the configuration.

    Of the configuration, gfal goes before direct if both ends are servers: the data need not pass
    through this machine.

    Raises:
        Fault: one of them is no way.
    """
    names = tuple(dict.fromkeys(transfer.ways or configured))
    if not transfer.ways and DIRECT in names and GFAL in names and between_servers(transfer):
        others = [name for name in names if name != GFAL]
        others.insert(others.index(DIRECT), GFAL)
        names = tuple(others)
    unknown = [name for name in names if name not in WAYS]
    if unknown:
        raise Fault(
            FaultKind.REQUEST, f"there is no way {unknown[0]!r}; the ways are {', '.join(WAYS)}"
        )
    return names


def between_servers(transfer: Transfer) -> bool:
    """Whether it is from one server to another one."""
    source, destination = transfer.source.server, transfer.destination.server
    return bool(source and destination and source != destination)


def no_way(transfer: Transfer, looked_at: Iterable[tuple[str, str]]) -> Fault:
    """No way can take the transfer; the reason tells of each why.

    Args:
        transfer: between these two URLs.
        looked_at: name of each way, in order, and what is in its way.
    """
    told = "; ".join(f"{name}: {obstacle}" for name, obstacle in looked_at)
    whys = told or "all ways are switched off"
    return Fault(
        FaultKind.NO_WAY, f"no way from {transfer.source} to {transfer.destination}: {whys}"
    )


def obstacle_lines(reason: str) -> list[str]:
    """The reason of such a Fault, without the URLs, as a line for each way."""
    named = "|".join(WAYS)
    begin = re.search(f"(?<=: )(?:{named}): ", reason)
    return re.split(f"; (?=(?:{named}): )", reason[begin.start() :]) if begin else [reason]


def alternatives(transfer: Transfer) -> list[Transfer]:
    """The transfer between its own URLs, then between those of each of `alt_protocols`, without
    repetitions.

    Raises:
        Fault: a protocol needs a host, and the URL has none.
    """
    found = {(transfer.source, transfer.destination): transfer}
    for source_scheme, destination_scheme in transfer.alt_protocols:
        source = replace_scheme(transfer.source, source_scheme)
        destination = replace_scheme(transfer.destination, destination_scheme)
        other = transfer._replace(source=source, destination=destination)
        found.setdefault((source, destination), other)
    return list(found.values())


def replace_scheme(url: Url, scheme: str) -> Url:
    """The URL with another scheme, which may have a port (`ftp:2121`): same user, host and path.

    Without a port of its own, the URL's is kept where it means the same to the other protocol, as
    is its query.

    Raises:
        Fault: the scheme needs a host, and the URL has none.
    """
    scheme, _, port = scheme.lower().partition(":")
    if scheme == url.scheme:
        return url._replace(port=int(port)) if port and url.host else url
    if scheme == LOCAL:
        return Url(LOCAL, url.path)
    if not url.host:
        raise Fault(
            FaultKind.REQUEST, f"alt_protocols: {scheme} needs a host, which {url} does not have"
        )
    same_port = any({scheme, url.scheme} <= group for group in _SAME_PORT)
    keeps_query = scheme in QUERY_SCHEMES
    return url._replace(
        scheme=scheme,
        port=int(port) if port else url.port * same_port,
        query=url.query if keeps_query else "",
    )
