"""Scripts that end as the outcome table says, or are killed, hang, start late, or can't start."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from condor_pydagman.engine.actions import RunScript
from condor_pydagman.engine.inputs import ScriptEnded
from condor_pydagman.graph.model import Script
from condor_pydagman.vocabulary import ScriptKind
from tests.sim.workload import MAX_DEFERRALS

if TYPE_CHECKING:
    from tests.sim.process import Process
    from tests.sim.world import World

HANG = 1000.0  # seconds until somebody kills a script that hangs
RETRY = 0.75  # seconds before a start that found no process is tried again
TRIES = 3  # before it has failed: 1.5 s


class FakeScripts:
    """Scripts of one DAGMan process; they die with it as far as it matters.

    Attributes:
        running: those that have not ended, pending ones included.
        over: those that have ended and have not been asked for.
        pending: those that are to be tried again, each with the tries that are left.
        unstarted: those that were killed while pending and have not been asked for.
    """

    def __init__(self, world: World, process: Process) -> None:
        self._world = world
        self._process = process
        self.running: list[RunScript] = []
        self.over: list[ScriptEnded] = []
        self.pending: deque[tuple[RunScript, int]] = deque()
        self.unstarted: list[ScriptEnded] = []
        self.problems: list[str] = []
        self._retry_at = 0.0

    @property
    def rests(self) -> bool:
        return not (self.running or self.over or self.pending or self.unstarted)

    def start(
        self, action: RunScript, script: Script, name: str, directory: str, more: object = None
    ) -> ScriptEnded | None:
        """Start a script; an answer at once means that it could not start."""
        self._world.boundary()
        self.running.append(action)
        if self.pending:
            self.pending.append((action, TRIES))
            return None
        return self._try(action, TRIES)

    def next_deadline(self) -> float | None:
        """When to call `work`."""
        if self.unstarted:
            return 0.0
        return self._retry_at if self.pending else None

    def work(self) -> list[ScriptEnded]:
        """Try pending scripts again; returns the ends of those that do not start."""
        answers, self.unstarted = self.unstarted, []
        while self.pending and self._retry_at <= self._world.now:
            self._world.boundary()
            self._retry_at = self._world.now
            answer = self._try(*self.pending.popleft())
            if answer is not None:
                answers.append(answer)
        return answers

    def _try(self, action: RunScript, tries: int) -> ScriptEnded | None:
        world = self._world
        if world.hit("no_script"):
            return self._failed(action, "no such file")
        if world.hit("short_machine"):
            if tries == 1:
                return self._failed(action, "Resource temporarily unavailable")
            self._retry_at = world.now + RETRY
            self.pending.appendleft((action, tries - 1))
            return None
        if world.hit("hang_script"):
            world.after(HANG, lambda: self._end(action, -9))
            return None
        status = -15 if world.hit("kill_script") else self._status(action)
        delay = world.rng.choice((0.0, world.rng.uniform(0.0, 30.0)))
        world.after(delay, lambda: self._end(action, status))
        return None

    def _failed(self, action: RunScript, error: str) -> ScriptEnded:
        self.running = [other for other in self.running if other is not action]
        return ScriptEnded(action.node, action.kind, 1, error, action.held)

    def ended(self) -> list[ScriptEnded]:
        """Scripts that have ended since the last call."""
        over, self.over = self.over, []
        return over

    def kill_all(self, *, answered: bool = False) -> None:
        """Kill PRE and POST scripts; HOLD scripts live on, and nobody hears of them."""
        self._world.boundary()
        if not answered:
            self.running, self.over, self.unstarted = [], [], []
            self.pending.clear()
            return
        pending = [script for script, _ in self.pending]
        for script in self.running:
            if script.kind is not ScriptKind.HOLD:
                told = self.unstarted if any(one is script for one in pending) else self.over
                told.append(ScriptEnded(script.node, script.kind, -9))
        self.running = [script for script in self.running if script.kind is ScriptKind.HOLD]
        self.pending = deque(it for it in self.pending if it[0].kind is ScriptKind.HOLD)

    def _status(self, action: RunScript) -> int:
        world = self._world
        name = self._process.dag.names[action.node]
        retry = self._process.engine.run.nodes.retries.get(action.node, 0)
        key = (world.era, name, action.kind, retry)
        deferred = world.deferrals.get(key, 0)
        status = world.workload.outcomes.script(world.era, name, action.kind, retry, deferred)
        script = self._process.dag.script(action.node, action.kind)
        assert script is not None
        if script.defer_status == status:
            if deferred >= MAX_DEFERRALS:
                return 0
            world.deferrals[key] = deferred + 1
        return status

    def _end(self, action: RunScript, status: int) -> None:
        if any(other is action for other in self.running):
            self.running = [other for other in self.running if other is not action]
            self.over.append(ScriptEnded(action.node, action.kind, status, held=action.held))
