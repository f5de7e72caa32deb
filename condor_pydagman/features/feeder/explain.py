"""What the FEEDER of a DAG has to do with its end."""

from __future__ import annotations

from condor_pydagman.features.feeder.shown import FeederSeen
from condor_pydagman.follow.notices.facts import Facts


def explains_failure(facts: Facts) -> bool:
    """Whether the DAG has failed since the FEEDER has."""
    return FeederSeen.of(facts.run).state == "failed"


def goes_on(facts: Facts) -> str:
    """What the DAG does not end before, beside its nodes; '' if that is over."""
    has_one = facts.dag is not None and bool(facts.dag.features.get("feeder"))
    return "the FEEDER" if has_one and not FeederSeen.of(facts.run).state else ""
