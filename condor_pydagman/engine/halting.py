"""Halt, pause and resume: a person stops the DAG from starting anything, and lets it go on.

Halted: no submissions, no PRE scripts; what is in the queue goes on, POST scripts run.  Paused: no
POST scripts either.  The halt file and commands halt independently: the DAG goes on when neither
wants it halted any more.  The FINAL node runs in any case.  A halted DAG that has nothing left to
wait for ends, with a rescue file (manual: "Suspending a Running DAG").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import endings, final_node
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import Halt, Resume
from condor_pydagman.engine.node_states import NEEDS_A_START, State

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine


GRACE = 2.0  # seconds that a person has to take a halt back before a DAG at rest ends


def on_halt(engine: Engine, halt: Halt) -> None:
    """Start nothing more."""
    before = engine.halted
    if halt.restored:
        engine.say("Restoring halted state.")
    elif halt.pause and engine.paused:
        engine.say("DAG Pause: Already-paused DAG")
    elif halt.pause:
        engine.say("DAG Pause: Freezing all work...")
    elif engine.halted_by_command or engine.halted_by_file:
        engine.say("DAGMan is already halted")
    else:
        engine.say("Halting DAGMan progess...")  # the spelling that others look for
    if halt.reason:
        engine.say(f"{'Pause' if halt.pause else 'Halt'} reason: {halt.reason}")
    if halt.pause:
        engine.paused = True
        engine.drained_at = None  # a paused DAG does not end
    elif halt.file:
        engine.halted_by_file = True
    else:
        engine.halted_by_command = True
    _publish(engine, before)


def on_resume(engine: Engine, resume: Resume) -> None:
    """Go on, unless somebody else wants the DAG halted."""
    paused, halted = engine.paused, engine.halted_by_command or engine.halted_by_file
    if resume.file:
        engine.halted_by_file = False
    else:
        engine.halted_by_command = engine.paused = False
    if paused and not engine.paused:
        engine.say("DAG Un-Pause: Resuming work...")
    if halted and not engine.halted:
        engine.say("Resuming DAG progress...")
    if resume.reason:
        engine.say(f"Resume reason: {resume.reason}")
    if engine.halted:
        what = "a command to halt" if resume.file else "the halt file"
        engine.say(f"The DAG stays halted by {what}")
    else:
        engine.drained_at = None
    _publish(engine, halted or paused)


def _publish(engine: Engine, before: bool) -> None:
    """Before a client is told that it is done.  A run that is only beginning publishes it then."""
    if engine.halted != before and engine.phase not in (Phase.STARTING, Phase.RECOVERING):
        engine.emit(do.Publish(at_once=True))


def holds_back(engine: Engine) -> bool:
    """Whether nothing new may be started now."""
    return engine.halted and engine.phase is not Phase.FINISHING


def frozen(engine: Engine) -> bool:
    """Whether nothing at all may be started now."""
    return engine.paused and engine.phase is not Phase.FINISHING


def end_if_drained(engine: Engine) -> None:
    """End a halted DAG if nothing has run for a while that could make it go on."""
    if not _is_drained(engine):
        engine.drained_at = None
    elif engine.drained_at is None:
        engine.drained_at = engine.now
    elif engine.now >= engine.drained_at + GRACE:
        engine.say("Exiting because DAG is halted and no jobs or scripts are running")
        engine.emit(do.SayFailed())
        endings.want(engine, endings.drained())


def next_time(engine: Engine) -> float | None:
    """When a halted DAG is to end."""
    return None if engine.drained_at is None else engine.drained_at + GRACE


def _is_drained(engine: Engine) -> bool:
    if not holds_back(engine) or engine.paused or engine.submitting is not None:
        return False
    counts = engine.nodes.counts
    busy = sum(counts[state] for state in State if state not in NEEDS_A_START)
    busy -= counts[State.DONE] + counts[State.FAILED] + counts[State.FUTILE]
    unstarted = sum(counts[state] for state in NEEDS_A_START) - final_node.waits(engine)
    return busy == 0 and unstarted > 0
