"""What is known of the groups of a run: data and its bookkeeping."""

from __future__ import annotations

from array import array
from collections.abc import Container, Iterable, Mapping, Sequence

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.feature import Feature
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import CLEANING, State
from condor_pydagman.engine.queues import Clocks
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.engine.state import RunState
from condor_pydagman.features.sites.commands import SiteGroup, SitePolicy, groups_of, numbers_of
from condor_pydagman.features.sites.rests import SiteRests, There
from condor_pydagman.features.sites.states import CLAIMING, GROUP_MOVES, GroupCause, GroupState
from condor_pydagman.vocabulary import NodeKind

OF_GROUP = Kind("what is decided of a group of nodes")  # by group
FORCE_AGAIN_S = 60.0  # before a removal by force is repeated that had no effect


class IllegalGroupMove(Exception):
    """A bug of ours: a group has been moved as the table does not allow."""


class Groups(Feature):
    """The groups of a run; attributes are written by its methods alone."""

    def __init__(self, run: RunState) -> None:
        super().__init__(run)
        dag = run.dag
        self.groups: Sequence[SiteGroup] = groups_of(dag)  # the groups, by number
        count = len(self.groups)
        self._group_of = numbers_of(dag)
        self.group_states = bytearray(count)  # a `GroupState` by group; `move` is its only writer
        self._counts = [count, *[0] * (len(GroupState) - 1)]
        self.sites = [""] * count  # the site of a group, '' if it has none
        # which ad of the site the group was matched by, '' if it has none
        self.digests = [""] * count
        self.rounds = array("i", bytes(4 * count))  # how many sites a group has been matched to
        numbers: dict[SitePolicy, int] = {}
        # which of them is a group's
        self.kinds = array(
            "i", [numbers.setdefault(group.policy, len(numbers)) for group in self.groups]
        )
        self.policies = tuple(numbers)  # the policies that there are
        # by kind, the groups that wait for a site, and since when, in their order
        self.waiting: list[dict[int, float]] = [{} for _ in self.policies]
        # by group, the site that it must have, since its work has begun there
        self.only: dict[int, str] = {}
        # by group, the sites that it was taken back from, the last one last
        self.taken_back: dict[int, list[str]] = {}
        self.failures: dict[int, int] = {}  # by group, runs of its nodes that failed at its site
        self.clocks = Clocks()  # of jobs that are idle or on hold, where the policy limits that
        self.claims: dict[int, str] = {}  # by group, the site that is kept for it
        self.missing: dict[str, float] = {}  # by site that has no ad, since when
        # by kind, why no site fits; -1: why no sites could be asked for
        self.reasons: dict[int, str] = {}
        # when each of these was found last (seconds since the epoch)
        self.found: dict[int, float] = {}
        self.cleaned: set[int] = set()  # groups whose clean-up is over, by its end or by its time
        self.clean_up_until: dict[int, float] = {}  # by group, when its clean-up must have ended
        # by group whose jobs are being removed, when they are to be removed by force
        self.force_at: dict[int, float] = {}
        # groups of which a node has ended since they were last looked at
        self.touched: set[int] = set()
        self.all_touched = False  # whether that may be so of any group
        self.asked = False  # whether a request for sites is on its way
        # when the next one is due (seconds since the epoch); None: when something happens
        self.ask_at: float | None = None
        self.pause_until = 0.0  # until when there is no other one (seconds since the epoch)
        self.changed = self.in_line = False  # whether something has happened since the last one
        self.gives_up = False  # whether the next one gives up claims
        # by group that is to leave its site, why: its ad does not fit, or others have got it
        self.unlucky: dict[int, str] = {}
        self.siteless: list[int] = []  # nodes that could start, of groups that get no site any more
        self.fails_siteless = False  # whether these are being failed
        self.why_siteless: dict[int, str] = {}  # by such a group, why
        # groups that have been matched as often as their policy allows, and wait again
        self.exhausted: set[int] = set()
        # which sites get few groups, since none has been done there or some had to leave
        self.rests = SiteRests(count)
        self._passed: dict[int, int] = {}

    def move(self, group: int, cause: GroupCause) -> GroupState:
        """The only writer of a group's state; returns the new one.

        Raises:
            IllegalGroupMove: the table has no such move.
        """
        old = GroupState(self.group_states[group])
        new = GROUP_MOVES.get((old, cause))
        if new is None:
            name = self.groups[group].name
            raise IllegalGroupMove(f"group {name}: {old.name} + {cause.name}")
        self.group_states[group] = new
        self._counts[old] -= 1
        self._counts[new] += 1
        self._mark(group, new)
        return new

    def _mark(self, group: int, state: GroupState) -> None:
        clean_up = self.groups[group].clean_up
        if clean_up >= 0:
            mark = self.run.nodes.mark if state is GroupState.CLEANING else self.run.nodes.unmark
            mark(clean_up, CLEANING)

    def count(self, states: Iterable[GroupState]) -> int:
        """How many groups are in one of these states."""
        return sum(self._counts[state] for state in states)

    def group(self, node: int) -> int | None:
        """The node's group, None if it is in none."""
        return self._group_of.get(node)

    def in_state(self, *states: GroupState) -> list[int]:
        """The groups in one of these states."""
        if not self.count(states):
            return []
        return [group for group, state in enumerate(self.group_states) if state in states]

    def is_closed_to(self, node: int) -> bool:
        """Whether `node` may not start, since its group has no site, or leaves it."""
        group = self._group_of.get(node)
        if group is None:
            return False
        state = self.group_states[group]
        if state == GroupState.CLEANING:
            return node != self.groups[group].clean_up or group in self.cleaned
        return state != GroupState.MATCHED

    def leaves(self, node: int) -> bool:
        """Whether the node's group leaves its site: what runs of it counts no more."""
        group = self._group_of.get(node)
        if group is None:
            return False
        if self.group_states[group] == GroupState.CLEANING:
            return group in self.clean_up_until and node != self.groups[group].clean_up
        return self.group_states[group] == GroupState.LEAVING

    def site(self, node: int) -> tuple[str, str]:
        """The site that the node runs at and the digest of its ad; '' for both if it has none."""
        group = self._group_of.get(node)
        return ("", "") if group is None else (self.sites[group], self.digests[group])

    def touch(self, node: int, *, failed: bool = False) -> None:
        """The node has ended: that may be the end of its group.  If it failed, the nodes of other
        groups may have become futile."""
        group = self._group_of.get(node)
        if group is not None:
            self.touched.add(group)
        self.all_touched |= failed

    def touch_all(self) -> None:
        """Nodes of any group may cease to be ended: groups whose nodes all have are over before."""
        self.all_touched = True

    def run_failed(self, node: int) -> None:
        """A run of the node has failed at the group's site."""
        group = self._group_of.get(node)
        if group is not None and self.group_states[group] == GroupState.MATCHED:
            self.failures[group] = self.failures.get(group, 0) + 1
            self.rests.stumbles(group)
            self.touched.add(group)

    def has_failed_there(self, group: int) -> bool:
        """Whether so many runs of its nodes have failed at its site that it is to leave it."""
        limit = self.groups[group].policy.failures
        return 0 < limit <= self.failures.get(group, 0)

    def pop_touched(self) -> list[int]:
        """The groups of which a node may have ended since the last call."""
        found = sorted(self.touched)
        if self.all_touched:
            found = self.in_state(GroupState.MATCHED, GroupState.WAITING)
        self.touched.clear()
        self.all_touched = False
        return found

    def begin_request(self, *, waits: bool) -> None:
        """A request for sites is on its way; whether groups wait for some."""
        self.asked = True
        # whether groups waited when the last one was made: other DAGs reckon with that
        self.in_line = waits
        self.changed = self.gives_up = False
        self.ask_at = None

    def leave_line(self) -> None:
        """No group waits, as other DAGs know."""
        self.in_line = False

    def end_request(self, next_at: float | None, pause_until: float = 0.0) -> None:
        """The answer is there; the next request is due at `next_at`, or when something happens,
        but not before `pause_until` (both seconds since the epoch)."""
        self.asked = False
        self.ask_at = next_at
        self.pause_until = pause_until

    def node_could_start(self, node: int, now: float) -> None:
        """But for its group, which has no site or leaves it."""
        group = self._group_of[node]
        state = self.group_states[group]
        if state == GroupState.SITELESS:
            self.siteless.append(node)
        elif state in (GroupState.UNMATCHED, GroupState.OVER):
            if state == GroupState.OVER:  # the work of its other nodes is there
                self.only[group] = self.sites[group]
            self.move(group, GroupCause.NODE_READY)
            self.waiting[self.kinds[group]][group] = now
            limit = self.groups[group].policy.rounds
            if self.rounds[group] >= limit and group not in self.only:
                self.exhausted.add(group)
            self.changed = True

    def wait_no_more(self, group: int) -> None:
        """The group has a site, or is to get none."""
        self.waiting[self.kinds[group]].pop(group, None)
        self.exhausted.discard(group)

    def settle_claim(self, group: int) -> None:
        """Keep the group's site for it, or give it up, as its state says."""
        if self.group_states[group] in CLAIMING:
            self.claims[group] = self.sites[group]
        elif self.claims.pop(group, None) is not None:
            self.changed = self.gives_up = True

    def set_site(self, group: int, site: str, digest: str, number: int) -> None:
        """The group's site, the `number`th that it has."""
        self.sites[group] = site
        self.digests[group] = digest
        self.rounds[group] = number
        self.failures.pop(group, None)
        self.only.pop(group, None)

    def keep(self, group: int, site: str, number: int) -> None:
        """The group must have the site at which its work has begun, its `number`th."""
        self.set_site(group, site, "", number)
        self.only[group] = site

    def claim(self, group: int, site: str) -> int:
        """The site is kept for the group from now on; returns the number of the round."""
        stays = self.only.get(group) == site
        self.rests.leaves(group)
        self.wait_no_more(group)
        self.move(group, GroupCause.SITE_CLAIMED)
        self.sites[group] = site
        self.settle_claim(group)
        return max(1, self.rounds[group] + (not stays))

    def note_change(self, *, gives_up: bool = False) -> None:
        """Another request may give more; or it gives up a claim that was made in vain."""
        self.changed = True
        self.gives_up |= gives_up

    def there(self) -> There:
        """The groups that are at sites and do not leave them."""
        found: dict[str, list[int]] = {}
        claimed, staging = set(), set()
        for group, site in self.claims.items():
            state = self.group_states[group]
            if state in (GroupState.CLAIMED, GroupState.MATCHED):
                found.setdefault(site, []).append(group)
                if state == GroupState.CLAIMED:
                    claimed.add(site)
                elif self.rests.is_on_trial(site) and self._is_staging(group):
                    staging.add(group)
        return There(found, claimed, staging)

    def _is_staging(self, group: int) -> bool:
        states, kinds = self.run.nodes.states, self.run.dag.kinds
        nodes = self.groups[group].nodes
        return any(states[one] == State.SUBMITTED and kinds[one] == NodeKind.DATA for one in nodes)

    def got_further(self, group: int) -> bool:
        """A node of the group is done at its site; whether more groups may come there now."""
        site, states = self.sites[group], self.run.nodes.states
        if self.rests.is_on_trial(site):
            if not self._is_done(group):
                return False
            self.rests.trust(site)
        elif self.rests.rests(site):
            kinds, nodes = self.run.dag.kinds, self.groups[group].nodes
            done = [kinds[node] for node in nodes if states[node] == State.DONE]
            by_job = any(kind != NodeKind.DATA for kind in done) or all(
                kinds[node] == NodeKind.DATA for node in nodes
            )
            all_done = len(done) == len(nodes)
            if not self.rests.worked(site, len(done), all_done=all_done, by_job=by_job):
                return False
        else:
            return False
        self.changed = True
        return True

    def _is_done(self, group: int) -> bool:
        """Whether all its nodes are done; those that were when last asked are passed over."""
        states, nodes = self.run.nodes.states, self.groups[group].nodes
        at = self._passed.get(group, 0)
        while at < len(nodes) and states[nodes[at]] == State.DONE:
            at += 1
        self._passed[group] = at
        return at == len(nodes) and all(states[node] == State.DONE for node in nodes)

    @property
    def awaited(self) -> Container[object]:
        """Groups about which a record is on its way to the log and back."""
        return self.run.written.of(OF_GROUP)

    def told_of(self, node: int, event: LogEvent, *states: GroupState) -> int | None:
        """A record about the node's group has been read: the group, if it is in one of the states
        in which that counts."""
        group = self._group_of.get(node)
        if group is None:
            return None
        self.read_back(group, event.record)
        return group if self.group_states[group] in states else None

    def read_back(self, group: int, record: str | None) -> None:
        """A record about the group has been read; None: whatever was awaited counts no more."""
        awaited = self.run.written.record(OF_GROUP, group)
        if isinstance(awaited, do.AppendJournalRecord) and record in (None, awaited.record):
            self.run.written.drop(OF_GROUP, group)

    def is_new_reason(self, kind: int, reason: str) -> bool:
        """Note why no site fits; whether that is another reason than before."""
        before = self.reasons.get(kind)
        self.reasons[kind] = reason
        self.found[kind] = self.run.now
        return before != reason

    def note_ads(self, there: frozenset[str], now: float) -> list[str]:
        """Which sites have an ad; returns sites of groups that have none any more."""
        kept = set(self.claims.values())
        found = sorted(site for site in kept if site not in there and site not in self.missing)
        since = {**self.missing, **dict.fromkeys(found, now)}
        self.missing = {site: since[site] for site in kept if site not in there}
        return found

    def note_unlucky(self, groups: Mapping[int, str]) -> None:
        """These are to leave their sites; by group, why."""
        self.unlucky = {**groups, **self.unlucky}

    def pop_unlucky(self) -> list[tuple[int, str]]:
        """The groups that are to leave their sites, and why, since the last call."""
        found, self.unlucky = sorted(self.unlucky.items()), {}
        return found

    def pop_siteless(self) -> list[int]:
        """The nodes that could start but for their groups, which get no site any more."""
        found, self.siteless = self.siteless, []
        return found

    def forget_site(self, group: int) -> None:
        """The group has no site any more."""
        self.sites[group] = self.digests[group] = ""
        self.settle_claim(group)

    def note_left(self, group: int) -> None:
        """The group was taken back from its site."""
        known = self.taken_back.setdefault(group, [])
        if self.sites[group] in known:
            known.remove(self.sites[group])
        known.append(self.sites[group])
        self.failures.pop(group, None)
        self.force_at.pop(group, None)
        self._passed.pop(group, None)

    def may_force(self, group: int, now: float) -> bool:
        """Whether the group's jobs are to be removed by force now, since their removal, of which
        the first call counts as the begin, has taken as long as it may."""
        limit = self.groups[group].policy.removal
        if self.force_at.setdefault(group, now + limit) > now:
            return False
        self.force_at[group] = now + FORCE_AGAIN_S
        return True

    def removal_over(self, group: int) -> None:
        """Nothing of the group is in the queue."""
        self.force_at.pop(group, None)

    def begin_clean_up(self, group: int, until: float) -> None:
        """The group's clean-up node runs, to its end or until then (seconds since the epoch)."""
        self.clean_up_until[group] = until
        self.cleaned.discard(group)

    def clean_up_over(self, group: int) -> None:
        """The clean-up node has ended, or has no time left."""
        self.cleaned.add(group)

    def end_clean_up(self, group: int) -> None:
        """The clean-up counts as ended."""
        self.clean_up_until.pop(group, None)
        self.force_at.pop(group, None)
        self.cleaned.discard(group)

    def pop_exhausted(self) -> list[int]:
        """The groups that have used up their rounds since the last call."""
        found, self.exhausted = sorted(self.exhausted), set()
        return found

    def set_why_siteless(self, group: int, why: str) -> None:
        """Why the group gets no site any more."""
        self.why_siteless[group] = why

    def begin_anew(self, group: int) -> None:
        """A person has nodes run anew: the group may be matched as often as its policy allows."""
        if self.group_states[group] == GroupState.SITELESS:
            self.move(group, GroupCause.FREE_AGAIN)
            self.why_siteless.pop(group, None)
            self.taken_back.pop(group, None)
            self.rounds[group] = 0
            self.forget_site(group)
