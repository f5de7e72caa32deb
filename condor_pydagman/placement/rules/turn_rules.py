"""Who of those that wait for a turn may start, and which hosts are left alone for a while.

Every worker sees the tickets of all others and decides about its own alone, by the same rules, so
no one has to be in charge.  A ticket carries the limits that its own worker keeps; what is said of
others is simulated with theirs.

A service that fails rests: all placements of the access point leave it alone.  Each failure makes
the rest twice as long.  After it one placement tries; the newest word about a service counts,
whoever says it: a success ends the rest for all.

A ticket names hosts and protocols, each host with the protocol in the same place: together they are
a service.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache

from condor_pydagman.data_requests.settings import Settings
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.placement.rules.services import Service, protocol_label, service_label

MAX_FAILURES = 30
FUTURE_S = 60.0  # what is said later than that is of a clock that was wrong, or of ill will
_REST_NAME = re.compile(r"rest\.([0-9a-f]{24})\.(\d{1,3})\.(\d{1,15})\.(\d{1,15})", re.ASCII)


class Rest(NamedTuple):
    """What a worker has said of a service."""

    label: str  # stands for the service in names of files, which others can read
    failures: int  # in a row; 0: it works
    since: float  # when it was said, seconds since 1970
    until: float  # end of the rest


def rest_name(rest: Rest) -> str:
    """Name of the file that says it."""
    since, until = round(rest.since * 1000), round(rest.until * 1000)
    return f"rest.{rest.label}.{rest.failures}.{since}.{until}"


def read_rest_name(name: str) -> Rest | None:
    """What the file of this name says; None if it is of another kind."""
    found = _REST_NAME.fullmatch(name)
    if found is None:
        return None
    return Rest(found[1], int(found[2]), int(found[3]) / 1000, int(found[4]) / 1000)


def newest(rests: Iterable[Rest], now: float, max_delay_s: float) -> Rest | None:
    """The word that counts; None if the host works, or nobody has said anything for long.

    What is said a little in the future counts as said now, and what is said far in the future not
    at all: it would be the newest word for ever.  No rest is longer than `max_delay_s`.
    """
    found: Rest | None = None
    for rest in rests:
        if rest.since > now + FUTURE_S:
            continue
        since = min(rest.since, now)
        until = min(rest.until, since + max_delay_s)
        if now - max(since, until) > forgotten_after_s(max_delay_s):
            continue
        if found is None or (since, rest.failures == 0) > (found.since, found.failures == 0):
            found = rest._replace(since=since, until=until)
    return found if found is not None and found.failures else None


def forgotten_after_s(max_delay_s: float) -> float:
    """For how long after its end a rest is remembered: seconds."""
    return max(2 * max_delay_s, 60.0)


def next_rest(
    label: str,
    last: Rest | None,
    now: float,
    first_s: float,
    max_delay_s: float,
    retry_after_s: float = 0,
) -> Rest:
    """What is said after a failure.

    A failure during a rest is one of an attempt that began before it, and does not lengthen it but
    for what the server asks for.

    Args:
        last: what counted so far.
        first_s: length of the first rest.
        retry_after_s: what the server asks for.
    """
    asked = now + min(max(retry_after_s, 0), max_delay_s)
    if last is not None and now < last.until:
        return last._replace(since=now, until=min(max(last.until, asked), now + max_delay_s))
    failures = min(last.failures + 1 if last else 1, MAX_FAILURES)
    length = min(first_s * 2.0 ** (failures - 1), max_delay_s)
    return Rest(label, failures, now, max(now + length, asked))


LONG_WAIT_S = 600.0  # who has waited longer goes before all who have not, whatever their priority
MAX_NUMBER = 10**15
MAX_PLACES = 4  # hosts and protocols of one ticket
_UNKNOWN = "-"
_NAME = re.compile(
    r"turn\.([wr])\.(-?\d{1,10})\.(\d{1,15}|-)\.(\d{1,15})\.([0-9a-f]{16})\.(\d{1,9})\.([a-z0-9_+-]*)",
    re.ASCII,
)
_PLACE = re.compile(r"([hp]_?[a-z0-9]{1,24})-(\d{1,9})", re.ASCII)


class Ticket(NamedTuple):
    """One that runs or waits."""

    running: bool  # has begun
    priority: int  # higher goes first
    size: int | None  # bytes, None if unknown
    since: float  # when it came, or of one that runs, when it began; seconds since 1970
    number: str  # that tells it from all others, 16 hexadecimal digits
    total: int = 0  # how many may run at once as its worker sees it, 0 for no limit
    # hosts and protocols it uses, each with the limit of its worker (0: none).  The same one twice
    # counts twice.
    places: tuple[tuple[str, int], ...] = ()

    def needs(self) -> tuple[tuple[str, int], ...]:
        """The services and protocols that it uses, with their limits."""
        return _needs(self.places)

    def order(self, now: float) -> tuple[float, ...]:
        """Sorts those that wait: first comes first."""
        since = min(self.since, now)
        if now - since >= LONG_WAIT_S:
            return (0, since)
        size = float("inf") if self.size is None else self.size
        return (1, -self.priority, size, since)


@lru_cache(1024)
def _needs(places: tuple[tuple[str, int], ...]) -> tuple[tuple[str, int], ...]:
    hosts = [place for place in places if place[0].startswith("h")]
    protocols = [place for place in places if not place[0].startswith("h")]
    if len(hosts) != len(protocols):  # of no worker that is known
        return (*hosts, *protocols)
    services = [
        (service_label(host, protocol[2:]), limit)
        for (host, limit), (protocol, _) in zip(hosts, protocols)
    ]
    return (*services, *protocols)


def ticket_name(ticket: Ticket) -> str:
    """Name of the ticket's file; it tells all that others need to know."""
    size = _UNKNOWN if ticket.size is None else str(min(ticket.size, MAX_NUMBER - 1))
    places = "+".join(f"{name}-{limit}" for name, limit in ticket.places)
    priority = max(min(ticket.priority, 10**9), -(10**9))
    since = round(max(ticket.since, 0) * 1000)
    state = "r" if ticket.running else "w"
    return f"turn.{state}.{priority}.{size}.{since}.{ticket.number}.{ticket.total}.{places}"


def as_others_see_it(ticket: Ticket) -> Ticket:
    """The ticket as it is read from its name, where times are rounded and numbers limited.

    Decide by these rounded times: by exact ones, each of two workers could conclude that the other
    goes first, and both would wait.
    """
    seen = read_ticket_name(ticket_name(ticket))
    return seen if seen is not None else ticket


def read_ticket_name(name: str) -> Ticket | None:
    """The ticket whose file has this name; None if it is no ticket's."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    state, priority, size, since, number, total, rest = found.groups()
    places = [_PLACE.fullmatch(part) for part in rest.split("+")] if rest else []
    if len(places) > MAX_PLACES or not all(places):
        return None
    return Ticket(
        state == "r",
        int(priority),
        None if size == _UNKNOWN else int(size),
        int(since) / 1000,
        number,
        int(total),
        tuple((place[1], int(place[2])) for place in places if place),
    )


def places_of(
    services: Iterable[tuple[Service, str]], settings: Settings
) -> tuple[tuple[str, int], ...]:
    """Hosts and protocols with their limits.

    Args:
        services: each with what stands for its server in names of files, which others can read.
        settings: whose limits count.
    """
    own = {name.lower(): limit for name, limit in settings.limits}
    hosts, protocols = [], []
    for service, label in list(services)[: MAX_PLACES // 2]:
        named = (own[name] for name in map(str.lower, service.names) if name in own)
        hosts.append((f"h{label}", next(named, settings.max_per_host)))
        limit = own.get(service.scheme, settings.max_per_protocol)
        protocols.append((f"p_{protocol_label(service.scheme)}", limit))
    return tuple((name, min(limit, 10**8)) for name, limit in [*hosts, *protocols])


class Verdict(NamedTuple):
    """Whether a ticket may start."""

    free: bool  # it may
    full: str = ""  # what has no room for it: "" is the access point, else the name of a place
    # numbers of the tickets that are in the way; if one of them is dead, look again
    holders: tuple[str, ...] = ()
    before: int = 0  # how many that wait go before it


class _Counts:
    """What runs, and what is about to.

    Args:
        rests: of services that have failed, when their rests end.
        now: seconds since 1970.
    """

    def __init__(self, rests: Mapping[str, float], now: float) -> None:
        self._rests = rests
        self._now = now
        self.all: list[str] = []
        self._at: dict[str, list[str]] = {}
        self._tries: dict[str, list[str]] = {}  # at services that have failed, after their rest

    def add(self, ticket: Ticket) -> None:
        began = ticket.since if ticket.running else self._now
        self.all.append(ticket.number)
        for place, _ in ticket.needs():
            self._at.setdefault(place, []).append(ticket.number)
            if place in self._rests and began >= self._rests[place]:
                self._tries.setdefault(place, []).append(ticket.number)

    def obstacle(self, ticket: Ticket) -> tuple[str, list[str]] | None:
        """What has no room for it, and who is there; None if it may start."""
        if ticket.total and len(self.all) >= ticket.total:
            return "", self.all
        needs = ticket.needs()
        for place, limit in needs:
            there, tries = self._at.get(place, []), self._tries.get(place, [])
            if self._now < self._rests.get(place, 0) or tries:
                return place, tries
            wanted = sum(name == place for name, _ in needs)
            # one that counts twice for a limit of one could never start
            if limit and there and len(there) + wanted > limit:
                return place, there
        return None


def verdict(
    ticket: Ticket,
    tickets: Sequence[Ticket],
    now: float,
    rests: Mapping[str, float] = {},
    passed: Collection[str] = (),
) -> Verdict:
    """Whether a ticket may start now.

    Args:
        ticket: one that waits; whether it is among `tickets` does not matter.
        tickets: all.
        now: seconds since 1970.
        rests: of services that have failed, when their rests end, seconds since 1970.  After it
            one may try; those that began before do not count as that one.
        passed: numbers of tickets that could have started long ago but have not: they keep no
            place.
    """
    counts = _Counts(rests, now)
    for one in tickets:
        if one.running and one.number != ticket.number:
            counts.add(one)
    others = [one for one in tickets if one.number not in (ticket.number, *passed)]
    before = 0
    for one in waiting_in_order(others, now):
        if (*one.order(now), one.number) >= (*ticket.order(now), ticket.number):
            break
        before += 1
        if counts.obstacle(one) is None:
            counts.add(one)
    found = counts.obstacle(ticket)
    if found is None:
        return Verdict(True, before=before)
    return Verdict(False, found[0], tuple(found[1]), before)


def may_start(
    tickets: Sequence[Ticket],
    now: float,
    rests: Mapping[str, float] = {},
) -> list[Ticket]:
    """Those that wait and may start now, in order, if each starts."""
    counts = _Counts(rests, now)
    for one in tickets:
        if one.running:
            counts.add(one)
    found = []
    for one in waiting_in_order(tickets, now):
        if counts.obstacle(one) is None:
            counts.add(one)
            found.append(one)
    return found


def being_tried(tickets: Iterable[Ticket], rests: Mapping[str, float]) -> bool:
    """Whether somebody tries a service that has rested.

    Args:
        rests: when they ended, by the labels of services.
    """
    return any(
        one.running and one.since >= rests.get(place[1:], float("inf"))
        for one in tickets
        for place, _ in one.needs()
    )


def waiting_in_order(tickets: Iterable[Ticket], now: float) -> list[Ticket]:
    """Those that wait, the first first."""
    waiting = [one for one in tickets if not one.running]
    return sorted(waiting, key=lambda one: (*one.order(now), one.number))


def fronts(tickets: Sequence[Ticket], now: float, width: int) -> list[Ticket]:
    """The first `width` of those that wait for the same limits: only they have to look often."""
    seen: dict[object, int] = {}
    found = []
    for one in waiting_in_order(tickets, now):
        kind = _kind(one)
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= width:
            found.append(one)
    return found


def same_before(ticket: Ticket, tickets: Sequence[Ticket], now: float) -> list[Ticket]:
    """Those that wait for the same limits and go before a ticket, the nearest first."""
    mine, kind = (*ticket.order(now), ticket.number), _kind(ticket)
    line = [one for one in waiting_in_order(tickets, now) if _kind(one) == kind]
    return [one for one in reversed(line) if (*one.order(now), one.number) < mine]


def _kind(ticket: Ticket) -> tuple[tuple[str, int], ...]:
    """The limits that it has to wait for, that of all excepted."""
    return tuple(place for place in ticket.needs() if place[1])


def should_yield(
    ticket: Ticket,
    tickets: Sequence[Ticket],
    now: float,
    rests: Mapping[str, float] = {},
) -> bool:
    """Whether one that runs, and could go on with its next file, has to let another go first.

    It has to if somebody waits who could start instead and whose priority is not lower.
    """
    waiting = [one for one in tickets if not one.running]
    if not waiting:
        return False
    others = [one for one in tickets if one.number != ticket.number]
    with_it = {one.number for one in may_start([*others, ticket], now, rests)}
    return any(
        one.number not in with_it
        and (one.priority >= ticket.priority or now - one.since >= LONG_WAIT_S)
        for one in may_start(others, now, rests)
    )
