"""JSON answers, and the numbers and words of a query."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aiohttp import web

from condor_pydagman.web.access import Refused


def dumped(value: Any) -> web.Response:
    """JSON, in ASCII: names of nodes may hold bytes that are no text."""
    text = json.dumps(value, separators=(",", ":"))
    return web.Response(text=text, content_type="application/json")


def number_of(query: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    """A whole number of a query.

    Raises:
        Refused: it is none, or out of range.
    """
    text = query.get(name, "")
    if not text:
        return default
    try:
        number = int(text) if len(text) <= 20 and text.isascii() else least - 1
    except ValueError:
        number = least - 1
    if not least <= number <= most:
        raise Refused(400, f"{name} is a number from {least} to {most}")
    return number


def seconds_of(query: Mapping[str, str], name: str) -> float | None:
    """A time of a query, seconds since the epoch; None if it has none.

    Raises:
        Refused: it is no time.
    """
    text = query.get(name, "")
    if not text:
        return None
    try:
        seconds = float(text) if len(text) <= 30 else -1.0
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e11:
        raise Refused(400, f"{name} is a time in seconds since 1970")
    return seconds
