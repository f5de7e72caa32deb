"""Groups of nodes and their sites in a run, as DAGMan's records and its `.dagman.out` tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from condor_pydagman.features.sites.states import GroupState
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.dagman_out import OutKind, OutLine
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.trace.dag_events import DagEvent
from condor_pydagman.trace.overview import MAX_LISTED
from condor_pydagman.trace.run_history import NodeRun, Run, Seen
from condor_pydagman.trace.tally import Tally
from condor_pydagman.trace.tracker import Records, Tracker
from condor_pydagman.vocabulary import JournalRecord

# The events of the stream that records of groups lead to.
_EVENTS = {
    JournalRecord.SITE_MATCHED: "group.match",
    JournalRecord.SITE_TAKEN_BACK: "group.leave",
    JournalRecord.SITE_LEFT: "group.left",
    JournalRecord.SITE_CLEANED: "group.cleaned",
    JournalRecord.NO_SITE: "group.no_site",
}


class GroupSite(NamedTuple):
    """Where a group of nodes is.

    Attributes:
        site: its name; '' if it has none.
        round: how many sites it has been matched to.
        old: the site that it has just left, where its clean-up node runs; '' otherwise.
        leaving: whether what runs of it at the site is being removed.
        reason: why it has been taken back, or gets no site; '' otherwise.
        since: when it has come into this state.
    """

    site: str = ""
    round: int = 0
    old: str = ""
    leaving: bool = False
    reason: str = ""
    since: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """Fields of the events `group.*`, and of what tools print in JSON."""
        told = {"site": self.site or self.old, "round": self.round}
        return {**told, "reason": self.reason} if self.reason else told


NO_SITE = GroupSite()


class GroupSites(Seen):
    """What is known of groups of nodes that need a site.

    Attributes:
        groups: where they are, by name.
        no_site_yet: why DAGMan has last said that a group waits for a site, and when, by name.
    """

    def __init__(self) -> None:
        self.groups: dict[str, GroupSite] = {}
        self.no_site_yet: dict[str, tuple[str, float]] = {}

    def take(
        self, group: str, record: JournalRecord, value: int, text: str, time: float = 0.0
    ) -> bool:
        """Take in a record of the group; returns whether it says something new."""
        was = self.groups.get(group, NO_SITE)
        now = _after(was, record, value, text)._replace(since=was.since)
        if now == was:
            self.groups.setdefault(group, was)
            return False
        self.groups[group] = now._replace(since=time)
        return True


def _after(was: GroupSite, record: JournalRecord, value: int, text: str) -> GroupSite:
    if record is JournalRecord.SITE_MATCHED:
        return GroupSite(text.partition(" ")[2], value)
    if record is JournalRecord.SITE_TAKEN_BACK:
        return was._replace(leaving=True, reason=text)
    if record is JournalRecord.SITE_LEFT:
        return GroupSite(round=was.round, old=was.site or was.old, reason=was.reason)
    if record is JournalRecord.SITE_CLEANED:
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
    """Groups of nodes that run at sites: how many are `at` each site or were when they ended, are
    `leaving`, are `waiting` for a site, are `without`, as others that have one no more; `first`, a
    few of those that wait, and `reason`, why, as DAGMan has last said.  Empty if none has begun."""
    seen = GroupSites.of(tally.run)
    waiting = _waiting(tally) if running else []
    if not (seen.groups or waiting):
        return {"sites": {}}
    at = Counter(found.site for name, found in seen.groups.items() if name not in waiting)
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


def _waiting(tally: Tally) -> list[str]:
    """Groups of which a node could start if they had a site."""
    sites = tally.feature("sites")
    if sites is None:
        return []
    return [sites.groups[number].name for number in sites.in_state(GroupState.WAITING)]


def why_no_site(seen: GroupSites, waiting: Sequence[str]) -> str:
    """What DAGMan has last said of one of these groups, since it has no site."""
    told = (
        seen.no_site_yet[name]
        for name in waiting
        if name in seen.no_site_yet
        and seen.no_site_yet[name][1] >= int(seen.groups.get(name, NO_SITE).since)
    )
    return max(told, key=lambda one: one[1], default=("", 0.0))[0]
