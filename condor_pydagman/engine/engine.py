"""The engine: `handle(input, now)` takes one input and answers with the actions it leads to.

How it works: a handler moves nodes and queues wishes (ready queue, script queues, removals); then
`_work_off` turns wishes into actions, throttles asked last.  During recovery wishes pile up and
nothing is asked for; what the log goes on to tell strikes them out again.  So live running and
recovery are one code path.

Handlers live beside this file and share this object's attributes: log events in `events.py`,
submission in `submission.py`, scripts in `scripts.py`, queue listings in `reconcile.py`, the ways
to end in `endings.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import (
    endings,
    events,
    inputs,
    outcome,
    reconcile,
    scripts,
    submission,
    views,
)
from condor_pydagman.engine.dag_states import MOVES, Phase
from condor_pydagman.engine.jobs import JobBook
from condor_pydagman.engine.node_states import Cause, State
from condor_pydagman.engine.nodes import Nodes
from condor_pydagman.engine.ready import ReadyQueue
from condor_pydagman.engine.report import NodeReport, Report
from condor_pydagman.engine.script_queue import ScriptQueue
from condor_pydagman.engine.throttles import Categories, SubmitPace, Throttles
from condor_pydagman.engine.validate import validate
from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.vocabulary import DagStatus, ScriptKind

NOTE_AGAIN = 60.0  # seconds before an event of ours that was not read back is written once more
REMOVE_AGAIN = 10.0  # seconds before a removal is asked for once more


class Engine:
    """One run of one DAG.  Not thread-safe; deterministic.

    Args:
        dag: the DAG; it is read only.
        config: knobs in force.
        limits: throttles in force.
        dag_id: cluster of the DAGMan job, for `$DAGID`; 0 if unknown.
        first_sequence: first number for jobstate.log, one above those already there.
        check: recount and compare everything after each input (for tests and debugging).
    """

    def __init__(
        self,
        dag: Dag,
        config: Config,
        limits: Throttles,
        *,
        dag_id: int = 0,
        first_sequence: int = 1,
        check: bool = False,
    ) -> None:
        self.dag = dag
        self.config = config
        self.limits = limits
        self.dag_id = dag_id
        self.check = check
        self.phase = Phase.STARTING
        self.status = DagStatus.OK
        self.nodes = Nodes(dag)
        self.book = JobBook()
        self.ready = ReadyQueue()
        self.script_queues = {kind: ScriptQueue() for kind in (ScriptKind.PRE, ScriptKind.POST)}
        self.categories = Categories(dag.categories, dag.category_limits)
        self.pace = SubmitPace(limits)
        self.attempts: dict[int, int] = {}  # failed submits by node, never reset (stock rule)
        self.noops: dict[int, int] = {}  # node by the third number of its NOOP events
        self.last_noop = 0
        self.former: dict[int, set[int]] = {}  # clusters of earlier runs of a retried node
        self.found: dict[int, list[inputs.QueuedJob]] = {}  # jobs found for nodes not yet ready
        self.noted: dict[int, tuple[float, do.Action]] = {}  # our events not read back yet
        self.removals: list[int] = []  # nodes whose remaining procs are to be removed
        self.unremoved: list[int] = []  # nodes of which the schedd could not be told
        self.remove_again_at = 0.0
        self.deferred = dict.fromkeys(("jobs", "idle", "category", "pre", "post", "hold"), 0)
        self.ending: endings.Ending | None = None
        self.query_at: float | None = None  # when the schedd is to be asked
        self.query_running = False
        self.query_delay = 1.0
        self.last_event = 0.0
        self.next_pending_report = 0.0
        self.sequences: dict[int, int] = {}
        self.next_sequence = first_sequence
        self.event_times: dict[int, float] = {}
        self.pre_values: dict[int, int] = {}  # exit values of PRE scripts, for POST scripts
        self.submitting: int | None = None
        self.submitted_in_a_row = 0
        self.blocked_by = ""
        self._published = -1
        self._now = 0.0
        self._out: list[do.Action] = []

    # What the daemon calls.

    def handle(self, an_input: inputs.Input, now: float) -> list[do.Action]:
        """Take one input at time `now` (seconds since the epoch); returns actions, in order.

        Raises:
            IllegalMove: a bug of ours, with the node's story.
        """
        if self.phase is Phase.ENDED:
            return []
        self._now = now
        _HANDLERS[type(an_input)](self, an_input)
        self._work_off()
        quiet = self.phase in (Phase.RECOVERING, Phase.ENDED)
        changes = self.nodes.changes + self.book.changes
        if changes != self._published and not quiet:
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
        times = [] if self.query_at is None else [self.query_at]
        if self.phase is Phase.RUNNING:
            deferred = (scripts.next_time(self, kind) for kind in self.script_queues)
            times += [time for time in deferred if time is not None]
            if len(self.ready) and self.submitting is None:
                blocked = self.pace.blocked_until(self._now)
                times += [blocked] if blocked else []
            times += [when for when, _ in itertools.islice(self.noted.values(), 1)]
            if self.unremoved:
                times.append(self.remove_again_at)
            if self.next_pending_report and self.nodes.counts[State.SUBMITTED]:
                times.append(self.next_pending_report)
        return min(times) if times else None

    def report(self) -> Report:
        """All counts, from the states as they are now."""
        return views.report(self)

    def node_reports(self) -> Iterator[NodeReport]:
        """All nodes in DAG order, one at a time."""
        return views.node_reports(self)

    # What handlers use.

    @property
    def now(self) -> float:
        """Time of the present input, seconds since the epoch."""
        return self._now

    @property
    def recovering(self) -> bool:
        """Whether an old log is being replayed."""
        return self.phase is Phase.RECOVERING

    def emit(self, action: do.Action) -> None:
        """Ask for something."""
        self._out.append(action)

    def note(self, node: int, action: do.Action) -> None:
        """Write an event of our own about a node, and see to it that it is read back."""
        self.noted.pop(node, None)
        self.noted[node] = (self._now + NOTE_AGAIN, action)
        self.emit(action)

    def say(self, text: str, level: int = 3) -> None:
        """A line for `.dagman.out`."""
        self._out.append(do.Say(text, level))

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
            time = self.event_times.get(node, self._now)
            self._out.append(do.JobState(time, node, event, job, self.sequences[node]))

    def start(self, node: int, *, first: bool = False) -> None:
        """A node's turn has come: all parents ended, or it is retried."""
        if self.dag.script(node, ScriptKind.PRE) is not None:
            self.nodes.move(node, Cause.NEEDS_PRE, self._now)
            scripts.want_script(self, node, ScriptKind.PRE)
        else:
            self.want_submit(node, first=first or self.config.submit_depth_first)
        if node in self.found:
            reconcile.adopt(self, node, self.found.pop(node))

    def want_submit(self, node: int, *, first: bool = False) -> None:
        """Put a node into the ready queue."""
        self.nodes.move(node, Cause.NEEDS_SUBMIT, self._now)
        self.ready.add(node, self.priority(node), first=first)

    def jobs_seen(self, node: int) -> None:
        """The node's jobs are in the queue, whoever said so."""
        self.ready.discard(node)
        self.script_queues[ScriptKind.PRE].discard(node)
        self.nodes.move(node, Cause.JOBS_SEEN, self._now)
        self.categories.enter(node)
        if self.query_at is None and self.config.check_queue_interval > 0:
            self.query_at = self._now + self.config.check_queue_interval

    def left_queue(self, node: int) -> None:
        """The node's jobs ended (or never came): its category has room again."""
        for waiting in reversed(self.categories.leave(node)):
            if self.nodes.states[waiting] == State.READY and waiting not in self.ready:
                self.ready.add(waiting, self.priority(waiting), first=True)

    def succeed(self, node: int) -> None:
        """The node is done: its children may start."""
        self.nodes.move(node, Cause.SUCCEEDED, self._now)
        self._drop(node)
        self._start_released(self.nodes.release_children(node))

    def _start_released(self, nodes: list[int]) -> None:
        for node in nodes:
            if self.nodes.states[node] == State.WAITING:
                self.start(node)

    def fail_run(self, node: int, value: int, error: str) -> None:
        """This run of the node failed: retry it, or let it fail."""
        self.nodes.values[node] = value
        name = self.dag.names[node]
        retry = self.dag.retries.get(node)
        taken = self.nodes.retries.get(node, 0)
        verdict = outcome.again(retry, taken, value)
        if self.ending is not None:
            verdict = outcome.Again.NO_RETRIES_LEFT  # ABORT-DAG-ON beats retries
        if verdict is outcome.Again.RETRY:
            assert retry is not None
            self.nodes.retries[node] = taken + 1
            self.former.setdefault(node, set()).add(self.nodes.clusters[node])
            self.say(f"Retrying node {name} (retry #{taken + 1} of {retry.limit})...")
            self._drop(node)
            self.start(node, first=self.config.retry_node_first)
            return
        if verdict is outcome.Again.UNLESS_EXIT:
            self.say(f"Aborting further retries of node {name} (last attempt returned {value})")
        elif retry is not None:
            error += f" (after {taken} node retries)"
        self.fail(node, error, doom=verdict is not outcome.Again.UNLESS_EXIT)

    def fail(self, node: int, error: str, *, doom: bool = True) -> None:
        """The node failed for good; what depends on it can't run."""
        self.nodes.move(node, Cause.FAILED, self._now)
        self.nodes.errors[node] = error
        self.book.close(node)
        if self.status is DagStatus.OK:
            self.status = DagStatus.NODE_FAILED
        if doom:
            self.nodes.doom_descendants(node, self._now)
            self._start_released(self.nodes.release_children(node, weak_only=True))

    def check_abort(self, node: int, value: int, source: str) -> bool:
        """ABORT-DAG-ON: whether `value` ends the whole DAG; `source` is where it came from."""
        abort = self.dag.aborts.get(node)
        if abort is None or not outcome.aborts(abort, value) or self.ending is not None:
            return False
        name = self.dag.names[node]
        self.say(
            f"Aborting DAG because we got the ABORT exit value from a {source}"
            f" (node {name}, value {value})"
        )
        self.ending = endings.aborted(outcome.abort_exit_code(abort, value))
        return True

    # Handlers of inputs other than log events and queue listings.

    def _begin(self, begin: inputs.Begin) -> None:
        self.enter(Phase.RECOVERING if begin.recovering else Phase.RUNNING)
        self.last_event = self._now
        self.plan_pending_report()
        done = [node for node, flags in enumerate(self.dag.flags) if flags & DONE]
        self.say("Bootstrapping...")
        self.say(f"Number of pre-completed nodes: {len(done)}")
        for node in done:
            self.nodes.move(node, Cause.MARKED_DONE, self._now)
        for node in done:
            if self.nodes.waiting[node]:
                self._warn_done_early(node)
        for node in done:
            self.nodes.release_children(node)
        if begin.recovering:
            self.say("Running in RECOVERY mode... " + ">" * 30)
        for node in self.nodes.roots():
            if self.nodes.states[node] == State.WAITING:
                self.start(node)

    def _warn_done_early(self, node: int) -> None:
        if any(self.nodes.states[parent] != State.DONE for parent in self.dag.parents(node)):
            self.say(
                f"Warning: Node {self.dag.names[node]} was marked as done even though parent nodes"
                " aren't complete. Child nodes may run out of order."
            )

    def _caught_up(self, _: inputs.LogCaughtUp) -> None:
        if self.recovering:
            self.say("...done with RECOVERY mode " + "<" * 30)
            self.enter(Phase.RECONCILING)
            self.query_at = self._now

    def _log_broken(self, broken: inputs.LogBroken) -> None:
        self.say(f"ERROR: DAGMan exiting due to error in log file: {broken.reason}", 0)
        self.ending = endings.log_broken()
        if self.recovering:
            self.enter(Phase.RECONCILING)

    def _append_failed(self, failed: inputs.AppendFailed) -> None:
        self.say(f"ERROR: can't write to the nodes log: {failed.reason}", 0)
        self.ending = endings.append_failed()

    def _remove_failed(self, failed: inputs.RemoveFailed) -> None:
        self.say(f"Warning: could not remove cluster {failed.cluster}: {failed.reason}")
        node = self.book.by_cluster.get(failed.cluster)
        if node is not None:
            self.unremoved.append(node)
            self.remove_again_at = self._now + REMOVE_AGAIN

    def _stop(self, _: inputs.Stop) -> None:
        self.say("Received SIGUSR1", 0)
        self.ending = endings.removed()

    def _leave(self, leave: inputs.Leave) -> None:
        self.say(leave.reason, 0)
        endings.leave(self)

    def _wake(self, _: inputs.Wake) -> None:
        if self.next_pending_report and self._now >= self.next_pending_report:
            views.say_pending(self)
            self.plan_pending_report()

    def plan_pending_report(self) -> None:
        """The next report of what is awaited is due a full interval from now."""
        every = self.config.pending_report_interval
        self.next_pending_report = self._now + every if every > 0 else 0.0

    def _drop(self, node: int) -> None:
        self.book.forget(node)
        self.sequences.pop(node, None)
        self.event_times.pop(node, None)

    # Wishes to actions.

    def _work_off(self) -> None:
        if self.phase in (Phase.RECOVERING, Phase.ENDED):
            return
        if self.ending is not None:
            endings.end(self, self.ending)
            return
        reconcile.ask_if_due(self)
        if self.phase is not Phase.RUNNING:
            return
        self._note_again()
        self._remove_rests()
        for kind in self.script_queues:
            scripts.start_scripts(self, kind)
        if self.ending is None:
            submission.submit_ready(self)
            endings.end_if_finished(self)
        else:
            endings.end(self, self.ending)

    def _note_again(self) -> None:
        """An event of ours that is not read back has been lost in the log (next to a piece of
        another, say): the node would wait for it for ever."""
        while self.noted:
            node, (when, action) = next(iter(self.noted.items()))  # the oldest
            if when > self._now:
                return
            self.say(f"Writing what DAGMan decided about node {self.dag.names[node]} once more")
            self.note(node, action)

    def _remove_rests(self) -> None:
        if self.unremoved and self.remove_again_at <= self._now:
            self.removals += self.unremoved
            self.unremoved.clear()
        for node in self.removals:
            jobs = self.book.by_node.get(node)
            if jobs is not None and jobs.live():
                why = f"reached failure tolerance after {jobs.failed} failures."
                if jobs.codes.get(jobs.culprit, 0) is None:
                    why = "got ULOG_JOB_ABORTED event."
                job = jobs.job(jobs.culprit)
                reason = f"Node Error: DAG node {self.dag.names[node]} ({job}) {why}"
                self.emit(do.RemoveJobs(reason, jobs.cluster))
        self.removals.clear()


_PUBLISH = do.Publish()

_HANDLERS: dict[type, Callable[[Engine, Any], None]] = {
    inputs.Begin: Engine._begin,
    inputs.LogEvent: events.on_event,
    inputs.LogCaughtUp: Engine._caught_up,
    inputs.LogBroken: Engine._log_broken,
    inputs.Submitted: submission.on_submitted,
    inputs.SubmitFailed: submission.on_submit_failed,
    inputs.ScriptEnded: scripts.on_script_ended,
    inputs.QueueListed: reconcile.on_listed,
    inputs.QueueUnknown: reconcile.on_unknown,
    inputs.AppendFailed: Engine._append_failed,
    inputs.RemoveFailed: Engine._remove_failed,
    inputs.Stop: Engine._stop,
    inputs.Leave: Engine._leave,
    inputs.Wake: Engine._wake,
}
