"""One life of a simulated DAGMan: feeds the engine as the real loop does, and does its actions."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs, removals
from condor_pydagman.engine.engine import Engine
from condor_pydagman.graph.progress import apply_progress
from condor_pydagman.records import rescue
from condor_pydagman.vocabulary import NodeKind
from tests import make
from tests.sim.fake_scripts import FakeScripts
from tests.sim.people import halt

if TYPE_CHECKING:
    from tests.sim.world import World

CREATED = (2026, 1, 2, 3, 4, 5)


class Killed(Exception):
    """DAGMan is gone from one moment to the next."""


class Process:
    """From start to exit, kill or hold.

    Attributes:
        ahead: seconds that its clock is ahead of the world's, since the clock on the wall was when
            the process started; it is never set.
        position: entry of the log that is read next.
        exit: the Exit action, once it has been done.
    """

    def __init__(self, world: World, *, recovering: bool) -> None:
        self.world = world
        self.ahead = world.skew
        self.dag = world.workload.build()
        if not recovering:
            world.began_with = world.rescue_text
        if world.began_with:
            apply_progress(self.dag, world.began_with, "t.dag.rescue")
        self.engine = Engine(
            self.dag, world.workload.config, world.limits, dag_id=world.era + 1, check=True
        )
        self.scripts = FakeScripts(world, self)
        self.position = 0
        self.exit: do.Exit | None = None
        self._inputs: deque[inputs.Input] = deque()
        self._do: dict[type, Callable[[Any], None]] = {
            do.SubmitNode: self._submit,
            do.RemoveJobs: self._remove,
            do.RunScript: self._run_script,
            do.KillScripts: self.scripts.kill_all,
            do.AppendPostEnded: self._append,
            do.AppendPreSkip: self._append,
            do.AppendNoop: self._append,
            do.AppendNote: self._append,
            do.QueryQueue: self._query,
            do.AskProvisioner: self._ask_provisioner,
            do.WriteRescue: self._write_rescue,
            do.WriteSavePoint: self._write_save_point,
            do.Exit: self._exit,
        }
        self._recovering = recovering
        self._replaying = False

    @property
    def now(self) -> float:
        """What its clock shows."""
        return self.world.now + self.ahead

    def begin(self) -> None:
        """The first input, and in recovery the whole old log."""
        for how in sorted(self.world.people.halted):
            self.feed(halt(how))
        self.feed(inputs.Begin(self._recovering))
        if self._recovering:
            self._replaying = True
            events, self.position = self.world.log.read(0, everything=True)
            for event in events:
                self.feed(event)
            self._replaying = False
            self.feed(inputs.LogCaughtUp())

    def step(self) -> bool:
        """Do one thing; False if there is nothing to do now."""
        if not self._inputs or self.world.rng.random() < 0.3:
            events, self.position = self.world.log.read(self.position)
            self._inputs.extend(events)
        if not self._inputs:
            return False
        self.feed(self._inputs.popleft())
        return True

    def hear(self, an_input: inputs.Input) -> None:
        """Queue an input."""
        self._inputs.append(an_input)

    @property
    def idle(self) -> bool:
        """Whether it knows all that the world has to say."""
        log = self.world.log
        heard = not self._inputs and not self._replaying and not log.held_back
        return heard and self.position == len(log.entries)

    def feed(self, an_input: inputs.Input) -> None:
        """Give one input and do what it leads to.

        Raises:
            Killed: at one of the boundaries.
        """
        world = self.world
        if self.exit is not None:
            return
        world.boundary()
        world.trace("->", an_input)
        world.oracles.input_given(self, an_input)
        for action in self.engine.handle(an_input, self.now):
            handler = self._do.get(type(action))
            if handler is None:
                self._said(action)
                continue
            world.boundary()
            world.trace("<-", action)
            world.oracles.action_asked(self, action)
            handler(action)
            if self.exit is not None:
                return
        world.boundary()
        world.oracles.input_done(self, an_input)

    def _said(self, action: do.Action) -> None:
        if isinstance(action, do.Say):
            self.world.trace("said", action.text)
            self.world.oracles.special.said(self, action.text)
            if "found its job in the queue" in action.text:
                self.world.oracles.adopted()

    def _submit(self, action: do.SubmitNode) -> None:
        kind = NodeKind(self.dag.kinds[action.node])
        answer = self.world.schedd.submit(action, self.dag.names[action.node], kind)
        self.world.boundary()
        self.hear(answer)

    def _remove(self, action: do.RemoveJobs) -> None:
        error = self.world.schedd.remove(action, self.world.era, self._has_ended)
        if error:
            self.world.trace("not removed", error)
            if action.cluster:
                self.hear(inputs.RemoveFailed(action.cluster, error))

    def _has_ended(self, job: inputs.QueuedJob) -> bool:
        return removals.has_ended(self.engine, job)

    def _run_script(self, action: do.RunScript) -> None:
        answer = self.scripts.start(action)
        if answer is not None:
            self.hear(answer)

    def _append(self, action: do.Action) -> None:
        if self.world.hit("full_disk"):
            self.hear(inputs.AppendFailed("disk full"))
            return
        for event in make.appended(self.dag, action, self.world.clock()):
            self.world.log.append_own(event)
        self.world.oracles.written(self, action)

    def _query(self, action: do.QueryQueue) -> None:
        if self.world.schedd.down:
            self.hear(inputs.QueueUnknown("no schedd"))
            return
        jobs = self.world.schedd.listed(self.world.era)
        ended = self.world.schedd.ended(self.world.era) if action.history else []
        events, self.position = self.world.log.read(self.position, everything=True)
        self._inputs.extend(events)
        self.hear(inputs.QueueListed(jobs, ended))

    def _ask_provisioner(self, action: do.AskProvisioner) -> None:
        self.hear(inputs.ProvisionerSays(self.world.schedd.provisioner_state(action.cluster)))

    def _write_rescue(self, _: do.WriteRescue) -> None:
        if self.world.hit("no_rescue"):
            self.hear(inputs.RescueWritten("disk full"))
            return
        lines = rescue.rescue_text(
            self.dag,
            self.engine.node_reports(),
            created=CREATED,
            reset_retries=self.engine.config.reset_retries_upon_rescue,
        )
        self.world.rescue_text = "".join(lines)
        self.world.oracles.rescue_written(self, self.world.rescue_text)
        self.hear(inputs.RescueWritten())

    def _write_save_point(self, action: do.WriteSavePoint) -> None:
        name = self.dag.names[action.node]
        lines = rescue.save_text(self.dag, self.engine.node_reports(), name, CREATED)
        self.world.oracles.special.save_point_written(self, name, "".join(lines))

    def _exit(self, action: do.Exit) -> None:
        self.exit = action
