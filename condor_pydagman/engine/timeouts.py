"""TIMEOUT: jobs that wait, run or live longer than their node allows (man page dagman-language).

The clocks are those of the events in the nodes log, so a restart does not set them back.  A clock
that expires leads to a record in the log; when that is read the node has failed and its jobs are
removed.  A clock that expires for jobs that have ended, or that run again, is ignored.
"""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import ENDED, Jobs
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.queues import QUEUED, RUNNING, TOTAL, Clock
from condor_pydagman.engine.state import OF_NODE, RunState
from condor_pydagman.graph.model import Timeout
from condor_pydagman.vocabulary import RETURN_JOB_ABORTED, JournalRecord

_WORDS = {QUEUED: "waited", RUNNING: "ran", TOTAL: "has been in the queue"}


def on_submitted(run: RunState, node: int, event: LogEvent) -> None:
    """A proc is in the queue.  One that was submitted on hold waits for a person, who may take any
    time."""
    limits = run.timeout(node) if node not in run.retrying.on_hold else None
    if limits is None or event.cluster <= 0:
        return
    if run.job_table.by_node[node].procs.get(event.proc, 0) & ENDED:
        return  # its submit event, or our record of it, comes late
    if run.timeouts.begin(event.cluster, event.proc) and limits.total:
        _set(run, node, event, TOTAL, limits.total)
    if not run.timeouts.knows(event.cluster, event.proc):  # else it runs already
        _enter(run, node, event, QUEUED, limits)


def on_idle(run: RunState, node: int, event: LogEvent, idle: bool) -> None:
    """A proc has begun to wait, or to run."""
    limits = run.timeout(node)
    if limits is not None and event.cluster > 0:
        _enter(run, node, event, QUEUED if idle else RUNNING, limits)


def on_ended(run: RunState, event: LogEvent) -> None:
    """A proc has ended."""
    run.timeouts.forget(event.cluster, event.proc)


def _enter(run: RunState, node: int, event: LogEvent, kind: str, limits: Timeout) -> None:
    seconds = limits.queued if kind == QUEUED else limits.running
    since = run.happened(event.time)
    if run.timeouts.enter(event.cluster, event.proc, kind, since) and seconds:
        _set(run, node, event, kind, seconds)


def _set(run: RunState, node: int, event: LogEvent, kind: str, seconds: int) -> None:
    since = run.happened(event.time)
    run.timeouts.set(Clock(since + seconds, node, event.cluster, event.proc, kind, since))


def check_clocks(run: RunState) -> None:
    """Write into the log which limits have been reached."""
    while True:
        clock = run.timeouts.pop(run.now)
        if clock is None:
            return
        jobs = run.job_table.by_node.get(clock.node)
        if jobs is not None and _is_relevant(run, jobs, clock):
            _journal(run, jobs, clock)


def _is_relevant(run: RunState, jobs: Jobs, clock: Clock) -> bool:
    """Whether the clock is of jobs that are in the queue and not being removed."""
    if run.nodes.states[clock.node] != State.SUBMITTED or jobs.cluster != clock.cluster:
        return False
    return not (jobs.removing or _is_being_written(run, clock.node))


def _is_being_written(run: RunState, node: int) -> bool:
    """Whether a record of this kind is on its way to the log and back."""
    action = run.written.record(OF_NODE, node)
    return isinstance(action, do.AppendJournalRecord) and action.record is JournalRecord.TIMED_OUT


def _journal(run: RunState, jobs: Jobs, clock: Clock) -> None:
    limits = run.timeout(clock.node) or Timeout()
    limit = {QUEUED: limits.queued, RUNNING: limits.running, TOTAL: limits.total}[clock.kind]
    text = f"{_WORDS[clock.kind]} for {limit} s (TIMEOUT {clock.kind} {limit})"
    retry = run.nodes.retries.get(clock.node, 0)
    run.journal(
        clock.node,
        do.AppendJournalRecord(
            JournalRecord.TIMED_OUT,
            clock.node,
            retry,
            RETURN_JOB_ABORTED,
            jobs.cluster,
            clock.proc,
            text,
        ),
    )


def on_timed_out(run: RunState, node: int, event: LogEvent) -> None:
    """The record has been read: the node has failed, its jobs are removed."""
    jobs = run.job_table.by_node.get(node)
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
