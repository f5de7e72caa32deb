"""What the events of a node's jobs do: submitted, running, held, ended.

An impossible event (doubled, too late, too early) does no harm, since the engine keeps the state of
every proc in the job table; so by default it is logged and ignored.  Whoever sets
DAGMAN_ALLOW_EVENTS gets stock DAGMan's strictness: a bad event that is not allowed ends the DAG,
with a rescue file.  Job ids in messages are `cluster.proc.subproc`, as tools parse them.
"""

from __future__ import annotations

from condor_pydagman.engine import lifecycle, present_run, provisioner, rules, run_end, scripts
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import ENDED, SEEN, Change, Jobs
from condor_pydagman.engine.node_states import CANCELLED, STOPPED, Cause, State
from condor_pydagman.engine.rules import BadEvent
from condor_pydagman.engine.state import RunState
from condor_pydagman.vocabulary import (
    JOB_ENDS,
    NOOP_CLUSTER,
    RETURN_JOB_ABORTED,
    EventKind,
    ScriptKind,
)


def on_submit(run: RunState, node: int, event: LogEvent) -> None:
    """A proc, or a cluster with late materialization, is in the queue."""
    _begin_without_record(run, node, event)
    state = run.nodes.states[node]
    jobs = run.job_table.by_node.get(node)
    if jobs is None or jobs.cluster != event.cluster or jobs.subproc != event.subproc:
        if not _may_be_submitted(run, node, event):
            return
        if event.cluster == NOOP_CLUSTER:
            run.noop_ids.seen(event.subproc, node)
        only = present_run.proc_in_shared(event)
        if only is None:  # the log may have lost that part of the event
            only = run.job_table.only_proc(event.cluster, event.proc)
        jobs = lifecycle.open_cluster(run, node, event.cluster, event.subproc, only=only)
    elif state != State.SUBMITTED:
        return  # a late double of a cluster that ended
    if event.kind == EventKind.CLUSTER_SUBMIT:
        jobs.set_factory()
    elif run.job_table.submit_seen(jobs, event.proc, SEEN if event.node else 0):
        for job_event in run.hooks.job_event:
            job_event(node, event, Change.SUBMITTED)
        provisioner.refuse_more_procs(run, node, len(jobs.procs))
        if run.recovering and run.starts.most and len(jobs.procs) == 1:
            run.starts.started(min(event.time, run.now))
    elif event.subproc <= 0:  # else it is ours, which we may write twice
        _refuse(run, event, BadEvent.DOUBLED, "submitted, but it had been before")
        return
    _say_idle(run)


def _begin_without_record(run: RunState, node: int, event: LogEvent) -> None:
    """Records of ours say when a delay is over, the PROVISIONER is ready and the FINAL node begins;
    a log of stock DAGMan's shows it by the submission alone."""
    if not run.recovering or present_run.is_of_previous_run(
        run, node, event.cluster, event.subproc
    ):
        return
    lifecycle.start_retry_now(run, node)
    free = node == run.final or node in run.nodes.services
    if run.provisioner.holds_back(node) and not free:
        provisioner.on_go_ahead(run)
    if node == run.final:
        run_end.on_final_started(run, event)


def _may_be_submitted(run: RunState, node: int, event: LogEvent) -> bool:
    """Whether a submit event of a cluster that is new to us can be the node's."""
    state = run.nodes.states[node]
    name = run.dag.names[node]
    present = event.cluster != NOOP_CLUSTER and event.cluster == run.nodes.clusters[node]
    if present or present_run.is_of_previous_run(run, node, event.cluster, event.subproc):
        return False  # a late double of an earlier run's
    if state in (State.READY, State.PRE_WAIT, State.SUBMITTING, State.UNKNOWN):
        return True
    if state == State.SUBMITTED and node not in run.job_table.by_node:
        return True  # it was in the queue in a job that is not its own
    dropped = state == State.WAITING and run.nodes.may_start(node)
    if dropped and run.is_closed_to(node):  # it was in flight when FINAL began
        run.nodes.move(node, Cause.NEEDS_SUBMIT, run.now)
        return True
    if state == State.WAITING and not dropped:
        run_end.end_on_foreign_log(run, node, f"{event.cluster}.{event.proc}.{event.subproc}")
    else:
        run.say(
            f"Warning: unexpected submit event of job {event.cluster}.{event.proc} for node {name},"
            f" which is {State(state).name}: ignoring it"
        )
    return False


def _jobs(run: RunState, node: int) -> Jobs | None:
    """The node's jobs, if they are in the queue as far as we know."""
    return run.job_table.by_node.get(node) if run.nodes.states[node] == State.SUBMITTED else None


def _say_idle(run: RunState) -> None:
    if not run.silent:
        run.say(f"Number of idle job procs: {run.job_table.idle}")


def on_execute(run: RunState, node: int, event: LogEvent) -> None:
    """A proc runs (again)."""
    _set_idle(run, node, event, False)


def on_waiting_again(run: RunState, node: int, event: LogEvent) -> None:
    """A proc waits in the queue again."""
    _set_idle(run, node, event, True)


def _set_idle(run: RunState, node: int, event: LogEvent, idle: bool) -> None:
    jobs = _jobs(run, node)
    if jobs is None:
        return
    if jobs.procs.get(event.proc, 0) & ENDED:
        if not idle:
            _refuse(run, event, BadEvent.RUN_AFTER_END, "runs, but it had ended before")
        return
    if event.proc not in jobs.procs:
        _refuse_if_strict(run, event, BadEvent.BEFORE_SUBMIT, "runs before its submit")
    run.job_table.set_idle(jobs, event.proc, idle)
    if idle:
        run.log.job_times.started.pop(event[1:4], None)
    else:
        run.log.job_times.started[event[1:4]] = event.time
    for job_event in run.hooks.job_event:
        job_event(node, event, Change.IDLE if idle else Change.RUNS)
    _say_idle(run)


def on_held(run: RunState, node: int, event: LogEvent) -> None:
    """A proc went on hold."""
    jobs = _jobs(run, node)
    run.say(f"  Hold reason: {event.text}")
    if jobs is None or jobs.procs.get(event.proc, 0) & ENDED:
        return
    run.job_table.set_idle(jobs, event.proc, True)
    run.log.job_times.started.pop(event[1:4], None)
    if not run.job_table.set_held(jobs, event.proc, True):
        return  # a double: it was on hold
    for job_event in run.hooks.job_event:
        job_event(node, event, Change.HELD)
    if not event.text.startswith(run.hooks.own_holds):
        _limit_holds(run, node, jobs)
    scripts.on_held(run, node, event.cluster, event.proc)


def _limit_holds(run: RunState, node: int, jobs: Jobs) -> None:
    """DAGMAN_MAX_JOB_HOLDS: so many procs of a node on hold, and it has failed."""
    limit = run.config.max_job_holds
    if limit and not jobs.removing and jobs.held >= limit:
        run.say(
            f"Total hold count for job {jobs.cluster} (node {run.dag.names[node]})has reached"
            f" DAGMAN_MAX_JOB_HOLDS ({limit}); all job proc(s) for this node will now be removed"
        )
        reason = "DAG Limit: Max number of held jobs was reached."
        lifecycle.remove_rest(run, jobs, reason)


def on_released(run: RunState, node: int, event: LogEvent) -> None:
    """A proc is on hold no longer."""
    jobs = _jobs(run, node)
    if run.scripts.hold.logged:
        run.scripts.hold.released(event.cluster, event.proc)
    if jobs is not None:
        run.job_table.set_held(jobs, event.proc, False)
        for job_event in run.hooks.job_event:
            job_event(node, event, Change.RELEASED)


def on_terminated(run: RunState, node: int, event: LogEvent) -> None:
    """A proc ended by itself."""
    if event.value == 0:
        how = "completed successfully."
    elif event.value > 0:
        how = f"failed with status {event.value}."
    else:
        how = f"failed with signal {-event.value}."
    proc_ended(run, node, event, event.value, event.value, how)


def on_aborted(run: RunState, node: int, event: LogEvent) -> None:
    """A proc was removed."""
    proc_ended(run, node, event, None, RETURN_JOB_ABORTED, f"was removed: {event.text}")


def proc_ended(
    run: RunState, node: int, event: LogEvent, code: int | None, value: int, how: str
) -> None:
    """A proc ended with `code` (None: aborted), `value` for the node; `how` says so."""
    jobs, times = _jobs(run, node), run.log.job_times
    started = times.started.pop(event[1:4], event.time)
    if jobs is None:
        run.say(f"Ignoring the end of job {event.cluster}.{event.proc}: its node has gone on")
        return
    if event.proc not in jobs.procs:
        _refuse_if_strict(run, event, BadEvent.BEFORE_SUBMIT, "ended before its submit")
    if not (run.recovering or jobs.is_shown(event.proc)):
        present_run.record_adopted(run, node, jobs)
    if not run.job_table.end(jobs, event.proc, code, value):
        _refuse_second_end(run, event, jobs.codes.get(event.proc))
        return
    if value != 0 and started < event.time:
        times.wasted += event.time - started
    for job_event in run.hooks.job_event:
        job_event(node, event, Change.ENDED)
    if run.scripts.hold.holds:
        run.scripts.hold.forget(event.cluster, event.proc)
    _say_idle(run)
    if not run.silent:
        job = f"({event.cluster}.{event.proc}.{jobs.subproc})"
        text = f"Node {run.dag.names[node]} job proc {job} {how}"
        if value == 0 and jobs.tolerance_exceeded:
            run.say(text[:-1] + ", but status is STATUS_ERROR")
        run.say(text)
    _judge_failure(run, node, event.proc, code, value)
    if jobs.all_ended and not jobs.factory:
        _cluster_ended(run, node, jobs)


def _judge_failure(run: RunState, node: int, proc: int, code: int | None, value: int) -> None:
    """Whether this end of a proc was one too many, and whether it ends the whole DAG."""
    jobs = run.job_table.by_node[node]
    limits = run.dag.tolerances.get(node)
    if value != 0 and not jobs.tolerance_exceeded:
        default = run.config.node_job_failure_tolerance
        if jobs.failed > rules.failures_allowed(limits, len(jobs.procs), default):
            run.job_table.exceed_tolerance(jobs, proc, value)
    if code is not None and node in run.dag.aborts:
        post = run.dag.script(node, ScriptKind.POST)
        if post is None and run_end.check_abort(run, node, jobs.value, "job"):
            run.nodes.returned(node, jobs.value)
    if jobs.tolerance_exceeded and rules.removes_the_rest(limits, run.config) and jobs.unfinished:
        reason = _why_removed(run, node, jobs)
        lifecycle.remove_rest(run, jobs, reason, soon=code is not None)


def _why_removed(run: RunState, node: int, jobs: Jobs) -> str:
    why = f"reached failure tolerance after {jobs.failed} failures."
    if jobs.codes.get(jobs.failed_proc, 0) is None:
        why = "got ULOG_JOB_ABORTED event."
    return f"Node Error: DAG node {run.dag.names[node]} ({jobs.job(jobs.failed_proc)}) {why}"


def on_cluster_removed(run: RunState, node: int, event: LogEvent) -> None:
    """A cluster with late materialization has left the queue.

    The event's value is not 0 if it had not made all its procs.
    """
    jobs = _jobs(run, node)
    if jobs is None or not jobs.factory or jobs.cluster != event.cluster:
        return
    jobs.set_removing()  # nothing is left to be removed
    for proc in jobs.live():
        how = (
            "is lost: its cluster has left the queue and its end was never logged; it counts as"
            " failed"
        )
        end = event._replace(proc=proc)
        proc_ended(run, node, end, None, RETURN_JOB_ABORTED, how)
    if event.value != 0 and not jobs.tolerance_exceeded:
        error = f"Cluster {event.cluster} left the queue before all its jobs were made"
        run.job_table.exceed_tolerance(jobs, event.proc, event.value, error)
    _cluster_ended(run, node, jobs)


def _cluster_ended(run: RunState, node: int, jobs: Jobs) -> None:
    name = run.dag.names[node]
    whole = "job completed" if jobs.factory else "job(s) have exited the queue"
    run.say(f"Node {name} {whole}")
    run.job_table.close(node)
    lifecycle.leave_queue(run, node)
    if run.submission.is_full:
        run.pace.hurry(run.now)
    run.nodes.returned(node, jobs.value)
    if run.dag.jobstate_log:
        run.jobstate(node, "JOB_FAILURE" if jobs.value else "JOB_SUCCESS", str(jobs.value))
    if not (jobs.failed or jobs.tolerance_exceeded or node in run.dag.scripts):
        lifecycle.succeed(run, node)
        return
    post = run.dag.script(node, ScriptKind.POST)
    cancelled = run.nodes.marks[node] & CANCELLED and jobs.failed > 0  # whatever is tolerated
    stopped = run.nodes.marks[node] & STOPPED and jobs.failed > 0
    verdict = rules.after_jobs(
        bool(jobs.tolerance_exceeded or cancelled or stopped),
        has_post=post is not None and not stopped,
    )
    if (cancelled or stopped) and verdict is rules.NextStep.FAIL:
        lifecycle.fail_run(run, node, jobs.value, "its jobs were removed")
    elif verdict is rules.NextStep.POST:
        lifecycle.need_post(run, node)
    elif verdict is rules.NextStep.SUCCEED:
        lifecycle.succeed(run, node)
    else:
        lifecycle.fail_run(run, node, jobs.value, _job_error(jobs))


def _job_error(jobs: Jobs) -> str:
    if jobs.error:
        return jobs.error
    job, code = jobs.job(jobs.failed_proc), jobs.codes[jobs.failed_proc]
    if code is None:
        return f"HTCondor reported ULOG_JOB_ABORTED event for job proc ({job})"
    if code < 0:
        return f"Job proc ({job}) failed with signal {-code}"
    return f"Job proc ({job}) failed with status {code}"


# Events that can't be.


def _refuse(run: RunState, event: LogEvent, bad: BadEvent, what: str) -> None:
    """Say that an event is ignored, and end the DAG if it is not allowed."""
    job = f"({event.cluster}.{event.proc}.{event.subproc})"
    text = f"BAD EVENT: job {job} {what}"
    if rules.is_allowed(bad, run.config.allow_events):
        run.say(f"{text}: ignoring it")
        return
    run.say(f"ERROR: aborting DAG because of bad event ({text})", 0)
    run_end.request_end(run, rules.BAD_EVENT)


def _refuse_if_strict(run: RunState, event: LogEvent, bad: BadEvent, what: str) -> None:
    """As `refuse`, of an event that is not ignored where it is allowed: it says more than it is
    wrong."""
    if not rules.is_allowed(bad, run.config.allow_events):
        _refuse(run, event, bad, what)


def _refuse_second_end(run: RunState, event: LogEvent, before: int | None) -> None:
    """A proc that has ended with `before` (None: aborted) ends once more."""
    aborted = event.kind == EventKind.JOB_ABORTED
    if aborted and before is None:
        bad = BadEvent.DOUBLED
    elif aborted or before is None:
        bad = BadEvent.TERMINATED_AND_ABORTED
    else:
        bad = BadEvent.TERMINATED_TWICE
    _refuse(run, event, bad, "ended, but it had ended before")


def on_unmatched(run: RunState, event: LogEvent) -> None:
    """An event of no cluster that is in the queue: one that has ended may not go on."""
    jobs = run.job_table.ended(event.cluster, event.proc)
    if jobs is None or not jobs.procs.get(event.proc, 0) & ENDED:
        return
    if event.kind in JOB_ENDS:
        _refuse_second_end(run, event, jobs.codes.get(event.proc))
    elif event.kind == EventKind.EXECUTE:
        _refuse(run, event, BadEvent.RUN_AFTER_END, "runs, but it had ended before")
