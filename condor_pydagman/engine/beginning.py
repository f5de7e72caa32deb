"""How a run begins: what is done already, what an old log tells, which nodes start first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_pydagman.engine import provisioner
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import Begin, LogCaughtUp
from condor_pydagman.engine.node_states import Cause, State
from condor_pydagman.graph.model import DONE
from condor_pydagman.vocabulary import ScriptKind

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine


def on_begin(engine: Engine, begin: Begin) -> None:
    """The first input."""
    engine.enter(Phase.RECOVERING if begin.recovering else Phase.RUNNING)
    engine.last_event = engine.now
    engine.say("Bootstrapping...")
    _mark_done(engine)
    if begin.recovering:
        engine.say("Running in RECOVERY mode... " + ">" * 30)
        if engine.config.debug_cache_enable:
            engine.say("Starting to cache log lines.", 0)
    for node in sorted(engine.nodes.services):
        engine.say(f"Starting service node {engine.dag.names[node]}...")
        engine.start(node)
    if not engine.provisioner.ready:
        provisioner.begin(engine)
    if engine.provisioner.ready:
        engine.start_roots()


def on_caught_up(engine: Engine, _: LogCaughtUp) -> None:
    """The old log has been read: now the schedd is asked what it really has."""
    if engine.recovering:
        if engine.config.debug_cache_enable:
            engine.say("Stopping the caching of log lines.", 0)
        engine.say("...done with RECOVERY mode " + "<" * 30)
        engine.enter(Phase.RECONCILING)
        engine.query_at = engine.now
        engine.restart_pace.begin(len(engine.script_queues[ScriptKind.PRE]))


def _mark_done(engine: Engine) -> None:
    done = [node for node, flags in enumerate(engine.dag.flags) if flags & DONE]
    engine.say(f"Number of pre-completed nodes: {len(done)}")
    for node in done:
        engine.nodes.move(node, Cause.MARKED_DONE, engine.now)
    for node in done:
        if engine.nodes.waiting[node]:
            _warn_done_early(engine, node)
    for node in done:
        engine.nodes.release_children(node)


def _warn_done_early(engine: Engine, node: int) -> None:
    if any(engine.nodes.states[parent] != State.DONE for parent in engine.dag.parents(node)):
        engine.say(
            f"Warning: Node {engine.dag.names[node]} was marked as done even though parent nodes"
            " aren't complete. Child nodes may run out of order."
        )
