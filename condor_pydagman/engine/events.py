"""What each event of the nodes log does to the engine's state (live and in recovery alike).

An event that doubles an earlier one, or belongs to no node, is said and ignored: it must never end
a DAG.  Job ids in messages are `cluster.proc.subproc`, as tools parse them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from condor_pydagman.engine import endings, outcome, scripts, tolerance
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import Jobs
from condor_pydagman.engine.node_states import Cause, State
from condor_pydagman.vocabulary import (
    NOOP_CLUSTER,
    RETURN_JOB_ABORTED,
    RETURN_PRE_FAILED,
    RETURN_SUBMIT_FAILED,
    EventKind,
    Note,
    ScriptKind,
)

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
_KIND_NAMES = {int(kind): "ULOG_" + kind.name for kind in EventKind}


def on_event(engine: Engine, event: LogEvent) -> None:
    """Take one event of the nodes log."""
    engine.last_event = engine.now
    engine.plan_pending_report()
    if event.kind == EventKind.GENERIC and event.note is None:
        return  # somebody else's
    node = _node_of(engine, event)
    name = _KIND_NAMES.get(event.kind, f"ULOG_{event.kind}")
    job = f"({event.cluster}.{event.proc}.{event.subproc})"
    if node is None:
        engine.say(f"Event: {name} for unknown Node {job} {{{event.stamp}}}: ignoring...")
        return
    engine.event_times[node] = event.time
    engine.noted.pop(node, None)
    if event.note is None:
        mode = " [recovery mode]" if engine.recovering else ""
        engine.say(
            f"Event: {name} for HTCondor Node {engine.dag.names[node]} {job}"
            f" {{{event.stamp}}}{mode}"
        )
        if event.kind == EventKind.PRESKIP:
            engine.record(node, "PRE_SCRIPT_FAILURE")
        _record(engine, node, event)
    handler = _HANDLERS.get(event.kind)
    if handler is not None:
        handler(engine, node, event)


def _node_of(engine: Engine, event: LogEvent) -> int | None:
    if event.kind in _NAMED and event.node:
        return engine.dag.find(event.node)
    if event.cluster == NOOP_CLUSTER:
        return engine.noops.get(event.subproc)
    return engine.book.by_cluster.get(event.cluster)


def _record(engine: Engine, node: int, event: LogEvent) -> None:
    if engine.dag.jobstate_log:
        job = "-" if event.cluster == -1 else f"{event.cluster}.{event.proc}"
        try:
            name = EventKind(event.kind).name
        except ValueError:
            name = str(event.kind)
        engine.record(node, name, job)


def _on_submit(engine: Engine, node: int, event: LogEvent) -> None:
    state = engine.nodes.states[node]
    jobs = engine.book.by_node.get(node)
    if jobs is None or jobs.cluster != event.cluster or jobs.subproc != event.subproc:
        if not _may_be_submitted(engine, node, event):
            return
        jobs = engine.book.open(node, event.cluster)
        jobs.subproc = event.subproc
        engine.nodes.clusters[node] = event.cluster
        if event.cluster == NOOP_CLUSTER:
            engine.noops[event.subproc] = node
            engine.last_noop = max(engine.last_noop, event.subproc)
        engine.jobs_seen(node)
    elif state != State.SUBMITTED:
        return  # a late double of a cluster that ended
    if event.kind == EventKind.CLUSTER_SUBMIT:
        jobs.factory = True
    elif not engine.book.submit_seen(jobs, event.proc):
        engine.say(f"Ignoring a second submit event of job {event.cluster}.{event.proc}")
        return
    _say_idle(engine)


def _may_be_submitted(engine: Engine, node: int, event: LogEvent) -> bool:
    """Whether a submit event of a cluster that is new to us can be the node's."""
    state = engine.nodes.states[node]
    name = engine.dag.names[node]
    if event.cluster != NOOP_CLUSTER and (
        event.cluster == engine.nodes.clusters[node] or event.cluster in engine.former.get(node, ())
    ):
        return False  # a late double of an earlier run's
    if state in (State.READY, State.PRE_WAIT, State.SUBMITTING, State.UNKNOWN):
        return True
    if state == State.WAITING:
        engine.say(
            f"Error: DAG semantics violated! Node {name} was submitted but has unfinished parents!",
            0,
        )
        engine.ending = endings.bad_log()
    else:
        engine.say(
            f"Warning: unexpected submit event of job {event.cluster}.{event.proc} for node {name},"
            f" which is {State(state).name}: ignoring it"
        )
    return False


def _jobs(engine: Engine, node: int) -> Jobs | None:
    """The node's jobs, if they are in the queue as far as we know."""
    return engine.book.by_node.get(node) if engine.nodes.states[node] == State.SUBMITTED else None


def _say_idle(engine: Engine) -> None:
    engine.say(f"Number of idle job procs: {engine.book.idle}")


def _on_execute(engine: Engine, node: int, event: LogEvent) -> None:
    _set_idle(engine, node, event, False)


def _on_waiting_again(engine: Engine, node: int, event: LogEvent) -> None:
    _set_idle(engine, node, event, True)


def _set_idle(engine: Engine, node: int, event: LogEvent, idle: bool) -> None:
    jobs = _jobs(engine, node)
    if jobs is not None:
        engine.book.set_idle(jobs, event.proc, idle)
        _say_idle(engine)


def _on_held(engine: Engine, node: int, event: LogEvent) -> None:
    jobs = _jobs(engine, node)
    engine.say(f"  Hold reason: {event.text}")
    if jobs is not None:
        engine.book.set_idle(jobs, event.proc, True)
        engine.book.set_held(jobs, event.proc, True)


def _on_released(engine: Engine, node: int, event: LogEvent) -> None:
    jobs = _jobs(engine, node)
    if jobs is not None:
        engine.book.set_held(jobs, event.proc, False)


def _on_terminated(engine: Engine, node: int, event: LogEvent) -> None:
    name, job = engine.dag.names[node], f"({event.cluster}.{event.proc}.{event.subproc})"
    if event.value == 0:
        text = f"Node {name} job proc {job} completed successfully."
    elif event.value > 0:
        text = f"Node {name} job proc {job} failed with status {event.value}."
    else:
        text = f"Node {name} job proc {job} failed with signal {-event.value}."
    _proc_ended(engine, node, event, event.value, event.value, text)


def _on_aborted(engine: Engine, node: int, event: LogEvent) -> None:
    text = f"Node {engine.dag.names[node]} job proc ({event.cluster}.{event.proc}.0) was removed"
    _proc_ended(engine, node, event, None, RETURN_JOB_ABORTED, f"{text}: {event.text}")


def _proc_ended(
    engine: Engine, node: int, event: LogEvent, code: int | None, value: int, text: str
) -> None:
    jobs = _jobs(engine, node)
    if jobs is None or not engine.book.end(jobs, event.proc, code, value):
        engine.say(f"Ignoring a second end of job {event.cluster}.{event.proc}")
        return
    _say_idle(engine)
    if value == 0 and jobs.beyond:
        engine.say(text[:-1] + ", but status is STATUS_ERROR")
    engine.say(text)
    limits = engine.dag.tolerances.get(node)
    too_many = jobs.failed > tolerance.allowed(limits, len(jobs.procs), engine.config)
    if value != 0 and too_many and not jobs.beyond:
        engine.book.give_up(jobs, event.proc, value)
    post = engine.dag.script(node, ScriptKind.POST)
    if code is not None and post is None and engine.check_abort(node, jobs.value, "job"):
        engine.nodes.values[node] = jobs.value
    take_rest = tolerance.removes_the_rest(limits, engine.config) and not jobs.removing
    if jobs.beyond and take_rest and jobs.live():
        jobs.removing = True
        engine.removals.append(node)
    if jobs.all_ended and not jobs.factory:
        _cluster_ended(engine, node, jobs)


def _on_cluster_removed(engine: Engine, node: int, event: LogEvent) -> None:
    jobs = _jobs(engine, node)
    if jobs is not None and jobs.factory:
        _cluster_ended(engine, node, jobs)


def _cluster_ended(engine: Engine, node: int, jobs: Jobs) -> None:
    name = engine.dag.names[node]
    engine.say(f"Node {name} job(s) have exited the queue")
    engine.book.close(node)
    engine.left_queue(node)
    engine.nodes.values[node] = jobs.value
    engine.record(node, "JOB_FAILURE" if jobs.value else "JOB_SUCCESS", str(jobs.value))
    post = engine.dag.script(node, ScriptKind.POST)
    verdict = outcome.after_jobs(jobs.beyond, has_post=post is not None)
    if verdict is outcome.Next.POST:
        _want_post(engine, node)
    elif verdict is outcome.Next.SUCCEED:
        engine.succeed(node)
    else:
        engine.fail_run(node, jobs.value, _job_error(jobs))


def _job_error(jobs: Jobs) -> str:
    job, code = jobs.job(jobs.culprit), jobs.codes[jobs.culprit]
    if code is None:
        return f"HTCondor reported ULOG_JOB_ABORTED event for job proc ({job})"
    if code < 0:
        return f"Job proc ({job}) failed with signal {-code}"
    return f"Job proc ({job}) failed with status {code}"


def _want_post(engine: Engine, node: int) -> None:
    engine.ready.discard(node)
    engine.script_queues[ScriptKind.PRE].discard(node)
    engine.nodes.move(node, Cause.NEEDS_POST, engine.now)
    scripts.want_script(engine, node, ScriptKind.POST)


def _on_post_ended(engine: Engine, node: int, event: LogEvent) -> None:
    if engine.nodes.states[node] not in (State.POST_WAIT, State.POST_NOTED):
        engine.say(f"Ignoring a second end of node {engine.dag.names[node]}'s POST script")
        return
    jobs = engine.book.by_node.get(node)
    if jobs is not None and (event.cluster, event.subproc) != (jobs.cluster, jobs.subproc):
        engine.say(f"Ignoring the POST script of an earlier run of node {engine.dag.names[node]}")
        return
    name, status = engine.dag.names[node], event.value
    engine.script_queues[ScriptKind.POST].discard(node)
    job = "-" if event.cluster == -1 else f"{event.cluster}.{event.proc}"
    engine.record(node, "POST_SCRIPT_SUCCESS" if status == 0 else "POST_SCRIPT_FAILURE", job)
    engine.say(_script_end(ScriptKind.POST, name, status))
    jobs_value = engine.nodes.values.get(node, 0)
    engine.nodes.values[node] = status
    if engine.check_abort(node, status, "POST script"):
        engine.nodes.errors[node] = f"POST Script ended with the ABORT value {status}"
    if outcome.after_post(status) is outcome.Next.SUCCEED:
        engine.succeed(node)
    else:
        engine.fail_run(node, status, _post_error(jobs_value, status))


def _post_error(jobs_value: int, status: int) -> str:
    if jobs_value > 0:
        jobs = f"Job exited with status {jobs_value}"
    elif jobs_value == 0 or jobs_value <= RETURN_SUBMIT_FAILED:
        jobs = f"Job failed due to DAGMAN error {jobs_value}"
    else:
        jobs = f"Job died on signal {-jobs_value}"
    how = f"failed with status {status}" if status > 0 else f"died on signal {-status}"
    return f"{jobs} and POST Script {how}"


def _script_end(kind: ScriptKind, name: str, status: int) -> str:
    if status == 0:
        return f"{kind.value} Script of node {name} completed successfully."
    how = f"failed with status {status}" if status > 0 else f"died on signal {-status}"
    return f"{kind.value} Script of node {name} {how}"


def _on_pre_skip(engine: Engine, node: int, event: LogEvent) -> None:
    engine.last_noop = max(engine.last_noop, event.subproc)
    if engine.nodes.states[node] not in (State.PRE_WAIT, State.PRE_NOTED):
        return
    engine.script_queues[ScriptKind.PRE].discard(node)
    engine.say(
        f"PRE_SKIP: the PRE script of node {engine.dag.names[node]} says to skip it;"
        " the node is done"
    )
    engine.succeed(node)


def _on_note(engine: Engine, node: int, event: LogEvent) -> None:
    assert event.note is not None
    if event.note is Note.JOB_LOST:
        _on_job_lost(engine, node, event)
    elif event.retry != engine.nodes.retries.get(node, 0):
        engine.say(f"Ignoring a note about an earlier run of node {engine.dag.names[node]}")
    elif event.note is Note.ADOPTED:
        _on_adopted(engine, node, event)
    elif event.note is Note.PRE_ENDED:
        _on_pre_ended(engine, node, event.value)
    elif event.note is Note.SUBMIT_FAILED:
        _on_submit_failed(engine, node, event)


def _on_pre_ended(engine: Engine, node: int, status: int) -> None:
    if engine.nodes.states[node] not in (State.PRE_WAIT, State.PRE_NOTED):
        return
    engine.script_queues[ScriptKind.PRE].discard(node)
    engine.record(node, "PRE_SCRIPT_SUCCESS" if status == 0 else "PRE_SCRIPT_FAILURE")
    engine.say(_script_end(ScriptKind.PRE, engine.dag.names[node], status))
    engine.pre_values[node] = status
    engine.check_abort(node, status, "PRE script")
    verdict = outcome.after_pre(
        status,
        pre_skip=engine.dag.pre_skips.get(node),
        has_post=engine.dag.script(node, ScriptKind.POST) is not None,
        always_post=engine.config.always_run_post,
    )
    if verdict is outcome.Next.SUBMIT:
        engine.want_submit(node, first=engine.config.submit_depth_first)
    elif verdict is outcome.Next.POST:
        engine.nodes.values[node] = RETURN_PRE_FAILED
        _want_post(engine, node)
    else:
        how = f"failed with status {status}" if status > 0 else f"died on signal {-status}"
        engine.fail_run(node, status, f"PRE Script {how}")


def _on_submit_failed(engine: Engine, node: int, event: LogEvent) -> None:
    if engine.nodes.states[node] not in (State.READY, State.SUBMIT_NOTED):
        return
    engine.nodes.values[node] = RETURN_SUBMIT_FAILED
    retry = engine.dag.retries.get(node)
    if retry is not None:
        engine.nodes.retries[node] = retry.limit  # a failed submission uses them up (stock rule)
    if engine.dag.script(node, ScriptKind.POST) is not None:
        _want_post(engine, node)
    else:
        engine.ready.discard(node)
        engine.fail(node, f"Job submit failed: {event.text}" if event.text else "Job submit failed")


def _on_adopted(engine: Engine, node: int, event: LogEvent) -> None:
    """An earlier DAGMan found the node's jobs in the queue; their submit event is missing."""
    if engine.nodes.states[node] in (State.READY, State.PRE_WAIT):
        jobs = engine.book.open(node, event.cluster)
        engine.nodes.clusters[node] = event.cluster
        engine.jobs_seen(node)
        engine.book.expect(jobs, range(event.value))


def _on_job_lost(engine: Engine, node: int, event: LogEvent) -> None:
    name = engine.dag.names[node]
    text = (
        f"Node {name} job proc ({event.cluster}.{event.proc}.0) is lost: the schedd does not know"
        " it any more and its end was never logged; it counts as failed"
    )
    if engine.book.by_cluster.get(event.cluster) == node:
        _proc_ended(engine, node, event, None, RETURN_JOB_ABORTED, text)


_HANDLERS: dict[int, Callable[[Engine, int, LogEvent], None]] = {
    EventKind.SUBMIT: _on_submit,
    EventKind.CLUSTER_SUBMIT: _on_submit,
    EventKind.CLUSTER_REMOVE: _on_cluster_removed,
    EventKind.EXECUTE: _on_execute,
    EventKind.JOB_UNSUSPENDED: _on_execute,
    EventKind.JOB_EVICTED: _on_waiting_again,
    EventKind.SHADOW_EXCEPTION: _on_waiting_again,
    EventKind.JOB_SUSPENDED: _on_waiting_again,
    EventKind.JOB_RECONNECT_FAILED: _on_waiting_again,
    EventKind.JOB_HELD: _on_held,
    EventKind.JOB_RELEASED: _on_released,
    EventKind.JOB_TERMINATED: _on_terminated,
    EventKind.JOB_ABORTED: _on_aborted,
    EventKind.POST_SCRIPT_TERMINATED: _on_post_ended,
    EventKind.PRESKIP: _on_pre_skip,
    EventKind.GENERIC: _on_note,
}
