"""A small model of a schedd and its slots, in virtual time: what a rule for bundles is tried on.

Without bundles each ready node is a job, submitted at once.  With them `size` is asked after each
event.  The numbers are measured ones where the reference has them.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from condor_pydagman.features.bundle.chains import LONG_S, Chains, Room
from condor_pydagman.features.bundle.packing import next_together, room_of
from condor_pydagman.features.bundle.plan import (
    LATE,
    MAX_SIZE,
    RELEASE_S,
    Limits,
    Seen,
    Times,
    is_late,
    longest_of,
    size,
)
from condor_pydagman.named_tuple import NamedTuple

Rule = Callable[[Seen, Limits], int]


class Work(NamedTuple):
    """A DAG: how long the task of each node takes, and its children."""

    seconds: Sequence[float]
    children: Sequence[Sequence[int]]


class Pool(NamedTuple):
    """What jobs run on.

    Attributes:
        slots: at the start.
        changes: times at which there are other numbers of slots.
        known: what the rule is told of them: "all", "nothing", "learned" (what ran at once when
            others waited in vain) or "most" (what ran at once until now).
        told_rate: what the rule takes for starts_per_s; 0: the truth.
        match_s: from a job that has no slot to its match, at least.
        keep_s: for which the schedd keeps a slot without a job.
        runner_s: of a bundle, for each task.
        live_s: after which it is known of a task of a bundle that it has ended, at most, and that
            those behind it are given back; 0: when the bundle has ended.
        comes_home: what a task has made comes with its job, and its children wait for that.
        chains: whether tasks run behind others in a bundle.
        start_s: from a job's submission to its start, at least.
    """

    slots: int
    changes: tuple[tuple[float, int], ...] = ()
    known: str = "all"
    told_rate: float = 0.0
    starts_per_s: float = 36.0
    submits_per_s: float = 420.0
    job_s: float = 0.03
    runner_s: float = 0.002
    match_s: float = 1.0
    keep_s: float = 20.0
    react_s: float = 0.02
    live_s: float = 0.0
    comes_home: bool = False
    chains: bool = False
    start_s: float = 0.0


class Job:
    """One in the queue."""

    __slots__ = ("begun", "done", "end", "nodes", "release_s", "told")

    def __init__(self, nodes: list[int], release_s: float) -> None:
        self.nodes = nodes
        self.begun = self.end = 0.0
        self.done = self.told = 0
        self.release_s = release_s


class _Graph:
    """As of `chains.Graph`."""

    def __init__(self, children: Sequence[Sequence[int]], parents: Sequence[Sequence[int]]) -> None:
        self._children, self._parents = children, parents

    def children(self, node: int) -> Sequence[int]:
        return self._children[node]

    def parents(self, node: int) -> Sequence[int]:
        return self._parents[node]


class Run:
    """One run of a DAG, `makespan` when it has ended."""

    def __init__(self, work: Work, pool: Pool, limits: Limits | None, rule: Rule = size) -> None:
        self.work, self.pool, self.limits, self.rule = work, pool, limits, rule
        self.now = self.submit_free = self.start_free = 0.0
        self.events: list[tuple[float, int, Callable[..., None], object]] = []
        self.count = 0
        self.waiting = [0] * len(work.seconds)
        for children in work.children:
            for child in children:
                self.waiting[child] += 1
        self.ready = deque(n for n, parents in enumerate(self.waiting) if not parents)
        self.parents: list[list[int]] = [[] for _ in work.seconds]
        for parent, children in enumerate(work.children):
            for child in children:
                self.parents[child].append(parent)
        self.graph = _Graph(work.children, self.parents)
        self.done: set[int] = set()
        self.behind: set[int] = set()  # tasks in bundles that have not come up
        self.left = len(work.seconds)
        self.slots = pool.slots
        self.queue: deque[Job] = deque()
        self.claims: deque[float] = deque()  # without a job, since when
        self.running: list[Job] = []
        self.idle = 0
        self.most = self.learned = 0
        self.matching = False
        self.jobs = 0
        self.busy = 0.0
        self.times = Times()
        self.share = 0, 0  # nodes that were ready when a bundle was made last, and how many it had
        for at, number in pool.changes:
            self.later(at, self.change, number)

    def later(self, at: float, what: Callable[..., None], about: object) -> None:
        self.count += 1
        heapq.heappush(self.events, (at, self.count, what, about))

    def makespan(self) -> float:
        self.plan()
        while self.left:
            self.now, _, what, about = heapq.heappop(self.events)
            what(about)
            while self.left and self.events and self.events[0][0] == self.now:
                _, _, what, about = heapq.heappop(self.events)
                what(about)
            self.plan()
            self.start()
        return self.now

    def plan(self) -> None:
        """What DAGMan submits now."""
        if self.limits is None:
            while self.ready:
                self.submit([self.ready.popleft()])
        else:
            self.plan_bundles(self.limits)

    def plan_bundles(self, limits: Limits) -> None:
        """One bundle after the other, as each changes what is known."""
        next_of = self.next_chained if self.pool.chains else self.next_alike
        most_idle = max(self.slots, len(self.running), 500)
        seen = self.seen() if self.ready and self.idle < most_idle else None
        while seen and self.ready and self.idle < most_idle:
            nodes = next_of(seen._replace(ready=len(self.ready), idle=self.idle), limits)
            if not nodes:
                return
            behind = set(nodes)
            while self.ready and self.ready[0] in behind:
                behind.remove(self.ready.popleft())
            self.behind |= behind
            self.submit(list(nodes))

    def next_alike(self, seen: Seen, limits: Limits) -> Sequence[int]:
        """The nodes of the next bundle, all of which are ready; none: none yet."""
        return list(islice(self.ready, self.size(seen, limits)))

    def next_chained(self, seen: Seen, limits: Limits) -> Sequence[int]:
        """The same with those that run behind others."""
        heads = len(self.ready) + len(self.running) + self.idle
        slots = self.slots if self.pool.known == "all" else 0

        def followed(number: int, room: Room) -> list[int]:
            return self.followed(islice(self.ready, number), room)

        def size(length: int) -> int:
            times = seen.task_s * length, seen.longest_s * length
            chained = seen._replace(task_s=times[0], longest_s=times[1], steps=length)
            found = self.size(chained, limits)
            return min(found, max(1, MAX_SIZE // length))

        return next_together(self.room(), heads, slots, followed, size)

    def size(self, seen: Seen, limits: Limits) -> int:
        """Of the next bundle; as long as no times are known, slots are shared out alike."""
        found = self.rule(seen, limits)
        if seen.ended or not found:
            return found
        before, share = self.share
        self.share = seen.ready, found if seen.ready >= before else share
        return min(self.share[1], seen.ready)

    def room(self) -> Room:
        return room_of(Limits(), MAX_SIZE, self.times, comes_home=self.pool.comes_home)

    def followed(self, heads: Iterable[int], room: Room) -> list[int]:
        """Tasks that are ready, and those that run behind them."""
        if room.task_s > LONG_S:
            return list(heads)
        chains = Chains(self.graph, room, self.may_join, self.done.__contains__)
        return chains.with_followers(heads)

    def may_join(self, node: int) -> bool:
        return self.waiting[node] > 0 and node not in self.behind

    def seen(self) -> Seen:
        """What DAGMan knows now."""
        ran = [(self.ran(job), len(job.nodes) - job.told, self.times) for job in self.running]
        return Seen(
            len(self.ready),
            {"all": self.slots, "learned": self.learned, "most": self.most}.get(self.pool.known, 0),
            len(self.running),
            self.idle,
            sum(is_late(*one) for one in ran),
            self.times.task_s,
            max([self.times.longest_s, *(longest_of(*one) for one in ran)]),
            self.times.ended,
            self.pool.told_rate or self.pool.starts_per_s,
            self.pool.job_s,
            self.is_shared_out(),
        )

    def is_shared_out(self) -> bool:
        """Whether nobody waits for bundles that are large at first."""
        if not (self.pool.live_s and self.pool.comes_home):
            return bool(self.pool.live_s)
        return not any(self.work.children[node] for node in self.ready)

    def ran(self, job: Job) -> float:
        """For how long a job has run, without the tasks that are known to have ended."""
        return self.now - job.begun - sum(self.takes(job)[job.done : job.told])

    def submit(self, nodes: list[int]) -> None:
        self.idle += 1
        self.jobs += 1
        self.submit_free = max(self.submit_free, self.now) + 1 / self.pool.submits_per_s
        release_s = max(RELEASE_S, LATE * self.times.task_s) if self.pool.live_s else 0.0
        in_queue = self.submit_free + self.pool.start_s
        self.later(in_queue, self.queue.append, Job(nodes, release_s))

    def start(self) -> None:
        """What the schedd does now."""
        if self.queue and self.claims:
            if self.start_free <= self.now + 1e-9:
                self.start_free = self.now + 1 / self.pool.starts_per_s
                self.claims.pop()
                self.begin(self.queue.popleft())
            if self.queue and self.claims:
                self.later(self.start_free, _nothing, None)
        unclaimed = self.slots - len(self.running) - len(self.claims)
        if not self.matching and unclaimed > 0 and len(self.queue) > len(self.claims):
            self.matching = True
            self.later(self.now + self.pool.match_s, self.match, None)

    def match(self, _: object) -> None:
        self.matching = False
        unclaimed = self.slots - len(self.running) - len(self.claims)
        for _ in range(min(unclaimed, len(self.queue) - len(self.claims))):
            self.claims.append(self.now)
        if len(self.queue) > len(self.claims):
            self.learned = self.slots

    def begin(self, job: Job) -> None:
        self.idle -= 1
        self.running.append(job)
        self.most = max(self.most, len(self.running))
        self.learned = max(self.learned, len(self.running)) if self.learned else 0
        job.begun = self.now
        job.end = self.now + self.pool.job_s + sum(self.takes(job)[job.done :])
        self.later(job.end, self.end, job)
        if self.pool.live_s and len(job.nodes) > 1:
            self.later(self.now + self.pool.live_s, self.look, job)

    def look(self, job: Job) -> None:
        """What has ended in a bundle is known, and what is behind a long task is given back."""
        if job not in self.running or job.end <= self.now:
            return
        left = self.now - job.begun - self.pool.job_s
        ended = job.done
        takes = self.takes(job)
        while ended < len(takes) - 1 and takes[ended] <= left:
            left -= takes[ended]
            ended += 1
        told, job.told = job.told, ended
        self.see(job, told, ended)
        if not self.pool.comes_home:
            self.finish(job.nodes[told:ended])
        if left > job.release_s and ended < len(takes) - 1:
            self.give_back(job, ended, left)
        self.later(self.now + self.pool.live_s, self.look, job)

    def give_back(self, job: Job, ended: int, ran: float) -> None:
        """A task takes long: what waits for it alone is kept for a while, the rest given back."""
        above = {job.nodes[ended]}
        back: set[int] = set()
        kept = job.nodes[: ended + 1]
        for node in job.nodes[ended + 1 :]:
            parents = self.parents[node]
            if ran <= LONG_S and not above.isdisjoint(parents) and back.isdisjoint(parents):
                above.add(node)
                kept.append(node)
            else:
                back.add(node)
                self.behind.discard(node)
                self.ready.extend([node] if not self.waiting[node] else [])
        if len(kept) < len(job.nodes):
            job.nodes = kept
            job.end = self.now - ran + sum(self.takes(job)[ended:])
            self.later(job.end, self.end, job)

    def takes(self, job: Job) -> list[float]:
        each = self.pool.runner_s if len(job.nodes) > 1 else 0.0
        return [self.work.seconds[node] + each for node in job.nodes]

    def end(self, job: Job) -> None:
        if job.end != self.now or job not in self.running:
            return  # of a start that was evicted
        self.running.remove(job)
        self.busy += self.now - job.begun
        if self.slots > len(self.running) + len(self.claims):
            self.claims.append(self.now)
            self.later(self.now + self.pool.keep_s, self.release, None)
        self.later(self.now + self.pool.react_s, self.learn, job)

    def release(self, _: object) -> None:
        while self.claims and self.claims[0] <= self.now - self.pool.keep_s and not self.queue:
            self.claims.popleft()

    def learn(self, job: Job) -> None:
        self.see(job, job.told, len(job.nodes))
        self.finish(job.nodes[0 if self.pool.comes_home else job.told :])

    def see(self, job: Job, first: int, last: int) -> None:
        """It is known how long some tasks have taken."""
        alone = self.pool.job_s if len(job.nodes) == 1 else 0.0
        self.times.add(*(seconds + alone for seconds in self.takes(job)[first:last]))

    def finish(self, nodes: Sequence[int]) -> None:
        """Nodes are done."""
        for node in nodes:
            self.left -= 1
            self.done.add(node)
            self.behind.discard(node)
            for child in self.work.children[node]:
                self.waiting[child] -= 1
                if not self.waiting[child] and child not in self.behind:
                    self.ready.append(child)

    def change(self, number: int) -> None:
        """There are other slots; jobs on those that are gone go on elsewhere, with what is left."""
        self.slots = number
        while len(self.running) + len(self.claims) > number and self.claims:
            self.claims.popleft()
        while len(self.running) > number:
            job = self.running.pop()
            self.busy += self.now - job.begun
            passed = self.now - job.begun - self.pool.job_s
            for seconds in self.takes(job)[job.done :]:
                passed -= seconds
                if passed < 0 or job.done == len(job.nodes) - 1:
                    break
                job.done += 1
            self.idle += 1
            self.queue.appendleft(job)


def _nothing(_: object) -> None:
    """Wake up."""
