"""Shared limits as people see them: how much is taken, by which DAGs, and who waits."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from condor_pydagman.engine.throttles import MINUTE_S
from condor_pydagman.features.shared_limits.definitions import WORD_OF, Kind, Limit
from condor_pydagman.features.shared_limits.limit_claims import NOTHING, LimitClaims
from condor_pydagman.named_tuple import NamedTuple

# By the word for what a limit limits: one that waits for it, and what is taken of it.
WORDS: Mapping[str, tuple[str, str]] = {
    "JOBS": ("node", "jobs"),
    "IDLE": ("node", "idle jobs"),
    "PRE": ("PRE script", "PRE scripts"),
    "POST": ("POST script", "POST scripts"),
    "STARTS-PER-MINUTE": ("node", "starts a minute"),
}


class DagPart(NamedTuple):
    """What a DAG has of a limit."""

    dag: str  # its DAG file
    user: str  # whose it is
    cluster: int  # of its DAGMan job
    taken: int  # places that it uses, or starts of the last minute
    waiting: int  # how many more it wants
    since: float  # since when it waits, 0 if it does not
    lives: bool  # whether its DAGMan runs
    ahead: int = 0  # places that it keeps for what follows


class LimitRow(NamedTuple):
    """A limit of one kind."""

    name: str  # of the limit
    kind: str  # the word for what it limits
    most: int  # how much there may be
    own: bool  # whether it is the user's own
    # over all DAGs
    taken: int
    waiting: int
    dags: tuple[DagPart, ...]  # those that have or want some of it, the one that has most first
    ahead: int = 0  # over all DAGs


class OwnPart(NamedTuple):
    """How a limit stands for one DAG."""

    # of the limit
    name: str
    kind: str
    most: int
    what: str  # what is taken of it, in words
    taken: int  # over all DAGs
    own: int  # what this DAG has of that
    waiting: int  # how many more this DAG wants
    waits: str  # one that waits for it, in words
    ahead: int  # how many places all DAGs keep for what follows
    applied: bool = False  # whether the administrator's rule says so, and not the DAG


class LimitsAsked(NamedTuple):
    """What an explanation knows: all limits; why the DAG can't have places of them, as DAGMan
    says, '' if it can; and the names of those that the administrator applies to it, in lower
    case."""

    rows: tuple[LimitRow, ...] = ()
    trouble: str = ""
    applied: tuple[str, ...] = ()


class Owned(NamedTuple):
    """What one DAGMan says, and whose it is."""

    user: str
    is_mine: bool
    cluster: int
    lives: bool
    claims: LimitClaims


def rows(limits: Mapping[str, Limit], owned: Sequence[Owned], now: float) -> list[LimitRow]:
    """All limits, by name, kind after kind; `now` in seconds since the epoch."""
    found = []
    for limit in sorted(limits.values(), key=lambda one: one.name.lower()):
        theirs = [one for one in owned if one.is_mine or not limit.own]
        for kind in sorted(limit.most):
            parts = [_part(one, limit, kind, now) for one in theirs]
            found.append(_row(limit, kind, [one for one in parts if any(one[3:5]) or one.ahead]))
    return found


def _part(one: Owned, limit: Limit, kind: Kind, now: float) -> DagPart:
    if kind is Kind.STARTS:
        part = one.claims.parts.get(limit.key, NOTHING)
        taken = sum(number for when, number in part.starts if when > now - MINUTE_S)
        waiting, since, ahead = part.starts_wanted, part.since, 0
    else:
        claim = one.claims.claim(limit.key, kind)
        taken, ahead, since = claim.used, max(claim.held - claim.used, 0), claim.since
        # What it has to give back is in use, and does not wait.
        waiting = max(claim.wanted - max(claim.granted, claim.used), 0)
    known = one.claims.dag, one.user, one.cluster
    return DagPart(*known, taken, waiting, since if waiting else 0.0, one.lives, ahead)


def _row(limit: Limit, kind: Kind, parts: Iterable[DagPart]) -> LimitRow:
    dags = tuple(sorted(parts, key=lambda one: (-one.taken, -one.waiting, one.dag)))
    taken, waiting = sum(one.taken for one in dags), sum(one.waiting for one in dags)
    known = limit.name, WORD_OF[kind], limit.most[kind], limit.own, taken, waiting
    return LimitRow(*known, dags, sum(one.ahead for one in dags))


def waits_for(found: Sequence[LimitRow], cluster: int) -> list[LimitRow]:
    """The limits that the DAG of a DAGMan job waits for."""
    return [row for row in found if any(one.waiting for one in row.dags if one.cluster == cluster)]


def parts_of(
    found: Sequence[LimitRow],
    cluster: int,
    names: Collection[str] | None,
    applied: Collection[str] = (),
) -> list[OwnPart]:
    """How limits stand for the DAG of a DAGMan job.

    Args:
        names: of those that it keeps to, in lower case; None if that is not known: then those of
            which it has or wants something.
        applied: names of those that the administrator applies to it, in lower case.
    """
    parts = []
    for row in found:
        mine = [one for one in row.dags if one.cluster == cluster]
        if mine if names is None else row.name.lower() in names:
            own, waiting = sum(one.taken for one in mine), sum(one.waiting for one in mine)
            waits, what = WORDS[row.kind]
            known = row.name, row.kind, row.most, what, row.taken, own, waiting, waits, row.ahead
            parts.append(OwnPart(*known, row.name.lower() in applied))
    return parts
