"""Nodes that wait for others to be bundled with: which go together, and how many are best.

A node whose turn to be submitted has come waits here until what makes bundles has looked at its
description (`tasks`), and then until it is best that it starts (`plan`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import submission
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.queues import ReadyQueue
from condor_pydagman.engine.state import RunState
from condor_pydagman.features.bundle.awaited import Awaited
from condor_pydagman.features.bundle.bundle_jobs import BundleJobs
from condor_pydagman.features.bundle.chains import Room, next_together
from condor_pydagman.features.bundle.commands import BundleLine, line_of_nodes
from condor_pydagman.features.bundle.followers import Followers, Key
from condor_pydagman.features.bundle.learned import Learned, Running
from condor_pydagman.features.bundle.messages import HELPER, LookAt, LookedAt, SlotsWanted
from condor_pydagman.features.bundle.one_bundle import Bundle, why_alone
from condor_pydagman.features.bundle.plan import MAX_SECONDS, MAX_SIZE, Limits, Times
from condor_pydagman.graph.model import Dag
from condor_pydagman.printable import number_of

MAX_LOOKED_AT = 500  # nodes that one request has
MIN_SIZE = 2  # nodes of a bundle
MAX_REFUSALS = 3  # bundles of a kind that can't be submitted, before its nodes run alone


class Waiting:
    """The nodes of a run that wait for others, and what is known of others that its lines mean."""

    def __init__(self, run: RunState, jobs: BundleJobs) -> None:
        self.run = run
        self._jobs = jobs
        # by node, the BUNDLE line that it is bundled by
        self.line_of = line_of_nodes(run.dag, range(len(run.dag)))
        # nodes that wait for others, and since when, by what they have in common
        self.by_key: dict[Key, dict[int, float]] = {}
        self._key: dict[int, Key] = {}  # of nodes in it
        # nodes whose turn has come and of which the kind is not known, by priority
        self.unseen = ReadyQueue()
        self.looked_at: dict[int, None] = {}  # nodes of which that is being found out
        self.kinds: dict[int, str] = {}  # by node, its kind, as it was found last
        self.alone: set[int] = set()  # nodes that run alone
        self._awaited: dict[Key, Awaited] = {}
        self.learned = Learned(jobs.gaps)  # how long nodes take, and how many jobs the pool can run
        # kinds of which it is known while a bundle runs what its nodes have come to
        self.live: set[str] = set()
        self.followers = Followers(run, self)  # nodes that may run behind others in a bundle
        self._refusals: dict[str, int] = {}
        self._said: set[str] = set()

    def __contains__(self, node: int) -> bool:
        """Whether the node waits for others."""
        return node in self._key or node in self.unseen or node in self.looked_at

    def details(self, node: int) -> str:
        """What a node that waits does so for, in words."""
        key, room = self._key.get(node), self.run.categories.free(node)
        if key is not None:
            parallel = min(len(self.by_key[key]), self.most_parallel(key.line, key.category))
            if room < parallel:
                places = number_of(parallel, "place")
                return f"waits for {places} of category {key.category}, with {room} free"
        return "waits for others to be bundled with"

    def grow(self, nodes: Sequence[int]) -> None:
        """The DAG has new nodes."""
        self.line_of.update(line_of_nodes(self.run.dag, nodes))

    def takes(self, node: int) -> bool:
        """The turn of a node to be submitted has come: it waits, unless it runs alone."""
        run = self.run
        if node not in self.line_of or node in self.alone or run.is_rehearsal:
            return False
        if run.config.max_bundle_size < MIN_SIZE:
            return False
        if node in run.retrying.on_hold or node in run.submission.attempts:
            return False
        why = self.why_alone(node)
        if why:
            self._say_alone(node, why)
            return False
        self.unseen.add(node, self.priority(node))
        return True

    def priority(self, node: int) -> int:
        """That of the node, without what is added for the whole DAG."""
        return self.run.priority(node) - self.run.dag_priority

    def why_alone(self, node: int) -> str:
        """Why the node runs alone whatever its description says; '' if it does not."""
        run, of = self.run, self.run.features.get
        limits, timeouts = of("shared_limits"), of("timeout")
        return why_alone(
            run.dag,
            node,
            has_limit=limits is not None and limits.has_limit(node),
            timeout=timeouts.of_node(node) if timeouts is not None else None,
        )

    def set_free(self, node: int) -> None:
        """The node, which is READY, runs alone."""
        self.drop(node)
        self.alone.add(node)
        self.run.ready.add(node, self.run.priority(node), first=True)

    def drop(self, node: int) -> None:
        """The node waits no more, if it has."""
        self.unseen.discard(node)
        self.looked_at.pop(node, None)
        key = self._key.pop(node, None)
        if key is not None:
            del self.by_key[key][node]
            self._awaited[key].drop(node)
            if not self.by_key[key]:
                del self.by_key[key], self._awaited[key]

    def look_again(self, node: int) -> None:
        """If the node waits: something else may keep it from others, or allow it to join them."""
        if node in self:
            self.drop(node)
            self.run.ready.add(node, self.run.priority(node))

    def look_again_at(self, kind: str) -> None:
        """Nodes of that kind which wait may not be of one kind any more."""
        for node in [one for one, key in self._key.items() if key.kind == kind]:
            self.look_again(node)
        for node in [one for one, of in self.kinds.items() if of == kind]:
            del self.kinds[node]

    def forget_kind(self, node: int) -> None:
        """Something else may keep the node from others."""
        self.kinds.pop(node, None)
        self.followers.forget(node)

    # Their kinds.

    def look(self) -> None:
        """Ask for the kinds of nodes whose turn has come, many at a time."""
        if self.looked_at or not self.unseen:
            return
        some = iter(self.unseen.pop, None)
        self.looked_at.update(dict.fromkeys(islice(some, MAX_LOOKED_AT)))
        followers = self.followers.to_look_at(self.looked_at)
        nodes, behind = (
            tuple(submission.submit_action(self.run, node) for node in some)
            for some in (self.looked_at, followers)
        )
        self.run.emit(do.Ask(HELPER, LookAt(nodes, behind)))

    def seen(self, answer: LookedAt) -> None:
        """The kinds of nodes are known."""
        alone: list[int] = []
        for node, kind, why, is_live in answer.found:
            if node not in self.looked_at:
                self.followers.seen(node, kind)
                continue
            del self.looked_at[node]
            if why or self._refusals.get(kind, 0) >= MAX_REFUSALS:
                self._say_alone(node, why or "bundles of its kind could not be submitted")
                alone.append(node)
                continue
            self.kinds[node] = kind
            if is_live:
                self.live.add(kind)
            key = Key(self.priority(node), self.line_of[node], kind, self.run.category(node))
            self._awaited.setdefault(key, Awaited()).add(self.run.dag, node)
            self._key[node] = key
            self.by_key.setdefault(key, {})[node] = self.run.now
        for node in reversed(alone):
            self.set_free(node)

    def _say_alone(self, node: int, why: str) -> None:
        """Say why a node is not bundled, once for a reason."""
        name = self.run.dag.names[node]
        self._say_once(why, f"Node {name} is not bundled: {why} (said once for each reason)")

    def _say_once(self, what: str, text: str) -> None:
        if what not in self._said and len(self._said) < MAX_LOOKED_AT:
            self._said.add(what)
            self.run.say(text)

    def refused(self, kind: str, *, permanent: bool) -> None:
        """There was no job for a bundle of that kind."""
        refusals = self._refusals.get(kind, 0) + 1
        self._refusals[kind] = MAX_REFUSALS if permanent else refusals

    def accepted(self, kind: str) -> None:
        """The schedd has taken the job of a bundle of that kind."""
        self._refusals.pop(kind, None)

    # How many go together.

    def next_bundles(self) -> Iterator[tuple[str, list[int], int]]:
        """The kind and nodes of those that are to start now, and how many of these may run side by
        side; whoever asks starts them before the next are told.
        """
        run = self.run
        if self.learned.wants_slots(run.now):
            run.emit(do.Ask(HELPER, SlotsWanted()))
        if self.learned.slots is None:
            return
        urgent = self._most_urgent()
        for key, waiting in sorted(self.by_key.items(), key=lambda one: -one[0].priority):
            if urgent is not None and urgent > key.priority:
                return
            is_looking = self.looked_at or self.unseen
            if is_looking and self.learned.wants_more(key.kind, len(waiting)):
                continue
            while waiting and not submission.throttled(run):
                nodes = self._next_nodes(key, waiting)
                parallel = min(len(nodes), self.most_parallel(key.line, key.category))
                if not nodes or run.categories.free(nodes[0]) < parallel:
                    break
                yield key.kind, nodes, parallel

    def _next_nodes(self, key: Key, waiting: dict[int, float]) -> list[int]:
        """The nodes of the next bundle, with those that run behind them; none: none yet."""
        limits = limits_of(self.run.dag, key.line, key.category, self.run.config.max_bundle_size)
        if not key.line.chains:
            return list(islice(waiting, self._size(key, waiting, limits)))
        most, times = self.run.config.max_bundle_size, self.learned.times(key.kind)
        room = room_of(limits, most, times, comes_home=key.kind not in self.live)
        heads = len(waiting) + len(self._jobs.running) + len(self._jobs.idle)
        slots = 0 if limits.size or limits.seconds else self.learned.slots or 0

        def followed(number: int, room: Room) -> list[int]:
            return self.followers.with_heads(key, room, islice(waiting, number))

        def size(length: int) -> int:
            return self._size(key, waiting, limits, length)

        return next_together(room, heads, slots, followed, size)

    def _most_urgent(self) -> int | None:
        """The highest priority of nodes whose turn comes before it is known if they wait."""
        first = (self.run.ready.first(), self.unseen.first(), next(iter(self.looked_at), None))
        return max((self.priority(one) for one in first if one is not None), default=None)

    def most_parallel(self, line: BundleLine, category: str) -> int:
        """How many nodes of a line run side by side in one bundle, as far as the limit of the
        category allows that they are of."""
        limit = self.run.dag.category_limits.get(category, 0)
        if 0 < limit < line.parallel:
            text = (
                f"BUNDLE {line.name}: only {number_of(limit, 'node')} can run side by side, not"
                f" {line.parallel}, because of MAXJOBS {category} {limit}"
            )
            self._say_once(text, text)
        return side_by_side(self.run.dag, line, category)

    def _size(self, key: Key, waiting: dict[int, float], limits: Limits, length: int = 1) -> int:
        """How many of those that wait make the next bundle; 0: none yet.

        Args:
            length: how many nodes that are of one of them, with those that run behind it.
        """
        run, line, most = self.run, key.line, self.run.config.max_bundle_size
        if line.wait and len(waiting) < (limits.size or most) and run.now < _until(line, waiting):
            return 0
        table, bundles = run.job_table, self._jobs
        jobs = (
            table.submitted - table.completed - table.idle + len(bundles.running),
            table.idle + len(run.submission.in_flight) + len(run.ready) + len(bundles.idle),
        )
        running = (
            Running(
                run.now - one.begun - one.worked_s / one.parallel,
                one.to_come,
                one.parallel,
            )
            for one in bundles.running.values()
            if one.kind == key.kind
        )
        # Nobody waits for what large bundles have come to.
        is_shared_out = key.kind in self.live or not self._awaited[key].any_before(len(waiting))
        kind = key.kind, is_shared_out
        found = self.learned.size(kind, limits, len(waiting), jobs, running, run.now, length)
        return min(found, max(1, most // length))

    def release_s(self, bundle: Bundle) -> float:
        """How long a node of a bundle may run until the others are not to wait for it, in seconds;
        0: as long as it takes, as the author of the DAG has said how many go together."""
        line = self.line_of.get(bundle.members[0])
        if line is None or line.size or line.max_seconds:
            return 0.0
        return self.learned.release_s(bundle.kind)

    def deadline(self) -> float | None:
        """When a node has waited long enough for others."""
        run = self.run
        times = [_until(key.line, waiting) for key, waiting in self.by_key.items()]
        times = [time for time in times if time > run.now]
        if self.by_key:
            times.append(run.pace.blocked_until(run.now, run.limits))
        return min(filter(None, times), default=None)

    def validate(self) -> None:
        """As of `Feature`: who waits for others is ready, and in no other queue."""
        run, aside = self.run, set(self.run.categories.waiting())
        assert all(self.by_key.values())
        assert self._awaited.keys() == self.by_key.keys()
        assert self._key.keys() == {node for some in self.by_key.values() for node in some}
        for node in self._key:
            assert run.nodes.states[node] == State.READY, node
        for node in run.nodes.in_state(State.READY):
            assert (node in run.ready or node in aside) != (node in self), node


def side_by_side(dag: Dag, line: BundleLine, category: str) -> int:
    """How many nodes of a line run so in one bundle, if they are of that category."""
    return max(1, min(line.parallel, dag.category_limits.get(category, line.parallel)))


def limits_of(dag: Dag, line: BundleLine, category: str, most: int) -> Limits:
    """What its author says of bundles; the access point allows so many nodes at most."""
    size, parallel = min(line.size, most), side_by_side(dag, line, category)
    return Limits(size, line.max_seconds, parallel)


def room_of(limits: Limits, most: int, times: Times, *, comes_home: bool) -> Room:
    """How many nodes may be in a bundle with those that run behind others; the access point allows
    so many at most."""
    most = limits.size or min(MAX_SIZE, most)
    if times.task_s:
        most_s = limits.seconds or MAX_SECONDS
        most = max(1, min(most, int(most_s * limits.parallel / times.task_s)))
    return Room(most, limits.parallel, times.task_s, times.longest_s, comes_home=comes_home)


def _until(line: BundleLine, waiting: dict[int, float]) -> float:
    """Until when the first of those that wait does so, seconds since the epoch."""
    return next(iter(waiting.values())) + line.wait
