"""Destinations of placements (hosts, URLs, directories): their normal form, and capacities."""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable

from condor_pydagman.data_requests.urls import Url, parse_url

_HOST = re.compile(r"[A-Za-z0-9_](?:[\w.-]*|\[[0-9A-Fa-f:.]+\])(?::\d+)?", re.ASCII)


def normal_destination(text: str) -> str:
    """A host, URL or directory in the form in which they are compared; without user and password.

    Raises:
        ValueError: it is none of them.
    """
    text = text.strip()
    if _HOST.fullmatch(text):
        return text.lower()
    return destination_of(parse_url(text))


def destination_of(url: Url) -> str:
    """A URL in the form in which destinations are compared."""
    path = os.path.normpath("/" + url.path.lstrip("/"))
    return path if url.is_local else f"{url.scheme}://{url.server}{path.rstrip('/')}"


def is_within(destination: str, of: str) -> bool:
    """Whether a destination is `of`, or below it; a host alone has all URLs of that host."""
    if destination == of or (of == "/" and destination.startswith("/")):
        return True
    if destination.startswith(of + "/"):
        return True
    host, separator, rest = destination.partition("://")
    if not separator or "/" in of or "://" in of:
        return False
    server = rest.partition("/")[0]
    return of in (server, server.rpartition(":")[0]) and bool(host)


def capacity_of(destination: str, capacities: Iterable[tuple[str, int]]) -> tuple[str, int] | None:
    """Name in normal form and bytes of the capacity that counts: that of the longest name."""
    best: tuple[str, int] | None = None
    for name, size in capacities:
        try:
            normal = normal_destination(name)
        except ValueError:
            continue
        if is_within(destination, normal) and (best is None or len(normal) > len(best[0])):
            best = normal, size
    return best
