"""PRE and POST scripts: when they start, and how their end is noted.

What a script's end means is decided in `script_events.py`, when our note of it is read from the
nodes log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import endings, final_node, halting, hold_scripts, inputs, views
from condor_pydagman.engine.node_states import Cause, State
from condor_pydagman.engine.script_words import MacroError, expand
from condor_pydagman.graph.model import Script
from condor_pydagman.vocabulary import Note, ScriptKind

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine


def want_script(engine: Engine, node: int, kind: ScriptKind) -> None:
    """Queue a script of a node that is in the matching state."""
    queue = engine.script_queues[kind]
    if _room(engine, kind) <= len(queue):
        engine.deferred[kind.value.lower()] += 1
    queue.add(node)


def on_script_ended(engine: Engine, ended: inputs.ScriptEnded) -> None:
    """A script ended: note that in the log, or run it again later (DEFER)."""
    node, kind, status = ended.node, ended.kind, ended.status
    if ended.error:
        name = engine.dag.names[node]
        engine.say(f"Error: Failed to execute {kind.value} for Node {name}: {ended.error}", 0)
    if kind is ScriptKind.HOLD:
        hold_scripts.on_ended(engine, ended)
        return
    running = State.PRE_RUN if kind is ScriptKind.PRE else State.POST_RUN
    if engine.nodes.states[node] != running:
        return
    script = engine.dag.script(node, kind)
    assert script is not None
    if is_deferred(engine, ended, script):
        engine.nodes.move(node, Cause.SCRIPT_DEFERRED, engine.now)
        engine.script_queues[kind].defer(node, engine.now + script.defer_seconds)
        return
    engine.nodes.move(node, Cause.SCRIPT_ENDED, engine.now)
    (_note_pre if kind is ScriptKind.PRE else _note_post)(engine, node, status)


def is_deferred(engine: Engine, ended: inputs.ScriptEnded, script: Script) -> bool:
    """Whether DEFER says to run the script again later."""
    status, kind = ended.status, ended.kind.value
    if script.defer_status is None or not status == script.defer_status != -1:
        return False
    engine.say(
        f"Deferring {kind} script of node {engine.dag.names[ended.node]} for"
        f" {script.defer_seconds} seconds (exit status was {status})..."
    )
    engine.deferred[kind.lower()] += 1
    return True


def _note_pre(engine: Engine, node: int, status: int) -> None:
    if status != 0 and status == engine.dag.pre_skips.get(node):
        engine.note(node, do.AppendPreSkip(node, new_noop(engine, node)))
    else:
        retry = engine.nodes.retries.get(node, 0)
        engine.note(node, do.AppendNote(Note.PRE_ENDED, node, retry, status))


def _note_post(engine: Engine, node: int, status: int) -> None:
    jobs = engine.book.by_node.get(node)
    if jobs is None:
        engine.note(node, do.AppendPostEnded(node, -1, 0, 0, status))
    else:
        proc = jobs.last_proc if jobs.subproc else 0
        engine.note(node, do.AppendPostEnded(node, jobs.cluster, proc, jobs.subproc, status))


def new_noop(engine: Engine, node: int) -> int:
    """A new third number for events of a node that has no job."""
    engine.last_noop += 1
    engine.noops[engine.last_noop] = node
    return engine.last_noop


def next_time(engine: Engine, kind: ScriptKind) -> float | None:
    """When a script that was put off is to start; None if there is none, or no place for it: then
    the end of another script starts it."""
    if _room(engine, kind) <= 0 or _held_back(engine, kind):
        return None
    queue = engine.script_queues[kind]
    when, pace = queue.next_time(), None
    if kind is ScriptKind.PRE:
        pace = engine.restart_pace.next_time()
    if pace is None or not queue:
        return when
    return pace if len(queue) or when is None else max(pace, when)


def _room(engine: Engine, kind: ScriptKind) -> float:
    if kind is ScriptKind.PRE:
        limit, running = engine.limits.pre, engine.nodes.count_all(State.PRE_RUN)
    else:
        limit, running = engine.limits.post, engine.nodes.count_all(State.POST_RUN)
    return limit - running if limit else float("inf")


def _held_back(engine: Engine, kind: ScriptKind) -> bool:
    return kind is ScriptKind.PRE and halting.holds_back(engine)


def start_scripts(engine: Engine, kind: ScriptKind) -> None:
    """Start scripts of one kind while the throttle allows."""
    queue = engine.script_queues[kind]
    while engine.ending is None and _room(engine, kind) > 0 and not _held_back(engine, kind):
        if kind is ScriptKind.PRE and not engine.restart_pace.allows(engine.now):
            return
        node = queue.pop(engine.now)
        if node is None:
            return
        _start_script(engine, node, kind)


def _start_script(engine: Engine, node: int, kind: ScriptKind) -> None:
    engine.record(node, f"{kind.value}_SCRIPT_STARTED", views.record_job(engine, node, kind))
    if kind is ScriptKind.PRE:
        engine.restart_pace.started(engine.now)
    line = words(engine, node, kind)
    if line:
        engine.nodes.move(node, Cause.SCRIPT_STARTED, engine.now)
        engine.say(f"Running {kind.value} script of Node {engine.dag.names[node]}...")
        engine.emit(do.RunScript(node, kind, line))


def words(engine: Engine, node: int, kind: ScriptKind) -> tuple[str, ...]:
    """The words of a script line with its macros put in; none if the DAG must end for one."""
    script = engine.dag.script(node, kind)
    assert script is not None
    if "$" not in script.command:
        return tuple(script.command.split())
    try:
        values = views.macros(engine, node, kind)
        return expand(script.command, values, kind, engine.dag.names[node])
    except MacroError as error:
        engine.say(str(error), 0)
    if final_node.closes_to(engine, node):
        return ()  # the DAG has ended already, perhaps for this
    if engine.config.use_strict >= 1:
        engine.say("ERROR: Warning is fatal error because of DAGMAN_USE_STRICT setting", 0)
        endings.want(engine, endings.strict(final=node != engine.final))
        return ()
    return tuple(script.command.split())
