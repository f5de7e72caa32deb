"""An event of the nodes log: its node and its handler, live and in recovery mode alike.

An event that belongs to no node is logged and ignored: others may write to the same log.
"""

from __future__ import annotations

from collections.abc import Callable

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import job_events, journal_events, lifecycle, scripts, views
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.hooks import OWN
from condor_pydagman.engine.inputs import LogEvent, Wake
from condor_pydagman.engine.jobs import run_key
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.state import OF_NODE, RunState
from condor_pydagman.feature_table import OF_NO_NODE, OF_RECORD, SERVES_CLIENTS
from condor_pydagman.vocabulary import (
    HELPER_PROC,
    NO_NODE,
    NOOP_CLUSTER,
    SHARED_CLUSTER,
    EventKind,
    JournalRecord,
)

_NAMED = frozenset(
    (
        EventKind.SUBMIT,
        EventKind.CLUSTER_SUBMIT,
        EventKind.PRESKIP,
        EventKind.POST_SCRIPT_TERMINATED,
        EventKind.GENERIC,
    )
)
_OF_NO_NODE = {JournalRecord.CONFIG, *OF_NO_NODE}
_OWN = frozenset((EventKind.PRESKIP, EventKind.POST_SCRIPT_TERMINATED))  # written by DAGMan
_WITHOUT_PROC = _OWN | {
    EventKind.CLUSTER_SUBMIT,
    EventKind.CLUSTER_REMOVE,
    EventKind.FACTORY_PAUSED,
    EventKind.FACTORY_RESUMED,
}
_KIND_NAMES = {int(kind): "ULOG_" + kind.name for kind in EventKind}


def on_event(run: RunState, event: LogEvent) -> None:
    """Take one event of the nodes log."""
    run.log.last_event_at = run.now
    if event.time > run.log.job_times.until:
        _pass_time(run, event.time)
    kind, cluster, proc, subproc = event[:4]
    record = event.record
    if kind == EventKind.GENERIC and record is None:
        return  # of other jobs
    node = NO_NODE if record in _OF_NO_NODE and not event.node else _node_of(run, event)
    if node == OWN:
        for observer in run.observers:
            observer.own_event(event)
        return
    name = job = ""
    if not run.silent:
        name = _KIND_NAMES.get(kind) or f"ULOG_{kind}"
        job = f"({cluster}.{proc}.{subproc})"
    if node is None:
        run.say(f"Event: {name} for unknown Node {job} {{{event.stamp}}}: ignoring...")
        job_events.on_unmatched(run, event)
        run.log.keep(event, run_key(cluster, subproc))
        return
    if record is not None and _is_of_other(run, node, event):
        of = run.dag.names[node]
        run.say(f"Warning: ignoring a journal record of job {job}, which is not node {of}'s")
        return
    if record is None:
        if not run.silent:
            mode = " [recovery mode]" if run.recovering else ""
            of = run.dag.names[node]
            run.say(f"Event: {name} for HTCondor Node {of} {job} {{{event.stamp}}}{mode}")
        if proc < 0 and (event.kind not in _WITHOUT_PROC or event.proc <= HELPER_PROC):
            what = ": Common Transfer Shadow" if proc <= HELPER_PROC else ""
            run.say(f"Warning: Skipping event due to non-job proc id {proc}{what}")
            return
    if run.nodes.stale and OF_RECORD.get(record or "") != SERVES_CLIENTS:
        lifecycle.settle(run)
    if run.jobstate_lines.keeps_times or node in run.dag.retries:
        run.jobstate_lines.happened(node, event.time)
    if run.written.awaited and _is_read_back(run, node, event):
        run.written.drop(OF_NODE, node)
    if record is None and run.dag.jobstate_log:
        _record(run, node, event)
    handler = _HANDLERS.get(kind)
    if handler is not None:
        handler(run, node, event)
    elif kind in run.hooks.events:
        run.hooks.events[kind](node, event)
    ended = run.nodes.counts[State.DONE] + run.nodes.counts[State.FAILED]
    if ended > run.log.ended:
        run.log.last_end_at = event.time
    run.log.ended = ended
    if run.log.unmatched_events and (kind == EventKind.SUBMIT or record == JournalRecord.ADOPTED):
        if run.phase is Phase.ENDED:
            return  # the log is not used
        _handle_early_events(run, event)


def begin_counting(run: RunState) -> None:
    """Nodes that are done already have not ended in this run."""
    run.log.ended = run.nodes.counts[State.DONE]


def _pass_time(run: RunState, time: float) -> None:
    table = run.job_table
    waiting, running = table.idle - table.held, table.submitted - table.completed - table.idle
    run.log.job_times.pass_to(time, waiting, table.held, running)


def _is_of_other(run: RunState, node: int, record: LogEvent) -> bool:
    """Whether a journal record is of a job of another node.

    What is known of that node's cluster may be wrong, if the log has not shown that it is shared.
    """
    if record.cluster in run.job_table.by_cluster and record.text == SHARED_CLUSTER:
        return False
    return run.job_table.node_of(record.cluster, record.proc) not in (None, node)


def start_reading(run: RunState) -> None:
    """The run begins: from now on events are awaited."""
    run.log.last_event_at = run.now


def next_silence_report(run: RunState) -> float | None:
    """When it is to be told what the DAG waits for; None: never."""
    every = run.config.pending_report_interval
    return max(run.log.last_event_at, run.log.last_report_at) + every if every > 0 else None


def on_wake(run: RunState, _: Wake) -> None:
    """Tell what the DAG waits for, after a long time without any event."""
    due = next_silence_report(run)
    if due is None or run.now < due:
        return
    run.log.last_report_at = run.now
    run.say(f"{run.now - run.log.last_event_at:.0f} seconds since last log event")
    run.say("Pending DAG nodes:")
    for line in views.awaited(run):
        run.say(line)


def _handle_early_events(run: RunState, opening: LogEvent) -> None:
    """Handle events that stand before the submit event of their cluster, or the record of its
    adoption: now their node is known.

    Live, the schedd has told already, by its reply or its queue; a replay must come to the same.
    """
    key, shared = run_key(opening.cluster, opening.subproc), opening.text == SHARED_CLUSTER

    def is_early(event: LogEvent) -> bool:
        is_same = run_key(event.cluster, event.subproc) == key
        return is_same and (not shared or event.proc == opening.proc)

    for event in run.log.take_early(is_early, key):
        on_event(run, event)


def _is_read_back(run: RunState, node: int, event: LogEvent) -> bool:
    """Whether this is the event of ours that is waited for."""
    action = run.written.record(OF_NODE, node)
    if isinstance(action, do.AppendJournalRecord):
        return event.record == action.record and event.retry == action.retry
    if isinstance(action, do.AppendNoop):  # both of its events must have come
        ended = event.kind == EventKind.JOB_TERMINATED and event.cluster == NOOP_CLUSTER
        return ended and run.nodes.states[node] == State.SUBMITTED
    return action is not None and event.kind in _OWN


def _node_of(run: RunState, event: LogEvent) -> int | None:
    for node_of in run.hooks.node_of:
        node = node_of(event)
        if node is not None:
            return node
    if event.kind in _NAMED and event.node:
        return run.dag.find(event.node)
    if event.cluster == NOOP_CLUSTER:
        return run.noop_ids.nodes.get(event.subproc)
    return run.job_table.node_of(event.cluster, event.proc)


def _record(run: RunState, node: int, event: LogEvent) -> None:
    if event.kind == EventKind.PRESKIP:
        run.jobstate(node, "PRE_SCRIPT_FAILURE")
    job = "-" if event.cluster == -1 else f"{event.cluster}.{event.proc}"
    try:
        name = EventKind(event.kind).name
    except ValueError:
        name = str(event.kind)
    run.jobstate(node, name, job)


_HANDLERS: dict[int, Callable[[RunState, int, LogEvent], None]] = {
    EventKind.SUBMIT: job_events.on_submit,
    EventKind.CLUSTER_SUBMIT: job_events.on_submit,
    EventKind.CLUSTER_REMOVE: job_events.on_cluster_removed,
    EventKind.EXECUTE: job_events.on_execute,
    EventKind.JOB_UNSUSPENDED: job_events.on_execute,
    EventKind.JOB_EVICTED: job_events.on_waiting_again,
    EventKind.SHADOW_EXCEPTION: job_events.on_waiting_again,
    EventKind.JOB_SUSPENDED: job_events.on_waiting_again,
    EventKind.JOB_RECONNECT_FAILED: job_events.on_waiting_again,
    EventKind.JOB_HELD: job_events.on_held,
    EventKind.JOB_RELEASED: job_events.on_released,
    EventKind.JOB_TERMINATED: job_events.on_terminated,
    EventKind.JOB_ABORTED: job_events.on_aborted,
    EventKind.POST_SCRIPT_TERMINATED: scripts.on_post_ended,
    EventKind.PRESKIP: scripts.on_pre_skip,
    EventKind.GENERIC: journal_events.on_record,
}
