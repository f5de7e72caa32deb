"""An event of the nodes log: whose it is, and who handles it (live and in recovery alike).

An event that belongs to no node is said and ignored: the log may be shared with others.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import cluster_events, event_checks, notes, script_events
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import run_key
from condor_pydagman.engine.node_states import State
from condor_pydagman.vocabulary import HELPER_PROC, NOOP_CLUSTER, EventKind, Note

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine

_NAMED = frozenset(
    (
        EventKind.SUBMIT,
        EventKind.CLUSTER_SUBMIT,
        EventKind.PRESKIP,
        EventKind.POST_SCRIPT_TERMINATED,
        EventKind.GENERIC,
    )
)
_OWN = frozenset((EventKind.PRESKIP, EventKind.POST_SCRIPT_TERMINATED))  # written by DAGMan
_WITHOUT_PROC = _OWN | {
    EventKind.CLUSTER_SUBMIT,
    EventKind.CLUSTER_REMOVE,
    EventKind.FACTORY_PAUSED,
    EventKind.FACTORY_RESUMED,
}
_KIND_NAMES = {int(kind): "ULOG_" + kind.name for kind in EventKind}


def on_event(engine: Engine, event: LogEvent) -> None:
    """Take one event of the nodes log."""
    engine.last_event = engine.now
    kind, cluster, proc, subproc = event[:4]
    note = event.note
    if kind == EventKind.GENERIC and note is None:
        return  # somebody else's
    node = _node_of(engine, event)
    name = _KIND_NAMES.get(kind) or f"ULOG_{kind}"
    job = f"({cluster}.{proc}.{subproc})"
    if node is None:
        engine.say(f"Event: {name} for unknown Node {job} {{{event.stamp}}}: ignoring...")
        event_checks.on_stranger(engine, event)
        engine.strangers.append(event)
        return
    if note is not None and engine.book.by_cluster.get(cluster, node) != node:
        of = engine.dag.names[node]
        engine.say(f"Warning: ignoring a note of job {job}, which is not node {of}'s")
        return
    if note is None:
        mode = " [recovery mode]" if engine.recovering else ""
        engine.say(
            f"Event: {name} for HTCondor Node {engine.dag.names[node]} {job}"
            f" {{{event.stamp}}}{mode}"
        )
        if proc < 0 and not _is_without_proc(event):
            what = ": Common Transfer Shadow" if proc <= HELPER_PROC else ""
            engine.say(f"Warning: Skipping event due to non-job proc id {proc}{what}")
            return
    if engine.keeps_times or node in engine.dag.retries:
        engine.event_times[node] = event.time
    if engine.noted and _is_read_back(engine, node, event):
        del engine.noted[node]
    if note is None and engine.dag.jobstate_log:
        _record(engine, node, event)
    handler = _HANDLERS.get(kind)
    if handler is not None:
        handler(engine, node, event)
    if engine.strangers and (kind == EventKind.SUBMIT or note is Note.ADOPTED):
        if engine.phase is Phase.ENDED:
            return  # nothing of this log is believed
        _hear_early_ones(engine, run_key(cluster, subproc))


def _hear_early_ones(engine: Engine, key: int) -> None:
    """Events that stand before the submit event of their cluster, or the note of its adoption: now
    it is known whose they are.

    Live, the schedd has told already, by its reply or its queue; a replay must come to the same.
    """
    early = [event for event in engine.strangers if run_key(event.cluster, event.subproc) == key]
    if early:
        others = (e for e in engine.strangers if run_key(e.cluster, e.subproc) != key)
        engine.strangers = deque(others, engine.strangers.maxlen)
        for event in early:
            on_event(engine, event)


def _is_without_proc(event: LogEvent) -> bool:
    """Whether an event is of a whole cluster, or of a node that may have none."""
    return event.kind in _WITHOUT_PROC and event.proc > HELPER_PROC


def _is_read_back(engine: Engine, node: int, event: LogEvent) -> bool:
    """Whether this is the event of ours that is waited for."""
    _, action = engine.noted.get(node, (0.0, None))
    if isinstance(action, do.AppendNote):
        return event.note is action.note and event.retry == action.retry
    if isinstance(action, do.AppendNoop):  # both of its events must have come
        ended = event.kind == EventKind.JOB_TERMINATED and event.cluster == NOOP_CLUSTER
        return ended and engine.nodes.states[node] == State.SUBMITTED
    return action is not None and event.kind in _OWN


def _node_of(engine: Engine, event: LogEvent) -> int | None:
    if event.kind in _NAMED and event.node:
        return engine.dag.find(event.node)
    if event.cluster == NOOP_CLUSTER:
        return engine.noops.get(event.subproc)
    return engine.book.by_cluster.get(event.cluster)


def _record(engine: Engine, node: int, event: LogEvent) -> None:
    if event.kind == EventKind.PRESKIP:
        engine.record(node, "PRE_SCRIPT_FAILURE")
    job = "-" if event.cluster == -1 else f"{event.cluster}.{event.proc}"
    try:
        name = EventKind(event.kind).name
    except ValueError:
        name = str(event.kind)
    engine.record(node, name, job)


_HANDLERS: dict[int, Callable[[Engine, int, LogEvent], None]] = {
    EventKind.SUBMIT: cluster_events.on_submit,
    EventKind.CLUSTER_SUBMIT: cluster_events.on_submit,
    EventKind.CLUSTER_REMOVE: cluster_events.on_cluster_removed,
    EventKind.EXECUTE: cluster_events.on_execute,
    EventKind.JOB_UNSUSPENDED: cluster_events.on_execute,
    EventKind.JOB_EVICTED: cluster_events.on_waiting_again,
    EventKind.SHADOW_EXCEPTION: cluster_events.on_waiting_again,
    EventKind.JOB_SUSPENDED: cluster_events.on_waiting_again,
    EventKind.JOB_RECONNECT_FAILED: cluster_events.on_waiting_again,
    EventKind.JOB_HELD: cluster_events.on_held,
    EventKind.JOB_RELEASED: cluster_events.on_released,
    EventKind.JOB_TERMINATED: cluster_events.on_terminated,
    EventKind.JOB_ABORTED: cluster_events.on_aborted,
    EventKind.POST_SCRIPT_TERMINATED: script_events.on_post_ended,
    EventKind.PRESKIP: script_events.on_pre_skip,
    EventKind.GENERIC: notes.on_note,
}
