"""The simulated world: virtual time, what outlives a DAGMan, and the succession of DAGMans.

A run of the simulator is one DAG from its first start to its last exit.  An *era* is the time from
a start with an empty log to an exit that takes the lock file away; a *life* is one process.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Mapping
from random import Random
from typing import Any

from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.apply_rescue import apply_progress
from condor_pydagman.graph.model import Dag
from condor_pydagman.records import own_ad
from condor_pydagman.vocabulary import ScriptKind
from tests.oracles import Violation
from tests.sim import faults as fault_rates
from tests.sim.fake_log import FakeLog
from tests.sim.fake_schedd import FakeSchedd
from tests.sim.faults import Faults
from tests.sim.kinds import PARTS, chosen
from tests.sim.oracles import FollowedLog, Oracles
from tests.sim.parts import Part
from tests.sim.process import DESCRIPTION, Asleep, Killed, Process
from tests.sim.users import Users
from tests.sim.workload import Workload, draw

MAX_ERAS = 3
MAX_END_S = 200_000.0  # seconds that a run may take after the faults have ended
COOL_DOWN_S = 300.0  # of the schedd, before it starts a DAGMan again that has not been killed
ROUNDING_S = 1e-6  # seconds that a sum of times may be off; a wait is so much longer
MAX_WAITS = 1000  # in a row for nothing; a log that is read event by event makes some
MAX_LINES = 100_000


class World:
    """Everything there is.

    Args:
        seed: decides all.
        workload, faults: instead of those drawn from the seed.
        crash_at: numbers of boundaries at which DAGMan is killed.
        together: whether nodes may be submitted together, if no workload is given.
        kinds: what the DAG has, if no workload is given, and what people do; see `kinds.MEANINGS`.

    Attributes:
        now: seconds.
        era, life: see above, counted from 0.
        parts: of features, see `parts.Part`.
        having: those with a method of their own, by its name; that of `Part` does nothing.
        at_once: journal records of theirs, see `parts.Part`.
        locked: whether the DAG has begun and not ended, as the lock file says.
        unlocked: whether somebody has deleted that file, and DAGMan has not made it anew yet: if it
            is killed now, the next one can't know that there is something to recover.
        files: text of each file that DAGMan has written.
        rescue_text: the newest rescue file, '' if there is none.
        began_with: the one that the present run began with, as its lock file says.
        deferrals: how often a script has been put off.
        boundaries: places passed so far at which DAGMan could be killed.
        skew: seconds that the clock which events are stamped with is ahead of `now`.
    """

    def __init__(
        self,
        seed: int,
        *,
        workload: Workload | None = None,
        faults: Faults | None = None,
        crash_at: Collection[int] = (),
        together: bool = True,
        sleepy: bool = False,
        **kinds: bool,
    ) -> None:
        self.seed = seed
        self.sleepy = sleepy  # whether DAGMan sleeps wherever it may
        self.slept = 0  # how often it has
        self.kinds = chosen(**kinds)
        self.rng = Random(seed)
        self.workload = workload or draw(seed, self.rng, self.kinds, together=together)
        self.faults = fault_rates.swarm(self.rng) if faults is None else faults
        self.now = 0.0
        self.era = self.life = self.boundaries = 0
        self.locked = self.unlocked = False
        self.files: dict[str, str] = {}
        self.rescue_text = ""
        self.began_with = ""
        self.deferrals: dict[tuple[int, str, ScriptKind, int], int] = {}
        self.skew = 0.0
        self.ever_garbled = False
        self.exit_codes: list[int] = []
        self.lines: list[tuple[float, int, int, str, object]] = []
        self._crash_at = frozenset(crash_at)
        self._heap: list[tuple[float, int, Callable[[], object]]] = []
        self._ticket = 0
        self._over = False
        self._starts: bool | None = None  # whether a DAGMan starts now, and recovers
        self._full_until = 0.0
        self._waits_in_vain = 0
        self.process: Process | None = None
        self.oracles = Oracles(self)
        self.log = FakeLog(self)
        self.follower = FollowedLog(self)
        self.schedd = FakeSchedd(self)
        self.parts = [part(self) for part in PARTS]
        self.having = {
            name: [part for part in self.parts if getattr(type(part), name) is not default]
            for name, default in vars(Part).items()
        }
        self.at_once = {record for part in self.parts for record in part.at_once}
        self.users = Users(self)
        for part in self.parts:
            part.begin()
        self.every(20.0, self._maybe_clock_step)

    def fresh_dag(self) -> Dag:
        """The DAG as the present run has begun with it."""
        dag = self.workload.build()
        dag.descriptions["n.sub"] = DESCRIPTION
        if self.began_with:
            apply_progress(dag, self.began_with, "t.dag.rescue", given=self.given(dag))
        return dag

    def given(self, dag: Dag) -> Mapping[str, Any]:
        """What a DAGMan that starts gives to features of a DAG, by their names."""
        found = ((part.name(), part.given(dag)) for part in self.having["given"])
        return {name: given for name, given in found if given is not None}

    def run(self) -> None:
        """Run to the end.

        Raises:
            Violation: an oracle objects.
            Exception: the engine's own, with the node's recent moves.
        """
        self.at(0.0, self._start)
        while not self._over:
            if self._starts is None:
                self._advance()
                continue
            recovering, self._starts = self._starts, None
            try:
                self._live(recovering)
            except Killed:
                self.trace("killed", "")
                self.schedd.own_ad.left(None)
                if self.log.entries and self.hit("forget"):
                    self.log.forget()
                self._restart_later()

    def _live(self, recovering: bool) -> None:
        """One life of a DAGMan."""
        self.trace("start", f"recovering={recovering}")
        self.schedd.own_ad.started()
        process = Process(self, recovering=recovering)
        self.process = process
        self.oracles.started(process, recovering=recovering)
        work = process.loop.run_to_end
        while process.exit is None:
            try:
                work()
            except Asleep as sleep:
                self.slept += 1
                process.wake(sleep.kept)
                work = process.loop.go_on
        self._exited(process)

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

    def wait(self, sources: Callable[[], list[int]], seconds: float) -> list[int]:
        """Let time go on for so long, or until one of the sources is ready; returns those."""
        until = self.now + seconds + ROUNDING_S if seconds else self.now
        begun = self.now
        while True:
            while self._heap and self._heap[0][0] <= self.now:
                heapq.heappop(self._heap)[2]()
            ready = sources()
            if ready or self.now >= until:
                break
            self.now = min(until, self._heap[0][0]) if self._heap else until
            self._must_end_some_day()
        self._waits_in_vain = 0 if ready or self.now > begun else self._waits_in_vain + 1
        if self._waits_in_vain > MAX_WAITS:
            self._stuck("it wakes up again and again in vain")
        return ready

    def disk_is_full(self) -> bool:
        """Whether the disk has no room for an event of DAGMan's."""
        if self.hit("full_disk"):
            self._full_until = self.now + self.rng.choice(
                (0.05, self.rng.uniform(0.0, 50.0), 300.0)
            )
        return self.now < self._full_until

    def limits(self) -> Throttles:
        """Throttles for a DAGMan that starts: those of its job ad, which outlive it."""
        earlier = own_ad.earlier_throttles(self.schedd.own_ad.values())
        return self.workload.limits._replace(**earlier)

    def nothing(self) -> None:
        """Happens when time is to stop at a moment for somebody to look."""

    def clock(self) -> float:
        """What a clock on the wall shows."""
        return self.now + self.skew

    def trace(self, kind: str, what: object) -> None:
        """A line of the trace."""
        self.lines.append((self.now, self.era, self.life, kind, what))
        if len(self.lines) > MAX_LINES:
            raise Violation("O12: the run does not end: too many lines of trace")

    def boundary(self) -> None:
        """A place where DAGMan may be killed."""
        self.boundaries += 1
        if self.boundaries in self._crash_at or (not self.unlocked and self.hit("crash")):
            raise Killed

    def trace_text(self) -> str:
        """The trace in fixed columns: time, era.life, what, details."""
        return "\n".join(
            f"{time:11.3f} {era}.{life:<3} {kind:<12} {what}"
            for time, era, life, kind, what in self.lines
        )

    # The succession of DAGMans.

    def _start(self) -> None:
        code = own_ad.ended_with(self.schedd.own_ad.next_start())
        if code is not None:
            self.trace("start", f"the DAG has ended with {code}")
            self._ended(code)
            return
        if self.log.complete_at() > self.now and self.locked:
            self.at(self.log.complete_at(), self._start)  # a half-written event is waited for
            return
        recovering, self.locked = self.locked, True
        if not recovering:
            self.log.truncate()
        self._starts = recovering

    def _restart_later(self, *delays: float) -> None:
        """After one of these delays, or another one."""
        self.process = None
        self.life += 1
        others = (0.0, 1.0, self.rng.uniform(0.0, 300.0))
        self.after(self.rng.choice((*others, *delays)), self._start)

    def _exited(self, process: Process) -> None:
        assert process.exit is not None
        code = process.exit.code
        self.schedd.own_ad.left(None if process.orphaned else code)
        self.oracles.exited(process, code)
        if process.exit.keep_lock and not process.exit.concluded:
            if not self.ever_garbled:
                raise Violation("O29: a sound log counts as one that can't be true")
            self.exit_codes.append(code)
            self.process, self._over = None, True
        elif process.exit.keep_lock:
            self._restart_later(COOL_DOWN_S)
        else:
            self._ended(code)

    def _ended(self, code: int) -> None:
        """The DAG has ended; perhaps it is submitted again."""
        self.locked = False
        self.schedd.manager_left(self.era)
        self.exit_codes.append(code)
        self.process = None
        again = any(part.goes_on(code) for part in self.parts)
        if again:
            self.rescue_text = ""
        if self.era + 1 >= MAX_ERAS or not (again or (code != 0 and self.rescue_text)):
            self._over = True
            return
        self.era += 1
        for part in self.parts:
            part.new_era()
        self.users.new_era()
        self.after(self.rng.choice((0.0, 1.0, 400.0)), self._start)

    def _maybe_clock_step(self) -> None:
        if self.hit("clock"):
            step = self.rng.choice((0.0, self.rng.uniform(-300.0, 300.0)))
            self.skew = max(step, -self.now)  # there is no time before the epoch
            self.trace("clock steps", f"{self.skew:+.3f}")

    # Time.

    def _advance(self) -> None:
        """To the next thing that happens while no DAGMan waits for it."""
        if not self._heap:
            self._stuck("nothing will ever happen again")
        time, _, what = heapq.heappop(self._heap)
        self.now = max(self.now, time)
        what()
        self._must_end_some_day()

    def _must_end_some_day(self) -> None:
        if self.now > self.faults.until + MAX_END_S:
            self._stuck("it takes too long")

    def _stuck(self, why: str) -> None:
        waits = [] if self.process is None else list(self.process.engine.awaited())
        raise Violation(f"O12: the run does not end: {why}; " + "; ".join(waits))
