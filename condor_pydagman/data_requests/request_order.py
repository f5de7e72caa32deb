"""The order of a request file: what names an allocation of the file waits for what stands before it
and names the same one; all else runs at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from condor_pydagman.data_requests.destinations import (
    destination_of,
    is_within,
    normal_destination,
)
from condor_pydagman.data_requests.request_text import is_several
from condor_pydagman.data_requests.requests import Allocate, Placement, Release, Transfer


def follows(placements: Sequence[Placement]) -> dict[int, frozenset[int]]:
    """What each placement waits for, by numbers in the file; nothing for those not named."""
    if not any(isinstance(one, (Allocate, Release)) for one in placements):
        return {}
    named = [_allocation(one) for one in placements]
    found: dict[int, frozenset[int]] = {}
    by_identity: dict[str, list[int]] = {}
    for number, (identity, _) in enumerate(named):
        if not identity:
            continue
        same = by_identity.setdefault(identity, [])
        before = frozenset(other for other in same if _concerns(placements, named, number, other))
        if before:
            found[number] = before
        same.append(number)
    return found


def out_of_order(placements: Sequence[Placement]) -> Iterator[tuple[int, str]]:
    """Lines of requests whose place in the file is not the order in which they make sense, each
    with what is wrong."""
    allocated: set[str] = set()
    released: set[str] = set()
    later = {one.allocation_id for one in placements if isinstance(one, Allocate)}
    users = {one.allocation_id for one in placements if isinstance(one, Transfer)}
    for one in placements:
        identity = one.allocation_id
        if isinstance(one, Allocate):
            allocated.add(identity)
            released.discard(identity)
        elif isinstance(one, Release):
            released.add(identity)
            if users and identity not in users:
                yield (
                    one.line,
                    f"the release of {identity} does not wait for the transfers, as none of them"
                    " has its allocation_id",
                )
        elif identity in released:
            yield one.line, f"the allocation {identity} is released before this transfer uses it"
        elif identity in later and identity not in allocated:
            yield one.line, f"the allocation {identity} is made after this transfer, which needs it"


def same_destination(placements: Sequence[Placement]) -> Iterator[tuple[int, int]]:
    """Lines of transfers that write the file of an earlier one, each with the line of that."""
    seen: dict[str, int] = {}
    for one in placements:
        file = _file_of(one) if isinstance(one, Transfer) else ""
        if file in seen:
            yield one.line, seen[file]
        elif file:
            seen[file] = one.line


def _file_of(transfer: Transfer) -> str:
    """The file that a transfer writes; '' if it may write several."""
    if is_several(transfer.source, transfer.destination):
        return ""
    file = destination_of(transfer.destination)
    return f"{file}/{transfer.source.name}" if transfer.destination.is_directory else file


def _allocation(placement: Placement) -> tuple[str, str]:
    """The id of the allocation that a placement names, '' for none, and its destination."""
    if isinstance(placement, Transfer):
        return placement.allocation_id, destination_of(placement.destination)
    try:
        return placement.allocation_id, normal_destination(placement.host)
    except ValueError:  # it fails for itself
        return "", ""


def _concerns(
    placements: Sequence[Placement], named: Sequence[tuple[str, str]], number: int, other: int
) -> bool:
    """Whether two placements that name the same id mean the same allocation."""
    here, there = named[number][1], named[other][1]
    transfers = [isinstance(placements[one], Transfer) for one in (number, other)]
    if all(transfers):
        return False
    if not any(transfers):
        return here == there
    transfer, space = (here, there) if transfers[0] else (there, here)
    return is_within(transfer, space) or not _has_space(placements, named, number, other)


def _has_space(
    placements: Sequence[Placement], named: Sequence[tuple[str, str]], number: int, other: int
) -> bool:
    """Whether the file allocates the space of the transfer among them under its id: an id alone
    means the only allocation of that id, wherever it is."""
    transfer = number if isinstance(placements[number], Transfer) else other
    identity, destination = named[transfer]
    return any(
        isinstance(one, Allocate) and of == identity and is_within(destination, space)
        for one, (of, space) in zip(placements, named)
    )
