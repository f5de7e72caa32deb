"""The small ports of a simulated DAGMan: clock, signals, halt file, command socket, files, lock,
`.dagman.out`.  Big ones have files of their own (`fake_log.py`, `fake_scripts.py`, `requests.py`).

What can be killed in the middle passes `World.boundary`, which may raise Killed.
"""

from __future__ import annotations

import os.path
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from condor_pydagman.daemon.ports import Source
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.errors import FileError
from condor_pydagman.names import DagPaths

if TYPE_CHECKING:
    from tests.sim.process import Process
    from tests.sim.world import World

LOG, SIGNALS, HALT_FILE, CONTROL, SCHEDD = range(3, 8)  # descriptors, so to speak


class FakeClock:
    """The world's time."""

    def __init__(self, world: World) -> None:
        self._world = world

    def time(self) -> float:
        return self._world.clock()

    def monotonic(self) -> float:
        return self._world.now


class FakeWaiter:
    """Lets the world's time go on until something is ready."""

    def __init__(self, world: World, process: Process) -> None:
        self._world = world
        self._process = process
        self._watched: set[int] = set()

    def watch(self, source: Source) -> None:
        self._watched.add(source.fileno())

    def wait(self, seconds: float) -> Collection[int]:
        return self._world.wait(self._ready, seconds)

    def _ready(self) -> list[int]:
        return [fd for fd in self._process.ready() if fd in self._watched]


class FakeSignals:
    """Signals that have come; the end of a script is one, too.

    Attributes:
        child_ended: whether a process that is no script has ended.
    """

    def __init__(self) -> None:
        self.sent: list[inputs.Input] = []
        self.child_ended = False

    def fileno(self) -> int:
        return SIGNALS

    def read(self) -> list[inputs.Input]:
        sent, self.sent = self.sent, []
        self.child_ended = False
        return sent


class FakeHaltFile:
    """A halt file that people make and delete."""

    path = "t.dag.halt"

    def __init__(self, world: World) -> None:
        self._world = world
        self.is_there = False

    def fileno(self) -> int:
        return HALT_FILE

    @property
    def ready(self) -> bool:
        return self._exists() != self.is_there

    def look(self) -> bool | None:
        if not self.ready:
            return None
        self.is_there = self._exists()
        return self.is_there

    def _exists(self) -> bool:
        return "file" in self._world.users.halted


class FakeControl:
    """A command socket; what people have said is in the job ad for the next DAGMan."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.said: list[inputs.Input] = []

    @property
    def rests(self) -> bool:
        return not self.said

    listening = None

    def descriptors(self) -> tuple[tuple[int, ...], int]:
        return (), -1

    def fileno(self) -> int:
        return CONTROL

    def open(self) -> list[inputs.Input]:
        halted = sorted(self._world.users.halted - {"file"})
        return [inputs.Halt("somebody says so", pause=how == "pause") for how in halted]

    def announce(self) -> None:
        pass

    def next_deadline(self) -> float | None:
        return None

    def read_requests(self) -> list[inputs.Input]:
        said, self.said = self.said, []
        return said

    def input_handled(self, an_input: inputs.Input) -> None:
        pass

    def answer(self, answer: do.Action) -> None:
        for part in self._world.parts:
            part.answered(answer)

    def retry_publishing(self) -> None:
        pass


class FakeFiles:
    """Files that DAGMan writes; they outlive it."""

    def __init__(self, world: World, process: Process) -> None:
        self._world = world
        self._process = process

    def replace(
        self, path: str, chunks: Iterable[str], *, durable: bool = True, keep_old: bool = False
    ) -> None:
        world, process = self._world, self._process
        is_rescue = ".rescue" in path
        world.boundary()
        if is_rescue and world.hit("no_rescue"):
            raise FileError(f"can't write {path}: disk full")
        text = "".join(chunks)
        world.boundary()  # it is written under another name
        world.files[path] = text
        if is_rescue:
            world.rescue_text = text
            world.oracles.rescue_written(process, text)
        for node, file in process.dag.save_points.items():
            if file == os.path.basename(path):
                name = process.dag.names[node]
                world.oracles.special.save_point_written(process, name, text)
        world.boundary()

    def make_directory(self, path: str) -> None:
        pass

    def rescue_numbers(self, paths: DagPaths) -> list[int]:
        stem = paths.rescue(0)[: -len("000")]
        return sorted(int(path[len(stem) :]) for path in self._world.files if path.startswith(stem))


class FakeOut:
    """`.dagman.out`: a trace of what is not said by the engine, which the trace has already."""

    verbosity = 3

    def __init__(self, world: World) -> None:
        self._world = world

    def say(self, text: str, level: int = 3) -> None:
        if not level:
            self._world.trace("said", text)

    def say_test(self, text: str, level: int = 0) -> None:
        pass

    def flush(self) -> None:
        pass

    def begin_cached(self) -> None:
        pass

    def end_cached(self) -> None:
        pass


class FakeLock:
    """The lock file."""

    path = "t.dag.lock"

    def __init__(self, world: World) -> None:
        self._world = world

    def restore(self) -> bool:
        """Make it anew if somebody has deleted it."""
        deleted, self._world.unlocked = self._world.unlocked, False
        return deleted

    def remove(self) -> None:
        self._world.boundary()
        self._world.locked = self._world.unlocked = False
        if self._world.schedd.own_ad.ended():
            self._world.boundary()  # else nobody would know that there is nothing left to do

    def release(self) -> None:
        pass
