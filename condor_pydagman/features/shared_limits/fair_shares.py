"""One round about shared limits: what a DAGMan says and gets, and who else is to be woken.

A round is made by each DAGMan for itself, under the lock of the directory, by these rules; so no
one has to be in charge.  Nodes with the same limits are a class.  A class gets places of all its
limits together or none, so that no two DAGs wait for what the other one keeps unused.

How many places of a limit a DAG may have says the rule of shares (`features.common.shares`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from condor_pydagman.engine.throttles import MINUTE_S, burst_of
from condor_pydagman.features.common.shares import MAX_WOKEN, Party, next_in_turn, shares
from condor_pydagman.features.shared_limits.definitions import PLACES, Kind, Limit
from condor_pydagman.features.shared_limits.limit_claims import (
    NOTHING,
    LimitClaims,
    Part,
    PlacesClaim,
)
from condor_pydagman.named_tuple import NamedTuple

NO_LIMIT = -1
_CROWD_S = 0.05  # to the next round, for each DAG that waits for starts: the more, the rarer


class Demand(NamedTuple):
    """What a class of nodes of the own DAG has and wants."""

    limits: tuple[str, ...]  # their keys
    used: tuple[int, int, int, int] = (0, 0, 0, 0)  # by kind (JOBS, IDLE, PRE, POST), places in use
    # by kind, `used` and what it may still start under its last grant until it hears of the new one
    kept: tuple[int, int, int, int] = (0, 0, 0, 0)
    nodes: int = 0  # how many nodes wait to be submitted
    # scripts that wait
    pre: int = 0
    post: int = 0
    ahead: int = 0  # nodes, or scripts of each kind, that may soon wait as well

    def waiting(self, kind: Kind) -> int:
        """How many more places of a kind it could use."""
        return {Kind.PRE: self.pre, Kind.POST: self.post}.get(kind, self.nodes)

    def in_use(self, kind: Kind, granted: int) -> int:
        """How many places are for what runs or waits; others that are granted are kept ahead."""
        return max(self.used[kind], min(granted, self.used[kind] + self.waiting(kind)))


class Grant(NamedTuple):
    """What a class may use."""

    # by kind (JOBS, IDLE, PRE, POST); NO_LIMIT: as many as it wants
    places: tuple[int, int, int, int]
    # nodes that it may submit beyond the starts granted in earlier rounds and not used yet;
    # NO_LIMIT as above
    starts: int
    # key and kind of the limit that keeps it from more, None if none does
    full: tuple[str, Kind] | None = None


class Outcome(NamedTuple):
    """What a round has come to."""

    claims: LimitClaims  # what the own file is to say
    grants: list[Grant]  # by class
    contested: bool  # whether anybody wants more of these limits than there is
    # seconds after which another round may give more though nobody gives anything back; None: it
    # can't
    again_s: float | None
    woken: list[str]  # addresses of others who get more now, or have to give something back


class _Round:
    """The state of one decision."""

    def __init__(
        self,
        own: LimitClaims,
        others: Sequence[LimitClaims],
        limits: Mapping[str, Limit],
        demands: Sequence[Demand],
        now: float,
    ) -> None:
        self.own = own
        self.others = others
        self.limits = limits
        self.demands = demands
        self.now = now
        self.left: dict[tuple[str, Kind], int] = {}
        self.since: dict[tuple[str, Kind], float] = {}
        self.wanted: dict[tuple[str, Kind], int] = {}
        self.blocked: dict[tuple[int, Kind], tuple[str, Kind]] = {}  # by class, what is full
        self.again: list[float] = []
        self.contested = False

    def find_budgets(self) -> None:
        """Find out how much of each limit this DAG may have."""
        for key in {key for one in self.demands for key in one.limits if key in self.limits}:
            for kind, most in self.limits[key].most.items():
                wanted = self._wanted(key, kind, most)
                self.wanted[key, kind] = wanted
                budget = self._starts(key, most) if kind is Kind.STARTS else self._places(key, kind)
                self.left[key, kind] = budget

    def _wanted(self, key: str, kind: Kind, most: int) -> int:
        mine = [one for one in self.demands if key in one.limits]
        if kind is Kind.STARTS:
            wanted = sum(one.nodes for one in mine)
            since = self.own.parts.get(key, NOTHING).since
            self.since[key, kind] = (since or self.now) if wanted else 0.0
            return min(wanted, most)
        claim = self.own.claim(key, kind)
        wanted = sum(one.used[kind] + one.waiting(kind) for one in mine)
        self.since[key, kind] = (claim.since or self.now) if wanted > claim.granted else 0.0
        return wanted

    def _places(self, key: str, kind: Kind) -> int:
        most = self.limits[key].most[kind]
        claims = [one.claim(key, kind) for one in self.others]
        others = [_party(one.name, claim) for one, claim in zip(self.others, claims)]
        claim = self.own.claim(key, kind)
        me = Party("", claim.granted, self.wanted[key, kind], self.since[key, kind])
        share = shares(most, [*others, me])[""]
        sharing = [one for one in (*others, me) if one.wanted]
        self.contested |= len(sharing) > 1 and sum(one.wanted for one in sharing) > most
        free = most - sum(claim.held for claim in claims)
        return min(share, free)

    def _starts(self, key: str, most: int) -> int:
        """Starts that may be taken now."""
        parts = [one.parts.get(key, NOTHING) for one in self.others]
        mine = _recent(self.own.parts.get(key, NOTHING).starts, self.now, MINUTE_S)
        taken = [sum(n for _, n in _recent(part.starts, self.now, MINUTE_S)) for part in parts]
        parties = [
            Party(one.name, used, used + part.starts_wanted, part.since)
            for one, part, used in zip(self.others, parts, taken)
        ]
        own = sum(number for _, number in mine)
        me = Party("", own, own + self.wanted[key, Kind.STARTS], self.since[key, Kind.STARTS])
        share = shares(most, [*parties, me])[""]
        burst, burst_s = burst_of(most)
        everything = [*mine, *(one for part in parts for one in part.starts)]
        lately = sum(number for _, number in _recent(everything, self.now, burst_s))
        room = min(most - own - sum(taken), burst - lately, share - own)
        if self.wanted[key, Kind.STARTS] > max(room, 0):
            self.contested = True
            waiting = 1 + sum(1 for part in parts if part.starts_wanted)
            self.again.append(max(burst_s, _CROWD_S * waiting))
        return max(room, 0)

    def grants(self) -> list[Grant]:
        """Divide it among the classes."""
        levels = [list(one.used) for one in self.demands]
        for one in self.demands:
            for key, kind in self._limiting(one, PLACES):
                self.left[key, kind] -= one.used[kind]
        for one, level in zip(self.demands, levels):
            self._take_back(one, level)
        for one in self.demands:
            self._reserve(one, one.used)
        found: list[Grant] = []
        for one, level in zip(self.demands, levels):
            self._reserve(one, one.used, -1)
            found.append(self._give(len(found), level))
            self._reserve(one, level)
        return found

    def _reserve(self, one: Demand, counted: Sequence[int], sign: int = 1) -> None:
        """Take out of `left` what the class may still start before it hears of its new grant, less
        what is `counted` already; with sign -1, put it back."""
        for key, kind in self._limiting(one, PLACES):
            more = one.kept[kind] - max(counted[kind], one.used[kind])
            self.left[key, kind] -= sign * max(more, 0)

    def _limiting(self, one: Demand, kinds: Sequence[Kind]) -> list[tuple[str, Kind]]:
        return [(key, kind) for key in one.limits for kind in kinds if (key, kind) in self.left]

    def _take_back(self, one: Demand, level: list[int]) -> None:
        """If more is in use than the budget allows, lower the level that the class may start up to.

        Until its jobs have ended, their places count against all limits of the class: no other
        class gets any of them yet.
        """
        for key, kind in self._limiting(one, PLACES):
            if self.left[key, kind] < 0:
                cut = min(level[kind], -self.left[key, kind])
                level[kind] -= cut
                for place in self._limiting(one, (kind,)):
                    left = self.left[place]
                    self.left[place] = max(left, min(left + cut, 0))

    def _give(self, number: int, level: list[int]) -> Grant:
        one = self.demands[number]
        for kind in (Kind.PRE, Kind.POST):
            self._use(one, (kind,), self._least(number, (kind,), one.waiting(kind)), level)
        nodes = self._least(number, (Kind.JOBS, Kind.IDLE, Kind.STARTS), one.nodes)
        self._use(one, (Kind.JOBS, Kind.IDLE), nodes, level)
        self._use(one, (Kind.STARTS,), nodes, level)
        if level[
            Kind.JOBS
        ]:  # IDLE places now, for the nodes that take the JOBS places of ended ones
            more = max(min(one.nodes - nodes, level[Kind.JOBS] - level[Kind.IDLE]), 0)
            spare = [self.left[place] for place in self._limiting(one, (Kind.IDLE,))]
            self._use(one, (Kind.IDLE,), max(min([more, *spare]), 0), level)
        return self._grant(number, level, nodes)

    def _least(self, number: int, kinds: Sequence[Kind], wanted: int) -> int:
        """For how many of those wanted there is room."""
        for place in self._limiting(self.demands[number], kinds):
            if self.left[place] < wanted:
                wanted = max(self.left[place], 0)
                self.blocked.update(dict.fromkeys(((number, kind) for kind in kinds), place))
        return wanted

    def _use(self, one: Demand, kinds: Sequence[Kind], number: int, level: list[int]) -> None:
        for place in self._limiting(one, kinds):
            self.left[place] -= number
        for kind in kinds:
            if kind is not Kind.STARTS:
                level[kind] += number

    def _grant(self, number: int, level: list[int], nodes: int) -> Grant:
        bound = {kind for _, kind in self._limiting(self.demands[number], tuple(Kind))}
        jobs, idle, pre, post = (level[kind] if kind in bound else NO_LIMIT for kind in PLACES)
        starts = nodes if Kind.STARTS in bound else NO_LIMIT
        full = [self.blocked.get((number, kind)) for kind in (Kind.JOBS, Kind.PRE, Kind.POST)]
        return Grant((jobs, idle, pre, post), starts, next(filter(None, full), None))

    def grant_in_advance(self, grants: list[Grant]) -> list[Grant]:
        """Where nobody waits, a class gets some places that it will want soon."""
        if self.contested:
            return grants
        found = []
        for one, grant in zip(self.demands, grants):
            places = list(grant.places)
            for kind in PLACES:
                if places[kind] == NO_LIMIT or not one.ahead:
                    continue
                more = min(one.ahead, self._spare(one, kind))
                places[kind] += more
                for place in self._limiting(one, (kind,)):
                    self.wanted[place] += more
            jobs, idle, pre, post = places
            found.append(grant._replace(places=(jobs, idle, pre, post)))
        return found

    def _spare(self, one: Demand, kind: Kind) -> int:
        least = 10**9
        for place in self._limiting(one, (kind,)):
            claims = [other.claim(*place) for other in self.others]
            taken = self.wanted[place] + sum(max(claim.held, claim.wanted) for claim in claims)
            taken += sum(
                max(mine.kept[kind] - mine.used[kind] - mine.waiting(kind), 0)
                for mine in self.demands
                if mine is not one and place[0] in mine.limits
            )
            least = min(least, self.limits[place[0]].most[kind] - taken)
        return max(least, 0)

    def claims(self, grants: Sequence[Grant]) -> LimitClaims:
        """What the own file is to say."""
        parts = {}
        for key in dict.fromkeys(key for one in self.demands for key in one.limits):
            if key not in self.limits:
                continue
            places = {
                kind: self._claim(key, kind, grants)
                for kind in PLACES
                if kind in self.limits[key].most
            }
            parts[key] = self._with_starts(key, Part(places), grants)
        return self.own._replace(parts=parts)

    def _claim(self, key: str, kind: Kind, grants: Sequence[Grant]) -> PlacesClaim:
        mine = [number for number, one in enumerate(self.demands) if key in one.limits]
        granted = sum(grants[number].places[kind] for number in mine)
        held = sum(max(self.demands[n].kept[kind], grants[n].places[kind]) for n in mine)
        used = sum(self.demands[n].in_use(kind, grants[n].places[kind]) for n in mine)
        wanted = max(self.wanted[key, kind] - self._waits_elsewhere(key, kind, mine), granted)
        old = self.own.claim(key, kind)
        since = 0.0
        if wanted > granted:
            since = self.since[key, kind] if granted <= old.granted and old.since else self.now
        return PlacesClaim(held, granted, wanted, since, used)

    def _waits_elsewhere(self, key: str, kind: Kind, mine: Sequence[int]) -> int:
        """Of those that wait for a place of this kind, how many could not use it now, as another
        limit is full: they do not claim it."""
        places = ((n, self.blocked.get((n, kind), (key, kind))) for n in mine)
        return sum(self.demands[n].waiting(kind) for n, place in places if place != (key, kind))

    def _with_starts(self, key: str, part: Part, grants: Sequence[Grant]) -> Part:
        if Kind.STARTS not in self.limits[key].most:
            return part
        mine = [number for number, one in enumerate(self.demands) if key in one.limits]
        taken = sum(grants[number].starts for number in mine)
        old = _recent(self.own.parts.get(key, NOTHING).starts, self.now, MINUTE_S)
        starts = (*old, (self.now, taken)) if taken else old
        elsewhere = self._waits_elsewhere(key, Kind.STARTS, mine)
        left = max(self.wanted[key, Kind.STARTS] - taken - elsewhere, 0)
        since = (self.now if taken else self.since[key, Kind.STARTS]) if left else 0.0
        return part._replace(starts=starts, starts_wanted=left, since=since)


def _recent(
    starts: Sequence[tuple[float, int]], now: float, seconds: float
) -> tuple[tuple[float, int], ...]:
    """Those that were taken in the last `seconds`; the clock may have been set back since."""
    return tuple((min(when, now), n) for when, n in starts if min(when, now) > now - seconds)


def decide(
    own: LimitClaims,
    others: Sequence[LimitClaims],
    limits: Mapping[str, Limit],
    demands: Sequence[Demand],
    now: float,
) -> Outcome:
    """Make a round.

    Args:
        own: what the own file says; its parts may be empty.
        others: what those of others say; no two have the same name.
        limits: by key.
        demands: by class of nodes.
        now: seconds since the epoch.
    """
    state = _Round(own, others, limits, demands, now)
    state.find_budgets()
    grants = state.grant_in_advance(state.grants())
    claims = state.claims(grants)
    again = min(state.again, default=None)
    told = woken(claims, others, limits) if _differ(claims, own) else []
    return Outcome(claims, grants, state.contested, again, told)


def _differ(new: LimitClaims, old: LimitClaims) -> bool:
    """Whether it matters to others: otherwise two that wait would wake each other for ever."""
    keys = {*new.parts, *old.parts}
    return any(
        new.claim(key, kind)[:3] != old.claim(key, kind)[:3] for key in keys for kind in PLACES
    )


def woken(
    own: LimitClaims, others: Sequence[LimitClaims], limits: Mapping[str, Limit]
) -> list[str]:
    """Which of the others get more now, or have to give something back, now that the own file says
    this."""
    found: dict[str, None] = {}
    everybody = [own, *others]
    for key, limit in limits.items():
        for kind, most in limit.most.items():
            if kind is not Kind.STARTS:
                found.update(dict.fromkeys(_woken(everybody, key, kind, most)))
    addresses = {one.name: one.address for one in others}
    return [addresses[name] for name in found if name in addresses][:MAX_WOKEN]


def _woken(everybody: Sequence[LimitClaims], key: str, kind: Kind, most: int) -> list[str]:
    claims = {one.name: one.claim(key, kind) for one in everybody}
    if not any(claim.wanted > claim.granted for claim in claims.values()):
        return []
    parties = [_party(name, claim) for name, claim in claims.items()]
    fair = shares(most, parties)
    free = most - sum(claim.held for claim in claims.values())
    owing = [name for name, claim in claims.items() if claim.granted > fair[name]]
    return next_in_turn(parties, fair, free) + owing


def _party(name: str, claim: PlacesClaim) -> Party:
    return Party(name, claim.granted, claim.wanted, claim.since)
