"""The engine: `handle(input, now)` takes one input and answers with the actions it leads to.

How it works: a handler moves nodes and queues wishes (ready queue, script queues, removals); then
`_work_off` turns wishes into actions, throttles asked last.  During recovery wishes pile up and
nothing is asked for; what the log goes on to tell strikes them out again.  So live running and
recovery are one code path.

Handlers live beside this file and share this object's attributes: the first and the last inputs of
a run in `beginning.py` and `endings.py`, log events in `events.py` and `notes.py`, submission in
`submission.py`, scripts in `scripts.py` and `hold_scripts.py`, queue listings in `reconcile.py`,
halts in `halting.py`.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import (
    beginning,
    endings,
    event_checks,
    events,
    final_node,
    halting,
    hold_scripts,
    inputs,
    outcome,
    provisioner,
    reconcile,
    retries,
    save_points,
    scripts,
    submission,
    throttles,
    timeouts,
    views,
)
from condor_pydagman.engine.dag_states import MOVES, Phase
from condor_pydagman.engine.hold_scripts import HoldScripts
from condor_pydagman.engine.jobs import JobBook
from condor_pydagman.engine.node_states import Cause, State
from condor_pydagman.engine.nodes import Nodes
from condor_pydagman.engine.provisioner import Provisioner
from condor_pydagman.engine.ready import ReadyQueue
from condor_pydagman.engine.removals import Removals
from condor_pydagman.engine.report import NodeReport, Report
from condor_pydagman.engine.retries import RetryQueue
from condor_pydagman.engine.script_queue import ScriptQueue
from condor_pydagman.engine.throttles import Categories, RestartPace, SubmitPace, Throttles
from condor_pydagman.engine.timeouts import Timeouts
from condor_pydagman.engine.validate import validate
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import DagStatus, ScriptKind

NOTE_AGAIN = 60.0  # seconds before an event of ours that was not read back is written once more


class Engine:
    """One run of one DAG.  Not thread-safe; deterministic.

    Args:
        dag: the DAG; it is read only.
        config: knobs in force.
        limits: throttles in force.
        admin: the administrator's knobs, whose throttles cap what is wished later; None: `config`.
        dag_id: cluster of the DAGMan job, for `$DAGID`; 0 if unknown.
        first_sequence: first number for jobstate.log, one above those already there.
        dry_run: a node is done instead of being submitted (-DryRun).
        check: recount and compare everything after each input (for tests and debugging).

    Attributes:
        now: time of the present input, seconds since the epoch.
    """

    def __init__(
        self,
        dag: Dag,
        config: Config,
        limits: Throttles,
        *,
        admin: Config | None = None,
        dag_id: int = 0,
        first_sequence: int = 1,
        dry_run: bool = False,
        check: bool = False,
    ) -> None:
        self.dag = dag
        self.config = config
        self.limits = limits
        self.limits_changed = False
        self.admin = admin or config
        self.dag_id = dag_id
        self.dry_run = dry_run
        self.check = check
        self._published = -1
        self._queues: tuple[tuple[ScriptKind, ScriptQueue], ...] = ()
        self.now = 0.0
        self._out: list[do.Action] = []
        self._forget_everything()
        self._wish_nothing()
        self.next_sequence = first_sequence

    def _forget_everything(self) -> None:
        """What is known of the run: nothing yet."""
        dag = self.dag
        self.phase = Phase.STARTING
        self.status = DagStatus.OK
        self.halted_by_file = False
        self.halted_by_command = False
        self.paused = False
        self.drained_at: float | None = None  # since when a halted DAG has nothing to wait for
        self.ending: endings.Ending | None = None  # how the run is to end
        self.ended_by: endings.Ending | None = None  # how it has ended but for the FINAL node
        self.rescue_asked = False
        self.nodes = Nodes(dag)
        self.book = JobBook(keep_ended=self.config.allow_events != event_checks.ALL)
        self.final = final_node.of(dag)
        self.final_ended_at: float | None = None
        self.provisioner = Provisioner(dag)
        self.attempts: dict[int, int] = {}  # failed submits by node, never reset (stock rule)
        self.granted: dict[int, int] = {}  # retries that a node got beyond its RETRY
        self.former: dict[int, set[int]] = {}  # clusters of earlier runs of a retried node
        self.pre_values: dict[int, int] = {}  # exit values of PRE scripts, for POST scripts
        self.missing: dict[tuple[int, int], float] = {}  # procs not in the queue, and since when
        self.found: dict[int, list[inputs.QueuedJob]] = {}  # jobs found for runs to come
        self.ended: dict[int, list[inputs.EndedJob]] = {}  # of the history, for nodes not yet done
        self.strangers: deque[inputs.LogEvent] = deque(maxlen=1000)  # of clusters not known (yet)
        self.noops: dict[int, int] = {}  # node by the third number of its NOOP events
        self.last_noop = 0
        self.sequences: dict[int, int] = {}
        self.common_input = ""  # the DAG's list of common input files, see `inputs.CommonInput`
        self.keeps_times = bool(dag.jobstate_log)
        self.event_times: dict[int, float] = {}  # of a node's last event; if wanted, or for RETRY
        self.deferred = dict.fromkeys(("jobs", "idle", "category", "pre", "post", "hold"), 0)
        self.last_event = 0.0
        self.last_report = 0.0  # of what is awaited

    def _wish_nothing(self) -> None:
        """What is to be done: nothing yet."""
        self.ready = ReadyQueue()
        self.categories = Categories(self.dag.categories, self.dag.category_limits)
        self.pace = SubmitPace(self.limits, self.config.submit_delay)
        self.script_queues = {kind: ScriptQueue() for kind in (ScriptKind.PRE, ScriptKind.POST)}
        self._queues = tuple(self.script_queues.items())
        self.hold_scripts = HoldScripts()
        self.restart_pace = RestartPace(self.config.restart_pre_rate)
        self.retry_queue = RetryQueue()
        self.timeouts = Timeouts()
        self.removals = Removals()
        self.save_points: dict[int, None] = {}  # nodes whose save file is due
        self.on_hold: set[int] = set()  # nodes whose next run is submitted on hold
        self.noted_posts: set[int] = set()  # nodes with a POST script that ran without a job
        self.noted: dict[int, tuple[float, do.Action]] = {}  # our events not read back yet
        self.query_at: float | None = None  # when the schedd is to be asked
        self.query_running = False
        self.query_delay = 1.0
        self.submitting: int | None = None
        self.submitted_in_a_row = 0
        self.blocked_by = ""

    # What the daemon calls.

    def handle(self, an_input: inputs.Input, now: float) -> list[do.Action]:
        """Take one input at time `now` (seconds since the epoch); returns actions, in order.

        Raises:
            IllegalMove: a bug of ours, with the node's story.
        """
        if self.phase is Phase.ENDED:
            return []
        self.now = now
        _HANDLERS[type(an_input)](self, an_input)
        self._work_off()
        changes = self.nodes.changes + self.book.changes
        if changes != self._published and not (self.phase in _QUIET or self.rescue_asked):
            self._published = changes
            self._out.append(_PUBLISH)
        if self.check:
            validate(self)
        out, self._out = self._out, []
        return out

    def next_deadline(self) -> float | None:
        """When the engine wants a Wake if nothing else comes; None: never."""
        if self.phase in (Phase.STARTING, Phase.RECOVERING, Phase.ENDED):
            return None
        times = [None if self.query_running else self.query_at]
        if self.phase is not Phase.RECONCILING:
            times += self._deadlines()
        return min((time for time in times if time is not None), default=None)

    def _deadlines(self) -> Iterator[float | None]:
        yield self.removals.next_time()
        yield final_node.next_time(self)
        yield halting.next_time(self)
        for when, _ in itertools.islice(self.noted.values(), 1):
            yield when
        if self.phase is Phase.RUNNING and self.nodes.counts[State.SUBMITTED]:
            yield views.next_pending_report(self)
        if not halting.frozen(self):
            yield from self._deadlines_of_starts()

    def _deadlines_of_starts(self) -> Iterator[float | None]:
        for kind in self.script_queues:
            yield scripts.next_time(self, kind)
        yield hold_scripts.next_time(self)
        yield self.provisioner.ask_at
        yield self.timeouts.next_time()
        if not halting.holds_back(self):
            yield self.retry_queue.next_time()
        if len(self.ready) and self.submitting is None:
            yield self.pace.blocked_until(self.now) or None

    def report(self) -> Report:
        """All counts, from the states as they are now."""
        return views.report(self)

    def node_reports(self) -> Iterator[NodeReport]:
        """All nodes in DAG order, one at a time."""
        return views.node_reports(self)

    # What handlers use.

    def happened(self, time: float) -> float:
        """When an event happened that is stamped with `time`.

        An old log is believed.  What is read live has just happened: its stamp may be of a clock
        that was set since we started, or is another machine's.
        """
        return min(time, self.now) if self.recovering else self.now

    @property
    def recovering(self) -> bool:
        """Whether an old log is being replayed."""
        return self.phase is Phase.RECOVERING

    @property
    def halted(self) -> bool:
        """Whether anything or anybody keeps the DAG halted."""
        return self.halted_by_command or self.halted_by_file or self.paused

    @property
    def shown_status(self) -> DagStatus:
        """The DAG's status as the outside sees it: a halt hides what it was before."""
        return DagStatus.HALTED if self.halted and self.ended_by is None else self.status

    def emit(self, action: do.Action) -> None:
        """Ask for something."""
        self._out.append(action)

    def note(self, node: int, action: do.Action) -> None:
        """Write an event of our own about a node, and see to it that it is read back."""
        self.noted.pop(node, None)
        self.noted[node] = (self.now + NOTE_AGAIN, action)
        self.emit(action)

    def say(self, text: str, level: int = 3) -> None:
        """A line for `.dagman.out`."""
        self._out.append(_new_tuple(do.Say, (text, level, False)))  # half the time of do.Say(...)

    def enter(self, phase: Phase) -> None:
        """The only writer of the DAG's state."""
        assert phase in MOVES[self.phase], (self.phase, phase)
        self.phase = phase

    def priority(self, node: int) -> int:
        """Effective priority of a node."""
        return self.dag.priorities.get(node, 0)

    def record(self, node: int, event: str, job: str = "-") -> None:
        """A line for jobstate.log.  It carries the time of the node's last event, so that a replay
        gives the same line."""
        if self.dag.jobstate_log:
            if node not in self.sequences:
                self.sequences[node] = self.next_sequence
                self.next_sequence += 1
            time = self.event_times.get(node, self.now)
            self._out.append(do.JobState(time, node, event, job, self.sequences[node]))

    def start(self, node: int, *, first: bool = False) -> None:
        """A node's turn has come: all parents ended, or it is retried."""
        save_points.want(self, node)
        if self.dag.script(node, ScriptKind.PRE) is not None:
            self.nodes.move(node, Cause.NEEDS_PRE, self.now)
            scripts.want_script(self, node, ScriptKind.PRE)
        else:
            self.want_submit(node, first=first or self.config.submit_depth_first)
        if node in self.found or node in self.ended:
            reconcile.adopt(self, node, self.found.get(node, ()))

    def start_roots(self) -> None:
        """Start all nodes that wait for nobody (any more), but for the FINAL node."""
        for node in self.nodes.roots():
            if node != self.final:
                self._start_if_allowed(node)

    def _start_if_allowed(self, node: int) -> None:
        held = final_node.closes_to(self, node) or self.provisioner.holds_back(node)
        if self.nodes.states[node] == State.WAITING and not held:
            self.start(node)

    def want_submit(self, node: int, *, first: bool = False) -> None:
        """Put a node into the ready queue."""
        self.nodes.move(node, Cause.NEEDS_SUBMIT, self.now)
        if final_node.closes_to(self, node):
            self.nodes.move(node, Cause.DROPPED, self.now)
        else:
            self.ready.add(node, self.priority(node), first=first)

    def jobs_seen(self, node: int) -> None:
        """The node's jobs are in the queue, whoever said so."""
        self.ready.discard(node)
        self.script_queues[ScriptKind.PRE].discard(node)
        self.save_points.pop(node, None)
        self.nodes.move(node, Cause.JOBS_SEEN, self.now)
        self.categories.enter(node)
        if self.query_at is None and self.config.check_queue_interval > 0:
            self.query_at = self.now + self.config.check_queue_interval

    def left_queue(self, node: int) -> None:
        """The node's jobs ended (or never came): its category has room again."""
        for waiting in reversed(self.categories.leave(node)):
            if self.nodes.states[waiting] == State.READY and waiting not in self.ready:
                self.ready.add(waiting, self.priority(waiting), first=True)

    def succeed(self, node: int) -> None:
        """The node is done: its children may start."""
        if self.provisioner.gave_up(node):
            provisioner.fail(self, node)
            return
        self.nodes.move(node, Cause.SUCCEEDED, self.now)
        self.forget_run(node)
        self._start_released(self.nodes.release_children(node))

    def _start_released(self, nodes: list[int]) -> None:
        for node in nodes:
            self._start_if_allowed(node)

    def fail(self, node: int, error: str, *, doom: bool = True) -> None:
        """The node failed for good; what depends on it can't run."""
        self.nodes.move(node, Cause.FAILED, self.now)
        self.nodes.errors[node] = error
        self.book.close(node)
        provisioner.on_failed(self, node)
        if self.status is DagStatus.OK:
            self.status = DagStatus.NODE_FAILED
        if doom:
            self.nodes.doom_descendants(node, self.now)
            self._start_released(self.nodes.release_children(node, weak_only=True))

    def forget_run(self, node: int) -> None:
        """Drop what the last run of the node has left behind."""
        jobs = self.book.by_node.get(node)
        if jobs is not None and jobs.subproc:
            self.noops.pop(jobs.subproc, None)
        self.book.forget(node)
        self.sequences.pop(node, None)
        self.event_times.pop(node, None)

    def check_abort(self, node: int, value: int, source: str) -> bool:
        """ABORT-DAG-ON: whether `value` ends the whole DAG; `source` is where it came from."""
        abort = self.dag.aborts.get(node)
        if abort is None or not outcome.aborts(abort, value):
            return False
        if endings.is_over(self):
            return False
        name = self.dag.names[node]
        self.say(
            f"Aborting DAG because we got the ABORT exit value from a {source}"
            f" (node {name}, value {value})"
        )
        endings.want(self, endings.aborted(abort, value))
        return True

    # Wishes to actions.

    def _work_off(self) -> None:
        if self.phase in _PASSIVE or self.rescue_asked:
            return
        if self._ends_now():
            return
        if self.query_at is not None:
            reconcile.ask_if_due(self)
        if self.phase is Phase.RECONCILING:
            return
        if self.save_points:
            save_points.work_off(self)
        if self.noted:
            self._note_again()
        if self.removals:
            self.removals.work_off(self)
        if not halting.frozen(self):
            self._start_what_may()
        if not self._ends_now():
            endings.end_if_finished(self)

    def _ends_now(self) -> bool:
        """End the run if it is to end; a FINAL node needs to know first what is in the queue."""
        ending = self.ending
        if ending is None:
            return False
        if self.phase is Phase.RECONCILING and ending.final and final_node.waits(self):
            return False
        endings.end(self, ending)
        return True

    def _start_what_may(self) -> None:
        """Most inputs wish for nothing: what is empty is passed over at once."""
        if not self.provisioner.ready:
            provisioner.ask_if_due(self)
        if self.retry_queue and not halting.holds_back(self):
            retries.start_due(self)
        if self.timeouts:
            timeouts.work_off(self)
        for kind, queue in self._queues:
            if queue:
                scripts.start_scripts(self, kind)
        if self.hold_scripts:
            hold_scripts.start(self)
        if self.ending is None and (self.ready or self.submitted_in_a_row):
            submission.submit_ready(self)
        if self.halted and self.ending is None:
            halting.end_if_drained(self)

    def _note_again(self) -> None:
        """An event of ours that is not read back has been lost in the log (next to a piece of
        another, say): the node would wait for it for ever."""
        while self.noted:
            node, (when, action) = next(iter(self.noted.items()))  # the oldest
            if when > self.now:
                return
            self.say(f"Writing what DAGMan decided about node {self.dag.names[node]} once more")
            self.note(node, action)

    # Handlers of inputs that are nobody else's.

    def _append_failed(self, failed: inputs.AppendFailed) -> None:
        self.say(f"ERROR: can't write to the nodes log: {failed.reason}", 0)
        endings.want(self, endings.append_failed())

    def _remove_failed(self, failed: inputs.RemoveFailed) -> None:
        self.removals.on_failed(self, failed)

    def _wake(self, _: inputs.Wake) -> None:
        due = views.next_pending_report(self)
        if due is not None and self.now >= due:
            self.last_report = self.now
            views.say_pending(self)


_PUBLISH = do.Publish()
_new_tuple = tuple.__new__
_QUIET = (Phase.RECOVERING, Phase.ENDED)  # nothing is published
_PASSIVE = (Phase.STARTING, Phase.RECOVERING, Phase.ENDED)  # nothing is asked for

_HANDLERS: dict[type, Callable[[Engine, Any], None]] = {
    inputs.Begin: beginning.on_begin,
    inputs.LogEvent: events.on_event,
    inputs.LogCaughtUp: beginning.on_caught_up,
    inputs.LogBroken: endings.on_log_broken,
    inputs.Submitted: submission.on_submitted,
    inputs.SubmitFailed: submission.on_submit_failed,
    inputs.CommonInput: submission.on_common_input,
    inputs.ScriptEnded: scripts.on_script_ended,
    inputs.QueueListed: reconcile.on_listed,
    inputs.QueueUnknown: reconcile.on_unknown,
    inputs.ProvisionerSays: provisioner.on_says,
    inputs.RescueWritten: endings.on_rescue_written,
    inputs.AppendFailed: Engine._append_failed,
    inputs.RemoveFailed: Engine._remove_failed,
    inputs.Halt: halting.on_halt,
    inputs.Resume: halting.on_resume,
    inputs.LimitsWanted: throttles.on_wanted,
    inputs.Stop: endings.on_stop,
    inputs.Leave: endings.on_leave,
    inputs.Wake: Engine._wake,
}
