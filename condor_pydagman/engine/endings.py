"""The ways a run ends, and in which order things then happen.

The rescue file is always written before jobs are removed.  Every way but `leave` takes the lock
file away, since a later start has nothing to recover.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.node_states import ENDED, State
from condor_pydagman.graph.cycle import describe_cycle, find_cycle
from condor_pydagman.vocabulary import DagStatus

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine


class Ending(NamedTuple):
    """How a run ends before its time; `note` is the node status file's word for it."""

    code: int
    status: DagStatus
    note: str
    reason: str
    rescue: bool = True


_ABORT = "DAG Abort: DAG is exiting and writing rescue file."
_REMOVED = "DAG Removed: User removed scheduler job from queue."


def aborted(code: int) -> Ending:
    """ABORT-DAG-ON; exit code 0 counts as success and writes no rescue file (stock rule)."""
    status = DagStatus.OK if code == 0 else DagStatus.ABORT
    note = "success" if code == 0 else "aborted"
    return Ending(code, status, note, _ABORT, rescue=code != 0)


def removed() -> Ending:
    """condor_rm of the DAGMan job."""
    return Ending(2, DagStatus.RM, "removed", _REMOVED)


def strict() -> Ending:
    """A warning that DAGMAN_USE_STRICT makes fatal."""
    return Ending(1, DagStatus.ERROR, "failed", _ABORT)


def log_broken() -> Ending:
    """The nodes log can't be followed.  Stock writes no rescue file here; we lose nothing."""
    return Ending(2, DagStatus.ERROR, "failed", _ABORT)


def append_failed() -> Ending:
    """The nodes log can't be written."""
    return Ending(1, DagStatus.ERROR, "failed", _ABORT)


def bad_log() -> Ending:
    """The nodes log tells a story that can't be this DAG's."""
    return Ending(1, DagStatus.ERROR, "failed", _ABORT)


def end(engine: Engine, ending: Ending) -> None:
    """End now: rescue file, then removal of jobs, then exit."""
    if ending.status is not DagStatus.OK or engine.status is not DagStatus.OK:
        engine.status = ending.status
    engine.say("Aborting DAG...")
    if ending.rescue and engine.config.max_rescue_num > 0:
        engine.emit(do.WriteRescue())
    spared = ending.status is DagStatus.RM and not engine.config.remove_node_jobs
    if not spared:
        engine.say("Removing submitted jobs...")
        engine.emit(do.RemoveJobs(ending.reason))
    engine.emit(do.KillScripts())
    _last_words(engine, ending.code, ending.note)


def end_if_finished(engine: Engine) -> None:
    """End if no node can go on any more."""
    counts = engine.nodes.counts
    at_rest = counts[State.WAITING] + sum(counts[state] for state in ENDED)
    if at_rest < len(engine.dag):
        return
    if counts[State.DONE] == len(engine.dag):
        engine.say("All jobs Completed!")
        _last_words(engine, 0, "success")
    elif counts[State.FAILED]:
        engine.emit(do.SayFailed())
        end(engine, Ending(1, DagStatus.NODE_FAILED, "failed", _ABORT))
    else:
        _end_with_cycle(engine)


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


def leave(engine: Engine) -> None:
    """Go away and leave everything as it is: jobs, scripts' results to come, the lock file."""
    engine.emit(do.SayStatus())
    engine.emit(do.Publish(final=True, note="held"))
    engine.emit(do.Exit(3, keep_lock=True))
    engine.enter(Phase.ENDED)


def _last_words(engine: Engine, code: int, note: str) -> None:
    engine.emit(do.SayDeferrals())
    engine.emit(do.SayStatus())
    engine.emit(do.Publish(final=True, note=note))
    engine.emit(do.Exit(code))
    engine.enter(Phase.ENDED)
