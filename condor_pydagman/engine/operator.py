"""Requests of people to a running DAG: halt, pause, resume, new throttles.

Halted: no submissions, no PRE scripts; what is in the queue goes on, POST scripts run.  Paused: no
POST scripts either.  The halt file and commands halt independently: the DAG goes on when neither
wants it halted any more.  The FINAL node runs in any case.  A halted DAG that has nothing left to
wait for ends, with a rescue file (manual: "Suspending a Running DAG").
"""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle, present_run, rules, run_end, throttles
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import Halt, LimitsWanted, LogEvent, Resume
from condor_pydagman.engine.node_states import NEEDS_A_START, Cause, State
from condor_pydagman.engine.state import RunState
from condor_pydagman.timers import DRAINED_GRACE_S
from condor_pydagman.vocabulary import SHARED_CLUSTER, JournalRecord


def on_halt(run: RunState, halt: Halt) -> None:
    """Start nothing more."""
    before = run.halted
    if halt.restored:
        run.say("Restoring halted state.")
    elif halt.pause and run.halt.paused:
        run.say("DAG Pause: Already-paused DAG")
    elif halt.pause:
        run.say("DAG Pause: Freezing all work...")
    elif run.halt.by_command or run.halt.by_file or run.halt.by_rule:
        run.say("DAGMan is already halted")
    else:
        run.say("Halting DAGMan progess...")  # the spelling that others look for
    if halt.reason:
        run.say(f"{'Pause' if halt.pause else 'Halt'} reason: {halt.reason}")
    if halt.pause:
        run.halt.set(paused=True)
        run.halt.drained_at = None  # a paused DAG does not end
    elif halt.file:
        run.halt.set(by_file=True)
    else:
        run.halt.set(by_command=True)
    _publish_halt(run, before)


def on_resume(run: RunState, resume: Resume) -> None:
    """Resume, unless the DAG is halted for another reason as well."""
    paused, halted = run.halt.paused, run.halt.by_command or run.halt.by_file
    if resume.file:
        run.halt.set(by_file=False)
    else:
        run.halt.set(by_command=False, paused=False)
    if paused and not run.halt.paused:
        run.say("DAG Un-Pause: Resuming work...")
    if halted and not run.halted:
        run.say("Resuming DAG progress...")
    if resume.reason:
        run.say(f"Resume reason: {resume.reason}")
    if run.halted:
        what = _what_else_halts(run, resume)
        if what:
            run.say(f"The DAG stays halted by {what}")
    else:
        run.halt.drained_at = None
    _publish_halt(run, halted or paused or run.halt.by_rule)


def _what_else_halts(run: RunState, resume: Resume) -> str:
    """What keeps the DAG halted though a person, or the halt file, does not any more."""
    if not resume.file:
        return "the halt file" if run.halt.by_file else ""
    return "a command to halt" if run.halt.by_command or run.halt.paused else "a brake"


def halt_by_rule(run: RunState, reason: str) -> None:
    """The DAG itself asks for a halt: as by a command, but that the nodes log has it, not the job
    ad."""
    before = run.halted
    run.halt.set(by_rule=True)
    if not run.recovering:
        run.say("DAGMan is already halted" if before else "Halting DAGMan progess...")
        run.say(f"Halt reason: {reason}")
    _publish_halt(run, before)


def end_halt_by_rule(run: RunState) -> None:
    """A person has ended what the DAG asks for."""
    before = run.halted
    run.halt.set(by_rule=False)
    if before and not run.halted:
        run.halt.drained_at = None
        if not run.recovering:
            run.say("Resuming DAG progress...")
    _publish_halt(run, before)


def _publish_halt(run: RunState, before: bool) -> None:
    """The job ad is due before a client is told that it is done; in recovery mode, at its end."""
    if run.halted != before and run.phase not in (Phase.STARTING, Phase.RECOVERING):
        run.emit(do.Publish(at_once=True))


def end_if_drained(run: RunState) -> None:
    """End a halted DAG if nothing has run for a while that could make it go on."""
    if not _is_drained(run):
        run.halt.drained_at = None
    elif run.halt.drained_at is None:
        run.halt.drained_at = run.now
    elif run.now >= run.halt.drained_at + DRAINED_GRACE_S:
        run.say("Exiting because DAG is halted and no jobs or scripts are running")
        run.emit(do.SayFailed())
        run_end.request_end(run, rules.DRAINED)


def next_drained_deadline(run: RunState) -> float | None:
    """When a halted DAG is to end."""
    return None if run.halt.drained_at is None else run.halt.drained_at + DRAINED_GRACE_S


def _is_drained(run: RunState) -> bool:
    if not run.starts_nothing or run.halt.paused or run.submission.in_flight:
        return False
    if any(goes_on(True) for goes_on in run.hooks.under_way):
        return False
    counts = run.nodes.counts
    busy = sum(counts[state] for state in State if state not in NEEDS_A_START)
    busy -= counts[State.DONE] + counts[State.FAILED] + counts[State.FUTILE]
    unstarted = sum(counts[state] for state in NEEDS_A_START) - run.final_waits
    more = unstarted > 0 or any(incomplete() for incomplete in run.hooks.why_incomplete)
    return busy == 0 and more


# Throttles.


def on_wanted(run: RunState, wanted: LimitsWanted) -> None:
    """Other throttles are requested: they count from now on, capped by the administrator's."""
    old, new = run.limits, throttles.changed(run.limits, wanted, run.config, run.admin)
    run.set_limits(new)
    run.emit(do.PublishLimits())
    fewer = new.jobs and (new.jobs < old.jobs or not old.jobs)
    replayed = run.phase in (Phase.RUNNING, Phase.FINISHING)  # else much of it may have ended
    if fewer and replayed and run.config.remove_jobs_after_limit_change:
        _remove_surplus(run)


def _remove_surplus(run: RunState) -> None:
    """Remove the youngest jobs beyond -MaxJobs; their nodes get a retry for it (stock rule).

    That is written into the log, and done when the record is read.
    """
    ordinary = [
        node
        for node in run.nodes.in_state(State.SUBMITTED)
        if run.is_ordinary(node) and run.nodes.clusters[node] > 0 and node in run.job_table.by_node
    ]
    ordinary.sort(key=lambda node: run.nodes.clusters[node])
    for node in ordinary[run.limits.jobs :]:
        retry, jobs = run.nodes.retries.get(node, 0), run.job_table.by_node[node]
        text = "" if jobs.only is None else SHARED_CLUSTER
        run.journal(
            node,
            do.AppendJournalRecord(JournalRecord.SURPLUS, node, retry, 0, *jobs.target, text),
        )


def on_surplus(run: RunState, node: int, event: LogEvent) -> None:
    """The record has been read: the node gets a retry more, its jobs are removed."""
    lifecycle.restore_dropped(run, node, Cause.NEEDS_SUBMIT)
    if run.nodes.states[node] in (State.READY, State.PRE_WAIT):
        # In an old log the submit event may come later.
        only = present_run.proc_in_shared(event)
        lifecycle.open_cluster(run, node, event.cluster, only=only)
    jobs = run.job_table.by_node.get(node)
    in_queue = run.nodes.states[node] == State.SUBMITTED
    if in_queue and jobs is not None and jobs.cluster == event.cluster and not jobs.removing:
        lifecycle.grant_retry(run, node)
        jobs.set_surplus()
        reason = "DAG Limit: Max number of submitted nodes was reached."
        lifecycle.remove_rest(run, jobs, reason)
