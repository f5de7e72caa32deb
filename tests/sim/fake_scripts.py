"""Scripts that end as the outcome table says, or are killed, hang, or can't be started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_pydagman.engine.actions import KillScripts, RunScript
from condor_pydagman.engine.inputs import ScriptEnded
from condor_pydagman.vocabulary import ScriptKind
from tests.sim.workload import MOST_DEFERRALS

if TYPE_CHECKING:
    from tests.sim.process import Process
    from tests.sim.world import World

HANG = 1000.0  # seconds until somebody kills a script that hangs


class FakeScripts:
    """Scripts of one DAGMan process; they die with it as far as it matters."""

    def __init__(self, world: World, process: Process) -> None:
        self._world = world
        self._process = process
        self.running: list[RunScript] = []

    def start(self, action: RunScript) -> ScriptEnded | None:
        """Start a script; an answer at once means that it could not start."""
        world = self._world
        if world.hit("no_script"):
            return ScriptEnded(action.node, action.kind, 1, "no such file")
        self.running.append(action)
        if world.hit("hang_script"):
            world.after(HANG, lambda: self._end(action, -9))
            return None
        status = -15 if world.hit("kill_script") else self._status(action)
        delay = world.rng.choice((0.0, world.rng.uniform(0.0, 30.0)))
        world.after(delay, lambda: self._end(action, status))
        return None

    def kill_all(self, action: KillScripts) -> None:
        """Kill PRE and POST scripts; HOLD scripts live on."""
        killed = [script for script in self.running if script.kind is not ScriptKind.HOLD]
        self.running = [script for script in self.running if script.kind is ScriptKind.HOLD]
        for script in killed if action.answered else ():
            self._process.hear(ScriptEnded(script.node, script.kind, -9))

    def _status(self, action: RunScript) -> int:
        world = self._world
        name = self._process.dag.names[action.node]
        retry = self._process.engine.nodes.retries.get(action.node, 0)
        key = (world.era, name, action.kind, retry)
        deferred = world.deferrals.get(key, 0)
        status = world.workload.outcomes.script(world.era, name, action.kind, retry, deferred)
        script = self._process.dag.script(action.node, action.kind)
        assert script is not None
        if script.defer_status == status:
            if deferred >= MOST_DEFERRALS:
                return 0
            world.deferrals[key] = deferred + 1
        return status

    def _end(self, action: RunScript, status: int) -> None:
        if any(other is action for other in self.running):
            self.running = [other for other in self.running if other is not action]
            self._process.hear(ScriptEnded(action.node, action.kind, status))
