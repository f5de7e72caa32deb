"""The clocks of a run's jobs: which wait, run or live longer than their node allows.

The clocks are those of the events in the nodes log, so a restart does not set them back.  A clock
that expires leads to a record in the log; when that is read the node has failed and its jobs are
removed, or with WARN, a job is late, which is told, and goes on.  A clock that expires for jobs
that have ended, or that run again, is ignored.
"""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.feature import Feature
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import ENDED, Change, Jobs
from condor_pydagman.engine.node_settings import NodeSettings
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.queues import QUEUED, RUNNING, TOTAL, Clock, Clocks
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.engine.state import OF_NODE, RunState
from condor_pydagman.features.timeout.commands import NO_TIMEOUT, Timeout, timeouts_of, with_said
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED

_WORDS = {QUEUED: "waited", RUNNING: "ran", TOTAL: "has been in the queue"}
_LATE_WORDS = {**_WORDS, QUEUED: "has waited", RUNNING: "has run"}
_KINDS = (QUEUED, RUNNING, TOTAL)  # in the order of the fields of a Timeout
Late = tuple[int, int, str]  # a job that is late: cluster, proc, and what with
LATE = Kind("late")  # by that


def timeout_in_force(limits: Timeout | None, settings: NodeSettings | None) -> Timeout | None:
    """A node's TIMEOUT command with what a person has set."""
    if settings is None or settings.timeout is None:
        return limits
    return with_said(limits, settings.timeout)


class Timeouts(Feature):
    """Clocks of procs whose node has a TIMEOUT, from its line or set by a person."""

    name = "timeout"
    # a TIMEOUT of the node passed: its jobs are removed
    attempt_records = (("TIMED_OUT", "on_timed_out"),)
    # one with WARN passed; value: the limit, text: what the job has done, and the limit
    records = (("LATE", "on_late"),)

    def __init__(self, run: RunState) -> None:
        super().__init__(run)
        self.clocks = Clocks()  # those that run, and what each of these procs does
        self.late: set[Late] = set()  # of what has been told, what is so still

    def of_node(self, node: int) -> Timeout | None:
        """The limits of a node that are in force."""
        settings = self.run.settings.get(node)
        return timeout_in_force(timeouts_of(self.run.dag).get(node), settings)

    # What procs do.

    def job_event(self, node: int, event: LogEvent, change: Change) -> None:
        """A proc has come, has begun to wait or to run, or has ended.

        A part of a feature's job has ended when the log shows that it has begun.
        """
        if event.subproc > 0:
            return
        if change in (Change.SUBMITTED, Change.ADOPTED):
            self._submitted(node, event)
        elif change in (Change.IDLE, Change.HELD):
            self._enter(node, event, QUEUED)
        elif change is Change.RUNS:
            self._enter(node, event, RUNNING)
        elif change is Change.ENDED:
            self.clocks.forget(event.cluster, event.proc)
            for kind in _KINDS if self.late else ():
                self.late.discard((event.cluster, event.proc, kind))

    def _submitted(self, node: int, event: LogEvent) -> None:
        """One that was submitted on hold waits for a person, who may take any time."""
        run = self.run
        limits = self.of_node(node) if node not in run.retrying.on_hold else None
        if limits is None or event.cluster <= 0:
            return
        if run.job_table.by_node[node].procs.get(event.proc, 0) & ENDED:
            return  # its submit event, or our record of it, comes late
        if self.clocks.begin(event.cluster, event.proc):
            self._set(node, event, TOTAL, limits)
        if not self.clocks.knows(event.cluster, event.proc):  # else it runs already
            self._enter(node, event, QUEUED)

    def _enter(self, node: int, event: LogEvent, kind: str) -> None:
        limits = self.of_node(node)
        if limits is None or event.cluster <= 0:
            return
        since = self.run.happened(event.time)
        if self.clocks.enter(event.cluster, event.proc, kind, since):
            self.late -= {(event.cluster, event.proc, QUEUED), (event.cluster, event.proc, RUNNING)}
            self._set(node, event, kind, limits)

    def _set(self, node: int, event: LogEvent, kind: str, limits: Timeout) -> None:
        since, job = self.run.happened(event.time), (node, event.cluster, event.proc)
        for warns in (False, True):
            seconds = _limit(limits, kind, warns=warns)
            if seconds:
                self.clocks.set(Clock(since + seconds, *job, kind, since, warns))

    # Clocks that expire.

    def work(self) -> None:
        """Write into the log which limits have been reached."""
        while self.clocks and not self.run.frozen:
            clock = self.clocks.pop(self.run.now)
            if clock is None:
                return
            jobs = self.run.job_table.by_node.get(clock.node)
            if jobs is None or not self._is_relevant(jobs, clock):
                continue
            if clock.warns:
                self._warn(clock)
            else:
                self._journal(jobs, clock)

    def deadline(self) -> float | None:
        """When the next clock expires."""
        return None if self.run.frozen else self.clocks.next_time()

    def _is_relevant(self, jobs: Jobs, clock: Clock) -> bool:
        """Whether the clock is of jobs that are in the queue and not being removed."""
        if self.run.nodes.states[clock.node] != State.SUBMITTED or jobs.cluster != clock.cluster:
            return False
        record = self.run.written.record(OF_NODE, clock.node)  # on its way to the log and back
        is_told = isinstance(record, do.AppendJournalRecord) and record.record == "TIMED_OUT"
        return not (jobs.removing or is_told)

    def _journal(self, jobs: Jobs, clock: Clock) -> None:
        node, limits = clock.node, self.of_node(clock.node) or NO_TIMEOUT
        limit = _limit(limits, clock.kind, warns=False)
        text = f"{_WORDS[clock.kind]} for {limit} s (TIMEOUT {clock.kind} {limit})"
        job = RETURN_JOB_ABORTED, jobs.cluster, clock.proc, text
        retry = self.run.nodes.retries.get(node, 0)
        record = do.AppendJournalRecord("TIMED_OUT", node, retry, *job)
        self.run.journal(node, record)

    def _warn(self, clock: Clock) -> None:
        key, limits = (clock.cluster, clock.proc, clock.kind), self.of_node(clock.node)
        if limits is None or key in self.late:
            return
        limit, retry = _limit(limits, clock.kind, warns=True), self.run.nodes.retries
        text = f"{_LATE_WORDS[clock.kind]} for {limit} s (TIMEOUT {clock.kind} {limit} WARN)"
        job = limit, clock.cluster, clock.proc, text
        record = do.AppendJournalRecord("LATE", clock.node, retry.get(clock.node, 0), *job)
        self.run.write(LATE, key, record)

    def on_late(self, node: int, event: LogEvent) -> None:
        """The record has been read: the job is late, if it does still what it is late with."""
        key = event.cluster, event.proc, kind_of(event.text)
        self.run.written.drop(LATE, key)
        if not self.is_news(key):
            return
        self.late.add(key)
        job = f"{event.cluster}.{event.proc}.0"
        self.run.say(f"Warning: node {self.run.dag.names[node]} job proc ({job}) {event.text}", 0)

    def is_news(self, key: Late) -> bool:
        """Whether a record that is read says something new, and in time."""
        return key not in self.late and self.clocks.does(*key)

    def on_timed_out(self, node: int, event: LogEvent) -> None:
        """The record has been read: the node has failed, its jobs are removed."""
        run, jobs = self.run, self.run.job_table.by_node.get(node)
        if run.nodes.states[node] != State.SUBMITTED or jobs is None:
            return
        if jobs.cluster != event.cluster:
            return
        job = f"{event.cluster}.{event.proc}.0"
        run.say(f"Node {run.dag.names[node]} job proc ({job}) {event.text}: removing its jobs")
        if not jobs.tolerance_exceeded:
            error = f"Job proc ({job}) {event.text}"
            run.job_table.exceed_tolerance(jobs, event.proc, RETURN_JOB_ABORTED, error)
        reason = f"Node Timeout: DAG node {run.dag.names[node]} ({job}) {event.text}"
        lifecycle.remove_rest(run, jobs, reason)


def _limit(limits: Timeout, kind: str, *, warns: bool) -> int:
    """The limit of a kind, 0 if there is none."""
    return limits[_KINDS.index(kind) + len(_KINDS) * warns]


def kind_of(text: str) -> str:
    """QUEUED, RUNNING or TOTAL: what a record is about, by its text; '' if that is damaged."""
    return next((kind for kind in _KINDS if f"(TIMEOUT {kind} " in text), "")
