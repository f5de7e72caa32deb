"""Groups of nodes get sites: when the first node of a group could start, and not before.

One request at a time asks for sites for all groups that wait, and says which sites are kept, so
that a restart, or a reply that is lost, neither forgets a claim nor doubles one.  A match is in
force when its record has been read back from the nodes log.
"""

from __future__ import annotations

from itertools import islice

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import ENDED
from condor_pydagman.features.sites.choice import Wanted
from condor_pydagman.features.sites.commands import SitePolicy
from condor_pydagman.features.sites.groups import OF_GROUP, Groups
from condor_pydagman.features.sites.messages import (
    MatchSites,
    PlaceFree,
    SitesMatched,
    SitesUnknown,
)
from condor_pydagman.features.sites.states import GroupCause, GroupState
from condor_pydagman.graph.model import DONE
from condor_pydagman.printable import first_of

HELPER = "sites"
FEW_CLAIMS = 100  # that requests may have one right after the other
_PAUSE_S = 0.0002  # between two rounds, for each claim that there is
# Why a group leaves a site that is not to blame.
LOST_PLACE = "others have got its place while DAGMan's job was not in the queue"
_MAY_BE_MATCHED = frozenset(GroupState) - {
    *(GroupState.LEAVING, GroupState.CLEANING, GroupState.SITELESS)
}
MAX_WANTED = 500  # groups with the same policy that one request asks sites for


def begin(sites: Groups) -> None:
    """Take the sites that a rescue file has for groups whose work has begun."""
    for number, group in enumerate(sites.groups):
        if group.matched:
            sites.keep(number, group.matched, group.round)
            flags = sites.run.dag.flags
            if all(flags[node] & DONE for node in group.nodes):
                sites.rests.trust(group.matched)


# Requests.


def ask_if_due(sites: Groups) -> None:
    """Ask for sites, if any group needs one, and give up claims that are over.

    A DAG that is halted gives up what it does not need, its turn as well.
    """
    run = sites.run
    if sites.asked or run.is_over or sites.pause_until > run.now or not _is_due(sites):
        return
    wanted: list[Wanted] = []
    if not run.starts_nothing:
        avoided = sites.rests.avoided(run.now, sites.there())
        kinds = range(len(sites.policies))
        wanted = [one for kind in kinds for one in _wanted(sites, kind, avoided)]
    limits = sites.rests.limits(run.now, sites.there())
    watched = () if run.starts_nothing else _watched(sites)
    sites.begin_request(waits=bool(wanted))
    claims = tuple(sites.claims.items())
    run.emit(do.Ask(HELPER, MatchSites(claims, tuple(wanted), watched, limits)))


def _is_due(sites: Groups) -> bool:
    if sites.run.starts_nothing:
        return sites.gives_up or sites.in_line
    due = sites.ask_at is not None and sites.ask_at <= sites.run.now
    return due or _has_changed(sites)


def _has_changed(sites: Groups) -> bool:
    """Whether a request is due, in a DAG that is not halted, since something has happened; also if
    other DAGs believe that groups of this one wait for places, and none does, or vice versa."""
    return sites.changed or sites.in_line != any(sites.waiting)


def _wanted(sites: Groups, kind: int, avoided: tuple[str, ...]) -> list[Wanted]:
    never = sites.policies[kind].old_site == "NEVER"
    found = []
    for group in islice(sites.waiting[kind], MAX_WANTED):
        old = tuple(sites.taken_back.get(group, ()))
        only = sites.only.get(group, "")
        last = avoided if never else (*old, *(site for site in avoided if site not in old))
        found.append(Wanted(group, kind, only, last, old if never else ()))
    return found


def _watched(sites: Groups) -> tuple[tuple[int, str], ...]:
    """The groups whose policy looks at their site's ad while they are there."""
    if not any(map(_looks_at_ad, sites.policies)):
        return ()
    return tuple(
        (group, site)
        for group, site in sites.claims.items()
        if _looks_at_ad(sites.groups[group].policy)
        and sites.group_states[group] == GroupState.MATCHED
    )


def _looks_at_ad(policy: SitePolicy) -> bool:
    return bool(policy.gone or policy.rematch_if)


def on_matched(sites: Groups, answer: SitesMatched) -> None:
    """The answer: sites are kept for some groups, and it is known which sites there are."""
    for claim in answer.claims:
        if sites.group_states[claim.group] == GroupState.WAITING:
            number = sites.claim(claim.group, claim.site)
            write(sites, claim.group, "SITE_MATCHED", number, f"{claim.digest} {claim.site}")
        else:
            sites.note_change(gives_up=True)
    if not any(sites.waiting):
        sites.leave_line()
    for kind, reason in answer.reasons:
        if sites.waiting[kind]:
            _say_why(sites, kind, reason)
    run = sites.run
    for site in sites.note_ads(frozenset(answer.sites), run.now):
        run.say(f"Warning: there is no ad of site {site}, where groups of the DAG are")
    expressions = ((group, sites.groups[group].policy.rematch_if) for group in answer.unfit)
    unfit = {group: f"{text} is true" for group, text in expressions if text}
    sites.note_unlucky({**dict.fromkeys(answer.without_room, LOST_PLACE), **unfit})
    sites.end_request(_next_time(sites), sites.run.now + _pause_s(sites))


def on_unknown(sites: Groups, answer: SitesUnknown) -> None:
    """The collector, or the directory of claims, could not be asked."""
    run = sites.run
    sites.end_request(run.now + run.config.sites_interval, run.now + _pause_s(sites))
    if sites.count((GroupState.WAITING,)):
        _say_why(sites, -1, answer.reason)


def on_free(sites: Groups, _: PlaceFree) -> None:
    """It may be this DAG's turn at a site."""
    if any(sites.waiting):
        sites.note_change()


def _pause_s(sites: Groups) -> float:
    """Seconds until the next request: each has all claims in it."""
    return max(0, len(sites.claims) - FEW_CLAIMS) * _PAUSE_S


def _next_time(sites: Groups) -> float | None:
    """When sites are to be looked at though nothing happens here: while groups wait, or a policy
    is about the ads of sites."""
    run = sites.run
    looked_at = any(map(_looks_at_ad, sites.policies)) and sites.claims
    waits = any(sites.waiting)
    if not (looked_at or waits):
        return None
    regular = run.now + run.config.sites_interval
    rested = sites.rests.next_time(run.now, sites.there()) if waits else None
    return regular if rested is None else min(regular, rested)


def _say_why(sites: Groups, kind: int, reason: str) -> None:
    """Why groups get no site, once."""
    if not sites.is_new_reason(kind, reason):
        return
    waiting = sites.waiting if kind < 0 else [sites.waiting[kind]]
    names = first_of([sites.groups[group].name for one in waiting for group in one], 3)
    sites.run.say(f"No site yet for group {names}: {reason}")


# Records.


def write(sites: Groups, group: int, record: str, value: int, text: str) -> None:
    """Write what has been decided about a group into the log."""
    run = sites.run
    node = sites.groups[group].nodes[0]
    retry = run.nodes.retries.get(node, 0)
    action = do.AppendJournalRecord(record, node, retry, value, text=text)
    run.write(OF_GROUP, group, action)


def on_match_read(sites: Groups, node: int, event: LogEvent) -> None:
    """The group has a site: its nodes may start."""
    run = sites.run
    group = sites.told_of(node, event, *_MAY_BE_MATCHED)
    if group is None:
        return  # taken back in the same moment, or a double of the record
    digest, _, site = event.text.partition(" ")
    double = sites.group_states[group] == GroupState.MATCHED and event.value == sites.rounds[group]
    sites.wait_no_more(group)
    sites.move(group, GroupCause.MATCH_READ)
    if double and sites.sites[group] == site:
        return
    sites.set_site(group, site, digest, event.value)
    sites.rests.matched(group, site, run.happened(event.time))
    sites.settle_claim(group)
    name = sites.groups[group].name
    run.say(f"Group {name} is matched to site {site} (round {event.value})")
    start(sites, group)


def start(sites: Groups, group: int) -> None:
    """Start the nodes of the group that may start."""
    run = sites.run
    lifecycle.start_all(run, [one for one in sites.groups[group].nodes if run.nodes.may_start(one)])


# Ends.


def look_at_ends(sites: Groups) -> None:
    """Groups whose nodes have all ended need their sites no more.

    Also when a node is about to run anew, so that a replay, which does not look after each event,
    knows as well that the site was given up, and asks for it again.
    """
    groups = sites.pop_touched()
    for group in groups:
        state = sites.group_states[group]
        if state not in (GroupState.MATCHED, GroupState.WAITING) or group in sites.awaited:
            continue
        if sites.has_failed_there(group):
            continue  # it is about to be taken back
        if all(sites.run.nodes.states[node] in ENDED for node in sites.groups[group].nodes):
            sites.wait_no_more(group)
            sites.move(group, GroupCause.NODES_ENDED)
            sites.settle_claim(group)


def next_time(sites: Groups) -> float | None:
    """When sites are to be asked for."""
    run = sites.run
    if sites.asked or run.is_over:
        return None
    if run.starts_nothing:
        return sites.pause_until if sites.gives_up or sites.in_line else None
    times = [sites.ask_at] if sites.ask_at is not None else []
    times += [sites.pause_until] if _has_changed(sites) else []
    return min(times, default=None)
