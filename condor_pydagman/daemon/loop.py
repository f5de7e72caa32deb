"""The only loop: wait for inputs, give them to the engine, have its actions done, in order.

One thread.  The kernel tells of log events (inotify), signals, ends of scripts and clients of the
command socket; otherwise we sleep until the next deadline.  Where the kernel can't tell of log
events, the log is looked at every DAGMAN_USER_LOG_SCAN_INTERVAL seconds.
"""

from __future__ import annotations

import select
import time
from collections import deque

from condor_pydagman.adapters.halt_file import HaltFile
from condor_pydagman.adapters.inotify import FileWatch
from condor_pydagman.adapters.joblog import TORN_LOOK
from condor_pydagman.daemon.control import Control
from condor_pydagman.daemon.perform import Performer
from condor_pydagman.daemon.publish import Publisher
from condor_pydagman.daemon.run import Run
from condor_pydagman.daemon.signals import Signals
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.errors import PoolError
from condor_pydagman.records import ad_attributes, run_statistics

PARENT_CHECK = 60.0  # seconds between looks whether the schedd that started us is alive
SAFETY_LOOK = 60.0  # seconds between looks at the log even where the kernel tells
AD_CHECK = 15.0  # seconds between looks whether somebody has edited our job ad
AD_CHECK_MAX = 120.0  # the same when nothing happens: thousands of idle DAGMans ask one schedd
BREATH = 1.0  # seconds that something may be overdue for publishing while there is much to do
TURN = 0.02  # seconds of submitting after which log events and signals get their turn


class Loop:
    """Runs one DAG to its end, or until it is told to leave."""

    def __init__(self, run: Run, signals: Signals) -> None:
        self.run = run
        self._signals = signals
        self._publisher = Publisher(run)
        self._inputs: deque[inputs.Input] = deque()
        self._performer = Performer(run, self._publisher, self._wait_for_leave, self._inputs)
        self._watch = FileWatch(run.log.path)
        self._halt_file = HaltFile(run.paths.halt)
        self._control = Control(run)
        self._poll = select.poll()
        self._poll.register(signals.fileno(), select.POLLIN)
        if self._watch.fileno() >= 0:
            self._poll.register(self._watch.fileno(), select.POLLIN)
            self._look_every = SAFETY_LOOK
        else:
            self._look_every = float(run.config.user_log_scan_interval)
        if self._halt_file.fileno() >= 0:
            self._poll.register(self._halt_file.fileno(), select.POLLIN)
        self._next_look = 0.0
        self._gathered = 0.0
        self._next_breath = 0.0
        # The engine's time: starts as the wall clock's, but no correction of that can turn it back.
        self._epoch = time.time() - time.monotonic()
        self._next_parent_check = time.monotonic() + PARENT_CHECK
        self._ad_pause = AD_CHECK
        self._next_ad_check = time.monotonic() + AD_CHECK if run.cluster else float("inf")

    def until_end(self) -> int:
        """Run; returns the exit code."""
        self._inputs.extend(self._control.open())
        if self._control.fileno() >= 0:
            self._poll.register(self._control.fileno(), select.POLLIN)
        self._look_for_halt()
        if self.run.cluster:  # throttles may have been edited while the DAG was being read
            self._check_ad(time.monotonic())
        while self._inputs:
            self._feed(self._inputs.popleft())
        self._publisher.publish_limits()
        self._publisher.draw()
        self._feed(inputs.Begin(self.run.recovering))
        self._publisher.begin()
        if self.run.recovering:
            self._replay()
        while self._performer.exit is None:
            if self._inputs:
                self._feed(self._inputs.popleft())
            else:
                self._between_inputs()
        return self._performer.exit.code

    def _replay(self) -> None:
        """Feed the old log, whole; signals wait."""
        if self.run.config.debug_cache_enable:
            self.run.out.begin_cached()
        for events in self.run.log.to_end():
            now = self._now()
            for event in events:  # nothing is asked for, so much of `_feed` is not needed
                self._inputs.extend(self._performer.perform(self.run.engine.handle(event, now)))
            self.run.out.flush()  # or it keeps all lines of the replay in memory
            if self._performer.exit is not None:
                return
        self.run.out.end_cached()
        self._feed(inputs.LogCaughtUp())
        self._performer.end_recovery()

    def _feed(self, an_input: inputs.Input) -> None:
        begun = time.monotonic()
        actions = self.run.engine.handle(an_input, self._now())
        self._inputs.extend(self._performer.perform(actions))
        self._control.after(an_input)
        self._ad_pause = AD_CHECK
        now = time.monotonic()
        self._publisher.statistics.add(run_statistics.EVENTS, now - begun)
        if now >= self._next_breath:
            self._take_breath(now)
        if now - self._gathered >= TURN and any(type(one) is do.SubmitNode for one in actions):
            self._gather(0.0)

    def _take_breath(self, now: float) -> None:
        """Publish what has long been due: there may be something to do for a quarter of an hour."""
        self._next_breath = now + BREATH
        due = self._publisher.next_deadline()
        if due is not None and due + BREATH <= now:
            self._publisher.publish_due()
            self.run.out.flush()

    def _now(self) -> float:
        return self._epoch + time.monotonic()

    def _between_inputs(self) -> None:
        """Nothing to do: publish, then wait."""
        run = self.run
        due = self._publisher.next_deadline()
        if due is not None and due <= time.monotonic():
            self._gather(0.0)  # what came while a submission took long goes first
            if self._inputs:
                return
            self._publisher.publish_due()
        run.out.flush()
        self._gather(self._patience())
        if self._inputs:
            return
        deadline = run.engine.next_deadline()
        if deadline is not None and deadline <= self._now():
            self._inputs.append(inputs.Wake())

    def _patience(self) -> float:
        """Seconds that we may sleep."""
        if self.run.log.more:
            return 0.0
        now = time.monotonic()
        waits = [self._next_look, self._next_parent_check, self._next_ad_check]
        waits = [when - now for when in waits]
        deadline = self.run.engine.next_deadline()
        if deadline is not None:
            waits.append(deadline - self._now())
        for due in (self._publisher.next_deadline(), self._control.next_deadline()):
            if due is not None:
                waits.append(due - now)
        return max(0.0, min(waits))

    def _gather(self, seconds: float) -> None:
        """Wait up to `seconds` for something to happen, and turn it into inputs."""
        begun = time.monotonic()
        ready = {fd for fd, _ in self._poll.poll(int(seconds * 1000 + 0.999))}
        run, now = self.run, time.monotonic()
        if seconds:
            self._publisher.statistics.add(run_statistics.SLEEP, now - begun)
        self._gathered = now
        if self._signals.fileno() in ready:
            signals = self._signals.take()
            self._inputs.extend(run.scripts.ended())  # first: what has ended must not run again
            self._inputs.extend(signals)
            while run.scripts.problems:
                run.out.say(f"Warning: {run.scripts.problems.pop()}", 0)
        if self._watch.fileno() in ready:
            self._watch.clear()
            self._read_log()
        elif run.log.more or now >= self._next_look:
            self._read_log()
        self._look_for_halt()
        due = self._control.next_deadline()
        if self._control.fileno() in ready or (due is not None and due <= now):
            self._inputs.extend(self._control.take())
        if now >= self._next_parent_check:
            self._check_parent(now)
        if now >= self._next_ad_check:
            self._check_ad(now)

    def _wait_for_leave(self, seconds: float) -> inputs.Leave | inputs.Stop | None:
        """Wait for a signal with which DAGMan is to leave, and for nothing else."""
        until = time.monotonic() + seconds
        poll = select.poll()
        poll.register(self._signals.fileno(), select.POLLIN)
        while True:
            for an_input in (*self._inputs, *self._signals.take()):
                if isinstance(an_input, (inputs.Leave, inputs.Stop)):
                    return an_input
            left = until - time.monotonic()
            if left <= 0:
                return None
            poll.poll(int(left * 1000 + 0.999))

    def _look_for_halt(self) -> None:
        """Looked at after the log and told before it: a DAG must not count as halted and drained
        by the end of a job if somebody has let it go on before that."""
        there = self._halt_file.look()
        if there is not None:
            name = self._halt_file.path
            self._inputs.appendleft(
                inputs.Halt(f"{name} is there", file=True)
                if there
                else inputs.Resume(f"{name} is gone", file=True)
            )

    def _read_log(self) -> None:
        begun = time.monotonic()
        self._inputs.extend(self.run.log.read())
        self._publisher.statistics.add(run_statistics.LOG, time.monotonic() - begun)
        wait = TORN_LOOK if self.run.log.torn else self._look_every
        self._next_look = time.monotonic() + wait

    def _check_parent(self, now: float) -> None:
        """The schedd that started us is gone: its successor will start a new DAGMan."""
        self._next_parent_check = now + PARENT_CHECK
        if self.run.abandoned():
            self._inputs.append(inputs.Leave("The schedd that started this DAGMan is gone"))

    def _check_ad(self, now: float) -> None:
        """Somebody may have set other throttles (condor_qedit of DAGMan_Max...), or have deleted
        the lock file."""
        self._next_ad_check = now + self._ad_pause
        self._ad_pause = min(1.25 * self._ad_pause, AD_CHECK_MAX)
        if self.run.lock.keep():
            self.run.out.say(f"Lock file {self.run.lock.path} was gone: made anew")
        self._control.catch_up()
        if not self._publisher.limits_are_published():  # what the ad has is old, not an edit
            self._publisher.publish_limits()
            return
        try:
            found = self.run.schedd.wanted_limits()
        except PoolError:
            return  # the next look will do
        wanted = ad_attributes.wanted_limits(found, self.run.engine.limits)
        if wanted is not None:
            self._inputs.append(wanted)
