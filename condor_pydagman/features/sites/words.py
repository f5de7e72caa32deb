"""Groups of nodes and their sites, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from condor_pydagman.features.sites.trace import GroupSites
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import printable
from condor_pydagman.report.feature_words import SPACE, Events, Flow, Piece, Section, why
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.overview import Overview
from condor_pydagman.trace.run_history import Attempt, NodeRun, Run
from condor_pydagman.vocabulary import NodeStatus
from condor_pydagman.words import duration, number

MAX_SITES = 12


def _group(event: DagEvent) -> str:
    return printable(f"group {event.data['group']}")


def _site(event: DagEvent) -> str:
    return printable(str(event.data["site"]))


EVENTS: Events = {
    "group.match": lambda event: f"{_group(event)} is matched to site {_site(event)}",
    "group.leave": lambda event: f"{_group(event)} leaves site {_site(event)}{why(event)}",
    "group.left": lambda event: f"{_group(event)} has left site {_site(event)}",
    "group.cleaned": lambda event: f"{_group(event)} was cleaned up",
    "group.no_site": lambda event: f"{_group(event)} gets no site{why(event)}",
}


def overview_lines(seen: Overview) -> Iterator[Flow]:
    """Where groups of nodes run, and which wait for a site."""
    of = seen.of_features["sites"]
    if of:
        yield Flow(_at_sites(of), SPACE)
        yield Flow([(word, "yellow") for word in _waiting(of).split()])


def waits(seen: Overview) -> bool:
    """Whether a group waits for a site."""
    return bool(seen.of_features["sites"].get("waiting"))


def _at_sites(of: Mapping[str, Any]) -> list[Piece]:
    """Where groups of nodes run."""
    if not (of["at"] or of["leaving"] or of["without"]):
        return []
    most = sorted(of["at"].items(), key=lambda pair: (-pair[1], pair[0]))
    pieces = [("groups at sites:", "")]
    pieces += [(f"{printable(site)} {number(count)}", "") for site, count in most[:MAX_SITES]]
    if len(most) > MAX_SITES:
        pieces.append((f"{number(len(most) - MAX_SITES)} more sites", "bright_black"))
    if of["leaving"]:
        pieces.append((f"{number(of['leaving'])} leaving", "yellow"))
    if of["without"]:
        pieces.append((f"{number(of['without'])} without a site", "yellow"))
    return pieces


def _waiting(of: Mapping[str, Any]) -> str:
    """Which groups wait for a site, and why."""
    if not of["waiting"]:
        return ""
    more = of["waiting"] - len(of["first"])
    names = ", ".join(of["first"]) + (f" and {number(more)} more" if more else "")
    many = of["waiting"] > 1
    text = f"{number(of['waiting'])} group{'s are' if many else ' is'} waiting for a site ({names})"
    return printable(f"{text}: {of['reason']}" if of["reason"] else text)


class SiteUse(NamedTuple):
    """A site in a run.

    Attributes:
        name: of the site.
        groups: that are at it, or were when they ended.
        done: nodes that were done there last.
        attempts: of nodes there, those that failed or were removed included.
        failed: attempts whose jobs failed, or were removed.
        ran_s: seconds that jobs ran there, all together.
    """

    name: str
    groups: int
    done: int
    attempts: int
    failed: int
    ran_s: float


def sites_used(run: Run, now: float) -> list[SiteUse]:
    """The sites of a run, by name; `now` is the end of what goes on."""
    at: dict[str, list[tuple[NodeRun, Attempt]]] = {}
    for node in run.nodes.values():
        for attempt in node.attempts:
            if attempt.site:
                at.setdefault(attempt.site, []).append((node, attempt))
    groups = [found.site for found in GroupSites.of(run).groups.values()]
    names = sorted({*at, *groups} - {""})
    return [_use(name, groups.count(name), at.get(name, []), now) for name in names]


def _use(name: str, groups: int, own: list[tuple[NodeRun, Attempt]], now: float) -> SiteUse:
    done = sum(
        node.status is NodeStatus.DONE and attempt is node.attempts[-1] for node, attempt in own
    )
    failed = sum(bool(attempt.value) or bool(attempt.reason) for _, attempt in own)
    ran = sum(_ran_s(attempt, now) for _, attempt in own)
    return SiteUse(name, groups, done, len(own), failed, ran)


def _ran_s(attempt: Attempt, now: float) -> float:
    if not attempt.started:
        return 0.0
    paused = sum(again - stopped for stopped, again in attempt.pauses)
    return max((attempt.stopped or now) - attempt.started - paused, 0.0)


def sections(run: Run, end: float) -> Iterator[Section]:
    """What groups of nodes did at each site."""
    used = sites_used(run, end)
    if used:
        rows = [
            (
                use.name,
                *(f"{count:,}" if count else "" for count in use[1:5]),
                duration(use.ran_s),
            )
            for use in used
        ]
        head = ("site", "groups", "nodes done", "attempts", "failed or removed", "running in all")
        yield Section("sites", "Sites", "Where groups of nodes ran", head, rows, (0,))
