"""What groups of nodes have to do with the run of the DAG: `Sites`.

The data is in `groups`; `matching` has how groups get sites, `policy_checks` when they lose them,
`leaving` how.
"""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.engine import lifecycle, views
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import ENDED, Change, Jobs
from condor_pydagman.engine.node_states import CANCELLED, CLEANING, UNWANTED, Anew, Cause, State
from condor_pydagman.engine.report import GroupReport
from condor_pydagman.engine.state import Mode
from condor_pydagman.features.sites import leaving, matching, policy_checks
from condor_pydagman.features.sites.groups import Groups
from condor_pydagman.features.sites.messages import PlaceFree, SitesMatched, SitesUnknown
from condor_pydagman.features.sites.policy_checks import HELD, IDLE, RUNS
from condor_pydagman.features.sites.states import CLAIMING, UNDER_WAY, GroupState
from condor_pydagman.language.lexer import name_word
from condor_pydagman.vocabulary import NO_NODE, NodeKind

_DOES = {
    Change.SUBMITTED: IDLE,
    Change.IDLE: IDLE,
    Change.RELEASED: IDLE,
    Change.HELD: HELD,
    Change.RUNS: RUNS,
}


class Sites(Groups):
    """Groups of nodes that run at one site each."""

    name = "sites"
    records = (
        # value: which round; text: digest of the site's ad, site
        ("SITE_MATCHED", "on_match_read"),
        # value: which round; text: why
        ("SITE_TAKEN_BACK", "on_taken_back"),
        # value: which round; nothing of the group runs at the old site
        ("SITE_LEFT", "on_left"),
        # value: which round; the clean-up has ended
        ("SITE_CLEANED", "on_cleaned"),
        # value: rounds so far; text: why the group gets no site any more
        ("NO_SITE", "on_no_site"),
    )
    replies = (
        (SitesMatched, "on_matched"),
        (SitesUnknown, "on_unknown"),
        (PlaceFree, "on_free"),
    )

    # The turn of a node.

    def holds_back(self, node: int, ready: bool) -> bool:
        """Its group has no site, or leaves it."""
        if ready or not self.is_closed_to(node) or self.run.mode is Mode.DRY_RUN:
            return False
        self.node_could_start(node, self.run.now)
        return True

    def runs_at(self, node: int) -> tuple[str, str]:
        """Its group's site."""
        return self.site(node)

    def started(self) -> None:
        """Nodes that could start may have no site, for good."""
        if self.siteless and not self.fails_siteless:
            self.fails_siteless = True  # what comes to be so meanwhile fails in the same loop
            policy_checks.fail_siteless(self)
            self.fails_siteless = False

    # Its jobs.

    def job_event(self, node: int, event: LogEvent, change: Change) -> None:
        """Jobs that wait, or are on hold, are timed."""
        self._stirs(node, event, change)
        if change is Change.ENDED:
            self.clocks.forget(event.cluster, event.proc)
            return
        if change in (Change.SUBMITTED, Change.ADOPTED):
            if self.run.job_table.by_node[node].procs.get(event.proc, 0) & ENDED:
                return  # the log has shown its end before
            if change is Change.ADOPTED:
                policy_checks.on_adopted(self, node, event)
                return
        policy_checks.on_job(self, node, event, _DOES[change])

    def _stirs(self, node: int, event: LogEvent, change: Change) -> None:
        group = self.group(node)
        if group is not None and change in (Change.SUBMITTED, Change.ENDED):
            by_job = change is Change.SUBMITTED and self.run.dag.kinds[node] != NodeKind.DATA
            self.rests.stirs(group, self.run.happened(event.time), by_job=by_job)

    def jobs_seen(self, node: int, jobs: Jobs) -> None:
        """They are removed if its group leaves, and it was being submitted meanwhile."""
        group = self.group(node)
        if group is not None and self.leaves(node):
            leaving.remove(self, group, node)

    # The end of a run of a node.

    def before_ended(self, node: int, error: str) -> bool:
        """If the node has run to clean up at the old site of its group, that is all, and its turn
        in the DAG is still to come."""
        run = self.run
        if not run.nodes.marks[node] & CLEANING:
            self.touch(node, failed=bool(error))
            return False
        run.nodes.move(node, Cause.FAILED if error else Cause.SUCCEEDED, run.now)
        run.nodes.unmark(node, CANCELLED)
        run.job_table.close(node)
        run.nodes.move(node, Cause.RUN_AGAIN, run.now)
        lifecycle.begin_anew(run, node)
        group = self.group(node)
        assert group is not None
        self.clean_up_over(group)
        return True

    def before_retry(self, node: int, error: str) -> str:
        """It is not retried at a site that its group leaves.  Of one that is not wanted, or that a
        person has cancelled, a failure is not the site's."""
        if self.run.nodes.marks[node] & (UNWANTED | CANCELLED):
            return ""
        self.run_failed(node)
        return f"Taken back from site {self.site(node)[0]}; {error}" if self.leaves(node) else ""

    def done(self, node: int, ran: bool) -> None:
        """That may be the end of its group, and may show that its site works again."""
        self.touch(node)
        group = self.group(node) if ran else None
        if group is None or self.group_states[group] != GroupState.MATCHED:
            return
        site, name = self.sites[group], self.groups[group].name
        rested = self.rests.rests(site)
        if self.got_further(group):
            works = "works again" if rested else "works"
            self.run.say(f"Site {site} {works}: group {name} has got further there")

    # Nodes that run anew.

    def begins_anew(self, node: int, why: Anew) -> None:
        """If a person wants it, its group may be matched as often as its policy allows."""
        group = self.group(node)
        if group is not None and why is Anew.BY_PERSON:
            self.begin_anew(group)

    def before_taken_back(self, node: int | None) -> None:
        """What the node, which has ended, has done is about to count no more: its group may be
        over, and not be so any more; None: any group."""
        if node is None:
            self.touch_all()
        else:
            self.touch(node)
        matching.look_at_ends(self)

    # A person wants another site.

    obstacle = leaving.obstacle
    round_of = leaving.round_of
    rematch = leaving.rematch

    # The run of the DAG.

    def begins(self) -> None:
        """A rescue file may have sites of groups."""
        matching.begin(self)

    def enforce(self) -> None:
        """What runs of groups that leave their sites is ended."""
        leaving.enforce(self)

    def at_starts(self, over: bool) -> None:
        """Groups get sites, keep them, or give them up."""
        if over:
            return
        policy_checks.check(self)
        matching.look_at_ends(self)
        matching.ask_if_due(self)

    def deadline(self) -> float | None:
        """The first of what is due."""
        run = self.run
        times = [matching.next_time(self)]
        if not run.is_over:
            times.append(leaving.next_time(self))
            if not run.starts_nothing:
                times.append(policy_checks.next_time(self))
        return min((time for time in times if time is not None), default=None)

    def under_way(self, halted: bool) -> bool:
        """The DAG goes on because of a group, though none of its nodes may run."""
        return not halted and (bool(self.awaited) or self.count(UNDER_WAY) > 0)

    # Inputs and records.

    on_matched = matching.on_matched
    on_unknown = matching.on_unknown
    on_free = matching.on_free
    on_match_read = matching.on_match_read
    on_taken_back = leaving.on_taken_back
    on_left = leaving.on_left
    on_cleaned = leaving.on_cleaned
    on_no_site = policy_checks.on_no_site

    # What others see.

    def rescue_lines(self, node: int) -> tuple[str, ...]:
        """The sites of groups, of which nodes are done; else they are being matched."""
        groups = self.group_reports() if node == NO_NODE else ()
        kept = (one for one in groups if one.round and one.site and one.done)
        return tuple(
            f"SITE_MATCHED {name_word(one.name)} {name_word(one.site)} {one.round}" for one in kept
        )

    def group_reports(self) -> Iterator[GroupReport]:
        """All groups, in their order; nodes that a rescue DAG decides anew do not count as done."""
        states, anew = self.run.nodes.states, views.decided_anew(self.run)
        for number, group in enumerate(self.groups):
            kind = self.kinds[number]
            since = self.waiting[kind].get(number, 0.0)
            of = kind if self.reasons.get(kind) else -1
            reason = self.reasons.get(of, "") if since else ""
            yield GroupReport(
                name=group.name,
                state=GroupState(self.group_states[number]).name,
                site=self.sites[number],
                round=self.rounds[number],
                total=len(group.nodes),
                done=sum(states[node] == State.DONE and node not in anew for node in group.nodes),
                since=since,
                reason=self.why_siteless.get(number, reason),
                found=self.found.get(of, 0.0) if reason else 0.0,
            )

    def validate(self) -> None:
        """Nodes of a group run at its site alone, and a site is kept for it while they may."""
        run = self.run
        for number, group in enumerate(self.groups):
            state = GroupState(self.group_states[number])
            assert (number in self.claims) == (state in CLAIMING), (group.name, state)
            assert (number in self.waiting[self.kinds[number]]) <= (state == GroupState.WAITING)
            if run.recovering or run.is_over or state in (*CLAIMING, GroupState.OVER):
                continue
            for node in group.nodes:
                known = (State.WAITING, State.DONE, State.FAILED, State.FUTILE)
                assert run.nodes.states[node] in known, run.nodes.move_history(node)
        for number, site in self.claims.items():
            assert site == self.sites[number], (number, site)
