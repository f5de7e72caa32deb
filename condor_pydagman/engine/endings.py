"""The ways a run ends, and in which order things then happen.

    rescue file -> jobs removed, scripts killed -> FINAL node, if there is one -> last words, exit

The rescue file is always written before jobs are removed; if it can't be written, jobs and lock
file stay for the next start.  Every way but `leave` and `distrust` takes the lock file away, since
a later start has nothing to recover.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import final_node, outcome
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import Leave, LogBroken, RescueWritten, Stop
from condor_pydagman.engine.node_states import IN_SCRIPT, State
from condor_pydagman.graph.cycle import describe_cycle, find_cycle
from condor_pydagman.graph.model import Abort
from condor_pydagman.vocabulary import EXIT_LEAVE, DagStatus

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine


class Ending(NamedTuple):
    """How a run ends before its time.

    Attributes:
        code: exit code, unless a FINAL node makes it a success.
        note: the node status file's word for it.
        reason: shown to the user with removed jobs.
        rescue: whether a rescue file is written.
        final: whether a FINAL node still runs.
    """

    code: int
    status: DagStatus
    note: str
    reason: str
    rescue: bool = True
    final: bool = True


_ABORT = "DAG Abort: DAG is exiting and writing rescue file."
_REMOVED = "DAG Removed: User removed scheduler job from queue."
_SERVICE = "Removed by DAGMan"


def aborted(abort: Abort, value: int) -> Ending:
    """ABORT-DAG-ON by a return value.

    Exit code 0 writes no rescue file; RETURN 0 counts as a success (stock rules).
    """
    code = outcome.abort_exit_code(abort, value)
    if abort.exit_code == 0:
        return Ending(code, DagStatus.OK, "success", _ABORT, rescue=False)
    return Ending(code, DagStatus.ABORT, "aborted", _ABORT, rescue=code != 0)


def removed() -> Ending:
    """condor_rm of the DAGMan job."""
    return Ending(2, DagStatus.RM, "removed", _REMOVED)


def removed_again() -> Ending:
    """condor_rm while the FINAL node runs: no more patience."""
    return removed()._replace(final=False)


def drained() -> Ending:
    """A halted DAG has nothing left to wait for."""
    return Ending(1, DagStatus.HALTED, "failed", _ABORT)


def strict(*, final: bool = True) -> Ending:
    """A warning that DAGMAN_USE_STRICT makes fatal; not `final` if the FINAL node itself got it."""
    return Ending(1, DagStatus.ERROR, "failed", _ABORT, final=final)


def unprovisioned() -> Ending:
    """The PROVISIONER is more than one job.  Stock writes no rescue file here; we lose nothing."""
    return Ending(1, DagStatus.ERROR, "failed", _ABORT)


def log_broken() -> Ending:
    """The nodes log can't be followed.  Stock writes no rescue file here; we lose nothing."""
    return Ending(2, DagStatus.ERROR, "failed", _ABORT, final=False)


def append_failed() -> Ending:
    """The nodes log can't be written."""
    return Ending(1, DagStatus.ERROR, "failed", _ABORT, final=False)


def bad_event() -> Ending:
    """An event that DAGMAN_ALLOW_EVENTS does not allow."""
    return Ending(1, DagStatus.ERROR, "failed", _ABORT)


def noted(code: int, status: DagStatus, note: str) -> Ending:
    """An earlier DAGMan has ended everything but the FINAL node."""
    return Ending(code, status, note, _ABORT)


def is_over(engine: Engine) -> bool:
    """Whether the run has been ended, but perhaps for its FINAL node."""
    ended = engine.ending is not None or engine.ended_by is not None
    return ended or final_node.begun(engine)


def want(engine: Engine, ending: Ending) -> None:
    """The run is to end so.  What comes when it ends already changes nothing any more, unless it
    leaves no time for the FINAL node."""
    if not ending.final or not is_over(engine):
        engine.ending = ending


def end(engine: Engine, ending: Ending) -> None:
    """End now; begins with the rescue file."""
    engine.ending, engine.ended_by = None, ending
    if ending.status is not DagStatus.OK or engine.status is not DagStatus.OK:
        engine.status = ending.status
    engine.say("Aborting DAG...")
    if ending.rescue and engine.config.max_rescue_num > 0 and not engine.dry_run:
        engine.rescue_asked = True
        engine.emit(do.WriteRescue())
    else:
        _clear_away(engine, ending)


def on_rescue_written(engine: Engine, answer: RescueWritten) -> None:
    """The rescue file is there, or it can't be written: then nothing is removed."""
    if not engine.rescue_asked:
        return
    engine.rescue_asked = False
    assert engine.ended_by is not None
    if not answer.error:
        _clear_away(engine, engine.ended_by)
        return
    engine.say(
        f"ERROR: {answer.error}. DAGMan leaves the jobs alone and keeps its lock file: started"
        " again, it recovers from its nodes log",
        0,
    )
    engine.emit(do.KillScripts())
    leave(engine)


def removes_jobs(engine: Engine, ending: Ending) -> bool:
    """Whether this way to end removes the DAG's jobs."""
    return ending.status is not DagStatus.RM or engine.config.remove_node_jobs


def _scripts_run(engine: Engine) -> bool:
    """Whether any script runs."""
    running = (engine.nodes.count_all(state) for state in (State.PRE_RUN, State.POST_RUN))
    return any(running) or engine.hold_scripts.running > 0


def _clear_away(engine: Engine, ending: Ending) -> None:
    """Remove jobs, kill scripts; then it is the FINAL node's turn."""
    with_final = ending.final and final_node.waits(engine)
    engine.say("Removing submitted jobs...", 2)  # said in any case, as by stock
    if removes_jobs(engine, ending):
        engine.say("Removing any/all submitted HTCondor jobs...", 2)
        engine.emit(do.RemoveJobs(ending.reason, spare_services=with_final))
    if _scripts_run(engine):
        engine.say("Removing running scripts...", 2)
    engine.emit(do.KillScripts(answered=with_final))
    if with_final:
        final_node.call_for(engine, ending.code)
    else:
        _last_words(engine, ending.code, _note(engine, ending))


def _note(engine: Engine, ending: Ending) -> str:
    """The word for the end: an abort as a success is one only if no node was left (stock rule)."""
    counts = engine.nodes.counts
    ended = counts[State.DONE] + counts[State.FAILED] + counts[State.FUTILE]
    return "aborted" if ending.note == "success" and ended < engine.nodes.total else ending.note


def end_if_finished(engine: Engine) -> None:
    """End if no node can go on any more."""
    if engine.phase is Phase.FINISHING:
        final_node.end_if_over(engine)
        return
    counts, total = engine.nodes.counts, engine.nodes.total
    ended = counts[State.DONE] + counts[State.FAILED] + counts[State.FUTILE]
    if (
        counts[State.WAITING] + ended < total
        or engine.submitting is not None
        or _service_is_awaited(engine)
    ):
        return
    others = total - 1 if final_node.waits(engine) else total
    if counts[State.DONE] == others:
        _end_well(engine, call_final=others < total)
    elif counts[State.FAILED]:
        engine.emit(do.SayFailed())
        end(engine, Ending(1, engine.shown_status, "failed", _ABORT))
    else:
        _end_with_cycle(engine)


def _service_is_awaited(engine: Engine) -> bool:
    """Whether a script of a SERVICE node runs, or its job may be in the queue unknown to us."""
    counts = engine.nodes.service_counts
    return any(counts[state] for state in (*IN_SCRIPT, State.UNKNOWN))


def _end_well(engine: Engine, *, call_final: bool) -> None:
    if call_final:
        final_node.call_for(engine, 0)
        return
    _remove_services(engine)
    engine.say("All jobs Completed!")
    _last_words(engine, 0, "success")


def after_final(engine: Engine, *, succeeded: bool) -> None:
    """The FINAL node has ended, and decides how the run does (stock rule)."""
    if succeeded:
        _end_well(engine, call_final=False)
        return
    engine.emit(do.SayFailed())
    before = engine.ended_by or Ending(1, engine.status, "failed", _ABORT)
    note = "aborted" if before.status is DagStatus.ABORT else "failed"
    end(engine, Ending(1, engine.status, note, before.reason, final=False))


def _remove_services(engine: Engine) -> None:
    """SERVICE nodes live as long as the others."""
    for node in engine.nodes.services:
        jobs = engine.book.by_node.get(node)
        if jobs is not None and jobs.cluster > 0 and jobs.unfinished:
            engine.emit(do.RemoveJobs(_SERVICE, jobs.cluster))


def _end_with_cycle(engine: Engine) -> None:
    engine.say("ERROR: DAG finished but not all nodes are complete -- checking for a cycle...", 0)
    cycle = find_cycle(engine.dag)
    if cycle is None:
        engine.say("... ERROR: no cycle found; unknown error condition", 0)
        status = DagStatus.ERROR
    else:
        engine.say("... ERROR: a cycle exists in the dag, please check input", 0)
        engine.say("    " + describe_cycle(engine.dag, cycle), 0)
        status = DagStatus.CYCLE
    engine.emit(do.SayFailed(unfinished=True))
    end(engine, Ending(1, status, "cycle" if cycle else "failed", _ABORT))


def on_stop(engine: Engine, _: Stop) -> None:
    """Somebody removed the DAGMan job."""
    engine.say("Received SIGUSR1", 0)
    want(engine, removed_again() if final_node.begun(engine) else removed())


def on_leave(engine: Engine, leaving: Leave) -> None:
    """We are to go away and to come back."""
    engine.say(leaving.reason, 0)
    leave(engine)


def on_log_broken(engine: Engine, broken: LogBroken) -> None:
    """The nodes log can't be followed any more."""
    engine.say(f"ERROR: DAGMan exiting due to error in log file: {broken.reason}", 0)
    want(engine, log_broken())
    if engine.recovering:
        engine.enter(Phase.RECONCILING)


def leave(engine: Engine) -> None:
    """Go away and leave everything as it is: jobs, scripts' results to come, the lock file."""
    engine.emit(do.SayStatus())
    engine.emit(do.Publish(final=True, note="held"))
    engine.emit(do.Exit(EXIT_LEAVE, keep_lock=True))
    engine.enter(Phase.ENDED)


def distrust(engine: Engine, node: int, job: str) -> None:
    """The nodes log tells a story that can't be this DAG's: `job` is of a node whose turn has not
    come.

    Such a log decides nothing, and nothing is thrown away: it stays, and so does the lock file, for
    a person to look at (stock rule).  Whoever starts the DAG again hears the same.
    """
    name = engine.dag.names[node]
    engine.say(
        f"Error: DAG semantics violated! Node {name} was submitted but has unfinished parents!", 0
    )
    engine.say(
        "This may indicate log file corruption; you may want to check the log files and re-run the"
        f" DAG in recovery mode by giving the command 'condor_submit {engine.dag.files[0]}"
        ".condor.sub'",
        0,
    )
    engine.emit(do.SayFailed(node=node, job=job))
    engine.emit(do.KillScripts())
    engine.emit(do.Exit(1, keep_lock=True, concluded=False))
    engine.enter(Phase.ENDED)


def _last_words(engine: Engine, code: int, note: str) -> None:
    engine.emit(do.SayDeferrals())
    engine.emit(do.SayStatus())
    engine.emit(do.Publish(final=True, note=note))
    engine.emit(do.Exit(code))
    engine.enter(Phase.ENDED)
