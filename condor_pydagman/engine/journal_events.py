"""What DAGMan itself has decided, read back from the nodes log: live and in recovery mode alike.

See `vocabulary.JournalRecord` for what there is; docs/design.md has the table.
"""

from __future__ import annotations

from collections.abc import Callable

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import (
    job_events,
    lifecycle,
    operator,
    present_run,
    provisioner,
    run_end,
    scripts,
    submission,
)
from condor_pydagman.engine.feature import table_with
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import CLUSTER_ITSELF, Change
from condor_pydagman.engine.node_states import Cause, State
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.engine.state import RunState
from condor_pydagman.feature_table import OF_RECORD
from condor_pydagman.vocabulary import (
    NO_NODE,
    RETURN_JOB_ABORTED,
    RETURN_SUBMIT_FAILED,
    JournalRecord,
    ScriptKind,
)

MAX_ADOPTED = 1_000_000  # jobs of a node; no schedd has so many

_OF_CONFIG = Kind("knobs that decide states")
_OF_STARTED_ATTEMPT = (
    JournalRecord.PRE_ENDED,
    JournalRecord.DEFERRED,
    JournalRecord.SUBMIT_FAILED,
    JournalRecord.ADOPTED,
    JournalRecord.SURPLUS,
)
_OF_ANY_ATTEMPT = (
    JournalRecord.CONFIG,
    JournalRecord.JOB_LOST,
    JournalRecord.JOB_ENDED,
    JournalRecord.HOLD_ENDED,
    JournalRecord.FINAL_STARTED,
    JournalRecord.PROVISIONED,
    JournalRecord.COMMON_INPUT,
)  # whatever the retry number


def on_record(run: RunState, node: int, event: LogEvent) -> None:
    """Apply a journal record, unless it is about an earlier run of its node."""
    record, hooks = event.record, run.hooks
    assert record is not None
    if record in hooks.records or record in OF_RECORD:
        table_with(run, "records", record, OF_RECORD.get(record, ""))[record](node, event)
    elif record not in _OF_ANY_ATTEMPT and event.retry != run.nodes.retries.get(node, 0):
        run.say(f"Ignoring a journal record about an earlier run of node {run.dag.names[node]}")
    else:
        if record in _OF_STARTED_ATTEMPT:
            lifecycle.start_retry_now(run, node)  # an old log shows that the delay was over
        if record in _HANDLERS:
            _HANDLERS[record](run, node, event)
        elif record in hooks.attempt_records:
            hooks.attempt_records[record](node, event)
        else:
            unused = f"{record} {event.text}".rstrip()
            run.say(f"Warning: ignoring a record of what the DAG does not use: {unused}")


def _on_submit_failed(run: RunState, node: int, event: LogEvent) -> None:
    lifecycle.restore_dropped(run, node, Cause.NEEDS_SUBMIT)
    if run.nodes.states[node] not in (State.READY, State.SUBMIT_UNCONFIRMED):
        return
    run.save_points.discard(node)
    run.nodes.returned(node, RETURN_SUBMIT_FAILED)
    lifecycle.use_up_retries(run, node)
    if run.dag.script(node, ScriptKind.POST) is not None:
        lifecycle.need_post(run, node)
    else:
        run.ready.discard(node)
        if run.hooks.run_ended:
            lifecycle.note_run(run, node, RETURN_SUBMIT_FAILED, failed=True)
        lifecycle.fail(
            run, node, f"Job submit failed: {event.text}" if event.text else "Job submit failed"
        )


def _on_adopted(run: RunState, node: int, event: LogEvent) -> None:
    """The node's jobs were found in the queue; submit events are missing."""
    if event.value > MAX_ADOPTED:
        run.say(f"Warning: ignoring a journal record of {event.value} jobs: it is damaged")
        return
    lifecycle.restore_dropped(run, node, Cause.NEEDS_SUBMIT)
    if run.nodes.states[node] in (State.READY, State.PRE_WAIT):  # an earlier DAGMan found them
        only = present_run.proc_in_shared(event)
        lifecycle.open_cluster(run, node, event.cluster, only=only)
    jobs = run.job_table.by_node.get(node)
    if jobs is None or jobs.cluster != event.cluster:
        return
    jobs.set_adopted()
    if run.nodes.states[node] == State.SUBMITTED:
        if event.text == present_run.LATE_MATERIALIZATION:
            jobs.set_factory()
        run.job_table.expect(jobs, jobs.numbered(event.value))
    for proc in jobs.numbered(event.value):
        for job_event in run.hooks.job_event:
            job_event(node, event._replace(proc=proc), Change.ADOPTED)


def _on_job_lost(run: RunState, node: int, event: LogEvent) -> None:
    _say_lost(run, node, event)
    if event.proc == CLUSTER_ITSELF:
        job_events.on_cluster_removed(run, node, event._replace(value=RETURN_JOB_ABORTED))
        return
    how = (
        "is lost: the schedd does not know it any more and its end was never logged; it counts as"
        " failed"
    )
    jobs = run.job_table.by_node.get(node)
    is_task = jobs is not None and jobs.is_task and jobs.cluster == event.cluster
    if is_task or run.job_table.node_of(event.cluster, event.proc) == node:
        job_events.proc_ended(run, node, event, None, RETURN_JOB_ABORTED, how)


def _say_lost(run: RunState, node: int, event: LogEvent) -> None:
    """Stock's words for it, when it is found: once for a cluster, however many procs it has."""
    jobs = run.job_table.by_node.get(node)
    if run.recovering or jobs is None or jobs.cluster != event.cluster or jobs.lost:
        return
    jobs.set_lost()
    name = run.dag.names[node]
    run.say(f"ERROR: DAGMan lost track of node {name} (ClusterId={event.cluster}).", 0)


def _on_job_ended(run: RunState, node: int, event: LogEvent) -> None:
    if event.proc == CLUSTER_ITSELF:
        job_events.on_cluster_removed(run, node, event)
        return
    jobs = run.job_table.by_node.get(node)
    if jobs is None or jobs.cluster != event.cluster or event.proc in jobs.codes:
        return  # the log has shown it after all
    code = None if event.value == RETURN_JOB_ABORTED else event.value
    how = "was removed" if code is None else f"ended with {code}"
    how += ", as the schedd's history says; the nodes log does not show it"
    job_events.proc_ended(run, node, event, code, event.value, how)


def record_config(run: RunState) -> None:
    """Write the knobs that decide states, unless the log has them already.

    What happens is decided by this DAGMan's own from now on, and what has happened by those that
    were in force then.
    """
    text = run.own_config.deciding()
    if text != run.config.deciding():
        run.set_config(run.config.with_deciding(text))
    if text != run.log.config and not run.is_rehearsal:
        record = do.AppendJournalRecord(JournalRecord.CONFIG, NO_NODE, 0, 0, text=text)
        run.write(_OF_CONFIG, "", record)


def _on_config(run: RunState, _: int, event: LogEvent) -> None:
    run.written.clear(_OF_CONFIG)
    run.log.configured(event.text)
    if run.recovering:
        run.set_config(run.config.with_deciding(event.text))


_HANDLERS: dict[str, Callable[[RunState, int, LogEvent], None]] = {
    JournalRecord.CONFIG: _on_config,
    JournalRecord.PRE_ENDED: lambda run, node, event: scripts.on_pre_ended(run, node, event.value),
    JournalRecord.DEFERRED: scripts.on_deferred,
    JournalRecord.HOLD_ENDED: lambda run, _, event: scripts.on_hold_ended(run, event),
    JournalRecord.SUBMIT_FAILED: _on_submit_failed,
    JournalRecord.ADOPTED: _on_adopted,
    JournalRecord.JOB_LOST: _on_job_lost,
    JournalRecord.JOB_ENDED: _on_job_ended,
    JournalRecord.SURPLUS: operator.on_surplus,
    JournalRecord.PROVISIONED: lambda run, _, _event: provisioner.on_go_ahead(run),
    JournalRecord.COMMON_INPUT: lambda run, _, event: submission.keep_common_input(run, event.text),
    JournalRecord.FINAL_STARTED: lambda run, _, event: run_end.on_final_started(run, event),
}
