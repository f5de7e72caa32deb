"""What users do to a running DAG: halt, pause and resume it, change its throttles, remove or hold
its jobs, remove DAGMan (once or twice), put it on hold, delete its log or its lock file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_pydagman.engine import inputs
from condor_pydagman.records.own_ad import LIMITS

if TYPE_CHECKING:
    from tests.sim.world import World

MAX_HALT_S = 400.0  # seconds


class Users:
    """All users of the simulated pool.

    Attributes:
        halted: the halts in force, of 'file', 'command' and 'pause'; what a DAGMan that starts
            finds: in the halt file, and in its job's ad.
        stops: how often DAGMan has been removed in this era.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.halted: set[str] = set()
        self.stops = 0
        world.every(20.0, self._act_on_dagman)
        world.every(20.0, self._act_on_jobs)

    def new_era(self) -> None:
        """The DAG is submitted again, which removes the halt file."""
        self.halted.clear()
        self.stops = 0

    def _give_input(self, what: inputs.Input) -> None:
        if self._world.process is not None:
            self._world.process.add_input(what)

    def _act_on_dagman(self) -> None:
        world = self._world
        if world.hit("pause"):
            self._halt("pause")
        elif world.hit("halt"):
            self._halt("file" if int(world.now) % 2 else "command")
        if world.hit("limits"):
            self._change_limits()
        if world.process is None:
            return
        if world.hit("leave"):
            self._give_input(inputs.Shutdown("Got SIGTERM."))
        elif world.hit("stop"):
            self._stop()
        elif world.hit("broken_log"):
            self._give_input(inputs.LogBroken("it is gone"))
        elif world.hit("unlock"):
            world.trace("lock file deleted", "")
            world.unlocked = True
        elif world.hit("schedd_gone"):
            world.trace("schedd gone", "")
            world.process.orphaned = True

    def _halt(self, how: str) -> None:
        """Halt or pause, and resume later."""
        world = self._world
        if how in self.halted:
            return
        self.halted.add(how)
        self._give_input(halt(how))
        era = world.era

        def resume() -> None:
            if how in self.halted and world.era == era:
                self.halted -= {"file"} if how == "file" else {"command", "pause"}
                self._give_input(inputs.Resume(file=how == "file"))

        world.after(world.rng.uniform(0.0, MAX_HALT_S), resume)

    def _change_limits(self) -> None:
        rng = self._world.rng

        def limit() -> int | None:
            return rng.choice((None, None, 0, 1, 1, 2, 3))

        wanted = inputs.LimitsWanted(limit(), limit(), limit(), limit(), limit(), limit())
        edited = {name: value for name, value in wanted._asdict().items() if value is not None}
        if rng.random() < 0.3:  # condor_qedit
            names = {field: name for name, field in LIMITS.items()}
            changes = {names[field]: str(value) for field, value in edited.items()}
            self._world.schedd.own_ad.edit(changes)
        else:
            self._give_input(wanted)

    def _stop(self) -> None:
        """condor_rm, and perhaps another one."""
        world = self._world
        self.stops += 1
        self._give_input(inputs.DagRemoved())
        era = world.era
        if world.rng.random() < 0.3:
            world.after(world.rng.uniform(0.0, 60.0), lambda: self._stop_again(era))

    def _stop_again(self, era: int) -> None:
        if self._world.era == era and self._world.process is not None:
            self.stops += 1
            self._give_input(inputs.DagRemoved())

    def _act_on_jobs(self) -> None:
        world = self._world
        if world.hit("remove_job"):
            job = world.schedd.some_job()
            if job is not None:
                world.trace("condor_rm", f"{job.cluster.number}.{job.proc}")
                world.schedd.jobs.remove(job)
        if world.hit("hold_job"):
            job = world.schedd.some_job()
            if job is not None:
                world.schedd.jobs.hold(job)


def halt(how: str) -> inputs.Halt:
    """The input for a halt: 'file', 'command' or 'pause'."""
    return inputs.Halt("somebody says so", pause=how == "pause", file=how == "file")
