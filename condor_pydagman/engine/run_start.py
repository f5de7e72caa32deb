"""How a run begins: nodes that are done already, the replay of an old log, the first nodes to
start.
"""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import event_matching, journal_events, lifecycle, provisioner
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.feature import begin_after_replay
from condor_pydagman.engine.inputs import Begin, LogCaughtUp
from condor_pydagman.engine.node_states import NOT_NEEDED, Cause, State
from condor_pydagman.engine.state import RunState
from condor_pydagman.graph.model import DONE, LEFT_OUT

_BAR = "    " + "-" * 30
_RECOVERED = (
    *(_BAR, "       HTCondor Recovery Complete", _BAR),
    "...done with RECOVERY mode " + "<" * 30,
)  # as stock says it


def on_begin(run: RunState, begin: Begin) -> None:
    """The first input."""
    run.enter(Phase.RECOVERING if begin.recovering else Phase.RUNNING)
    event_matching.start_reading(run)
    run.say("Bootstrapping...")
    for begins in run.hooks.begins:
        begins()
    _mark_done(run)
    event_matching.begin_counting(run)
    if not begin.recovering:
        journal_events.record_config(run)
    if begin.recovering:
        run.say("Running in RECOVERY mode... " + ">" * 30)
        if run.config.debug_cache_enable:
            run.say("Starting to cache log lines.", 0)
    for node in sorted(run.nodes.services):
        run.say_start(f"Starting service node {run.dag.names[node]}...")
        lifecycle.start(run, node)
    if not run.provisioner.ready:
        provisioner.begin(run)
    if run.provisioner.ready:
        lifecycle.start_roots(run)


def on_caught_up(run: RunState, _: LogCaughtUp) -> None:
    """The old log has been read: now the schedd is asked what it really has."""
    if run.recovering:
        lifecycle.settle(run)
        if run.config.debug_cache_enable:
            run.say("Stopping the caching of log lines.", 0)
        for line in _RECOVERED:
            run.say(line)
        submitted = run.nodes.count_all(State.SUBMITTED)
        if submitted:
            run.say(f"{submitted} nodes claim to have jobs submitted to queue. Verifying...")
            run.say("Querying local schedd for associated jobs in queue")
        run.emit(do.SayStatus())
        journal_events.record_config(run)
        run.enter(Phase.RECONCILING)
        run.query.plan(run.now)
        run.scripts.restart_pace.begin(len(run.scripts.pre))
        begin_after_replay(run)
        for replayed in run.hooks.replayed:
            replayed()


def _mark_done(run: RunState) -> None:
    done = [node for node, flags in enumerate(run.dag.flags) if flags & DONE]
    run.say(f"Number of pre-completed nodes: {len(done)}")
    for node in done:
        run.nodes.move(node, Cause.MARKED_DONE, run.now)
    for node in done:
        if run.nodes.unfinished_parents(node) and not _needs_no_parents(run, node):
            _warn_done_early(run, node)
    for node in done:
        run.nodes.release_children(node)


def _needs_no_parents(run: RunState, node: int) -> bool:
    """Whether it is done, whatever becomes of its parents."""
    return bool(run.dag.flags[node] & LEFT_OUT or run.nodes.marks[node] & NOT_NEEDED)


def _warn_done_early(run: RunState, node: int) -> None:
    if any(run.nodes.states[parent] != State.DONE for parent in run.dag.parents(node)):
        run.say(
            f"Warning: Node {run.dag.names[node]} was marked as done even though parent nodes"
            " aren't complete. Child nodes may run out of order."
        )
