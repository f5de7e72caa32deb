"""What a DAG has of limits that it shares with others, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from condor_pydagman.features.shared_limits.overview import WORDS, LimitRow, LimitsAsked, waits_for
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.overview import Overview
from condor_pydagman.printable import does, message, number_of
from condor_pydagman.report.feature_words import Flow, flow
from condor_pydagman.words import duration, number

_MAX_DAGS = 3
_WHO = "condor_pydagman limits --dags"
_BY_RULE = "applied by the administrator"


def overview_lines(seen: Overview) -> Iterator[Flow]:
    """What is taken of each limit; who waits for it is a notice."""
    for limit in seen.of_features.get("shared_limits", ()):
        taken = f"{number(limit['taken'])} of {number(limit['most'])} {limit['what']} in use"
        own = f"{number(limit['own'])} by this DAG"
        name = f"{limit['name']} ({_BY_RULE})" if limit.get("applied") else limit["name"]
        ahead = f", {number(limit['ahead'])} kept for nodes to come" if limit.get("ahead") else ""
        yield flow(f"shared limit {name}: {taken}, {own}{ahead}", "")


def notices(facts: Facts) -> Iterator[Notice]:
    """Why the DAG can have no places, and one for each limit that it waits for."""
    asked = facts.of.get("shared_limits", ())
    if not isinstance(asked, LimitsAsked):  # a glance knows of its own part alone
        yield from _of_glance(asked)
        return
    if asked.trouble:
        yield Notice(
            "limit.trouble",
            Weight.WAITING,
            "DAGMan can't use the shared limits, so no node that is subject to one can start:"
            f" {message(asked.trouble)}.",
            advice=("To list the limits: condor_pydagman limits",),
        )
    for row in waits_for(asked.rows, facts.cluster):
        (mine,) = [one for one in row.dags if one.cluster == facts.cluster]
        what, taken = WORDS[row.kind]
        in_use = f"{row.taken:,} of {row.most:,} {taken} are in use{_by(row, facts.cluster)}"
        waited = duration(max(0.0, facts.now - mine.since))
        evidence = (Evidence("the shared limits", f"the DAG has waited for {waited}", mine.since),)
        name = _named(row.name, row.name.lower() in asked.applied)
        yield _full(name, mine.waiting, what, in_use, evidence, mine.since)


def _of_glance(limits: Sequence[Mapping[str, Any]]) -> Iterator[Notice]:
    for limit in limits:
        if limit["waiting"]:
            by = f", {limit['own']:,} by this DAG" if limit["own"] else ""
            in_use = f"{limit['taken']:,} of {limit['most']:,} {limit['what']} are in use{by}"
            name = _named(limit["name"], limit.get("applied", False))
            yield _full(name, limit["waiting"], limit["waits"], in_use)


def _named(name: str, applied: bool) -> str:
    """A limit, and whose it is if the DAG does not name it."""
    return f"{message(name)}, which is {_BY_RULE}" if applied else message(name)


def _full(
    name: str,
    waiting: int,
    what: str,
    in_use: str,
    evidence: tuple[Evidence, ...] = (),
    since: float = 0.0,
) -> Notice:
    sentence = (
        f"{number_of(waiting, what)} {does(waiting, 'be')} waiting for the shared limit"
        f" {name}: {in_use}."
    )
    return Notice(
        "limit.full",
        Weight.WAITING,
        sentence,
        evidence=evidence,
        advice=(f"To see which DAGs use them: {_WHO}",),
        since=since,
        command=_WHO,
        says_all=True,
    )


def _by(row: LimitRow, cluster: int) -> str:
    """Who has how much of it."""
    holders = [one for one in row.dags if one.taken]
    if not holders:
        return ""
    parts = [
        f"{one.taken:,} by {'this DAG' if one.cluster == cluster else message(one.dag)}"
        for one in holders[:_MAX_DAGS]
    ]
    more = len(holders) - _MAX_DAGS
    if more > 0:
        parts.append(f"the rest by {more} other DAG{'s' * (more > 1)}")
    return ", " + ", ".join(parts)
