"""A group is taken back from its site, step by step; each step is in the nodes log before the next.

1. SITE_TAKEN_BACK: nothing of the group is started any more; its jobs are removed, by force if the
   site does not confirm that, and what else of it runs goes on to its end.
2. SITE_LEFT: nothing of it runs.  All its nodes are to run anew, those that are done as well, since
   their files are at the old site.  If it has a clean-up node, that runs, at the old site.
3. SITE_CLEANED: the clean-up has ended, in whatever way.  The claim is given up, and the group gets
   another site when its first node could start.

A crash at any point goes on with the same step.
"""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import ENDED, NOT_BEGUN, Cause, State
from condor_pydagman.features.common import rerun
from condor_pydagman.features.sites import matching
from condor_pydagman.features.sites.groups import Groups
from condor_pydagman.features.sites.rests import MAX_S, TRIALS
from condor_pydagman.features.sites.states import GroupCause, GroupState
from condor_pydagman.graph.model import USER_DONE
from condor_pydagman.vocabulary import NodeKind

_ENDS = frozenset((GroupState.LEAVING, GroupState.CLEANING))


def take_back(sites: Groups, group: int, reason: str) -> None:
    """Begin to take a group back."""
    if group not in sites.awaited and sites.group_states[group] == GroupState.MATCHED:
        number = sites.rounds[group]
        matching.write(sites, group, "SITE_TAKEN_BACK", number, reason)


def on_taken_back(sites: Groups, node: int, event: LogEvent) -> None:
    """The record has been read."""
    group = sites.group(node)
    if group is not None:
        sites.read_back(group, event.record)
        is_present = event.value == sites.rounds[group]
        if is_present and leave(sites, group, event.text) and event.text != matching.LOST_PLACE:
            _let_rest(sites, group, sites.run.happened(event.time))


def _let_rest(sites: Groups, group: int, when: float) -> None:
    """The group was unlucky at its site, which others are spared for a while."""
    run, states = sites.run, sites.run.nodes.states
    site = sites.sites[group]
    done = sum(states[node] == State.DONE for node in sites.groups[group].nodes)
    delay_s = sites.rests.failed(group, site, when, done, run.config.sites_interval)
    if delay_s:
        run.say(f"Site {site} gets no group for {delay_s:.0f} s, and then one at a time")
    if sites.rests.failures(site) == TRIALS:
        run.say(
            f"Site {site} has failed {TRIALS} groups: while others work, it gets only groups that"
            f" have no other site, for {MAX_S:.0f} s"
        )


def leave(sites: Groups, group: int, reason: str) -> bool:
    """The group leaves its site from now on; whether it has one that it does not leave already."""
    state = GroupState(sites.group_states[group])
    if state in _ENDS or (not sites.sites[group] and state != GroupState.MATCHED):
        return False
    sites.read_back(group, None)
    sites.wait_no_more(group)
    sites.move(group, GroupCause.TAKEN_BACK)
    sites.settle_claim(group)
    name, site = sites.groups[group].name, sites.sites[group]
    sites.run.say(f"Group {name} has to leave site {site}: {reason}")
    states = sites.run.nodes.states
    remove(sites, group, *(n for n in sites.groups[group].nodes if states[n] == State.SUBMITTED))
    return True


# A person wants it.

_NOTHING_TO_LEAVE = {
    GroupState.UNMATCHED: "has no site yet",
    GroupState.WAITING: "waits for a site",
    GroupState.CLAIMED: "is just being matched: ask again",
    GroupState.LEAVING: "is leaving its site already",
    GroupState.CLEANING: "is leaving its site already",
    GroupState.OVER: "has ended: run its nodes again",
    GroupState.SITELESS: "gets no site any more: run its failed nodes again",
}


def obstacle(sites: Groups, node: int) -> str:
    """Why a person can't have the node's group matched again; '' if that can be done."""
    group = sites.group(node)
    if group is None:
        return "it is in no group of nodes that are matched to sites"
    name, limit = sites.groups[group].name, sites.groups[group].policy.rounds
    state = GroupState(sites.group_states[group])
    if state != GroupState.MATCHED:
        return f"its group {name} {_NOTHING_TO_LEAVE[state]}"
    if group in sites.awaited:
        return f"its group {name} is leaving its site already"
    if sites.rounds[group] >= limit:
        return f"its group {name} has been matched {limit} times (ROUNDS {limit})"
    return ""


def round_of(sites: Groups, node: int) -> int:
    """The number of the present match of the node's group."""
    group = sites.group(node)
    return 0 if group is None else sites.rounds[group]


def rematch(sites: Groups, node: int, number: str, by: str) -> str:
    """A person's wish has been read: the node's group leaves the site of that match.

    Returns why it comes too late, '' if it does not.
    """
    group = sites.group(node)
    if group is None:
        return "the DAG has no such group any more"
    if number != str(sites.rounds[group]):
        return "the group has been matched again since"
    late = GroupState(sites.group_states[group])
    if late in _ENDS:
        return _NOTHING_TO_LEAVE[late]
    leave(sites, group, f"user {by} wants another one")
    return ""


# Live: what is left of it there.


def enforce(sites: Groups) -> None:
    """End what runs of groups that leave their sites; write down when that is done."""
    run = sites.run
    if run.is_over or not sites.count(_ENDS):
        return
    for group in sites.in_state(*_ENDS):
        if group in sites.awaited:
            continue
        cleaning = sites.group_states[group] == GroupState.CLEANING
        if cleaning and sites.clean_up_until[group] <= run.now:
            sites.clean_up_over(group)
        if cleaning and group not in sites.cleaned:
            continue
        if not _is_busy(sites, group):
            _forget_placements(sites, group, cleaning or sites.groups[group].clean_up < 0)
            record = "SITE_CLEANED" if cleaning else "SITE_LEFT"
            matching.write(sites, group, record, sites.rounds[group], sites.sites[group])


def _forget_placements(sites: Groups, group: int, are_gone: bool) -> None:
    """Before the record, so that a crash between the two forgets them once more."""
    run = sites.run
    nodes = sites.groups[group].nodes
    placing = tuple(node for node in nodes if run.dag.kinds[node] == NodeKind.DATA)
    if placing:
        run.emit(do.ForgetPlacements(placing, are_gone))


def _is_busy(sites: Groups, group: int) -> bool:
    """Whether anything of the group runs; what has not begun is dropped, jobs are removed."""
    busy, submitted = False, []
    for node in sites.groups[group].nodes:
        state = State(sites.run.nodes.states[node])
        if state == State.SUBMITTED:
            submitted.append(node)
        if state in NOT_BEGUN:
            _drop(sites, node)
        elif state not in ENDED:
            busy = True
    if submitted:
        _remove(sites, group, submitted)
    else:
        sites.removal_over(group)
    return busy


def _remove(sites: Groups, group: int, nodes: list[int]) -> None:
    """Remove the jobs of these nodes; by force if that takes too long, as at a site that is dead,
    where nobody can say that they do not run any more."""
    run = sites.run
    name, site = sites.groups[group].name, sites.sites[group]
    reason = remove(sites, group, *nodes)
    if not sites.may_force(group, run.now):
        return
    limit = sites.groups[group].policy.removal
    run.say(
        f"Warning: site {site} has not confirmed for {limit} s that jobs of group {name} are"
        " removed; they are removed from the queue by force, and may still run there"
    )
    for node in nodes:
        cluster, proc = run.job_table.by_node[node].target
        run.emit(do.RemoveJobs(f"{reason}, which does not answer", cluster, proc=proc, force=True))


def remove(sites: Groups, group: int, *nodes: int) -> str:
    """Remove the jobs of these nodes, since the group leaves its site; returns the reason.

    A replay does so as well, with the same event: what can't be done about jobs that are being
    removed must be the same.
    """
    reason = f"Group {sites.groups[group].name} leaves site {sites.sites[group]}"
    for node in nodes:
        lifecycle.remove_rest(sites.run, sites.run.job_table.by_node[node], reason)
    return reason


def _drop(sites: Groups, node: int) -> None:
    """The node, of which nothing runs, waits for its group's next site; or it can't run, since a
    parent that it had used has started over with its own group, and failed.

    A clean-up node may be futile by then, since the clean-up of another group has ended before.
    """
    run = sites.run
    rerun.leave_queues(run, node)
    if run.nodes.states[node] not in (State.WAITING, State.FUTILE):
        run.nodes.move(node, Cause.DROPPED, run.now)
        run.nodes.not_failed(node)


def next_time(sites: Groups) -> float | None:
    """When a clean-up must have ended, or a removal."""
    until = sites.clean_up_until
    times = [*(until[group] for group in _cleaning(sites)), *sites.force_at.values()]
    return min(times, default=None)


def _cleaning(sites: Groups) -> list[int]:
    found = sites.in_state(GroupState.CLEANING)
    return [group for group in found if group not in sites.awaited and group not in sites.cleaned]


# Records.


def on_left(sites: Groups, node: int, event: LogEvent) -> None:
    """Nothing of the group runs at its site any more."""
    run = sites.run
    group = sites.told_of(node, event, GroupState.LEAVING)
    if group is None or event.value != sites.rounds[group]:
        return
    for one in sites.groups[group].nodes:
        if run.nodes.states[one] in NOT_BEGUN:
            _drop(sites, one)
    for one in sites.groups[group].nodes:
        _start_over(sites, one)
    sites.note_left(group)
    lifecycle.settle(run)
    clean_up = sites.groups[group].clean_up
    if clean_up < 0:
        _free(sites, group)
        return
    sites.move(group, GroupCause.TO_CLEAN_UP)
    allowed = sites.groups[group].policy.clean_up_time
    sites.begin_clean_up(group, run.happened(event.time) + allowed)
    run.say(f"Node {run.dag.names[clean_up]} cleans up at site {sites.sites[group]}")
    if run.nodes.states[clean_up] == State.FUTILE:  # because of a node outside the group
        run.nodes.move(clean_up, Cause.FREED, run.now)
        run.nodes.not_failed(clean_up)
    if run.nodes.states[clean_up] == State.DONE:  # all its parents were skipped
        rerun.take_back(run, clean_up)
    lifecycle.start(run, clean_up)


def _start_over(sites: Groups, node: int) -> None:
    """Nothing of what the node has done counts any more.  Children that are in no group, or in
    another one, and that have begun or may begin, have used it and go on.  What the DAG file calls
    DONE has done nothing at the site, unless a person has run it again."""
    run = sites.run
    state = run.nodes.states[node]
    by_file = state == State.DONE and run.dag.flags[node] & USER_DONE
    if by_file and not _has_begun(sites, node):
        return
    if state in (State.DONE, State.FAILED):
        rerun.take_back(run, node)
    elif _has_begun(sites, node):
        lifecycle.begin_anew(run, node)


def _has_begun(sites: Groups, node: int) -> bool:
    """Whether the node has ever run, by what the log has; its next run gets another number."""
    run = sites.run
    had_jobs = bool(run.nodes.clusters[node] or run.nodes.retries.get(node, 0))
    return had_jobs or node in run.scripts.pre_values


def on_cleaned(sites: Groups, node: int, event: LogEvent) -> None:
    """The clean-up has ended."""
    run = sites.run
    group = sites.told_of(node, event, GroupState.CLEANING)
    if group is None or event.value != sites.rounds[group]:
        return
    clean_up = sites.groups[group].clean_up
    if run.nodes.states[clean_up] != State.DONE:  # it may have been skipped, or marked done
        _drop(sites, clean_up)  # an old log may not show that it had no time left
        granted = run.retrying.extra_retries.get(clean_up, 0)
        has_retried = run.nodes.retries.get(clean_up, 0) != granted
        if clean_up in run.scripts.pre_values or has_retried:
            lifecycle.begin_anew(run, clean_up)
    sites.end_clean_up(group)
    run.nodes.not_failed(clean_up)  # it may be futile again
    _free(sites, group)


def _free(sites: Groups, group: int) -> None:
    """The group may get another site."""
    sites.move(group, GroupCause.FREE_AGAIN)
    sites.forget_site(group)
    lifecycle.settle(sites.run)
    matching.start(sites, group)
