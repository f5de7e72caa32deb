"""Groups of nodes that wait for a site, that leave one, or that get none any more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from condor_pydagman.diagnosis.graph_state import GraphState
from condor_pydagman.diagnosis.known_facts import Facts
from condor_pydagman.engine.report import GroupReport
from condor_pydagman.features.sites.states import GroupState
from condor_pydagman.graph.model import Dag
from condor_pydagman.notices.phrases import capitalized, names_of
from condor_pydagman.printable import does, message
from condor_pydagman.trace.notice import Evidence, Notice, Weight
from condor_pydagman.words import duration

_LEAVES = (GroupState.LEAVING.name, GroupState.CLEANING.name)
_LOOK = "To list the sites: condor_pydagman sites list"


def findings(facts: Facts, _state: GraphState | None) -> list[Notice]:
    """Findings about groups, by what the running DAGMan says of them."""
    groups = _groups(facts)
    return [*_without(groups), *_waiting(groups, facts), *_leaving(groups)]


def held_back(facts: Facts, dag: Dag, node: int) -> Iterator[Notice]:
    """Why a node that waits for nothing else does not start: its group waits for a site."""
    number = dag.group_of(node)
    group = dag.groups[number].name if number is not None else None
    return _waiting([known for known in _groups(facts) if known.name == group], facts)


def _groups(facts: Facts) -> Sequence[GroupReport]:
    found: Sequence[GroupReport] = facts.of.get("sites", ())
    return found


def _named(groups: list[GroupReport]) -> str:
    return f"group{'s' * (len(groups) > 1)} {names_of([group.name for group in groups])}"


def _waiting(groups: Iterable[GroupReport], facts: Facts) -> Iterator[Notice]:
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
        yield Notice("group.no_site", Weight.WAITING, sentence, evidence=evidence, advice=(_LOOK,))


def _without(groups: Iterable[GroupReport]) -> Iterator[Notice]:
    for group in groups:
        if group.state == GroupState.SITELESS.name:
            sentence = f"Group {message(group.name)} can no longer get a site, so its nodes fail."
            evidence = (Evidence("DAGMan", message(group.reason)),)
            advice = (_LOOK, "To run its failed nodes again: condor_pydagman steer rerun")
            yield Notice(
                "group.siteless", Weight.PROBLEM, sentence, evidence=evidence, advice=advice
            )


def _leaving(groups: Iterable[GroupReport]) -> Iterator[Notice]:
    found = [group for group in groups if group.state in _LEAVES]
    if found:
        sentence = (
            f"{capitalized(_named(found))} {does(len(found), 'be')} leaving"
            f" {'its site' if len(found) == 1 else 'their sites'}, and"
            f" {does(len(found), 'start')} over at another one."
        )
        yield Notice("group.leaving", Weight.WAITING, sentence)
