"""One simulated DAGMan process: the real loop and performer, and fakes for the ports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from condor_pydagman.daemon.initialize import Settings
from condor_pydagman.daemon.loop import Loop, Sources
from condor_pydagman.daemon.run import Beginning, DagRun, OwnJob, OwnProcess, Ports
from condor_pydagman.daemon.sleep import packed, unpacked
from condor_pydagman.dagman_job.options import DagmanOptions
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.node_states import NOT_NEEDED
from condor_pydagman.graph.apply_rescue import apply_progress
from condor_pydagman.graph.model import Dag
from condor_pydagman.graph.stepwise import Steps
from condor_pydagman.records.job_description import Workflow
from tests.sim import ports
from tests.sim.fake_log import FakeNodesLog
from tests.sim.fake_scripts import FakeScripts
from tests.sim.invariants import validate
from tests.sim.kinds import PARTS
from tests.sim.requests import FakeRequests

if TYPE_CHECKING:
    from tests.sim.world import World

DESCRIPTION = "executable = job\nqueue\n"
_SOURCES = (ports.LOG, ports.SIGNALS, ports.HALT_FILE, ports.CONTROL, ports.SCHEDD)
_OPTIONS = DagmanOptions(dag_files=["t.dag"])
_HELPERS = {name: helper for part in PARTS for name, helper in part.helpers.items()}
_WORDS = {do.Say, do.SayStatus, do.SayDeferrals, do.SayFailed, do.JobState, do.Publish}


class Killed(BaseException):
    """DAGMan is gone from one moment to the next."""


class WatchedEngine(Engine):
    """Shows the world what goes in and out, and lets it kill DAGMan in between."""

    process: Process

    def handle(self, an_input: inputs.Input, now: float) -> list[do.Action]:
        world = self.process.world
        if self.process.loop.ending:
            return super().handle(an_input, now)
        world.boundary()
        world.trace("->", an_input)
        world.oracles.input_given(self.process, an_input)
        return _Watched(self.process, an_input, super().handle(an_input, now))


class _Watched(list[do.Action]):
    """Actions, each shown to the world just before it is done."""

    def __init__(self, process: Process, an_input: inputs.Input, actions: list[do.Action]) -> None:
        super().__init__(actions)
        self._process = process
        self._input = an_input

    def __iter__(self) -> Iterator[do.Action]:
        process = self._process
        world = process.world
        for action in super().__iter__():
            if type(action) in _WORDS:
                process.said(action)
            else:
                world.boundary()
                world.trace("<-", action)
                world.oracles.action_asked(process, action)
            yield action
        if not process.loop.ending:
            world.boundary()
            world.oracles.input_done(process, self._input)


class Asleep(BaseException):
    """DAGMan sleeps, and goes on with this."""

    def __init__(self, kept: bytes) -> None:
        super().__init__()
        self.kept = kept


class FakeSleeper:
    """Lets DAGMan sleep, and wakes it at once, at every moment at which it may sleep."""

    def __init__(self) -> None:
        self._slept_at = -1.0

    def due_at(self, loop: Loop) -> float:
        return float("inf")

    def consider(self, loop: Loop) -> None:
        now = loop.run.clock.monotonic()
        if loop.rests and now > self._slept_at:
            self._slept_at = now
            engine = loop.run.engine
            engine.process = None
            raise Asleep(packed((engine, loop.memory())))


class FakeHelpers:
    """What is done for features that few DAGs have."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._opened: dict[str, Any] = {}

    @property
    def rests(self) -> bool:
        return all(getattr(one, "rests", False) for one in self._opened.values())

    def open(self, name: str) -> Any:
        if name not in self._opened:
            self._opened[name] = _HELPERS[name](self._process)
        return self._opened[name]

    def ask(self, helper: str, request: Any, then: Callable[[Any], None]) -> None:
        self.open(helper).ask(request, then)

    def obstacle(self, piece: Dag) -> Steps[str]:
        yield
        return ""

    def next_deadline(self) -> float | None:
        """Answers are events of the world."""
        return None

    def work(self, now: float) -> None:
        pass

    def kill_programs(self) -> None:
        for helper in self._opened.values():
            if hasattr(helper, "kill_programs"):
                helper.kill_programs()

    def give_up(self) -> None:
        for part in self._process.world.parts:
            part.given_up()


class Process:
    """From start to exit, kill or hold.

    Attributes:
        ahead: seconds that its clock is ahead of the world's, since the clock on the wall was when
            the process started; it is never set.
        orphaned: whether the schedd that started it is gone.
    """

    def __init__(self, world: World, *, recovering: bool) -> None:
        self.world = world
        self.ahead = world.skew
        self.orphaned = False
        self.dag = world.workload.build()
        self.dag.descriptions["n.sub"] = DESCRIPTION
        if not recovering:
            world.began_with = world.rescue_text
        if world.began_with:
            given = world.given(self.dag)
            apply_progress(self.dag, world.began_with, "t.dag.rescue", given=given)
        self.engine = WatchedEngine(
            self.dag,
            world.workload.config,
            world.limits(),
            dag_id=world.era + 1,
            given=world.given(self.dag),
            check=validate,
        )
        self.engine.process = self
        self.scripts = FakeScripts(world, self)
        self.log = FakeNodesLog(world, self)
        self.requests = FakeRequests(world, self)
        self.signals = ports.FakeSignals()
        self.halt_file = ports.FakeHaltFile(world)
        self.control = ports.FakeControl(world)
        sources = Sources(
            ports.FakeWaiter(world, self),
            self.signals,
            self.log.watch,
            self.halt_file,
            self.control,
            FakeSleeper() if world.sleepy else None,
        )
        run = self._run(recovering)
        for part in world.parts:
            part.prepare(run)
        self.loop = Loop(run, sources)

    def wake(self, kept: bytes) -> None:
        """DAGMan wakes; what is outside has stayed as it was."""
        engine, memory = unpacked(kept)
        self.engine, self.dag, old = engine, engine.run.dag, self.loop
        engine.process = self
        run = self._run(old.run.resumes)
        run.recovering, run.written_rescue = False, old.run.written_rescue
        for part in self.world.parts:
            part.prepare(run)
        sources = old._sources._replace(waiter=ports.FakeWaiter(self.world, self))
        self.loop = Loop(run, sources, SimpleNamespace(**memory))

    def _run(self, recovering: bool) -> DagRun:
        world, config = self.world, self.world.workload.config
        reached = Ports(
            out=ports.FakeOut(world),
            log=self.log,
            schedd=self.requests,
            scripts=self.scripts,
            lock=ports.FakeLock(world),
            clock=ports.FakeClock(world),
            files=ports.FakeFiles(world, self),
        )
        run = DagRun(
            self.dag,
            self.engine,
            Settings(_OPTIONS, config, config),
            Workflow(world.era + 1, "t.dag.nodes.log", config),
            OwnJob(world.era + 1, ad=world.schedd.own_ad.values()),
            OwnProcess(world.now, "$CondorVersion: 25.14.1 $", 1, "/d", lambda: self.orphaned),
            reached,
            Beginning(resumes=recovering),
        )
        run.helpers = FakeHelpers(self)
        return run

    @property
    def now(self) -> float:
        """What its clock shows."""
        return self.world.now + self.ahead

    @property
    def exit(self) -> do.Exit | None:
        """The Exit action, once it has been done."""
        return self.loop.exit

    @property
    def idle(self) -> bool:
        """Whether it knows all that the world has to say, and has done all that it wants."""
        asked = self.requests.pending or self.signals.sent or self.control.said
        ended = self.scripts.over or self.scripts.unstarted
        return self.loop.idle and not asked and self.log.is_read and not ended

    def unneeded(self) -> set[str]:
        """Names of the nodes that the engine takes for not needed."""
        marks = enumerate(self.engine.run.nodes.marks)
        return {self.dag.names[node] for node, own in marks if own & NOT_NEEDED}

    def ready(self) -> list[int]:
        """Descriptors of the sources that have news."""
        ended = self.signals.sent or self.signals.child_ended or self.scripts.over
        control, requests = self.control.said, self.requests.readable
        news = (self.log.readable, ended, self.halt_file.ready, control, requests)
        return [fd for fd, there in zip(_SOURCES, news) if there]

    def add_input(self, an_input: inputs.Input) -> None:
        """Somebody wants something."""
        if isinstance(an_input, inputs.LogBroken):
            self.log.broken = an_input
        elif isinstance(an_input, (inputs.Shutdown, inputs.DagRemoved)):
            self.signals.sent.append(an_input)
        elif not getattr(an_input, "file", False):  # else the halt file tells
            self.control.said.append(an_input)

    def said(self, action: do.Action) -> None:
        """A line for people."""
        if isinstance(action, do.Say):
            self.world.trace("said", action.text)
