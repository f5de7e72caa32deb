"""What the engine asks of the helper that looks up nodes with a CACHE command, and its answers."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.named_tuple import NamedTuple

HELPER = "cache"


class CachedWanted(NamedTuple):
    """A node with a CACHE command whose turn has come.

    Attributes:
        parents: what the results of its parents come to; '' if that is not known, so that it runs.
        why: it runs if `parents` is another one than before, or ''.
        anew: it runs whatever has changed.
    """

    node: int
    number: int
    parents: str
    why: str
    anew: bool = False


class LookUpCached(NamedTuple):
    """Find out whether nodes are to run, or nothing has changed since they were last done.
    Answered by CachedFound."""

    wanted: tuple[CachedWanted, ...]


class KeepCached(NamedTuple):
    """Nodes have ended well: keep that, with the names of what they have made.  Answered by
    CachedKept."""

    kept: tuple[tuple[int, str], ...]


class CachedResult(NamedTuple):
    """What was found out about a node with a CACHE command.

    Attributes:
        hit: nothing has changed since it was last done; else it is to run.
        result: name of what it has made, or will make.
        why: it is to run.
    """

    node: int
    number: int
    hit: bool
    result: str
    why: str = ""


class CachedFound(NamedTuple):
    """Answer to LookUpCached, or to a part of it."""

    results: Sequence[CachedResult]


class CachedKept(NamedTuple):
    """Answer to KeepCached: it is kept, or can't be."""

    nodes: Sequence[int]
