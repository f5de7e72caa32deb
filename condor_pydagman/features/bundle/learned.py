"""What a run has learned of its short nodes and of the pool, by which bundles get their sizes."""

from __future__ import annotations

from collections.abc import Iterable

from condor_pydagman.features.bundle.plan import Limits, Seen, Times, is_late, longest_of, sizes
from condor_pydagman.named_tuple import NamedTuple

SLOTS_S = 60.0  # seconds between two questions for the slots of the pool


class Running(NamedTuple):
    """A job that runs: for how many seconds, how many tasks it has, and how many side by side."""

    ran: float
    tasks: int = 1
    parallel: int = 1


class Learned:
    """How long nodes take, by their kind, and how many jobs the pool can run.

    Attributes:
        slots: how many; 0 if it is not known; None if it has not been found out.
    """

    def __init__(self) -> None:
        self.slots: int | None = None
        self._slots_at = 0.0
        self._times: dict[str, Times] = {}
        self._alone: dict[int, tuple[str, float]] = {}  # kind of a node that runs, since when

    def wants_slots(self, now: float) -> bool:
        """Whether it is time to find out how many jobs the pool can run; said once."""
        if self._slots_at > now:
            return False
        self._slots_at = now + SLOTS_S
        return True

    def began(self, node: int, kind: str, now: float) -> None:
        """The job of a node that runs alone has begun to run."""
        self._alone[node] = kind, now

    def ended(self, node: int, now: float) -> None:
        """It has ended."""
        found = self._alone.pop(node, None)
        if found is not None:
            self.took(found[0], [max(0.0, now - found[1])])

    def took(self, kind: str, seconds: Iterable[float]) -> None:
        """Tasks of a kind have ended."""
        self._times.setdefault(kind, Times()).add(*seconds)

    def size(
        self,
        kind: str,
        limits: Limits,
        ready: int,
        jobs: tuple[int, int],
        bundles: Iterable[Running],
        now: float,
    ) -> int:
        """How many of the nodes of a kind that are ready go into the next bundle; 0: none now.

        Args:
            jobs: how many jobs of the DAG run, and how many wait to.
            bundles: those of the kind that run.
        """
        times = self._times.get(kind, Times())
        alone = [Running(now - begun) for one, begun in self._alone.values() if one == kind]
        running = [*bundles, *alone]
        late = sum(is_late(one.ran, one.tasks, times, one.parallel) for one in running)
        longest = (longest_of(one.ran, one.tasks, times, one.parallel) for one in running)
        seen = Seen(
            ready=ready,
            slots=self.slots or 0,
            running=jobs[0],
            idle=jobs[1],
            late=late,
            task_s=times.task_s,
            longest_s=max((times.longest_s, *longest)),
            ended=times.ended,
        )
        return next(iter(sizes(seen, limits)), 0)
