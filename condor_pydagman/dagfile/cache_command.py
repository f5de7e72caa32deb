"""The command CACHE, beside those of `dagfile.commands`, which has no room left."""

from __future__ import annotations

from condor_pydagman.named_tuple import NamedTuple


class Cache(NamedTuple):
    """CACHE: the node is not run again while nothing of it has changed.

    Attributes:
        checksum: files are compared by what is in them, not by size and time.
        inputs, outputs: names of files, which may hold `$(JOB)` and names of VARS.
    """

    line: int
    node: str
    checksum: bool = False
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
