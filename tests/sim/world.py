"""The simulated world: virtual time, what outlives a DAGMan, and the succession of DAGMans.

A run of the simulator is one DAG from its first start to its last exit.  An *era* is the time from
a start with an empty log to an exit that takes the lock file away; a *life* is one process.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection
from dataclasses import replace
from random import Random

from condor_pydagman.engine import inputs, views
from condor_pydagman.vocabulary import ScriptKind
from tests.sim import faults as fault_rates
from tests.sim.fake_log import FakeLog
from tests.sim.fake_schedd import FakeSchedd
from tests.sim.faults import Faults
from tests.sim.oracles import Oracles
from tests.sim.people import People
from tests.sim.process import Killed, Process
from tests.sim.verdicts import Violation
from tests.sim.workload import Workload, draw

MOST_ERAS = 3
TIME_TO_END = 200_000.0  # seconds that a run may take after the faults have ended
ROUNDING = 1e-6  # seconds that a sum of times may be off
MOST_WAKES = 20  # in a row at one time
MOST_LINES = 100_000


class World:
    """Everything there is.

    Args:
        seed: decides all.
        workload, faults: instead of those drawn from the seed.
        crash_at: numbers of boundaries at which DAGMan is killed.

    Attributes:
        now: seconds.
        era, life: see above, counted from 0.
        rescue_text: the newest rescue file, '' if there is none.
        began_with: the one that the present run began with, as its lock file says.
        deferrals: how often a script has been put off.
        boundaries: places passed so far at which DAGMan could be killed.
        limits: throttles in force in this era; they outlive a DAGMan, as its job ad does.
        skew: seconds that the clock which events are stamped with is ahead of `now`.
    """

    def __init__(
        self,
        seed: int,
        *,
        workload: Workload | None = None,
        faults: Faults | None = None,
        crash_at: Collection[int] = (),
    ) -> None:
        self.seed = seed
        self.rng = Random(seed)
        self.workload = draw(seed, self.rng) if workload is None else workload
        self.faults = fault_rates.swarm(self.rng) if faults is None else faults
        self.now = 0.0
        self.era = 0
        self.life = 0
        self.rescue_text = ""
        self.began_with = ""
        self.deferrals: dict[tuple[int, str, ScriptKind, int], int] = {}
        self.boundaries = 0
        self.limits = replace(self.workload.limits)
        self.skew = 0.0
        self.ever_garbled = False
        self.exit_codes: list[int] = []
        self.lines: list[tuple[float, int, int, str, object]] = []
        self._crash_at = frozenset(crash_at)
        self._heap: list[tuple[float, int, Callable[[], object]]] = []
        self._ticket = 0
        self._over = False
        self._locked = False
        self._wakes = 0
        self._woken_at = -1.0
        self.process: Process | None = None
        self.oracles = Oracles(self)
        self.log = FakeLog(self)
        self.schedd = FakeSchedd(self)
        self.people = People(self)
        self.every(20.0, self._maybe_clock_step)

    def run(self) -> None:
        """Run to the end.

        Raises:
            Violation: an oracle objects.
            Exception: the engine's own, with its story.
        """
        self.at(0.0, self._start)
        while not self._over:
            try:
                if self.process is None or not self.process.step():
                    self._advance()
                if self.process is not None and self.process.exit is not None:
                    self._exited(self.process)
            except Killed:
                self.trace("killed", "")
                if self.log.entries and self.hit("forget"):
                    self.log.forget()
                self._restart_later()

    # What the fakes use.

    def hit(self, fault: str) -> bool:
        """Whether a fault strikes now."""
        rate: float = getattr(self.faults, fault)
        return rate > 0.0 and self.now < self.faults.until and self.rng.random() < rate

    def at(self, time: float, what: Callable[[], object]) -> None:
        """Have something happen at a time that is not past."""
        self._ticket += 1
        heapq.heappush(self._heap, (max(time, self.now), self._ticket, what))

    def after(self, delay: float, what: Callable[[], object]) -> None:
        self.at(self.now + delay, what)

    def every(self, seconds: float, what: Callable[[], object]) -> None:
        """Have something happen again and again while there are faults."""

        def again() -> None:
            what()
            self.every(seconds, what)

        if self.now < self.faults.until:
            self.after(seconds, again)

    def nothing(self) -> None:
        """Happens when time is to stop at a moment for somebody to look."""

    def clock(self) -> float:
        """What a clock on the wall shows."""
        return self.now + self.skew

    def trace(self, kind: str, what: object) -> None:
        """A line of the trace."""
        self.lines.append((self.now, self.era, self.life, kind, what))
        if len(self.lines) > MOST_LINES:
            raise Violation("O12: the run does not end: too many lines of trace")

    def boundary(self) -> None:
        """A place where DAGMan may be killed."""
        self.boundaries += 1
        if self.boundaries in self._crash_at or self.hit("crash"):
            raise Killed

    def trace_text(self) -> str:
        """The trace in fixed columns: time, era.life, what, details."""
        return "\n".join(
            f"{time:11.3f} {era}.{life:<3} {kind:<12} {what}"
            for time, era, life, kind, what in self.lines
        )

    # The succession of DAGMans.

    def _start(self) -> None:
        if self.log.complete_at() > self.now and self._locked:
            self.at(self.log.complete_at(), self._start)  # a half-written event is waited for
            return
        recovering, self._locked = self._locked, True
        if not recovering:
            self.log.truncate()
        self.trace("start", f"recovering={recovering}")
        process = Process(self, recovering=recovering)
        self.process = process
        self.oracles.started(process, recovering=recovering)
        process.begin()

    def _restart_later(self) -> None:
        self.process = None
        self.life += 1
        self.after(self.rng.choice((0.0, 1.0, self.rng.uniform(0.0, 300.0))), self._start)

    def _exited(self, process: Process) -> None:
        assert process.exit is not None
        code = process.exit.code
        self.oracles.exited(process, code)
        if process.exit.keep_lock and not process.exit.concluded:
            if not self.ever_garbled:
                raise Violation("O29: a sound log counts as one that can't be true")
            self.exit_codes.append(code)
            self.process, self._over = None, True
            return
        if process.exit.keep_lock:
            self._restart_later()
            return
        self._locked = False
        self.schedd.manager_left(self.era)
        self.exit_codes.append(code)
        self.process = None
        if code == 0 or self.era + 1 >= MOST_ERAS or not self.rescue_text:
            self._over = True
            return
        self.era += 1
        self.limits = replace(self.workload.limits)
        self.people.new_era()
        self.after(self.rng.choice((0.0, 1.0, 400.0)), self._start)

    def _maybe_clock_step(self) -> None:
        if self.hit("clock"):
            step = self.rng.choice((0.0, self.rng.uniform(-300.0, 300.0)))
            self.skew = max(step, -self.now)  # there is no time before the epoch
            self.trace("clock steps", f"{self.skew:+.3f}")

    # Time.

    def _advance(self) -> None:
        deadline = self._deadline()
        if deadline is not None and (not self._heap or deadline < self._heap[0][0]):
            self._wake(deadline)
        elif self._heap:
            time, _, what = heapq.heappop(self._heap)
            self.now = max(self.now, time)
            what()
        else:
            self._stuck("nothing will ever happen again")
        if self.now > self.faults.until + TIME_TO_END:
            self._stuck("it takes too long")

    def _deadline(self) -> float | None:
        """When DAGMan wants to be woken, by the world's clock."""
        if self.process is None:
            return None
        deadline, ahead = self.process.engine.next_deadline(), self.process.ahead
        return deadline - ahead + ROUNDING if deadline is not None and ahead else deadline

    def _wake(self, deadline: float) -> None:
        assert self.process is not None
        self._wakes = self._wakes + 1 if self._woken_at == max(deadline, self.now) else 0
        if self._wakes > MOST_WAKES:
            self._stuck("woken again and again in vain")
        self.now = self._woken_at = max(self.now, deadline)
        self.process.hear(inputs.Wake())

    def _stuck(self, why: str) -> None:
        waits = [] if self.process is None else list(views.awaited(self.process.engine))
        raise Violation(f"O12: the run does not end: {why}; " + "; ".join(waits))
