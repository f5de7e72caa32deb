"""What DAGMan itself has decided, read back from the nodes log: in live running and in recovery.

See `vocabulary.Note` for what there is; docs/design.md has the table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from condor_pydagman.engine import (
    cluster_events,
    final_node,
    provisioner,
    retries,
    script_events,
    throttles,
    timeouts,
)
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import Cause, State
from condor_pydagman.engine.reconcile import CLUSTER_ITSELF, LATE
from condor_pydagman.vocabulary import (
    RETURN_JOB_ABORTED,
    RETURN_SUBMIT_FAILED,
    Note,
    ScriptKind,
)

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine

_OF_A_RUN_THAT_HAS_BEGUN = (Note.PRE_ENDED, Note.SUBMIT_FAILED, Note.ADOPTED, Note.SURPLUS)
_OF_ANY_RUN = (
    Note.JOB_LOST,
    Note.JOB_ENDED,
    Note.FINAL_STARTED,
    Note.PROVISIONED,
    Note.COMMON_INPUT,
)  # whatever the retry number


def on_note(engine: Engine, node: int, event: LogEvent) -> None:
    """Obey a note, unless it is about an earlier run of its node."""
    assert event.note is not None
    if event.note not in _OF_ANY_RUN and event.retry != engine.nodes.retries.get(node, 0):
        engine.say(f"Ignoring a note about an earlier run of node {engine.dag.names[node]}")
    else:
        if event.note in _OF_A_RUN_THAT_HAS_BEGUN:
            retries.start_now(engine, node)  # an old log shows that the delay was over
        _HANDLERS[event.note](engine, node, event)


def _on_pre_ended(engine: Engine, node: int, event: LogEvent) -> None:
    script_events.on_pre_ended(engine, node, event.value)


def _on_provisioned(engine: Engine, _: int, event: LogEvent) -> None:
    provisioner.on_go_ahead(engine, event)


def _on_final_started(engine: Engine, _: int, event: LogEvent) -> None:
    final_node.on_started(engine, event)


def _on_common_input(engine: Engine, _: int, event: LogEvent) -> None:
    engine.common_input = engine.common_input or event.text


def _on_submit_failed(engine: Engine, node: int, event: LogEvent) -> None:
    final_node.take_back(engine, node, Cause.NEEDS_SUBMIT)
    if engine.nodes.states[node] not in (State.READY, State.SUBMIT_NOTED):
        return
    engine.save_points.pop(node, None)
    engine.nodes.returned(node, RETURN_SUBMIT_FAILED)
    retries.use_up(engine, node)
    if engine.dag.script(node, ScriptKind.POST) is not None:
        script_events.want_post(engine, node)
    else:
        engine.ready.discard(node)
        engine.fail(node, f"Job submit failed: {event.text}" if event.text else "Job submit failed")


def _on_adopted(engine: Engine, node: int, event: LogEvent) -> None:
    """The node's jobs were found in the queue; submit events are missing."""
    if engine.nodes.states[node] in (State.READY, State.PRE_WAIT):  # an earlier DAGMan found them
        engine.book.open(node, event.cluster)
        engine.nodes.clusters[node] = event.cluster
        engine.jobs_seen(node)
    book = engine.book.by_node.get(node)
    if book is None or book.cluster != event.cluster:
        return
    if engine.nodes.states[node] == State.SUBMITTED:
        book.factory = book.factory or event.text == LATE
        engine.book.expect(book, range(event.value))
    for proc in range(event.value):
        timeouts.on_submitted(engine, node, event._replace(proc=proc))


def _on_job_lost(engine: Engine, node: int, event: LogEvent) -> None:
    _say_lost(engine, node, event)
    if event.proc == CLUSTER_ITSELF:
        cluster_events.on_cluster_removed(engine, node, event._replace(value=RETURN_JOB_ABORTED))
        return
    text = (
        f"Node {engine.dag.names[node]} job proc ({event.cluster}.{event.proc}.0) is lost:"
        " the schedd does not know it any more and its end was never logged; it counts as failed"
    )
    if engine.book.by_cluster.get(event.cluster) == node:
        cluster_events.proc_ended(engine, node, event, None, RETURN_JOB_ABORTED, text)


def _say_lost(engine: Engine, node: int, event: LogEvent) -> None:
    """Stock's words for it, when it is found: once for a cluster, however many procs it has."""
    jobs = engine.book.by_node.get(node)
    if engine.recovering or jobs is None or jobs.cluster != event.cluster or jobs.lost:
        return
    jobs.lost = True
    name = engine.dag.names[node]
    engine.say(f"ERROR: DAGMan lost track of node {name} (ClusterId={event.cluster}).", 0)


def _on_job_ended(engine: Engine, node: int, event: LogEvent) -> None:
    if event.proc == CLUSTER_ITSELF:
        cluster_events.on_cluster_removed(engine, node, event)
        return
    jobs = engine.book.by_node.get(node)
    if jobs is None or jobs.cluster != event.cluster or event.proc in jobs.codes:
        return  # the log has shown it after all
    code = None if event.value == RETURN_JOB_ABORTED else event.value
    how = "was removed" if code is None else f"ended with {code}"
    text = (
        f"Node {engine.dag.names[node]} job proc ({event.cluster}.{event.proc}.0) {how}, as the"
        " schedd's history says; the nodes log does not show it"
    )
    cluster_events.proc_ended(engine, node, event, code, event.value, text)


_HANDLERS: dict[Note, Callable[[Engine, int, LogEvent], None]] = {
    Note.PRE_ENDED: _on_pre_ended,
    Note.SUBMIT_FAILED: _on_submit_failed,
    Note.ADOPTED: _on_adopted,
    Note.JOB_LOST: _on_job_lost,
    Note.JOB_ENDED: _on_job_ended,
    Note.TIMED_OUT: timeouts.on_timed_out,
    Note.SURPLUS: throttles.on_surplus,
    Note.PROVISIONED: _on_provisioned,
    Note.COMMON_INPUT: _on_common_input,
    Note.FINAL_STARTED: _on_final_started,
}
