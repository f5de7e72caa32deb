"""The engine: `handle(input, now)` takes one input and answers with the actions it leads to.

How it works: a handler moves nodes and adds pending work (ready queue, script queues, removals);
then `dispatch` turns pending work into actions, throttles asked last.  In recovery mode pending
work accumulates and nothing is asked for; later log events cancel what has already happened.  So
live running and recovery are one code path.

All that is known of a run is in `state.RunState`; handlers are functions that take it.  Imports
inside this folder run downwards only, in the order that tests/test_style.py lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import (
    dispatch,
    event_matching,
    inputs,
    journal_events,
    lifecycle,
    node_settings,
    operator,
    provisioner,
    reconcile,
    rerun,
    run_end,
    scripts,
    selection,
    submission,
    views,
)
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.feature import (
    Feature,
    begin_after_replay,
    begin_features,
    observe,
    table_with,
    want,
)
from condor_pydagman.engine.inputs import Begin, LogCaughtUp
from condor_pydagman.engine.jobs import ENDED as PROC_ENDED
from condor_pydagman.engine.jobs import HELD, IDLE
from condor_pydagman.engine.node_states import ALONE, CLEANING, ENDED, NOT_NEEDED, Cause, State
from condor_pydagman.engine.node_turns import GATE
from condor_pydagman.engine.nodes import IllegalMove
from condor_pydagman.engine.report import GroupReport, NodeReport, Report
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features import home
from condor_pydagman.graph.model import DONE, LEFT_OUT, Dag


def on_begin(run: RunState, begin: Begin) -> None:
    """The first input."""
    run.enter(Phase.RECOVERING if begin.recovering else Phase.RUNNING)
    event_matching.start_reading(run)
    run.say("Bootstrapping...")
    _mark_done(run)
    for begins in run.hooks.begins:
        begins()
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
        rerun.settle(run)
        if run.config.debug_cache_enable:
            run.say("Stopping the caching of log lines.", 0)
        run.say("...done with RECOVERY mode " + "<" * 30)
        operator.say_halted_by_rule(run)
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
        for was_done in run.hooks.was_done:
            was_done(node)
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


def validate(run: RunState) -> None:
    """Raise AssertionError, with the numbers, if any invariant does not hold."""
    _counts(run)
    _procs(run)
    _ready(run)
    _parents(run)
    _turns(run)
    _throttles(run)
    _special(run)
    _grown(run)
    for validate_feature in run.hooks.validate:
        validate_feature()


def _counts(run: RunState) -> None:
    nodes = run.nodes
    recount, services = [0] * len(State), [0] * len(State)
    for node, state in enumerate(nodes.states):
        (services if node in nodes.services else recount)[state] += 1
    recount[State.DONE] += run.dag.gone - len(run.dag.free)
    assert recount == nodes.counts, (recount, nodes.counts)
    assert services == nodes.service_counts, (services, nodes.service_counts)


def _procs(run: RunState) -> None:
    idle = held = 0
    for jobs in run.job_table.by_node.values():
        for flags in jobs.procs.values():
            assert not (flags & PROC_ENDED and flags & (IDLE | HELD)), flags
            assert flags & IDLE or not flags & HELD, flags
            idle += bool(flags & IDLE)
            held += bool(flags & HELD)
    assert (idle, held) == (run.job_table.idle, run.job_table.held), (idle, held)
    for cluster, node in run.job_table.by_cluster.items():
        assert run.job_table.by_node[node].cluster == cluster, (cluster, node)
    for cluster, procs in run.job_table.shared.items():
        for proc, node in procs.items():
            assert run.job_table.by_node[node].target == (cluster, proc), (cluster, proc, node)


def _ready(run: RunState) -> None:
    """Every READY node is queued or set aside, and nothing else is."""
    aside = set(run.categories.waiting())
    for node, state in enumerate(run.nodes.states):
        if state == State.READY:
            assert (node in run.ready) or (node in aside), run.nodes.move_history(node)
        else:
            assert node not in run.ready, run.nodes.move_history(node)


def _parents(run: RunState) -> None:
    """A node past WAITING has only DONE parents, unless a user marked it DONE; a weak one may have
    failed."""
    states = run.nodes.states
    for node, state in enumerate(states):
        if state in (State.WAITING, State.DONE, State.FUTILE) or run.nodes.marks[node] & CLEANING:
            continue
        if node in run.nodes.turns.parents:
            assert state == State.FAILED or node in run.nodes.turns.opened, node
            continue
        for parent in run.dag.parents(node):
            if node in run.nodes.errors and state == State.FAILED:
                continue  # a person may have cancelled it before its parents had ended
            group = run.dag.group_of(parent)
            elsewhere = group not in (None, run.dag.group_of(node))
            if elsewhere and parent in run.retrying.extra_retries:
                continue  # it goes on with what its parent has done before it began anew
            weak = states[parent] == State.FAILED and run.dag.is_weak(parent, node)
            assert weak or states[parent] == State.DONE, run.nodes.move_history(node)


def _turns(run: RunState) -> None:
    """Nodes that wait for the end of their parents wait for those that have not ended."""
    turns = run.nodes.turns
    for node, parents in turns.parents.items():
        unfinished = sum(run.nodes.states[parent] not in ENDED for parent in parents)
        assert unfinished == turns.unfinished[node], run.nodes.move_history(node)
        assert run.nodes.waiting[node] >= GATE, run.nodes.move_history(node)


def _throttles(run: RunState) -> None:
    counts, limits = run.nodes.counts, run.limits
    if run.limits_changed:
        return  # more may run than could start now
    if limits.pre:
        assert counts[State.PRE_RUN] <= limits.pre
    if limits.post:
        assert counts[State.POST_RUN] <= limits.post
    if limits.hold:
        assert run.scripts.hold.running <= limits.hold


def _special(run: RunState) -> None:
    """While the FINAL node runs nothing else is ready; before the go-ahead, nothing is begun."""
    states = run.nodes.states
    if run.phase is Phase.FINISHING:
        for node in run.nodes.in_state(State.READY, State.RETRY_WAIT):
            assert node == run.final, run.nodes.move_history(node)
    if not run.provisioner.ready and not run.recovering:
        for node, state in enumerate(states):
            free = node == run.provisioner.node or node in run.nodes.services
            free = free or node == run.final
            ended = state in (State.DONE, State.FAILED, State.FUTILE)  # by people's commands
            assert free or ended or state == State.WAITING, node
    for node in run.nodes.in_state(State.RETRY_WAIT):
        assert run.retrying.queue.due(node) is not None, run.nodes.move_history(node)


def _grown(run: RunState) -> None:
    """A DAG that has grown is as one that has always been so: the countdown of parents fits."""
    nodes, dag = run.nodes, run.dag
    assert len(nodes.states) == len(nodes.clusters) == len(dag), len(dag)
    assert len(nodes.waiting) == dag.vertex_count, dag.vertex_count
    if not dag.changes or dag.groups or run.nodes.stale:
        return
    left = dict.fromkeys(dag.vertices(), 0)
    for vertex in dag.vertices():
        for after in _unreleased(run, vertex):
            left[after] += 1
    for vertex, count in left.items():
        gate = GATE if vertex in nodes.turns.parents else 0
        assert nodes.waiting[vertex] == count + gate, (vertex, nodes.waiting[vertex], count)


def _unreleased(run: RunState, vertex: int) -> list[int]:
    """The successors that a vertex still keeps waiting."""
    after = run.dag.successors(vertex)
    if vertex < 0:
        return list(after) if run.nodes.waiting[vertex] else []
    state = run.nodes.states[vertex]
    if state == State.DONE:
        return []
    if state != State.FAILED or run.nodes.marks[vertex] & ALONE:
        return list(after)
    marks = run.dag.edges.weak_marks(vertex)
    return [one for one, weak in zip(after, marks) if not weak]


NOTHING: Mapping[str, Any] = MappingProxyType({})


class Engine:
    """The run of one DAG.  Not thread-safe; deterministic.

    Args:
        dag: the DAG; it is read only, unless it grows.
        config: knobs in force.
        limits: throttles in force.
        admin: the administrator's knobs, which cap throttles that are asked for later; None:
            `config`.
        dag_id: cluster of the DAGMan job, for `$DAGID`; 0 if unknown.
        first_sequence: first number for jobstate.log, one above those already there.
        mode: what kind of run this is.
        given: what features begin with, by their names.
        check: recount and compare everything after each input (for tests and debugging).

    Attributes:
        run: all that is known of the run, for tests and the simulator only.
    """

    __slots__ = ("_published", "check", "run")

    def __init__(
        self,
        dag: Dag,
        config: Config,
        limits: Throttles,
        *,
        admin: Config | None = None,
        dag_id: int = 0,
        first_sequence: int = 1,
        mode: Mode = Mode.RUN,
        given: Mapping[str, Any] = NOTHING,
        check: bool = False,
    ) -> None:
        self.check = check
        self.run = RunState(
            dag,
            config,
            limits,
            admin=admin or config,
            dag_id=dag_id,
            first_sequence=first_sequence,
            mode=mode,
            given=given,
        )
        begin_features(self.run)
        self._published = -1

    def handle(self, an_input: inputs.Input, now: float) -> list[do.Action]:
        """Take one input at time `now` (seconds since the epoch); returns actions, in order.

        Raises:
            IllegalMove: a bug of ours, with the node's recent moves.
        """
        run = self.run
        if run.phase is Phase.ENDED:
            return []
        run.now = now
        handler = _HANDLERS.get(type(an_input))
        if handler is not None:
            handler(run, an_input)
        else:
            kind = type(an_input)
            table_with(run, "inputs", kind, home(kind))[kind](an_input)
        dispatch.dispatch(run)
        changes = run.nodes.changes + run.job_table.changes
        if changes != self._published and not (run.phase in _QUIET or run.end.rescue_asked):
            self._published = changes
            run.out.append(_PUBLISH)
        if self.check:
            validate(run)
        out, run.out = run.out, []
        return out

    def follow(self, event: inputs.LogEvent) -> None:
        """Take an event of the log in `Mode.FOLLOW`, in which nothing is asked for; one that can't
        be is noted in `run.log.impossible`."""
        run = self.run
        run.now = event.time
        try:
            event_matching.on_event(run, event)
        except IllegalMove as error:  # events are missing: what follows from this one can't be
            if self.check:
                raise
            run.log.can_not_be(error.node, f"{event.cluster}.{event.proc}")
        if self.check:
            validate(run)
        run.out.clear()

    def settle(self) -> None:
        """No event of the log that is followed comes at once: find out what has been left open."""
        rerun.settle(self.run)

    def next_deadline(self) -> float | None:
        """When the engine wants a Wake if nothing else comes (seconds since the epoch); None:
        never."""
        return dispatch.next_deadline(self.run)

    def report(self) -> Report:
        """All counts, from the states as they are now, and the limits and halts in force.

        Cheap: it counts states, not nodes.
        """
        return views.report(self.run)

    def node_reports(self) -> Iterator[NodeReport]:
        """All nodes in DAG order, one at a time."""
        return views.node_reports(self.run)

    def info(self) -> dict[str, str]:
        """What features tell clients of the whole DAG, by name; what is '' is left out."""
        told = (pair for info in self.run.hooks.info for pair in info())
        return {name: text for name, text in told if text}

    def group_reports(self) -> Iterator[GroupReport]:
        """All groups of nodes that run at one site, in their order."""
        return views.group_reports(self.run)

    def awaited(self) -> Iterator[str]:
        """Which node waits for what, a line each, for people."""
        return views.awaited(self.run)

    def chosen(self, kind: str, value: str | tuple[str, ...]) -> list[int]:
        """The nodes that a person means: a selector and its value; see `selection.chosen`.

        Raises:
            SelectionError: there are none; the text says what there is.
        """
        run = self.run
        categories = node_settings.categories_in_force(run.dag.categories, run.settings)
        return selection.chosen(run.nodes, kind, value, categories)

    def feature(self, name: str) -> Any:
        """A feature of the run, for what beside the engine belongs to it; it is made if a person
        has asked for it first."""
        if name not in self.run.features:
            want(self.run, name)
        return self.run.features[name]

    def observe(self, observer: Feature) -> None:
        """Have somebody who only looks on told what happens, at the moments of a feature."""
        observe(self.run, observer)

    def has_ended(self, job: inputs.QueuedJob) -> bool:
        """Whether the end of a job in the queue is known: a removal must leave it out."""
        return views.has_ended(self.run, job)


_PUBLISH = do.Publish()
_QUIET = (Phase.RECOVERING, Phase.ENDED)  # nothing is published

_HANDLERS: dict[type, Callable[[RunState, Any], None]] = {
    inputs.Begin: on_begin,
    inputs.LogEvent: event_matching.on_event,
    inputs.LogCaughtUp: on_caught_up,
    inputs.LogBroken: run_end.on_log_broken,
    inputs.Submitted: submission.on_submitted,
    inputs.NotTogether: submission.on_not_together,
    inputs.SubmitFailed: submission.on_submit_failed,
    inputs.CommonInput: submission.on_common_input,
    inputs.ScriptEnded: scripts.on_script_ended,
    inputs.QueueListed: reconcile.on_listed,
    inputs.QueueUnknown: reconcile.on_unknown,
    inputs.ProvisionerAnswer: provisioner.on_answer,
    inputs.Answered: lambda run, answer: _take(run, answer.reply),
    inputs.RescueWritten: run_end.on_rescue_written,
    inputs.AppendFailed: run_end.on_append_failed,
    inputs.RemoveFailed: dispatch.on_remove_failed,
    inputs.Halt: operator.on_halt,
    inputs.Resume: operator.on_resume,
    inputs.LimitsWanted: operator.on_wanted,
    inputs.DagRemoved: run_end.on_dag_removed,
    inputs.Shutdown: run_end.on_shutdown,
    inputs.Wake: event_matching.on_wake,
}


def _take(run: RunState, reply: Any) -> None:
    kind = type(reply)
    table_with(run, "replies", kind, home(kind))[kind](reply)
