"""Groups of nodes and their sites in a run: DAGMan's records in the nodes log in, sites out."""

from __future__ import annotations

from collections.abc import Mapping

from condor_pydagman.trace.run_history import GroupSite, NodePlan, Run
from condor_pydagman.vocabulary import JournalRecord

# The events of the stream that records of groups lead to.
EVENTS = {
    JournalRecord.SITE_MATCHED: "group.match",
    JournalRecord.SITE_TAKEN_BACK: "group.leave",
    JournalRecord.SITE_LEFT: "group.left",
    JournalRecord.SITE_CLEANED: "group.cleaned",
    JournalRecord.NO_SITE: "group.no_site",
}
# After these, all nodes of the group are to run anew.
ENDS_AT_SITE = (JournalRecord.SITE_LEFT, JournalRecord.SITE_CLEANED)


class GroupSites:
    """The sites of all groups.

    Args:
        run: its `groups` are kept up to date.
        plans: what the DAG says of each node; without them no node is known to be in a group.
    """

    def __init__(self, run: Run, plans: Mapping[str, NodePlan]) -> None:
        self._now = run.groups
        self._plans = plans
        self._members: dict[str, list[str]] | None = None

    def site_of(self, group: str) -> str:
        """Where its nodes that begin now run: at the old site, only the clean-up node does."""
        found = self._now.get(group, _NONE)
        return found.site or found.old

    def is_leaving(self, group: str) -> bool:
        """Whether ends of its nodes do not count, since they are removed from the site."""
        return self._now.get(group, _NONE).leaving

    def members(self, group: str) -> list[str]:
        """The nodes of a group."""
        if self._members is None:
            self._members = {}
            for name, plan in self._plans.items():
                if plan.group:
                    self._members.setdefault(plan.group, []).append(name)
        return self._members.get(group, [])

    def take(
        self, group: str, record: JournalRecord, value: int, text: str, time: float = 0.0
    ) -> bool:
        """Take in a record of the group; returns whether it says something new."""
        was = self._now.get(group, _NONE)
        now = _after(was, record, value, text)._replace(since=was.since)
        if now == was:
            self._now.setdefault(group, was)
            return False
        self._now[group] = now._replace(since=time)
        return True


_NONE = GroupSite()


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
