"""When a group is taken back from its site, or gets none any more, as its SITE_POLICY says.

Idle jobs and jobs on hold are timed by the events of the nodes log, so a restart does not set these
clocks back; how long a group waits for a site, and how long a site's ad is missing, counts anew.
"""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.queues import Clock
from condor_pydagman.features.sites import leaving, matching
from condor_pydagman.features.sites.groups import Groups
from condor_pydagman.features.sites.states import GroupCause, GroupState
from condor_pydagman.printable import number_of

IDLE, HELD, RUNS = "idle", "on hold", "runs"


def on_job(sites: Groups, node: int, event: LogEvent, does: str) -> None:
    """A proc of the node is idle, on hold, or runs from now on."""
    group = sites.group(node)
    if group is None or event.cluster <= 0:
        return
    policy = sites.groups[group].policy
    since = sites.run.happened(event.time)
    if not (policy.idle or policy.held):
        return
    clocks = sites.clocks
    if clocks.enter(event.cluster, event.proc, does, since) and does != RUNS:
        limit = policy.idle if does == IDLE else policy.held
        if limit:
            clocks.set(Clock(since + limit, node, event.cluster, event.proc, does, since))


def on_adopted(sites: Groups, node: int, event: LogEvent) -> None:
    """A proc is in the queue whose submission the log does not show: it is taken to be idle from
    now on, unless the log shows what it does."""
    if not sites.clocks.knows(event.cluster, event.proc):
        on_job(sites, node, event, IDLE)


def check(sites: Groups) -> None:
    """Take groups back that have been unlucky; give up those that wait in vain."""
    run = sites.run
    if run.is_over or run.starts_nothing:
        return
    _check_clocks(sites)
    for group, failures in list(sites.failures.items()):
        if sites.has_failed_there(group):
            runs = number_of(failures, "run")
            leaving.take_back(sites, group, f"{runs} of its nodes failed there")
    for group, reason in sites.pop_unlucky():
        leaving.take_back(sites, group, reason)
    now = run.now
    for group, limit, since in list(_without_ads(sites)) if sites.missing else ():
        if since + limit <= now:
            leaving.take_back(sites, group, f"its site has had no ad for {now - since:.0f} s")
    _check_waiting(sites)


def _check_clocks(sites: Groups) -> None:
    run = sites.run
    while True:
        clock = sites.clocks.pop(run.now)
        if clock is None:
            return
        group = sites.group(clock.node)
        if group is not None and run.nodes.states[clock.node] == State.SUBMITTED:
            job = f"{clock.cluster}.{clock.proc}"
            waited = f"{run.now - clock.since:.0f} s"
            name = run.dag.names[clock.node]
            reason = f"job {job} of node {name} has been {clock.kind} for {waited}"
            leaving.take_back(sites, group, reason)


def _without_ads(sites: Groups) -> Iterator[tuple[int, int, float]]:
    """Groups at sites that have no ad: how long that may be, in seconds, and since when it is."""
    for group, site in sites.claims.items():
        limit, since = sites.groups[group].policy.gone, sites.missing.get(site)
        is_there = sites.group_states[group] == GroupState.MATCHED and group not in sites.awaited
        if limit and since is not None and is_there:
            yield group, limit, since


def _check_waiting(sites: Groups) -> None:
    """All groups with the same policy wait in the order in which they began to."""
    for kind, policy in enumerate(sites.policies):
        if not policy.wait:
            continue
        for group, since in list(sites.waiting[kind].items()):
            if since + policy.wait > sites.run.now:
                break
            _give_up(sites, group, f"there was none for {policy.wait} s (WAIT {policy.wait})")
    for group in sites.pop_exhausted():
        limit = sites.groups[group].policy.rounds
        _give_up(sites, group, f"it has been matched {limit} times (ROUNDS {limit})")


def _give_up(sites: Groups, group: int, reason: str) -> None:
    if group not in sites.awaited and sites.group_states[group] == GroupState.WAITING:
        sites.wait_no_more(group)
        number = sites.rounds[group]
        matching.write(sites, group, "NO_SITE", number, reason)


def on_no_site(sites: Groups, node: int, event: LogEvent) -> None:
    """The record has been read: what needs the group's site fails."""
    group = sites.told_of(node, event, GroupState.WAITING, GroupState.UNMATCHED)
    if group is None:
        return
    sites.wait_no_more(group)
    sites.move(group, GroupCause.GIVEN_UP)
    sites.set_why_siteless(group, event.text)
    sites.run.say(f"Group {sites.groups[group].name} gets no site: {event.text}")
    matching.start(sites, group)


def fail_siteless(sites: Groups) -> None:
    """Nodes that could start fail if their group gets no site any more."""
    run = sites.run
    while sites.siteless:
        for node in sites.pop_siteless():
            group = sites.group(node)
            if group is not None and run.nodes.states[node] == State.WAITING:
                why = sites.why_siteless.get(group, "")
                lifecycle.fail(run, node, f"No site for group {sites.groups[group].name}: {why}")


def next_time(sites: Groups) -> float | None:
    """When a limit of a policy is reached."""
    times = [sites.clocks.next_time()]
    for kind, policy in enumerate(sites.policies):
        first = next(iter(sites.waiting[kind].values()), None)
        if policy.wait and first is not None:
            times.append(first + policy.wait)
    if sites.missing:
        times += [since + limit for _, limit, since in _without_ads(sites)]
    return min((one for one in times if one is not None), default=None)
