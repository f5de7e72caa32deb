"""What a run has learned of its short nodes and of the pool, by which bundles get their sizes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from condor_pydagman.features.bundle.plan import (
    LATE,
    MAX_SIZE,
    RELEASE_S,
    Limits,
    Seen,
    Times,
    is_late,
    longest_of,
    sizes,
)
from condor_pydagman.features.bundle.slot_gaps import SlotGaps, Usual
from condor_pydagman.named_tuple import NamedTuple

FIRST_OVERHEAD_S = 1.0  # of a job that runs beyond its tasks, before it is known
LATE_OVERHEADS = 3.0  # times as long as usual that may take, before the tasks are taken for long
RUNNING_S = 0.1  # for which what is known of jobs that run is not found anew
SLOTS_S = 60.0  # seconds between two questions for the slots of the pool


class Running(NamedTuple):
    """A job that runs: for how many seconds, how many tasks it has, and how many side by side."""

    ran: float
    tasks: int = 1
    parallel: int = 1


class Learned:
    """How long nodes take, by their kind, and how many jobs the pool can run.

    Args:
        gaps: those between jobs.
    """

    def __init__(self, gaps: SlotGaps) -> None:
        # how many; 0 if it is not known; None if it has not been found out
        self.slots: int | None = None
        self._gaps = gaps
        self._overhead = Usual(FIRST_OVERHEAD_S)
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

    def wants_slots(self, now: float) -> bool:
        """Whether it is time to find out how many jobs the pool can run; said once."""
        if self._slots_at > now:
            return False
        self._slots_at = now + SLOTS_S
        return True

    def saw_slots(self, slots: int) -> None:
        """The pool can run so many jobs at once; 0: that is not known."""
        self.slots = slots

    def wants_more(self, kind: str, ready: int) -> bool:
        """Whether bundles are better made when more nodes of the kind are known that are ready, as
        nothing is known of their times."""
        return kind not in self._times and ready < (self.slots or 0) * MAX_SIZE

    def began(self, node: int, kind: str, now: float) -> None:
        """The job of a node that runs alone has begun to run."""
        self._alone[node] = kind, now
        self._gaps.began(now)

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
        self,
        kind: tuple[str, bool],
        limits: Limits,
        ready: int,
        jobs: tuple[int, int],
        bundles: Iterable[Running],
        now: float,
        length: int = 1,
    ) -> int:
        """How many of the nodes of a kind that are ready go into the next bundle; 0: none now.

        Args:
            kind: and whether what its nodes come to is known while a bundle runs.
            jobs: how many jobs of the DAG run, and how many wait to.
            bundles: those of the kind that run.
            length: for how many nodes each of them stands, with those that run behind it.
        """
        name, is_live = kind
        times = self._times.get(name, Times())
        _, late, longest = self._late(name, times, bundles, now)
        seen = Seen(
            ready=ready,
            slots=self.slots or 0,
            running=jobs[0],
            idle=jobs[1],
            late=late,
            task_s=times.task_s * length,
            longest_s=max(times.longest_s, longest) * length,
            ended=times.ended,
            job_s=self.overhead_s + self._gaps.usual_s,
            is_live=is_live,
            steps=length,
        )
        if limits.size:
            limits = limits._replace(size=max(1, limits.size // length))
        found = next(sizes(seen, limits), 0)
        return found if times.ended or not found else self._equal_share(name, ready, found)

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
        return max(RELEASE_S, LATE * self._times.get(kind, Times()).task_s)

    def _late(
        self, kind: str, times: Times, bundles: Iterable[Running], now: float
    ) -> tuple[float, int, float]:
        found = self._running.get(kind)
        if found is not None and found[0] <= now < found[0] + RUNNING_S:
            return found
        alone = [Running(now - begun) for one, begun in self._alone.values() if one == kind]
        usual = LATE_OVERHEADS * self.overhead_s
        running = [one._replace(ran=max(0.0, one.ran - usual)) for one in (*bundles, *alone)]
        late = sum(is_late(one.ran, one.tasks, times, one.parallel) for one in running)
        longest = [longest_of(one.ran, one.tasks, times, one.parallel) for one in running]
        found = self._running[kind] = now, late, max(longest, default=0.0)
        return found
