"""Allocations of space: how much of a capacity they take, and how a ledger is written.

A ledger is a text of one line for each allocation.  All users read all ledgers, so it is of a form
that can do no harm to who reads it: what does not fit is refused as a whole.
"""

from __future__ import annotations

import difflib
import re
import zlib
from collections.abc import Iterable, Sequence
from urllib.parse import quote, unquote

from condor_pydagman.data_requests.destinations import capacity_of, is_within
from condor_pydagman.named_tuple import NamedTuple

MAX_LEDGER_BYTES = 4 << 20
MAX_ROWS = 10_000
MAX_BYTES = 1 << 62
REMEMBERED_S = 30 * 86400.0  # how long an allocation is known after its end
_HEADER = "condor_pydagman ledger 1"


class Allocation(NamedTuple):
    """One line of a ledger."""

    destination: str  # in normal form
    allocation_id: str  # as the request has it
    size: int | None  # bytes; None if a site's module allocated it, which keeps its own books
    made: float  # seconds since 1970
    ends: float = 0  # when its duration is over; 0 for never
    released: float = 0  # when it was; 0 for not yet

    def is_active(self, now: float) -> bool:
        """Whether its space is taken."""
        return not self.released and not (self.ends and now >= self.ends)

    def end(self) -> float:
        """When it ended, or will; infinite for never."""
        return self.released or self.ends or float("inf")


class DamagedLedger(ValueError):
    """A text that is no ledger."""


def taken(
    allocations: Iterable[Allocation],
    name: str,
    capacities: Sequence[tuple[str, int]],
    now: float,
) -> int:
    """Bytes that active allocations take of a capacity."""
    known: dict[str, bool] = {}
    total = 0
    for one in allocations:
        if one.size is None or not one.is_active(now):
            continue
        if one.destination not in known:
            counts = capacity_of(one.destination, capacities)
            known[one.destination] = counts is not None and counts[0] == name
        total += one.size * known[one.destination]
    return total


def active(
    allocations: Iterable[Allocation], destination: str, allocation_id: str, now: float
) -> Allocation | None:
    """The allocation of this destination and id that is in force."""
    key = destination, allocation_id
    return next((one for one in allocations if one[:2] == key and one.is_active(now)), None)


def for_transfer(
    allocations: Sequence[Allocation], allocation_id: str, destination: str, now: float
) -> Allocation | None:
    """The allocation that a transfer to `destination` means by an id.

    If there are several of that id, that of the destination; if there is one alone, that one.
    """
    mine = [one for one in allocations if one.allocation_id == allocation_id and one.is_active(now)]
    within = [one for one in mine if is_within(destination, one.destination)]
    if within:
        return max(within, key=lambda one: len(one.destination))
    return mine[0] if len(mine) == 1 else None


def without_forgotten(allocations: Iterable[Allocation], now: float) -> list[Allocation]:
    """Without those that ended long ago, and with the newest of those that have ended only, so that
    the ledger stays small."""
    kept = [one for one in allocations if now - one.end() < REMEMBERED_S]
    running = [one for one in kept if one.is_active(now)]
    ended = sorted((one for one in kept if not one.is_active(now)), key=Allocation.end)
    return [*ended[-(MAX_ROWS // 2) :], *running]


def nearest_ids(allocations: Iterable[Allocation], allocation_id: str, now: float) -> str:
    """A clause that names the ids most like one that is not there."""
    known = sorted({one.allocation_id for one in allocations if one.is_active(now)})
    if not known:
        return "you have no allocations"
    near = difflib.get_close_matches(allocation_id, known, 3, 0.4) or known[:5]
    return f"you have {', '.join(near)}" + (" and others" if len(known) > len(near) else "")


def ledger_text(allocations: Iterable[Allocation]) -> str:
    """The whole file."""
    lines = [_HEADER]
    for one in allocations:
        size = "-" if one.size is None else str(one.size)
        words = (_quoted(one.destination), _quoted(one.allocation_id), size)
        lines.append(" ".join((*words, *(f"{t:.3f}" for t in one[3:]))))
    text = "\n".join(lines) + "\n"
    return f"{text}end {zlib.crc32(text.encode()):08x}\n"


def read_ledger(text: str) -> list[Allocation]:
    """The allocations of a ledger.

    Raises:
        DamagedLedger: it is not whole, or of another form.
    """
    body, mark, check = text.rpartition("end ")
    lines = body.split("\n")
    if not mark or lines[0] != _HEADER or lines[-1] != "":
        raise DamagedLedger("it is not whole")
    if check != f"{zlib.crc32(body.encode('utf-8', 'replace')):08x}\n":
        raise DamagedLedger("its sum is wrong")
    if len(lines) - 2 > MAX_ROWS:
        raise DamagedLedger(f"it has more than {MAX_ROWS} allocations")
    return [_read_line(line) for line in lines[1:-1]]


_LINE = re.compile(
    r"(\S{1,3000}) (\S{0,3000}) (\d{1,19}|-) (\d{1,12}\.\d{3}) (\d{1,12}\.\d{3}) (\d{1,12}\.\d{3})",
    re.ASCII,
)


def _read_line(line: str) -> Allocation:
    found = _LINE.fullmatch(line)
    if found is None:
        raise DamagedLedger(f"there is a line {line[:60]!r}")
    destination, identity, size, made, ends, released = found.groups()
    number = None if size == "-" else int(size)
    if number is not None and number > MAX_BYTES:
        raise DamagedLedger(f"there is an allocation of {size} bytes")
    return Allocation(
        unquote(destination, errors="surrogateescape"),
        unquote(identity, errors="surrogateescape"),
        number,
        float(made),
        float(ends),
        float(released),
    )


def _quoted(text: str) -> str:
    return quote(text.encode("utf-8", "surrogateescape"), safe="/:.,@=+[]")
