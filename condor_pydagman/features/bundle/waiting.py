"""Nodes that wait for others to be bundled with: which go together, and how many are best.

A node whose turn to be submitted has come waits here until what makes bundles has looked at its
description (`tasks`), and then until it is best that it starts (`packing`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import submission
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.queues import ReadyQueue
from condor_pydagman.engine.state import RunState
from condor_pydagman.features.bundle.bundle_jobs import BundleJobs
from condor_pydagman.features.bundle.chains import LONG_S, Chains, Room
from condor_pydagman.features.bundle.commands import BundleLine
from condor_pydagman.features.bundle.kinds import Key, Kinds
from condor_pydagman.features.bundle.learned import Running
from condor_pydagman.features.bundle.messages import HELPER, LookAt, LookedAt, SlotsWanted
from condor_pydagman.features.bundle.one_bundle import Bundle
from condor_pydagman.features.bundle.packing import (
    Group,
    Jobs,
    limits_of,
    next_bundle,
    side_by_side,
)
from condor_pydagman.printable import number_of

MAX_LOOKED_AT = 500  # nodes that are ready, of which one request asks


class Waiting:
    """The nodes of a run that wait for others."""

    def __init__(self, run: RunState, jobs: BundleJobs) -> None:
        self.run = run
        self._jobs, self.learned = jobs, jobs.learned
        self.kinds = Kinds(run)
        # nodes whose turn has come and of which the kind is not known, by priority
        self.unseen = ReadyQueue()
        self.looked_at: dict[int, None] = {}  # nodes of which that is being found out
        self.groups: dict[Key, Group] = {}  # nodes that wait for others
        self._key: dict[int, Key] = {}  # of nodes in these

    def __contains__(self, node: int) -> bool:
        """Whether the node waits for others."""
        return node in self._key or node in self.unseen or node in self.looked_at

    def details(self, node: int) -> str:
        """What a node that waits does so for, in words."""
        key, room = self._key.get(node), self.run.categories.free(node)
        if key is not None:
            nodes = len(self.groups[key].nodes)
            parallel = min(nodes, self.most_parallel(key.line, key.category))
            if room < parallel:
                places = number_of(parallel, "place")
                return f"waits for {places} of category {key.category}, with {room} free"
        return "waits for others to be bundled with"

    def takes(self, node: int) -> bool:
        """The turn of a node to be submitted has come: it waits, unless it runs alone."""
        if self.kinds.runs_alone(node):
            return False
        self.unseen.add(node, self.kinds.priority(node))
        return True

    def set_free(self, node: int) -> None:
        """The node, which is READY, runs alone."""
        self.drop(node)
        self.kinds.alone.add(node)
        self.run.ready.add(node, self.run.priority(node), first=True)

    def drop(self, node: int) -> None:
        """The node waits no more, if it has."""
        self.unseen.discard(node)
        self.looked_at.pop(node, None)
        key = self._key.pop(node, None)
        if key is not None:
            self.groups[key].drop(node)
            if not self.groups[key].nodes:
                del self.groups[key]

    def look_again(self, node: int) -> None:
        """If the node waits: something else may keep it from others, or allow it to join them."""
        if node in self:
            self.drop(node)
            self.run.ready.add(node, self.run.priority(node))

    def look_again_at(self, kind: str) -> None:
        """Nodes of that kind which wait may not be of one kind any more."""
        for node in [one for one, key in self._key.items() if key.kind == kind]:
            self.look_again(node)
        for node in [one for one, of in self.kinds.of.items() if of == kind]:
            del self.kinds.of[node]

    # Their kinds.

    def look(self) -> None:
        """Ask for the kinds of nodes whose turn has come, many at a time."""
        if self.looked_at or not self.unseen:
            return
        some = iter(self.unseen.pop, None)
        self.looked_at.update(dict.fromkeys(islice(some, MAX_LOOKED_AT)))
        followers = self.kinds.followers_to_look_at(self.looked_at)
        nodes, behind = (
            tuple(submission.submit_action(self.run, node) for node in some)
            for some in (self.looked_at, followers)
        )
        self.run.emit(do.Ask(HELPER, LookAt(nodes, behind)))

    def seen(self, answer: LookedAt) -> None:
        """The kinds of nodes are known."""
        alone: list[int] = []
        for look in answer.found:
            node = look.node
            if node not in self.looked_at:
                self.kinds.found_follower(look)
                continue
            del self.looked_at[node]
            if not self.kinds.found(look):
                alone.append(node)
                continue
            key = self._key[node] = self.kinds.key(node, look.kind)
            if key not in self.groups:
                self.groups[key] = Group(look.kind, is_live=look.kind in self.kinds.live)
            self.groups[key].add(self.run.dag, node, self.run.now)
        for node in reversed(alone):
            self.set_free(node)

    # How many go together.

    def next_bundles(self) -> Iterator[tuple[str, Sequence[int], int]]:
        """The kind and nodes of those that are to start now, and how many of these may run side by
        side; whoever asks starts them before the next are told.
        """
        run = self.run
        if self.learned.wants_slots(run.now):
            run.emit(do.Ask(HELPER, SlotsWanted()))
        if self.learned.slots is None:
            return
        # The highest priority of nodes whose turn comes before it is known if they wait.
        first = (self.run.ready.first(), self.unseen.first(), next(iter(self.looked_at), None))
        known = (self.kinds.priority(one) for one in first if one is not None)
        urgent = max(known, default=None)
        for key, group in sorted(self.groups.items(), key=lambda one: -one[0].priority):
            if urgent is not None and urgent > key.priority:
                return
            is_looking = self.looked_at or self.unseen
            if is_looking and self.learned.wants_more(key.kind, len(group.nodes)):
                continue
            while group.nodes and not submission.throttled(run):
                nodes = self._next_nodes(key, group)
                parallel = min(len(nodes), self.most_parallel(key.line, key.category))
                if not nodes or run.categories.free(nodes[0]) < parallel:
                    break
                yield key.kind, nodes, parallel

    def _next_nodes(self, key: Key, group: Group) -> Sequence[int]:
        """The nodes of the next bundle, with those that run behind them; none: none yet."""
        run, line, most = self.run, key.line, self.run.config.max_bundle_size
        limits = limits_of(run.dag, line, key.category, most)
        if len(group.nodes) < (limits.size or most) and run.now < _waits_until(line, group):
            return ()

        def followed(number: int, room: Room) -> Sequence[int]:
            return self._with_followers(key, room, list(islice(group.nodes, number)))

        jobs = self._jobs_in_queue(key.kind)
        return next_bundle(group, limits, most, self.learned, jobs, run.now, followed)

    def _with_followers(self, key: Key, room: Room, heads: Sequence[int]) -> Sequence[int]:
        """Nodes that are ready and their followers, in an order in which they can run."""
        states, kinds = self.run.nodes.states, self.kinds
        if room.task_s > LONG_S or not key.line.chains:
            return heads

        def may_join(node: int) -> bool:
            return states[node] == State.WAITING and kinds.follows(node, key)

        def is_done(node: int) -> bool:
            return states[node] == State.DONE

        return Chains(self.run.dag, room, may_join, is_done).with_followers(heads)

    def _jobs_in_queue(self, kind: str) -> Jobs:
        run, table = self.run, self.run.job_table
        idle, running = self._jobs.idle, self._jobs.running.values()
        alike = (
            Running(run.now - one.begun - one.worked_s / one.parallel, one.to_come, one.parallel)
            for one in running
            if one.kind == kind and one.to_come  # else its results come home
        )
        return Jobs(
            table.submitted - table.completed - table.idle + len(running),
            table.idle + len(run.submission.in_flight) + len(run.ready) + idle,
            len(running) + idle,
            alike,
        )

    def most_parallel(self, line: BundleLine, category: str) -> int:
        """How many nodes of a line run side by side in one bundle, as far as the limit of the
        category allows that they are of."""
        limit = self.run.dag.category_limits.get(category, 0)
        if 0 < limit < line.parallel:
            text = (
                f"BUNDLE {line.name}: only {number_of(limit, 'node')} can run side by side, not"
                f" {line.parallel}, because of MAXJOBS {category} {limit}"
            )
            self.kinds.say_once(text, text)
        return side_by_side(self.run.dag, line, category)

    def release_s(self, bundle: Bundle) -> float:
        """How long a node of a bundle may run until the others are not to wait for it, in seconds;
        0: as long as it takes, as the author of the DAG has said how many go together."""
        line = self.kinds.line_of.get(bundle.members[0])
        if line is None or line.size or line.max_seconds:
            return 0.0
        return self.learned.release_s(bundle.kind)

    def deadline(self) -> float | None:
        """When a node has waited long enough for others."""
        run = self.run
        times = [_waits_until(key.line, group) for key, group in self.groups.items()]
        times = [time for time in times if time > run.now]
        if self.groups:
            times.append(run.pace.blocked_until(run.now, run.limits))
        return min(filter(None, times), default=None)

    def validate(self) -> None:
        """As of `Feature`: who waits for others is ready, and in no other queue."""
        run, aside = self.run, set(self.run.categories.waiting())
        assert all(group.nodes for group in self.groups.values())
        assert self._key.keys() == {one for some in self.groups.values() for one in some.nodes}
        for node in self._key:
            assert run.nodes.states[node] == State.READY, node
        for node in run.nodes.in_state(State.READY):
            assert (node in run.ready or node in aside) != (node in self), node


def _waits_until(line: BundleLine, group: Group) -> float:
    """Until when the first of those that wait does so, seconds since the epoch."""
    return next(iter(group.nodes.values())) + line.wait
