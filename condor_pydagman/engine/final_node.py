"""The FINAL node: runs once, after everything else, however the DAG has fared.

It begins with a note in the nodes log, so that a restart knows that nothing else may start any
more.  If it succeeds, the run counts as a success whatever came before (manual: "FINAL node").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import endings
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import ENDED, NEEDS_A_START, Cause, State
from condor_pydagman.vocabulary import DagStatus, NodeKind, Note, ScriptKind

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine
    from condor_pydagman.graph.model import Dag


PATIENCE = 60.0  # seconds that removed jobs may take to end when the FINAL node has ended


def of(dag: Dag) -> int | None:
    """The FINAL node, if the DAG has one."""
    nodes = dag.of_kind(NodeKind.FINAL)
    return nodes[0] if nodes else None


def waits(engine: Engine) -> bool:
    """Whether there is a FINAL node that has not begun."""
    return engine.final is not None and engine.nodes.states[engine.final] == State.WAITING


def begun(engine: Engine) -> bool:
    """Whether the FINAL node has begun, or is about to."""
    if engine.phase is Phase.FINISHING:
        return True
    return engine.final is not None and engine.nodes.states[engine.final] != State.WAITING


def closes_to(engine: Engine, node: int) -> bool:
    """Whether `node` may not be started any more, since the FINAL node has begun."""
    return node != engine.final and begun(engine)


def call_for(engine: Engine, code: int) -> None:
    """Everything else is over: note that the FINAL node begins.

    `code` is the exit code that the run would have without it.
    """
    assert engine.final is not None
    engine.enter(Phase.FINISHING)
    drop_ready(engine)
    note = engine.ended_by.note if engine.ended_by is not None else "success"
    text = f"{engine.shown_status.name} {note}"
    engine.note(engine.final, do.AppendNote(Note.FINAL_STARTED, engine.final, 0, code, text=text))


def on_started(engine: Engine, event: LogEvent) -> None:
    """The note has been read: begin.  A log without one (stock's) shows it by the node's events."""
    if not waits(engine):
        return
    assert engine.final is not None
    name, _, note = event.text.partition(" ")
    before = engine.ending.status if engine.ending is not None else engine.shown_status
    status = DagStatus.__members__.get(name, before)
    if engine.recovering or status is not DagStatus.OK:
        engine.status = status
    if engine.ended_by is None and (engine.ending is not None or status is not DagStatus.OK):
        engine.ended_by = engine.ending or endings.noted(event.value, status, note)
    engine.ending = None
    drop_ready(engine)
    engine.say("Starting final node...")
    engine.start(engine.final)


def drop_ready(engine: Engine) -> None:
    """What waits for its turn is not started any more; POST scripts still are."""
    engine.ready.clear()
    engine.categories.clear()
    engine.save_points.clear()
    engine.script_queues[ScriptKind.PRE].clear()
    for node in list(engine.nodes.in_state(State.RETRY_WAIT)):
        engine.retry_queue.discard(node)
        engine.nodes.move(node, Cause.NEEDS_SUBMIT, engine.now)
    for node in list(engine.nodes.in_state(State.READY)):
        engine.nodes.move(node, Cause.DROPPED, engine.now)


def take_back(engine: Engine, node: int, cause: Cause) -> None:
    """What had begun when the FINAL node began goes on to its end; a replay, which does not know
    that it had, has dropped its node."""
    dropped = engine.nodes.states[node] == State.WAITING and engine.nodes.waiting[node] == 0
    if dropped and engine.recovering and closes_to(engine, node):
        engine.nodes.move(node, cause, engine.now)


def end_if_over(engine: Engine) -> None:
    """End the run if the FINAL node has ended, and so has what was removed before it began."""
    assert engine.final is not None
    state = engine.nodes.states[engine.final]
    if state not in ENDED:
        return
    if engine.final_ended_at is None:
        engine.final_ended_at = engine.now
    waited = engine.now >= engine.final_ended_at + PATIENCE
    if waited or not _others_busy(engine):
        endings.after_final(engine, succeeded=state == State.DONE)


def next_time(engine: Engine) -> float | None:
    """When the run ends though others than the FINAL node have not."""
    return None if engine.final_ended_at is None else engine.final_ended_at + PATIENCE


def _others_busy(engine: Engine) -> bool:
    """Whether removed jobs, or scripts, are still to end.

    A POST script that could not be started for a strict warning never will be.
    """
    counts = engine.nodes.counts
    at_rest = sum(counts[state] for state in (*NEEDS_A_START, *ENDED))
    if not engine.script_queues[ScriptKind.POST]:
        at_rest += counts[State.POST_WAIT]
    if engine.ended_by is not None and not endings.removes_jobs(engine, engine.ended_by):
        at_rest += counts[State.SUBMITTED]  # they are not even asked to end
    return at_rest < engine.nodes.total
