"""What follows a fault: the same again after a delay, another way or protocol, or the end.

A transient fault is tried again, with delays that double; a lasting one moves on to the next
candidate: another way between the same URLs, or the next of `alt_protocols` (Stork's rule).  While
a service is left alone that failed, an alternative that needs it not is tried at once.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence, Set
from enum import Enum, auto

from condor_pydagman.data_requests.faults import Fault, FaultKind
from condor_pydagman.data_requests.requests import Transfer
from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.named_tuple import NamedTuple

# What another way between the same two URLs may do better; all else is in the files or servers.
OF_THE_WAY = (FaultKind.NO_WAY, FaultKind.MODULE, FaultKind.REFUSED, FaultKind.REQUEST)


class Next(Enum):
    """What follows."""

    AGAIN = auto()
    NEXT_CANDIDATE = auto()
    GIVE_UP = auto()


class Policy(NamedTuple):
    """How often and how late one placement is tried again; delays in seconds."""

    max_retries: int
    first_delay_s: float
    max_delay_s: float


class Candidate(NamedTuple):
    """A way to perform a transfer: `pair` is the number of its pair of protocols, 0 for the URLs'
    own; `way` is a name of `settings.WAYS`."""

    transfer: Transfer
    pair: int
    way: str


def policy(request: object, settings: Settings) -> Policy:
    """The request's own numbers, or those of the configuration."""
    retries = getattr(request, "max_retries", None)
    delay = getattr(request, "max_delay_s", None)
    return Policy(
        settings.max_retries if retries is None else retries,
        settings.first_delay_s,
        settings.max_delay_s if delay is None else delay,
    )


def follow_up(fault: Fault, retries: int, of: Policy, *, has_next: bool) -> Next:
    """What follows a fault of an attempt.

    Args:
        retries: attempts so far but the first, over all candidates.
        has_next: whether there is another candidate.
    """
    if fault.kind is FaultKind.STOPPED:
        return Next.GIVE_UP
    if fault.transient and retries < of.max_retries:
        return Next.AGAIN
    return Next.NEXT_CANDIDATE if has_next else Next.GIVE_UP


def ruled_out(candidates: Sequence[Candidate], current: int, fault: Fault) -> set[int]:
    """Numbers of the candidates that are not worth a try after a fault of the `current` one."""
    here = candidates[current]
    if fault.transient or (fault.kind in OF_THE_WAY and not fault.of_source):
        return {current}
    return {number for number, one in enumerate(candidates) if one.pair == here.pair}


def next_candidate(candidates: Sequence[Candidate], current: int, out: Set[int]) -> int | None:
    """Number of the candidate after `current`, then of those before it; None if all are `out`."""
    count = len(candidates)
    order = ((current + step) % count for step in range(1, count))
    return next((number for number in order if number not in out), None)


def delay_s(fault: Fault, retry: int, of: Policy, key: str) -> float:
    """Seconds before the next attempt; a server's own wish counts, up to the longest delay.

    Up to a quarter is taken off, by `key`, so that many placements do not come back at once.
    """
    backoff = min(of.first_delay_s * 2.0 ** min(retry, 40), of.max_delay_s)
    share = zlib.crc32(f"{key}\0{retry}".encode("utf-8", "surrogateescape")) % 256 / 1024
    return max(backoff * (1 - share), min(fault.retry_after_s, of.max_delay_s))
