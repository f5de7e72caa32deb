"""Checksums of files: adler32, and what hashlib knows."""

from __future__ import annotations

import hashlib
import zlib
from typing import Protocol

from condor_pydagman.data_requests.faults import Fault, FaultKind


class Hash(Protocol):
    """A checksum that is being computed."""

    def update(self, data: memoryview, /) -> None:
        """Take in data."""

    def hexdigest(self) -> str:
        """The digits so far."""


class Adler32:
    """RFC 1950; what grid storage has."""

    def __init__(self) -> None:
        self._value = 1

    def update(self, data: memoryview, /) -> None:
        """Take in data."""
        self._value = zlib.adler32(data, self._value)

    def hexdigest(self) -> str:
        """Eight digits."""
        return f"{self._value:08x}"


def new_hash(algorithm: str) -> Hash:
    """A checksum of nothing.

    Raises:
        Fault: there is no such algorithm.
    """
    name = algorithm.lower().replace("-", "")
    if name == "adler32":
        return Adler32()
    try:
        return hashlib.new(name, usedforsecurity=False)
    except ValueError:
        raise Fault(FaultKind.REQUEST, f"no checksum algorithm {algorithm!r} is known") from None


def same_digits(one: str, other: str) -> bool:
    """Whether two checksums are the same: adler32 is written with and without leading zeros."""
    return one.lower().lstrip("0") == other.lower().lstrip("0")
