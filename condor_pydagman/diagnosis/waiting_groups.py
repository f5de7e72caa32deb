"""Groups of nodes that wait for a site, that leave one, or that get none any more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from condor_pydagman.diagnosis.explanation import Evidence, Finding, Weight
from condor_pydagman.diagnosis.known_facts import Facts
from condor_pydagman.diagnosis.phrases import capitalized, names_of
from condor_pydagman.engine.report import GroupReport
from condor_pydagman.features.sites.states import GroupState
from condor_pydagman.printable import does, message
from condor_pydagman.words import duration

_LEAVES = (GroupState.LEAVING.name, GroupState.CLEANING.name)
_LOOK = "To list the sites: condor_pydagman sites list"


def group_findings(facts: Facts) -> list[Finding]:
    """Findings about groups, by what the running DAGMan says of them."""
    return [*_without(facts), *waiting_findings(facts.groups, facts), *_leaving(facts)]


def _named(groups: list[GroupReport]) -> str:
    return f"group{'s' * (len(groups) > 1)} {names_of([group.name for group in groups])}"


def waiting_findings(groups: Iterable[GroupReport], facts: Facts) -> Iterator[Finding]:
    """One finding for each reason why some of these groups wait for a site."""
    by_reason: dict[str, list[GroupReport]] = {}
    for group in groups:
        if group.state == GroupState.WAITING.name:
            by_reason.setdefault(group.reason, []).append(group)
    for reason, alike in by_reason.items():
        since = min(group.since for group in alike)
        sentence = (
            f"{capitalized(_named(alike))} {does(len(alike), 'be')} waiting for a site, the longest"
            f" for {duration(max(0.0, facts.now - since))}."
        )
        evidence = (Evidence("DAGMan", message(reason), since),) if reason else ()
        yield Finding("group.no_site", Weight.WAITING, sentence, evidence=evidence, advice=(_LOOK,))


def _without(facts: Facts) -> Iterator[Finding]:
    for group in facts.groups:
        if group.state == GroupState.SITELESS.name:
            sentence = f"Group {message(group.name)} can no longer get a site, so its nodes fail."
            evidence = (Evidence("DAGMan", message(group.reason)),)
            advice = (_LOOK, "To run its failed nodes again: condor_pydagman steer rerun")
            yield Finding(
                "group.siteless", Weight.PROBLEM, sentence, evidence=evidence, advice=advice
            )


def _leaving(facts: Facts) -> Iterator[Finding]:
    found = [group for group in facts.groups if group.state in _LEAVES]
    if found:
        sentence = (
            f"{capitalized(_named(found))} {does(len(found), 'be')} leaving"
            f" {'its site' if len(found) == 1 else 'their sites'}, and"
            f" {does(len(found), 'start')} over at another one."
        )
        yield Finding("group.leaving", Weight.WAITING, sentence)
