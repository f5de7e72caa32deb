"""The event loop: wait for inputs, give them to the engine, perform its actions in order.

One thread, which blocks only on its sources: log events (inotify), signals, ends of scripts,
clients of the command socket, replies of the schedd; otherwise it sleeps until the next deadline.
Without inotify the log is read every DAGMAN_USER_LOG_SCAN_INTERVAL seconds.

The loop has no clock and no descriptor of its own (see `ports.py`), so the simulator runs it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any

from condor_pydagman.adapters.schedd_requests import ReadOwnAd
from condor_pydagman.daemon.end_notice import Leaving
from condor_pydagman.daemon.nodes_log import LogReader
from condor_pydagman.daemon.perform import Performer
from condor_pydagman.daemon.publish import Publisher
from condor_pydagman.daemon.run import DagRun
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.errors import PoolError
from condor_pydagman.feature_table import ABSENT, NAMES, NOTIFIES, part
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records import run_statistics
from condor_pydagman.records.own_events import unknown_record
from condor_pydagman.timers import (
    PARENT_CHECK_S,
    PUBLISH_OVERDUE_S,
    RECOVERY_TIMEOUT_S,
    START_TIMEOUT_S,
    SUBMIT_SLICE_S,
)
from condor_pydagman.vocabulary import EXIT_RESTART, ORPHANED, EventKind

if TYPE_CHECKING:
    from condor_pydagman.daemon import ports


class Sources(NamedTuple):
    """What wakes the loop."""

    waiter: ports.Waiter
    signals: ports.Signals
    log_watch: ports.LogWatch
    halt_file: ports.HaltFile
    control: ports.Control
    sleeper: ports.Sleeper | None = None  # lets DAGMan sleep, if it may
    end_turn: Callable[[], object] = lambda: None  # lets another DAGMan start


class Loop:
    """Runs one DAG to its end, or until DAGMan has to leave."""

    def __init__(self, run: DagRun, sources: Sources, memory: ports.Memory | None = None) -> None:
        self.run = run
        self._clock = clock = run.clock
        self._schedd = run.schedd
        self._sources = sources
        self._signals, self._control = sources.signals, sources.control
        self._halt_file = sources.halt_file
        self._publisher = Publisher(run)
        if memory is not None:
            self._publisher.remember(memory.published)
        self._inputs: deque[inputs.Input] = deque()
        self._early_signals: list[inputs.Input] = []  # that came before the DAG began
        self._log = LogReader(
            run.log,
            sources.log_watch,
            self._inputs,
            clock,
            self._publisher.statistics,
            float(run.config.user_log_scan_interval),
        )
        self._performer = Performer(
            run,
            self._publisher,
            self._inputs,
            self._log.call_at_end,
            self._control.answer,
        )
        self._notifiers: ports.Notifiers | None = None
        now = clock.monotonic()
        self._gathered_at = 0.0
        # when the engine was told something last by this process, monotonic seconds
        self.fed_at = now if memory is None else 0.0
        self._next_overdue_check_at = 0.0
        # until the recovery has come to rest; infinite if the turn has ended before
        self._recovered_at: float | None = None
        self._replayed_to = (0, 0)
        # The engine's time: starts as the wall clock's, but no correction of that can turn it back.
        self._epoch = clock.time() - now if memory is None else memory.epoch
        self._next_parent_check_at = now + PARENT_CHECK_S
        if memory is not None:
            self._next_parent_check_at = memory.next_parent_check_at
            self._log.next_check_at = memory.next_log_check_at

    @property
    def exit(self) -> do.Exit | None:
        """How the run has ended; None before that."""
        return self._performer.exit

    @property
    def ending(self) -> bool:
        """Whether the engine has asked for the end."""
        return self._performer.ending

    @property
    def idle(self) -> bool:
        """Whether no input is pending and no event is still to be written or read; requests to the
        schedd do not count."""
        return not (self._inputs or self._performer.writer or self._log.has_waiting_calls)

    def run_to_end(self) -> int:
        """Run; returns the exit code."""
        watch = self._sources.waiter.watch
        watch(self._signals)
        watch(self._schedd)
        self._inputs.extend(self._control.open())
        self._check_halt_file()
        until = self._clock.monotonic() + START_TIMEOUT_S
        if self.run.job.cluster:  # throttles may have been edited while the DAG was being read
            self._schedd.ask(ReadOwnAd(), self._limits_found)
            self._wait_for_schedd(until)
        while self._inputs:
            self._feed(self._inputs.popleft())
        self._publisher.publish_limits()
        self._wait_for_schedd(until)
        self._watch_all()
        self._publisher.draw()
        self._feed(inputs.Begin(self.run.recovering))
        self._control.announce()
        self._publisher.begin()
        self._start_notifiers()
        if self.run.recovering:
            self._replay()
            self._recovered_at, self._replayed_to = self._clock.monotonic(), self.run.log.position
        else:
            self._sources.end_turn()
        self._inputs.extend(self._early_signals)
        return self._work()

    def go_on(self) -> int:
        """Go on after a sleep; returns the exit code."""
        self._control.open()  # what it would tell has been told before
        self._watch_all()
        return self._work()

    def _watch_all(self) -> None:
        for source in (
            self._signals,
            self._schedd,
            self._sources.log_watch,
            self._halt_file,
            self._control,
        ):
            self._sources.waiter.watch(source)

    def _work(self) -> int:
        while self._performer.exit is None:
            if self._schedd.ready:
                # At once, so that submissions are quick, but for a limited time.
                if self._clock.monotonic() - self._gathered_at >= SUBMIT_SLICE_S:
                    self._gather(0.0)
                else:
                    self._schedd.deliver()
            elif self._inputs:
                self._feed(self._inputs.popleft())
            else:
                self._between_inputs()
        if self._notifiers is not None and self._performer.exit.code != EXIT_RESTART:
            self._notifiers.end()
        return self._performer.exit.code

    def _start_notifiers(self) -> None:
        """Those that the DAG, the administrator or the user wants; mostly there are none."""
        run = self.run
        if NOTIFIES in NAMES and (run.dag.features.get(NOTIFIES) or run.config.notify):
            run.out.flush()  # it has the beginning of the run
            of_dag = run.paths.primary, run.dag, run.config.notify
            notifiers = part(NOTIFIES, "starter").Notifiers(*of_dag, run.out.say)
            notifiers.start()
            self._notifiers = notifiers

    def _wait_for_schedd(self, until: float) -> None:
        """Wait for the requests that precede the first node.

        A user's edits of throttles must be read before ours are written to the ad, and ours must
        be there before the first node starts: they would overwrite an edit made after that.  A
        signal ends the wait, and so does `until` (monotonic).
        """
        self._schedd.deliver()
        while self._schedd.busy and not self._early_signals:
            now, due = self._clock.monotonic(), self._schedd.next_deadline()
            wake = until if due is None else min(until, due)
            ready = self._sources.waiter.wait(max(0.0, wake - now))
            if self._signals.fileno() in ready:  # it may only be the end of a child
                self._early_signals += self._signals.read()
            if now >= until:
                return
            self._schedd.deliver()

    def _replay(self) -> None:
        """Replay the whole log; signals wait."""
        if self.run.config.debug_cache_enable:
            self.run.out.begin_cached()
        for events in self.run.log.to_end():
            now = self._now()
            for event in events:  # no client waits for a reply, so much of `_feed` is not needed
                if type(event) is inputs.LogEvent and event.kind == EventKind.GENERIC:
                    name = unknown_record(event)
                    if name:
                        self._hold_with_unknown(name)
                        return
                self._note(event)
                self._performer.perform(self.run.engine.handle(event, now))
            self.run.out.flush()  # or it keeps all lines of the replay in memory
            if self._performer.ending:
                return
        self.run.out.end_cached()
        self._feed(inputs.LogCaughtUp())
        self._performer.end_recovery()

    def _hold_with_unknown(self, record: str) -> None:
        """Leave all as it is, and put DAGMan's job on hold: the record may say that a node has run,
        or must not."""
        writer = f"the feature {ABSENT[record]}" if record in ABSENT else "another version"
        reason = (
            f"{self.run.log.path} has a record {record}, which {writer} of condor_pydagman has"
            " written, and which this installation can't read. Nothing has been changed. Install"
            " what has written it, then release the DAGMan job"
        )
        leave = do.Exit(EXIT_RESTART, keep_lock=True, concluded=False)
        self._performer.perform([do.Say(f"ERROR: {reason}", 0), do.HoldJobs(0, 0, reason), leave])

    def _feed(self, an_input: inputs.Input) -> None:
        self.fed_at = begun = self._clock.monotonic()
        shutdown = self._performer.shutdown
        if shutdown is not None:  # the engine has ended
            shutdown.handle_input(an_input)
        if type(an_input) is inputs.DagRemoved and not an_input.by:
            self._performer.removed = True
        self._note(an_input)
        self._performer.perform(self.run.engine.handle(an_input, self._epoch + begun))
        self._control.input_handled(an_input)
        now = self._clock.monotonic()
        self._publisher.statistics.add(run_statistics.EVENTS, now - begun)
        if now >= self._next_overdue_check_at:
            self._publish_overdue(now)

    def _note(self, an_input: inputs.Input) -> None:
        """Tell what is done for DATA nodes of what their jobs have noted."""
        if type(an_input) is not inputs.LogEvent or an_input.kind != EventKind.GENERIC:
            return
        if an_input.record is None and self.run.placements is not None:
            self.run.placements.note(an_input)

    def _publish_overdue(self, now: float) -> None:
        """Publish what is overdue: inputs may be pending for a quarter of an hour."""
        self._next_overdue_check_at = now + PUBLISH_OVERDUE_S
        due = self._publisher.next_deadline()
        if due is not None and due + PUBLISH_OVERDUE_S <= now:
            self._publisher.publish_due()
            self.run.out.flush()

    def _now(self) -> float:
        return self._epoch + self._clock.monotonic()

    def _between_inputs(self) -> None:
        """No input is pending: publish, then wait."""
        run = self.run
        if self._recovered_at is not None:
            self._end_recovery(self._recovered_at)
        due = self._publisher.next_deadline()
        if due is not None and due <= self._clock.monotonic():
            self._gather(0.0)  # inputs that came during a long submission go first
            if self._inputs:
                return
            self._publisher.publish_due()
        run.out.flush()
        self._gather(self._sleep_s())
        if self._inputs:
            return
        deadline = run.engine.next_deadline()
        if deadline is not None and deadline <= self._now():
            self._inputs.append(inputs.Wake())
        elif self._sources.sleeper is not None:
            self._sources.sleeper.consider(self)

    def _end_recovery(self, begun: float) -> None:
        """Let another DAGMan start if all questions have been answered, or that takes long.  If
        nothing has come of it, keep no process for the schedd, and sleep at once, however late:
        a schedd that answers late has many DAGMans, which need not be awake together."""
        quiet = self.run.log.position == self._replayed_to
        if quiet and self._is_answered:
            self._publisher.publish_due(ahead_s=RECOVERY_TIMEOUT_S)  # it would keep DAGMan awake
        if not self._is_answered:
            if self._clock.monotonic() >= begun + RECOVERY_TIMEOUT_S:
                self._recovered_at = float("inf") if quiet else None
                self._sources.end_turn()
            return
        self._recovered_at = None
        if quiet:
            self._schedd.rest()
            self.fed_at = 0.0
            if self._sources.sleeper is not None:  # the turn ends then, when this memory is free
                self._sources.sleeper.consider(self)
        if begun < float("inf"):
            self._sources.end_turn()

    @property
    def _is_answered(self) -> bool:
        return self.idle and not self._schedd.busy

    def _sleep_s(self) -> float:
        """Seconds until the next deadline, or the next look at files."""
        if self.run.log.more or self._schedd.ready:
            return 0.0
        until = min(self._log.next_check_at, self._next_parent_check_at, self.next_deadline())
        if self._sources.sleeper is not None:
            until = min(until, self._sources.sleeper.due_at(self))
        if self._recovered_at is not None:
            until = min(until, self._recovered_at + RECOVERY_TIMEOUT_S)
        return max(0.0, until - self._clock.monotonic())

    def next_deadline(self, *, looks: bool = True) -> float:
        """When something is due though nothing happens: monotonic seconds.  `looks`: also what is
        done every so often though nothing is the reason."""
        until = float("inf")
        for due in (
            self._publisher.next_deadline(looks=looks),
            self._control.next_deadline(),
            self._schedd.next_deadline(),
            self._performer.next_deadline(),
            self._next_script_start(),
        ):
            if due is not None and due < until:
                until = due
        deadline = self.run.engine.next_deadline(looks=looks)
        return until if deadline is None else min(until, deadline - self._epoch)

    @property
    def rests(self) -> bool:
        """Whether nothing is under way: whatever comes next comes from outside, or is a
        deadline."""
        run = self.run
        parts: list[Any] = [self._publisher, self._control, self._performer, run, run.engine]
        quiet = self._is_answered and self._notifiers is None
        return quiet and all(part.rests for part in parts)

    def looks_again(self) -> bool:
        """Whether something has happened; signals that are blocked do not count."""
        self._gather(0.0)
        return bool(self._inputs)

    def watches(self) -> tuple[int, int]:
        """The descriptors of the log's watch and the halt file's, -1 without inotify."""
        return self._sources.log_watch.fileno(), self._sources.halt_file.fileno()

    def memory(self) -> dict[str, Any]:
        """What `go_on` goes on with, of what is known here."""
        control: Any = self._control
        halt_file: Any = self._halt_file
        return {
            "epoch": self._epoch,
            "next_parent_check_at": self._next_parent_check_at,
            "next_log_check_at": self._log.next_check_at,
            "published": self._publisher.memory(),
            "ad_age_s": self._publisher.ad_age_s,
            "halted": halt_file.is_there,
            "sockets": control.descriptors(),
            "listening": control.listening,
        }

    def _gather(self, seconds: float) -> None:
        """Wait up to `seconds` for something to happen, and turn it into inputs."""
        begun = self._clock.monotonic()
        ready = self._sources.waiter.wait(seconds)
        now = self._clock.monotonic()
        if seconds:
            self._publisher.statistics.add(run_statistics.SLEEP, now - begun)
        self._gathered_at = now
        self._handle_replies(ready, now)
        if self._performer.exit is not None:
            return  # nothing may be asked of the schedd any more
        if self._signals.fileno() in ready:
            self._read_signals()
        due, scripts = self._next_script_start(), self.run.scripts
        if due is not None and due <= now and scripts is not None:
            self._inputs.extend(scripts.work())
        self._log.gather(self._sources.log_watch.fileno() in ready, now)
        self._check_halt_file()
        due = self._control.next_deadline()
        if self._control.fileno() in ready or (due is not None and due <= now):
            self._inputs.extend(self._control.read_requests())
        if now >= self._next_parent_check_at:
            self._check_parent(now)

    def _handle_replies(self, ready: Collection[int], now: float) -> None:
        """Deliver replies of the schedd, and do what is due."""
        due = self._schedd.next_deadline()
        if self._schedd.ready or self._schedd.fileno() in ready or (due is not None and due <= now):
            self._schedd.deliver()
        due = self._performer.next_deadline()
        if self._performer.shutdown is not None or (due is not None and due <= now):
            self._performer.work(now)

    def _next_script_start(self) -> float | None:
        """When to start pending scripts; None while DAGMan exits for a restart: after it they start
        anyway."""
        scripts = self.run.scripts
        if scripts is None or isinstance(self._performer.shutdown, Leaving):
            return None
        return scripts.next_deadline()

    def _read_signals(self) -> None:
        run = self.run
        signals = self._signals.read()
        if run.scripts is not None:  # before signals: one that has ended must not run again
            self._inputs.extend(run.scripts.ended())
            while run.scripts.problems:
                run.out.say(f"Warning: {run.scripts.problems.pop()}", 0)
        self._inputs.extend(signals)

    def _check_halt_file(self) -> None:
        """Check the halt file after reading the log, but put its input first: the end of a job must
        not end a DAG as halted if the DAG was resumed before."""
        there = self._halt_file.look()
        if there is not None:
            name = self._halt_file.path
            self._inputs.appendleft(
                inputs.Halt(f"{name} is there", file=True)
                if there
                else inputs.Resume(f"{name} is gone", file=True)
            )

    def _check_parent(self, now: float) -> None:
        """Leave if the schedd that started us is gone: its successor will start a new DAGMan.  Look
        at the lock file, the command socket and the processes of NOTIFY, too."""
        self._next_parent_check_at = now + PARENT_CHECK_S
        if self.run.lock.restore():
            self.run.out.say(f"Lock file {self.run.lock.path} was gone: made anew")
        self._control.retry_publishing()
        if self._notifiers is not None:
            self._notifiers.check()
        if self.run.is_orphaned():
            self._inputs.append(inputs.Shutdown(ORPHANED))

    def _limits_found(self, found: dict[str, object] | PoolError) -> None:
        if not isinstance(found, PoolError):
            wanted = self._publisher.edited_limits(found, 0)  # before the first edit of ours
            if wanted is not None:
                self._inputs.append(wanted)
