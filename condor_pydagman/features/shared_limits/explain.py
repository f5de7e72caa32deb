"""Nodes that wait for limits that DAGs share."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.diagnosis.graph_state import GraphState
from condor_pydagman.diagnosis.known_facts import Facts
from condor_pydagman.features.shared_limits.overview import WORDS, LimitRow, LimitsAsked, waits_for
from condor_pydagman.printable import message
from condor_pydagman.trace.notice import Evidence, Notice, Weight
from condor_pydagman.words import duration

_MAX_DAGS = 3


def findings(facts: Facts, _state: GraphState | None) -> Iterator[Notice]:
    """Why the DAG can have no places, and a finding for each limit that it waits for."""
    known = facts.of.get("shared_limits", LimitsAsked())
    if known.trouble:
        yield Notice(
            "limit.trouble",
            Weight.WAITING,
            "DAGMan can't use the shared limits, so no node that is subject to one can start:"
            f" {message(known.trouble)}.",
            advice=("To list the limits: condor_pydagman limits",),
        )
    for row in waits_for(known.rows, facts.cluster):
        (mine,) = [one for one in row.dags if one.cluster == facts.cluster]
        what, taken = WORDS[row.kind]
        s = "s" if mine.waiting > 1 else ""
        sentence = (
            f"{mine.waiting:,} {what}{s} {'are' if s else 'is'} waiting for the shared limit"
            f" {message(row.name)}: {row.taken:,} of {row.most:,} {taken} are in use"
            f"{_by(row, facts.cluster)}."
        )
        waited = duration(max(0.0, facts.now - mine.since))
        evidence = (Evidence("the shared limits", f"the DAG has waited for {waited}", mine.since),)
        yield Notice(
            "limit.full",
            Weight.WAITING,
            sentence,
            evidence=evidence,
            advice=("To see which DAGs use them: condor_pydagman limits --dags",),
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
