"""What the events of a node's jobs do: submitted, running, held, ended.

An event that doubles an earlier one is said and ignored, unless DAGMAN_ALLOW_EVENTS forbids it.
Job ids in messages are `cluster.proc.subproc`, as tools parse them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_pydagman.engine import (
    endings,
    event_checks,
    final_node,
    hold_scripts,
    outcome,
    provisioner,
    removals,
    retries,
    script_events,
    timeouts,
    tolerance,
)
from condor_pydagman.engine.event_checks import Bad
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import ENDED, Jobs, run_key
from condor_pydagman.engine.node_states import Cause, State
from condor_pydagman.vocabulary import (
    NOOP_CLUSTER,
    RETURN_JOB_ABORTED,
    EventKind,
    ScriptKind,
)

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine


def on_submit(engine: Engine, node: int, event: LogEvent) -> None:
    """A proc, or a cluster with late materialization, is in the queue."""
    _begun_elsewhere(engine, node, event)
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
    elif engine.book.submit_seen(jobs, event.proc):
        timeouts.on_submitted(engine, node, event)
        provisioner.refuse_more_procs(engine, node, len(jobs.procs))
    elif event.cluster != NOOP_CLUSTER:  # ours, which we may write twice
        event_checks.refuse(engine, event, Bad.DOUBLED, "submitted, but it had been before")
        return
    _say_idle(engine)


def _begun_elsewhere(engine: Engine, node: int, event: LogEvent) -> None:
    """Notes of ours say when a delay is over, the PROVISIONER is ready and the FINAL node begins; a
    log of stock DAGMan's shows it by the submission alone."""
    if not engine.recovering or _is_former(engine, node, event):
        return
    retries.start_now(engine, node)
    free = node == engine.final or node in engine.nodes.services
    if engine.provisioner.holds_back(node) and not free:
        provisioner.on_go_ahead(engine, event)
    if node == engine.final:
        final_node.on_started(engine, event)


def _is_former(engine: Engine, node: int, event: LogEvent) -> bool:
    """Whether a submit event is of an earlier run of the node."""
    return run_key(event.cluster, event.subproc) in engine.former.get(node, ())


def _may_be_submitted(engine: Engine, node: int, event: LogEvent) -> bool:
    """Whether a submit event of a cluster that is new to us can be the node's."""
    state = engine.nodes.states[node]
    name = engine.dag.names[node]
    present = event.cluster != NOOP_CLUSTER and event.cluster == engine.nodes.clusters[node]
    if present or _is_former(engine, node, event):
        return False  # a late double of an earlier run's
    if state in (State.READY, State.PRE_WAIT, State.SUBMITTING, State.UNKNOWN):
        return True
    dropped = state == State.WAITING and engine.nodes.waiting[node] == 0
    if dropped and final_node.closes_to(engine, node):  # it was in flight when FINAL began
        engine.nodes.move(node, Cause.NEEDS_SUBMIT, engine.now)
        return True
    if state == State.WAITING and not dropped:
        endings.distrust(engine, node, f"{event.cluster}.{event.proc}.{event.subproc}")
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


def on_execute(engine: Engine, node: int, event: LogEvent) -> None:
    """A proc runs (again)."""
    _set_idle(engine, node, event, False)


def on_waiting_again(engine: Engine, node: int, event: LogEvent) -> None:
    """A proc waits in the queue again."""
    _set_idle(engine, node, event, True)


def _set_idle(engine: Engine, node: int, event: LogEvent, idle: bool) -> None:
    jobs = _jobs(engine, node)
    if jobs is None:
        return
    if jobs.procs.get(event.proc, 0) & ENDED:
        if not idle:
            event_checks.refuse(engine, event, Bad.RUN_AFTER_END, "runs, but it had ended before")
        return
    if event.proc not in jobs.procs:
        event_checks.refuse_if_strict(engine, event, Bad.BEFORE_SUBMIT, "runs before its submit")
    engine.book.set_idle(jobs, event.proc, idle)
    timeouts.on_idle(engine, node, event, idle)
    _say_idle(engine)


def on_held(engine: Engine, node: int, event: LogEvent) -> None:
    """A proc went on hold."""
    jobs = _jobs(engine, node)
    engine.say(f"  Hold reason: {event.text}")
    if jobs is None or jobs.procs.get(event.proc, 0) & ENDED:
        return
    engine.book.set_idle(jobs, event.proc, True)
    if not engine.book.set_held(jobs, event.proc, True):
        return  # a double: it was on hold
    timeouts.on_idle(engine, node, event, True)
    _limit_holds(engine, node, jobs)
    hold_scripts.on_held(engine, node, event.cluster, event.proc)


def _limit_holds(engine: Engine, node: int, jobs: Jobs) -> None:
    """DAGMAN_MAX_JOB_HOLDS: so many procs of a node on hold, and it has failed."""
    limit = engine.config.max_job_holds
    if limit and not jobs.removing and jobs.held >= limit:
        engine.say(
            f"Total hold count for job {jobs.cluster} (node {engine.dag.names[node]})has reached"
            f" DAGMAN_MAX_JOB_HOLDS ({limit}); all job proc(s) for this node will now be removed"
        )
        reason = "DAG Limit: Max number of held jobs was reached."
        removals.remove_rest(engine, jobs, reason)


def on_released(engine: Engine, node: int, event: LogEvent) -> None:
    """A proc is on hold no longer."""
    jobs = _jobs(engine, node)
    hold_scripts.on_hold_no_more(engine, event.cluster, event.proc)
    if jobs is not None:
        engine.book.set_held(jobs, event.proc, False)


def on_terminated(engine: Engine, node: int, event: LogEvent) -> None:
    """A proc ended by itself."""
    name, job = engine.dag.names[node], f"({event.cluster}.{event.proc}.{event.subproc})"
    if event.value == 0:
        text = f"Node {name} job proc {job} completed successfully."
    elif event.value > 0:
        text = f"Node {name} job proc {job} failed with status {event.value}."
    else:
        text = f"Node {name} job proc {job} failed with signal {-event.value}."
    proc_ended(engine, node, event, event.value, event.value, text)


def on_aborted(engine: Engine, node: int, event: LogEvent) -> None:
    """A proc was removed."""
    text = f"Node {engine.dag.names[node]} job proc ({event.cluster}.{event.proc}.0) was removed"
    proc_ended(engine, node, event, None, RETURN_JOB_ABORTED, f"{text}: {event.text}")


def proc_ended(
    engine: Engine, node: int, event: LogEvent, code: int | None, value: int, text: str
) -> None:
    """A proc ended with `code` (None: aborted), `value` for the node; `text` says so."""
    jobs = _jobs(engine, node)
    if jobs is None:
        engine.say(f"Ignoring the end of job {event.cluster}.{event.proc}: its node has gone on")
        return
    if event.proc not in jobs.procs:
        event_checks.refuse_if_strict(engine, event, Bad.BEFORE_SUBMIT, "ended before its submit")
    if not engine.book.end(jobs, event.proc, code, value):
        event_checks.second_end(engine, event, jobs.codes.get(event.proc))
        return
    timeouts.on_ended(engine, event)
    hold_scripts.on_hold_no_more(engine, event.cluster, event.proc)
    _say_idle(engine)
    if value == 0 and jobs.beyond:
        engine.say(text[:-1] + ", but status is STATUS_ERROR")
    engine.say(text)
    _weigh_failure(engine, node, event.proc, code, value)
    if jobs.all_ended and not jobs.factory:
        _cluster_ended(engine, node, jobs)


def _weigh_failure(engine: Engine, node: int, proc: int, code: int | None, value: int) -> None:
    """Whether this end of a proc was one too many, and whether it ends the whole DAG."""
    jobs = engine.book.by_node[node]
    limits = engine.dag.tolerances.get(node)
    too_many = jobs.failed > tolerance.allowed(limits, len(jobs.procs), engine.config)
    if value != 0 and too_many and not jobs.beyond:
        engine.book.give_up(jobs, proc, value)
    post = engine.dag.script(node, ScriptKind.POST)
    if code is not None and post is None and engine.check_abort(node, jobs.value, "job"):
        engine.nodes.returned(node, jobs.value)
    if jobs.beyond and tolerance.removes_the_rest(limits, engine.config) and jobs.unfinished:
        reason = _why_removed(engine, node, jobs)
        removals.remove_rest(engine, jobs, reason, soon=code is not None)


def _why_removed(engine: Engine, node: int, jobs: Jobs) -> str:
    why = f"reached failure tolerance after {jobs.failed} failures."
    if jobs.codes.get(jobs.culprit, 0) is None:
        why = "got ULOG_JOB_ABORTED event."
    return f"Node Error: DAG node {engine.dag.names[node]} ({jobs.job(jobs.culprit)}) {why}"


def on_cluster_removed(engine: Engine, node: int, event: LogEvent) -> None:
    """A cluster with late materialization has left the queue.

    The event's value is not 0 if it had not made all its procs.
    """
    jobs = _jobs(engine, node)
    if jobs is None or not jobs.factory or jobs.cluster != event.cluster:
        return
    jobs.removing = True  # nothing is left to be removed
    for proc in jobs.live():
        text = (
            f"Node {engine.dag.names[node]} job proc ({event.cluster}.{proc}.0) is lost: its"
            " cluster has left the queue and its end was never logged; it counts as failed"
        )
        end = event._replace(proc=proc)
        proc_ended(engine, node, end, None, RETURN_JOB_ABORTED, text)
    if event.value != 0 and not jobs.beyond:
        engine.book.give_up(jobs, event.proc, event.value)
        jobs.error = f"Cluster {event.cluster} left the queue before all its jobs were made"
    _cluster_ended(engine, node, jobs)


def _cluster_ended(engine: Engine, node: int, jobs: Jobs) -> None:
    name = engine.dag.names[node]
    whole = "job completed" if jobs.factory else "job(s) have exited the queue"
    engine.say(f"Node {name} {whole}")
    engine.book.close(node)
    engine.left_queue(node)
    engine.nodes.returned(node, jobs.value)
    engine.record(node, "JOB_FAILURE" if jobs.value else "JOB_SUCCESS", str(jobs.value))
    post = engine.dag.script(node, ScriptKind.POST)
    verdict = outcome.after_jobs(jobs.beyond, has_post=post is not None)
    if verdict is outcome.Next.POST:
        script_events.want_post(engine, node)
    elif verdict is outcome.Next.SUCCEED:
        engine.succeed(node)
    else:
        retries.fail_run(engine, node, jobs.value, _job_error(jobs))


def _job_error(jobs: Jobs) -> str:
    if jobs.error:
        return jobs.error
    job, code = jobs.job(jobs.culprit), jobs.codes[jobs.culprit]
    if code is None:
        return f"HTCondor reported ULOG_JOB_ABORTED event for job proc ({job})"
    if code < 0:
        return f"Job proc ({job}) failed with signal {-code}"
    return f"Job proc ({job}) failed with status {code}"
