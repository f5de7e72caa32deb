"""What people do to a running DAG: halt, pause and resume it, change its throttles, remove or hold
jobs behind its back, remove DAGMan (once or twice), put it on hold, take its log away."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_pydagman.engine import inputs

if TYPE_CHECKING:
    from tests.sim.world import World

LONGEST_HALT = 400.0  # seconds


class People:
    """Everybody but DAGMan.

    Attributes:
        halted: the halts in force, of 'file', 'command' and 'pause'; what a DAGMan that starts
            finds: in the halt file, and in its job's ad.
        stops: how often DAGMan has been removed in this era.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self.halted: set[str] = set()
        self.stops = 0
        world.every(20.0, self._meddle_with_dagman)
        world.every(20.0, self._meddle_with_jobs)

    def new_era(self) -> None:
        """Somebody submits the DAG again; that takes a halt file away."""
        self.halted.clear()
        self.stops = 0

    def _tell(self, what: inputs.Input) -> None:
        if self._world.process is not None:
            self._world.process.hear(what)

    def _meddle_with_dagman(self) -> None:
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
            self._tell(inputs.Leave("Received SIGTERM"))
        elif world.hit("stop"):
            self._stop()
        elif world.hit("broken_log"):
            self._tell(inputs.LogBroken("it is gone"))

    def _halt(self, how: str) -> None:
        """Halt or pause, and resume later."""
        world = self._world
        if how in self.halted:
            return
        self.halted.add(how)
        self._tell(halt(how))
        era = world.era

        def resume() -> None:
            if how in self.halted and world.era == era:
                self.halted -= {"file"} if how == "file" else {"command", "pause"}
                self._tell(inputs.Resume(file=how == "file"))

        world.after(world.rng.uniform(0.0, LONGEST_HALT), resume)

    def _change_limits(self) -> None:
        rng = self._world.rng

        def limit() -> int | None:
            return rng.choice((None, None, 0, 1, 1, 2, 3))

        wanted = inputs.LimitsWanted(limit(), limit(), limit(), limit(), limit(), limit())
        self._tell(wanted)

    def _stop(self) -> None:
        """condor_rm, and perhaps another one."""
        world = self._world
        self.stops += 1
        self._tell(inputs.Stop())
        era = world.era
        if world.rng.random() < 0.3:
            world.after(world.rng.uniform(0.0, 60.0), lambda: self._stop_again(era))

    def _stop_again(self, era: int) -> None:
        if self._world.era == era and self._world.process is not None:
            self.stops += 1
            self._tell(inputs.Stop())

    def _meddle_with_jobs(self) -> None:
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
    """What DAGMan is told of a halt: 'file', 'command' or 'pause'."""
    return inputs.Halt("somebody says so", pause=how == "pause", file=how == "file")
