"""Temporary names beside a destination: `.NAME.<source>.<version>.part`.

The first hash tells the source, so that the leftovers of an attempt are found; the second one its
version, so that a part of another content is never continued.
"""

from __future__ import annotations

import hashlib
import os

from condor_pydagman.data_requests.urls import Url

_NAME_BYTES = 255  # of one name in most file systems
_END = ".part"


def partial_name(source: Url, version: str, name: str) -> str:
    """The temporary name of a file that is to be called `name`."""
    return f"{_beginning(source, name)}.{_hash(version)}{_END}"


def is_older_part(candidate: str, source: Url, version: str, name: str) -> bool:
    """Whether a name is that of a part of the same source in another version."""
    is_part = candidate.startswith(_beginning(source, name) + ".") and candidate.endswith(_END)
    return is_part and candidate != partial_name(source, version, name)


def _beginning(source: Url, name: str) -> str:
    room = _NAME_BYTES - len(f"...{_END}") - 16
    if len(name) * 4 > room:  # a character may have four bytes; none is cut in two
        while len(os.fsencode(name)) > room:
            name = name[:-1]
    return f".{name}.{_hash(source.with_secrets())}"


def _hash(text: str) -> str:
    return hashlib.sha256(os.fsencode(text)).hexdigest()[:8]
