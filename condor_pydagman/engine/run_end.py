"""How a run ends: before its time, or since no node can go on; and the FINAL node.

    rescue file -> jobs removed, scripts killed -> FINAL node, if there is one -> last lines, exit

The rescue file is always written before jobs are removed; if it can't be written, jobs and lock
file stay for the next start.  All ways to end but `shut_down` and `end_on_foreign_log` remove the
lock file, since a later start has nothing to recover.

The FINAL node runs once, after everything else, whatever the result of the others.  It begins with
a record in the nodes log, so that a restart knows that nothing else may start any more.  If it
succeeds, the run counts as a success whatever came before (manual: "FINAL node").
"""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle, rules
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import (
    AppendFailed,
    DagRemoved,
    LogBroken,
    LogEvent,
    RescueWritten,
    Shutdown,
)
from condor_pydagman.engine.node_states import (
    ENDED,
    IN_SCRIPT,
    NEEDS_A_START,
    UNWANTED,
    Cause,
    State,
)
from condor_pydagman.engine.rules import ABORT_REASON, Ending
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.graph.cycle import cycle_refusal, find_cycle
from condor_pydagman.timers import FINAL_TIMEOUT_S
from condor_pydagman.vocabulary import EXIT_RESTART, DagStatus, JournalRecord

_SERVICE_REASON = "Removed by DAGMan"


# The run is to end.


def request_end(run: RunState, ending: Ending) -> None:
    """The run is to end so.  What comes when it ends already changes nothing any more, unless it
    leaves no time for the FINAL node."""
    if not ending.final or not run.is_over:
        run.end.wanted = ending


def check_abort(run: RunState, node: int, value: int, source: str) -> bool:
    """ABORT-DAG-ON: whether `value` ends the whole DAG; `source` is where it came from."""
    abort = run.dag.aborts.get(node)
    if abort is None or not rules.aborts(abort, value):
        return False
    if run.is_over or run.nodes.marks[node] & UNWANTED:
        return False
    name = run.dag.names[node]
    run.say(
        f"Aborting DAG because we got the ABORT exit value from a {source}"
        f" (node {name}, value {value})"
    )
    request_end(run, rules.ending_of_abort(abort, value))
    return True


def on_dag_removed(run: RunState, removed: DagRemoved) -> None:
    """The DAGMan job was removed, or the DAG is to end as if it were."""
    run.say(f"{removed.by} ends the DAG" if removed.by else "Received SIGUSR1", 0)
    request_end(run, rules.REMOVED_AGAIN if run.final_begun else rules.REMOVED)


def on_append_failed(run: RunState, failed: AppendFailed) -> None:
    """An event of DAGMan's own could not be written to the nodes log."""
    run.say(f"ERROR: can't write to the nodes log: {failed.reason}", 0)
    request_end(run, rules.APPEND_FAILED)


def on_log_broken(run: RunState, broken: LogBroken) -> None:
    """The nodes log can't be followed any more."""
    run.say(f"ERROR: DAGMan exiting due to error in log file: {broken.reason}", 0)
    request_end(run, rules.LOG_BROKEN)
    if run.recovering:
        run.enter(Phase.RECONCILING)


def end_if_wanted(run: RunState) -> bool:
    """End the run if it is to end; a FINAL node needs to know first what is in the queue, and a
    rescue file what nodes have come to."""
    ending = run.end.wanted
    if ending is None:
        return False
    if run.phase is Phase.RECONCILING and ending.final and run.final_waits:
        return False
    if run.phase is not Phase.RECONCILING and any(wait() for wait in run.hooks.before_end):
        return True
    end(run, ending)
    return True


def end(run: RunState, ending: Ending) -> None:
    """End now; begins with the rescue file."""
    run.end.wanted, run.end.begun = None, ending
    if ending.status is not DagStatus.OK or run.status is not DagStatus.OK:
        run.set_status(ending.status)
    run.say("Aborting DAG...")
    if ending.rescue and run.config.max_rescue_num > 0 and run.mode is not Mode.DRY_RUN:
        run.end.rescue_asked = True
        run.emit(do.WriteRescue())
    else:
        _remove_jobs_and_scripts(run, ending)


def on_rescue_written(run: RunState, answer: RescueWritten) -> None:
    """The rescue file is there, or it can't be written: then nothing is removed."""
    if not run.end.rescue_asked:
        return
    run.end.rescue_asked = False
    assert run.end.begun is not None
    if not answer.error:
        _remove_jobs_and_scripts(run, run.end.begun)
        return
    run.say(
        f"ERROR: {answer.error}. DAGMan leaves the jobs alone and keeps its lock file: started"
        " again, it recovers from its nodes log",
        0,
    )
    run.emit(do.KillScripts())
    shut_down(run)


def _removes_jobs(run: RunState, ending: Ending) -> bool:
    """Whether this way to end removes the DAG's jobs."""
    return ending.status is not DagStatus.RM or run.config.remove_node_jobs


def _scripts_run(run: RunState) -> bool:
    """Whether any script runs."""
    running = (run.nodes.count_all(state) for state in (State.PRE_RUN, State.POST_RUN))
    return any(running) or run.scripts.hold.running > 0


def _remove_jobs_and_scripts(run: RunState, ending: Ending) -> None:
    """Remove jobs, kill scripts; then it is the FINAL node's turn."""
    with_final = ending.final and run.final_waits
    run.say("Removing submitted jobs...", 2)  # said in any case, as by stock
    if _removes_jobs(run, ending):
        run.say("Removing any/all submitted HTCondor jobs...", 2)
        run.emit(do.RemoveJobs(ending.reason, spare_services=with_final))
    if _scripts_run(run):
        run.say("Removing running scripts...", 2)
    run.emit(do.KillScripts(answered=with_final))
    if with_final:
        _journal_final(run, ending.code)
    else:
        _exit(run, ending.code, _outcome(run, ending))


def remove_again(run: RunState, clusters: set[int]) -> None:
    """Remove what was to be removed before the FINAL node began: the DAGMan before may have left
    before the schedd heard of it.  `clusters` are in the queue and not being removed."""
    ending = run.end.begun
    if ending is None or not _removes_jobs(run, ending):
        return
    for node, jobs in run.job_table.by_node.items():
        if jobs.cluster in clusters and jobs.unfinished and run.is_ordinary(node):
            lifecycle.remove_rest(run, jobs, ending.reason)


def _outcome(run: RunState, ending: Ending) -> str:
    """What is published: an abort as a success is one only if no node was left (stock rule)."""
    counts = run.nodes.counts
    ended = counts[State.DONE] + counts[State.FAILED] + counts[State.FUTILE]
    return "aborted" if ending.outcome == "success" and ended < run.nodes.total else ending.outcome


# No node can go on.


def end_if_finished(run: RunState) -> None:
    """End if no node can go on any more."""
    if run.phase is Phase.FINISHING:
        _end_if_final_is_over(run)
        return
    counts, total = run.nodes.counts, run.nodes.total
    ended = counts[State.DONE] + counts[State.FAILED] + counts[State.FUTILE]
    if (
        counts[State.WAITING] + ended < total
        or run.submission.in_flight
        or _service_is_awaited(run)
        or (run.hooks.under_way and any(goes_on(False) for goes_on in run.hooks.under_way))
    ):
        return
    others = total - 1 if run.final_waits else total
    why = next(filter(None, (incomplete() for incomplete in run.hooks.why_incomplete)), "")
    if why:
        _end_incomplete(run, why)
    elif counts[State.DONE] == others:
        _end_well(run, call_final=others < total)
    elif counts[State.FAILED]:
        run.emit(do.SayFailed())
        end(run, Ending(1, run.shown_status, "failed", ABORT_REASON))
    else:
        _end_with_cycle(run)


def _end_incomplete(run: RunState, why: str) -> None:
    """A rescue DAG goes on."""
    run.say(f"ERROR: the DAG is not complete, since {why}", 0)
    run.emit(do.SayFailed())
    status = run.shown_status
    status = DagStatus.ERROR if status is DagStatus.OK else status
    end(run, Ending(1, status, "failed", ABORT_REASON))


def _service_is_awaited(run: RunState) -> bool:
    """Whether a script of a SERVICE node runs, or its job may be in the queue unknown to us."""
    counts = run.nodes.service_counts
    return any(counts[state] for state in (*IN_SCRIPT, State.UNKNOWN))


def _end_well(run: RunState, *, call_final: bool) -> None:
    if call_final:
        _journal_final(run, 0)
        return
    for node in run.nodes.services:  # they run until all others have ended
        jobs = run.job_table.by_node.get(node)
        if jobs is not None and jobs.cluster > 0 and jobs.unfinished:
            run.emit(do.RemoveJobs(_SERVICE_REASON, jobs.cluster))
    run.say("All jobs Completed!")
    _exit(run, 0, "success")


def _end_with_cycle(run: RunState) -> None:
    run.say("ERROR: DAG finished but not all nodes are complete -- checking for a cycle...", 0)
    cycle = find_cycle(run.dag)
    if cycle is None:
        run.say("... ERROR: no cycle found; unknown error condition", 0)
        status = DagStatus.ERROR
    else:
        run.say(f"... ERROR: {cycle_refusal(run.dag, cycle)}", 0)
        status = DagStatus.CYCLE
    run.emit(do.SayFailed())
    end(run, Ending(1, status, "cycle" if cycle else "failed", ABORT_REASON))


# The FINAL node.


def _journal_final(run: RunState, code: int) -> None:
    """Everything else is over: write into the log that the FINAL node begins.

    `code` is the exit code that the run would have without it.
    """
    assert run.final is not None
    run.enter(Phase.FINISHING)
    outcome = run.end.begun.outcome if run.end.begun is not None else "success"
    text = f"{run.shown_status.name} {outcome}"
    run.journal(
        run.final,
        do.AppendJournalRecord(JournalRecord.FINAL_STARTED, run.final, 0, code, text=text),
    )


def on_final_started(run: RunState, event: LogEvent) -> None:
    """The record has been read: begin.  A log without one (stock's) shows the node's events."""
    if not run.final_waits:
        return
    assert run.final is not None
    name, _, outcome = event.text.partition(" ")
    wanted, run.end.wanted = run.end.wanted, None
    status = DagStatus.__members__.get(name, wanted.status if wanted else run.shown_status)
    if run.recovering or status is not DagStatus.OK:
        run.set_status(status)
    if wanted is not None and wanted != rules.REMOVED and wanted.status is not status:
        wanted = None  # an abort that was read when the run had ended otherwise
    if run.end.begun is None and (wanted is not None or status is not DagStatus.OK):
        run.end.begun = wanted or Ending(event.value, status, outcome, ABORT_REASON)
    _drop_ready(run)
    run.say_start("Starting final node...")
    lifecycle.start(run, run.final)


def _drop_ready(run: RunState) -> None:
    """What waits for its turn is not started any more; POST scripts still are."""
    run.ready.clear()
    run.categories.clear()
    run.save_points.clear()
    run.scripts.pre.clear()
    for node in list(run.nodes.in_state(State.RETRY_WAIT, State.READY)):
        run.retrying.queue.discard(node)
        run.nodes.move(node, Cause.DROPPED, run.now)
        run.nodes.not_failed(node)  # a parent may have failed since it was ready


def _end_if_final_is_over(run: RunState) -> None:
    """End the run if the FINAL node has ended, and so has what was removed before it began."""
    assert run.final is not None
    state = run.nodes.states[run.final]
    if state not in ENDED:
        return
    if run.end.final_ended_at is None:
        run.end.final_ended_at = run.now
    waited = run.now >= run.end.final_ended_at + FINAL_TIMEOUT_S
    if waited or not _others_busy(run):
        _after_final(run, succeeded=state == State.DONE)


def _after_final(run: RunState, *, succeeded: bool) -> None:
    """The FINAL node has ended, and decides how the run does (stock rule)."""
    if succeeded:
        _end_well(run, call_final=False)
        return
    run.emit(do.SayFailed())
    before = run.end.begun or Ending(1, run.status, "failed", ABORT_REASON)
    outcome = "aborted" if before.status is DagStatus.ABORT else "failed"
    end(run, Ending(1, run.status, outcome, before.reason, final=False))


def next_final_deadline(run: RunState) -> float | None:
    """When the run ends though others than the FINAL node have not."""
    return None if run.end.final_ended_at is None else run.end.final_ended_at + FINAL_TIMEOUT_S


def _others_busy(run: RunState) -> bool:
    """Whether removed jobs, or scripts, are still to end.

    A POST script that could not be started for a strict warning never will be.
    """
    counts = run.nodes.counts
    at_rest = sum(counts[state] for state in (*NEEDS_A_START, *ENDED, State.GROWING))
    if not run.scripts.post.nodes:
        at_rest += counts[State.POST_WAIT]
    if run.end.begun is not None and not _removes_jobs(run, run.end.begun):
        at_rest += counts[State.SUBMITTED]  # they are not even asked to end
    return at_rest < run.nodes.total


# Last steps.


def on_shutdown(run: RunState, leaving: Shutdown) -> None:
    """DAGMan is to exit, and to recover at its next start."""
    run.say(leaving.reason, 0)
    shut_down(run)


def shut_down(run: RunState) -> None:
    """Exit and leave everything as it is: jobs, results of scripts that run, the lock file."""
    run.emit(do.SayStatus())
    run.emit(do.Publish(final=True, outcome="held"))
    run.emit(do.Exit(EXIT_RESTART, keep_lock=True))
    run.enter(Phase.ENDED)


def end_on_foreign_log(run: RunState, node: int, job: str) -> None:
    """The nodes log is not that of this DAG: `job` is of a node whose parents have not ended.

    The log and the lock file are kept for a person to examine; the next start ends with the same
    message (stock rule).  Who only follows the log is told, and goes on without the event.
    """
    if run.mode is Mode.FOLLOW:
        run.log.can_not_be(node, job)
        return
    name = run.dag.names[node]
    run.say(
        f"Error: DAG semantics violated! Node {name} was submitted but has unfinished parents!", 0
    )
    run.say(
        "This may indicate log file corruption; you may want to check the log files and re-run the"
        f" DAG in recovery mode by giving the command 'condor_submit {run.dag.files[0]}"
        ".condor.sub'",
        0,
    )
    run.emit(do.SayFailed(node=node, job=job))
    run.emit(do.KillScripts())
    run.emit(do.Exit(1, keep_lock=True, concluded=False))
    run.enter(Phase.ENDED)


def _exit(run: RunState, code: int, outcome: str) -> None:
    run.emit(do.SayDeferrals())
    run.emit(do.SayStatus())
    run.emit(do.Publish(final=True, outcome=outcome))
    run.emit(do.Exit(code))
    run.enter(Phase.ENDED)
