"""What a run has learned of its short nodes and of the pool, by which bundles get their sizes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from condor_pydagman.features.bundle import plan
from condor_pydagman.features.bundle.plan import (
    LATE,
    MAX_SIZE,
    RELEASE_S,
    Limits,
    Seen,
    Times,
    is_late,
    longest_of,
)
from condor_pydagman.named_tuple import NamedTuple

FIRST_OVERHEAD_S = 1.0  # of a job that runs beyond its tasks, before it is known
LATE_OVERHEADS = 3.0  # times as long as usual that may take, before the tasks are taken for long
RUNNING_S = 0.1  # for which what is known of jobs that run is not found anew
SLOTS_S = 60.0  # seconds between two questions for the slots of the pool
LONGEST_S = 2.0  # of a gap. What begins later has another slot, or this one had another job
REMEMBERED = 8  # values of which a mean is


class Running(NamedTuple):
    """A job that runs: for how many seconds, how many tasks it has, and how many side by side."""

    ran: float
    tasks: int = 1
    parallel: int = 1


class _Usual:
    """A mean of the last values, so that no single one decides."""

    def __init__(self, value: float) -> None:
        self.value = value  # a guess, until there is a first one
        self._seen = 0

    def add(self, value: float) -> None:
        """There is another value."""
        self._seen = min(self._seen + 1, REMEMBERED)
        self.value += (value - self.value) / self._seen


class Learned:
    """How long nodes take, by their kind, how many jobs the pool can run, and what a job costs its
    slot."""

    def __init__(self) -> None:
        # how many; 0 if it is not known; None if it has not been found out
        self.slots: int | None = None
        self._overhead = _Usual(FIRST_OVERHEAD_S)
        self._gap = _Usual(0.0)
        self._free: deque[float] = deque()  # since when slots are, for which jobs wait
        self._slots_at = 0.0
        self._times: dict[str, Times] = {}
        # By kind: how many nodes were ready when a bundle was made last, and how many it had.
        self._shares: dict[str, tuple[int, int]] = {}
        # By kind: when that was found, how many jobs were late, and how long a task takes at least.
        self._running: dict[str, tuple[float, int, float]] = {}
        self._alone: dict[int, tuple[str, float]] = {}  # kind of a node that runs, since when

    @property
    def overhead_s(self) -> float:
        """For how long a job runs, as its events tell, beyond what its tasks take."""
        return self._overhead.value

    @property
    def gap_s(self) -> float:
        """For how long a slot has no job between two, in seconds; 0.0 as long as there was none.

        A slot whose job has ended goes to another one that waits.  Which one is not known; but as
        many begin as have ended, so that in turn is right on average.
        """
        return self._gap.value

    def job_ended(self, now: float, waiting: int) -> None:
        """A job of a bundle has ended, while so many wait."""
        if waiting > len(self._free):
            self._free.append(now)

    def job_began(self, now: float) -> None:
        """A job has begun to run."""
        while self._free:
            gap_s = now - self._free.popleft()
            if gap_s <= LONGEST_S:
                self._gap.add(max(0.0, gap_s))
                return

    def wants_slots(self, now: float) -> bool:
        """Whether it is time to find out how many jobs the pool can run; said once."""
        if self._slots_at > now:
            return False
        self._slots_at = now + SLOTS_S
        return True

    def wants_more(self, kind: str, ready: int) -> bool:
        """Whether bundles are better made when more nodes of the kind are known that are ready, as
        nothing is known of their times."""
        return kind not in self._times and ready < (self.slots or 0) * MAX_SIZE

    def began(self, node: int, kind: str, now: float) -> None:
        """The job of a node that runs alone has begun to run."""
        self._alone[node] = kind, now
        self.job_began(now)

    def ended(self, node: int, now: float) -> None:
        """It has ended."""
        found = self._alone.pop(node, None)
        if found is not None:
            self._add(found[0], [max(0.0, now - found[1] - self.overhead_s)])

    def took(self, kind: str, seconds: Sequence[float], ran: float, worked: float) -> None:
        """Tasks of a bundle have ended, and its job, if it has run for so long (0: it runs), of
        which its tasks took so much."""
        if ran and worked:
            self._overhead.add(max(0.0, ran - worked))
        if seconds:
            self._add(kind, seconds)

    def _add(self, kind: str, seconds: Iterable[float]) -> None:
        self._times.setdefault(kind, Times()).add(*seconds)

    def size(
        self, kind: str, seen: Seen, limits: Limits, bundles: Iterable[Running], now: float
    ) -> int:
        """How many of the nodes of a kind that are ready go into the next bundle; 0: none now.

        Args:
            seen: what is known of these nodes, and of jobs; the rest is known here.
            bundles: those of the kind that run.
        """
        times, length = self.times(kind), seen.steps
        late, longest = self._late(kind, times, bundles, now)
        seen = seen._replace(
            slots=self.slots or 0,
            late=late,
            task_s=times.task_s * length,
            longest_s=max(times.longest_s, longest) * length,
            ended=times.ended,
            job_s=self.overhead_s + self.gap_s,
        )
        if limits.size:
            limits = limits._replace(size=max(1, limits.size // length))
        found = plan.size(seen, limits)
        return found if times.ended or not found else self._equal_share(kind, seen.ready, found)

    def _equal_share(self, kind: str, ready: int, found: int) -> int:
        """As long as no times are known: nodes that are ready at once share out the slots alike,
        though there are ever fewer of both."""
        before, share = self._shares.get(kind, (0, 0))
        self._shares[kind] = ready, found if ready >= before else share
        return min(self._shares[kind][1], ready)

    def times(self, kind: str) -> Times:
        """How long nodes of a kind take."""
        return self._times.get(kind, Times())

    def release_s(self, kind: str) -> float:
        """How long a node of a kind may run until others are not to wait for it, in seconds."""
        return max(RELEASE_S, LATE * self.times(kind).task_s)

    def _late(
        self, kind: str, times: Times, bundles: Iterable[Running], now: float
    ) -> tuple[int, float]:
        found = self._running.get(kind)
        if found is None or not found[0] <= now < found[0] + RUNNING_S:
            alone = [Running(now - begun) for one, begun in self._alone.values() if one == kind]
            usual = LATE_OVERHEADS * self.overhead_s
            running = [one._replace(ran=max(0.0, one.ran - usual)) for one in (*bundles, *alone)]
            late = sum(is_late(one.ran, one.tasks, times, one.parallel) for one in running)
            longest = [longest_of(one.ran, one.tasks, times, one.parallel) for one in running]
            found = self._running[kind] = now, late, max(longest, default=0.0)
        return found[1:]
