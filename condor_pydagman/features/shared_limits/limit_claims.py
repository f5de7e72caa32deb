"""What a DAGMan has taken of shared limits and what it waits for: the text of its file.

The file is in a directory that all users of the access point share, so nothing in it is trusted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from condor_pydagman.features.shared_limits.definitions import PLACES, Kind
from condor_pydagman.named_tuple import NamedTuple

MAX_BYTES = 256_000  # of a file; more is none of ours
MAX_LIMITS = 200
_BLOCK = 4096  # files have multiples of this length: written in place, they need no more room


class PlacesClaim(NamedTuple):
    """A DAGMan's part of one kind of one limit."""

    held: int = 0  # places that nobody else may have
    granted: int = 0  # places that it may use; fewer than `held` while it is to give some back
    wanted: int = 0  # places that it could use, those in use included
    since: float = 0.0  # since when it waits for more, seconds since the epoch; 0 if it does not
    used: int = 0  # places of what ran or waited when this was written, for people


NONE = PlacesClaim()


class Part(NamedTuple):
    """A DAGMan's part of one limit."""

    places: Mapping[Kind, PlacesClaim]  # by kind, but for starts
    starts: tuple[tuple[float, int], ...] = ()  # when it took how many starts, in the last minute
    starts_wanted: int = 0  # nodes that wait for a start
    since: float = 0.0  # since when they do; 0 if none does


NOTHING = Part({})


class LimitClaims(NamedTuple):
    """What one DAGMan says."""

    dag: str  # its DAG file, for people
    address: str  # where it is woken
    parts: Mapping[str, Part]  # by key of the limit
    name: str = ""  # of the file, which tells it from all others; '' for the own one

    def claim(self, key: str, kind: Kind) -> PlacesClaim:
        """Its part of one kind of a limit."""
        return self.parts.get(key, NOTHING).places.get(kind, NONE)


def text_of(claims: LimitClaims) -> bytes:
    """The contents of a file."""
    parts = {
        key: {
            "places": {str(int(kind)): list(claim) for kind, claim in part.places.items()},
            "starts": [list(one) for one in part.starts],
            "wanted": part.starts_wanted,
            "since": part.since,
        }
        for key, part in claims.parts.items()
    }
    known = {"version": 1, "dag": claims.dag, "address": claims.address, "limits": parts}
    text = json.dumps(known).encode("ascii") + b"\n"
    return text.ljust(-(-len(text) // _BLOCK) * _BLOCK)


def parse(data: bytes) -> LimitClaims | None:
    """What a file says; None if it is none of ours."""
    try:
        known = json.loads(data)
        dag, address, parts = known["dag"], known["address"], known["limits"]
        if not isinstance(dag, str) or not isinstance(address, str) or len(parts) > MAX_LIMITS:
            return None
        return LimitClaims(dag, address, {str(key): _part(part) for key, part in parts.items()})
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError):
        return None


def _part(part: Mapping[str, object]) -> Part:
    places = part["places"]
    starts = part["starts"]
    if not isinstance(places, dict) or not isinstance(starts, list) or len(starts) > 10_000:
        raise ValueError("no part")
    claims = {Kind(int(kind)): _claim(claim) for kind, claim in places.items()}
    if not claims.keys() <= set(PLACES):
        raise ValueError("no places")
    taken = tuple((float(when), _count(number)) for when, number in starts)
    return Part(claims, taken, _count(part["wanted"]), float(part["since"]))  # type: ignore[arg-type]


def _claim(claim: list[object]) -> PlacesClaim:
    held, granted, wanted, since, used = claim
    return PlacesClaim(
        _count(held),
        _count(granted),
        _count(wanted),
        float(since),  # type: ignore[arg-type]
        _count(used),
    )


def _count(value: object) -> int:
    if not isinstance(value, int) or not 0 <= value <= 10**9:
        raise ValueError("no count")
    return value
