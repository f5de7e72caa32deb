"""Groups of nodes and their sites in a run, as DAGMan's records and its `.dagman.out` tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from condor_pydagman.engine.report import GroupReport
from condor_pydagman.features.sites.matching import look_at_ends
from condor_pydagman.features.sites.states import GroupState
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.facts import Facts, Nodes
from condor_pydagman.follow.notices.name_lists import names_of
from condor_pydagman.follow.overview import MAX_LISTED, Overview
from condor_pydagman.follow.run_model import Attempt, NodeRun, Run, Seen
from condor_pydagman.follow.tally import Tally
from condor_pydagman.follow.tracker import Records, Tracker
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import does, message, number_of, printable
from condor_pydagman.records.dagman_out import OutKind, OutLine
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.feature_words import SPACE, Events, Flow, Piece, Section, why
from condor_pydagman.report.spans import ran_s
from condor_pydagman.vocabulary import NodeStatus
from condor_pydagman.words import duration, number

# The events of the stream that records of groups lead to.
_EVENTS = {
    "SITE_MATCHED": "group.match",
    "SITE_TAKEN_BACK": "group.leave",
    "SITE_LEFT": "group.left",
    "SITE_CLEANED": "group.cleaned",
    "NO_SITE": "group.no_site",
}


class GroupSite(NamedTuple):
    """Where a group of nodes is."""

    site: str = ""  # its name; '' if it has none
    round: int = 0  # how many sites it has been matched to
    old: str = ""  # the site that it has just left, where its clean-up node runs; '' otherwise
    leaving: bool = False  # whether what runs of it at the site is being removed
    reason: str = ""  # why it has been taken back, or gets no site; '' otherwise
    since: float = 0.0  # when it has come into this state

    def as_json(self) -> dict[str, Any]:
        """Fields of the events `group.*`, and of what tools print in JSON."""
        told = {"site": self.site or self.old, "round": self.round}
        return {**told, "reason": self.reason} if self.reason else told


NO_SITE = GroupSite()


class GroupSites(Seen):
    """What is known of groups of nodes that need a site."""

    def __init__(self) -> None:
        self.groups: dict[str, GroupSite] = {}  # where they are, by name
        self.moves = 0  # how often one has come to another
        # why DAGMan has last said that a group waits for a site, and when, by name
        self.no_site_yet: dict[str, tuple[str, float]] = {}

    def take(self, group: str, record: str, value: int, text: str, time: float = 0.0) -> bool:
        """Take in a record of the group; returns whether it says something new."""
        was = self.groups.get(group, NO_SITE)
        now = _after(was, record, value, text)._replace(since=was.since)
        if now == was:
            self.groups.setdefault(group, was)
            return False
        self.groups[group] = now._replace(since=time)
        self.moves += 1
        return True


def _after(was: GroupSite, record: str, value: int, text: str) -> GroupSite:
    if record == "SITE_MATCHED":
        return GroupSite(text.partition(" ")[2], value)
    if record == "SITE_TAKEN_BACK":
        return was._replace(leaving=True, reason=text)
    if record == "SITE_LEFT":
        return GroupSite(round=was.round, old=was.site or was.old, reason=was.reason)
    if record == "SITE_CLEANED":
        return GroupSite(round=was.round, reason=was.reason)
    return GroupSite(round=was.round, reason=text)


def _record(tracker: Tracker, node: NodeRun | None, read: RecordRead, time: float) -> None:
    """The node's group has a site, or leaves it."""
    group = tracker.group_of(node) if node is not None else ""
    if not group:
        return
    seen = GroupSites.put(tracker.run)
    if not seen.take(group, read.record, read.value, read.text, time):
        return
    data = {"group": group, **seen.groups[group].as_json()}
    tracker.say(DagEvent(_EVENTS[read.record], time, data=data))


def _no_site_yet(run: Run, line: OutLine) -> None:
    for group in line.node.split(", "):
        GroupSites.put(run).no_site_yet[group] = line.text, line.time


RECORDS: Records = dict.fromkeys(_EVENTS, _record)
LINES = {OutKind.NO_SITE_YET: _no_site_yet}


def overview(tally: Tally, _ad: Mapping[str, Any], *, running: bool) -> dict[str, Any]:
    """Groups of nodes that run at sites: how many are `at` each, or were when the DAG ended, are
    `leaving`, are `waiting` for a site, are `without`, as others that have one no more; `first`, a
    few of those that wait, and `reason`, why, as DAGMan has last said.  Empty if none has begun."""
    seen = GroupSites.of(tally.run)
    waiting = _groups_in(GroupState.WAITING, tally) if running else []
    if not (seen.groups or waiting):
        return {"sites": {}}
    elsewhere = {*waiting, *(_groups_in(GroupState.OVER, tally) if running else ())}
    at = Counter(found.site for name, found in seen.groups.items() if name not in elsewhere)
    without = at.pop("", 0)
    return {
        "sites": {
            "at": dict(sorted(at.items())),
            "leaving": sum(found.leaving for found in seen.groups.values()),
            "without": without,
            "waiting": len(waiting),
            "first": waiting[:MAX_LISTED],
            "reason": why_no_site(seen, waiting),
        }
    }


def _groups_in(state: GroupState, tally: Tally) -> list[str]:
    """Names of groups.  Of those that are over the logs have no record: they have given up their
    places, since all their nodes have ended."""
    sites = tally.feature("sites")
    if sites is None:
        return []
    if state is GroupState.OVER:
        look_at_ends(sites)
    return [sites.groups[number].name for number in sites.in_state(state)]


def why_no_site(seen: GroupSites, waiting: Sequence[str]) -> str:
    """What DAGMan has last said of one of these groups, since it has no site."""
    told = (
        seen.no_site_yet[name]
        for name in waiting
        if name in seen.no_site_yet
        and seen.no_site_yet[name][1] >= int(seen.groups.get(name, NO_SITE).since)
    )
    return max(told, key=lambda one: one[1], default=("", 0.0))[0]


MAX_SITES = 12
_LEAVES = (GroupState.LEAVING.name, GroupState.CLEANING.name)
_LIST = "condor_pydagman sites list"


def _group(event: DagEvent) -> str:
    return f"group {event.data['group']}"


def _site(event: DagEvent) -> str:
    return str(event.data["site"])


EVENTS: Events = {
    "group.match": lambda event: f"{_group(event)} is matched to site {_site(event)}",
    "group.leave": lambda event: f"{_group(event)} leaves site {_site(event)}{why(event)}",
    "group.left": lambda event: f"{_group(event)} has left site {_site(event)}",
    "group.cleaned": lambda event: f"{_group(event)} was cleaned up",
    "group.no_site": lambda event: f"{_group(event)} gets no site{why(event)}",
}


def overview_lines(seen: Overview) -> Iterator[Flow]:
    """Where groups of nodes run, and which wait for a site."""
    of = seen.of_features.get("sites")
    if of:
        yield Flow(_at_sites(of), SPACE)


def notices(facts: Facts) -> Iterator[Notice]:
    """Groups that wait for a site, that leave one, or that get none any more."""
    told = facts.of.get("sites", ())
    if isinstance(told, Mapping):  # a glance has counted them
        if told.get("waiting"):
            yield _waiting_words(Nodes(told["waiting"], told["first"]), told["reason"], facts.out)
        return
    yield from _siteless(told)
    yield from waiting_notices(told, facts.now)
    yield from _leaving(told)


def waiting_notices(groups: Iterable[GroupReport], now: float) -> Iterator[Notice]:
    """One for each reason why some of these groups wait for a site, as DAGMan says it."""
    by_reason: dict[str, list[GroupReport]] = {}
    for group in groups:
        if group.state == GroupState.WAITING.name:
            by_reason.setdefault(group.reason, []).append(group)
    for reason, alike in by_reason.items():
        since = min(group.since for group in alike)
        longest = f", the longest for {duration(max(0.0, now - since))}"
        names = [group.name for group in alike]
        found = max(group.found for group in alike) or since
        nodes = Nodes(len(names), names)
        yield _waiting_words(nodes, reason, "DAGMan", since, longest, found)


def _waiting_words(
    groups: Nodes,
    reason: str,
    source: str,
    since: float = 0.0,
    longest: str = "",
    found: float = 0.0,
) -> Notice:
    many = groups.number > 1
    names = names_of(groups.names)
    if groups.number > len(groups.names):
        more = f"{groups.number - len(groups.names):,} more"
        names = f"{', '.join(map(printable, groups.names))} and {more}"
    sentence = f"Group{'s' * many} {names} {does(groups.number, 'be')} waiting for a site{longest}."
    evidence = (Evidence(source, message(reason), found),) if reason else ()
    return Notice(
        "group.no_site",
        Weight.WAITING,
        sentence,
        evidence=evidence,
        advice=(f"To list the sites: {_LIST}",),
        since=since,
        command=_LIST,
        awaited=f"sites for {number_of(groups.number, 'group')} of nodes",
    )


def _siteless(groups: Iterable[GroupReport]) -> Iterator[Notice]:
    for group in groups:
        if group.state == GroupState.SITELESS.name:
            sentence = f"Group {message(group.name)} can no longer get a site, so its nodes fail."
            evidence = (Evidence("DAGMan", message(group.reason)),)
            again = "condor_pydagman steer rerun"
            advice = (f"To list the sites: {_LIST}", f"To run its failed nodes again: {again}")
            yield Notice(
                "group.siteless", Weight.PROBLEM, sentence, evidence=evidence, advice=advice
            )


def _leaving(groups: Iterable[GroupReport]) -> Iterator[Notice]:
    names = [group.name for group in groups if group.state in _LEAVES]
    if names:
        s = "s" * (len(names) > 1)
        sentence = (
            f"Group{s} {names_of(names)} {does(len(names), 'be')} leaving"
            f" {'their sites' if s else 'its site'}, and {does(len(names), 'start')} over at"
            " another one."
        )
        yield Notice("group.leaving", Weight.WAITING, sentence)


def _at_sites(of: Mapping[str, Any]) -> list[Piece]:
    """Where groups of nodes run."""
    if not (of["at"] or of["leaving"] or of["without"]):
        return []
    most = sorted(of["at"].items(), key=lambda pair: (-pair[1], pair[0]))
    pieces = [("groups at sites:", "")]
    pieces += [(f"{site} {number(count)}", "") for site, count in most[:MAX_SITES]]
    if len(most) > MAX_SITES:
        pieces.append((f"{number(len(most) - MAX_SITES)} more sites", "bright_black"))
    if of["leaving"]:
        pieces.append((f"{number(of['leaving'])} leaving", "yellow"))
    if of["without"]:
        pieces.append((f"{number(of['without'])} without a site", "yellow"))
    return pieces


class SiteUse(NamedTuple):
    """A site in a run."""

    name: str  # of the site
    groups: int  # that are at it, or were when they ended
    done: int  # nodes that were done there last
    attempts: int  # of nodes there, those that failed or were removed included
    failed: int  # attempts whose jobs failed, or were removed
    ran_s: float  # seconds that jobs ran there, all together


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
    ran = sum(ran_s(attempt, now) for _, attempt in own)
    return SiteUse(name, groups, done, len(own), failed, ran)


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
