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
    lifecycle,
    operator,
    provisioner,
    reconcile,
    run_end,
    run_start,
    scripts,
    submission,
    views,
)
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.feature import Feature, begin_features, observe, table_with, want
from condor_pydagman.engine.nodes import IllegalMove
from condor_pydagman.engine.report import NodeReport, Report
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.feature_table import home
from condor_pydagman.graph.model import Dag

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
        check: what tests look at after each input, as the invariants of the run.
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
        check: Callable[[RunState], None] | None = None,
    ) -> None:
        self.check = check
        # all that is known of the run, for tests and the simulator only
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
        kind = type(an_input)
        handler = _HANDLERS.get(kind)
        if handler is not None:
            handler(run, an_input)
        if handler is None or kind in run.hooks.inputs:
            table_with(run, "inputs", kind, home(kind))[kind](an_input)
        dispatch.dispatch(run)
        changes = run.nodes.changes + run.job_table.changes
        if changes != self._published and not (run.phase in _QUIET or run.end.rescue_asked):
            self._published = changes
            run.out.append(_PUBLISH)
        if self.check is not None:
            self.check(run)
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
            if self.check is not None:
                raise
            run.log.can_not_be(error.node, f"{event.cluster}.{event.proc}")
        if self.check is not None:
            self.check(run)
        run.out.clear()

    def settle(self) -> None:
        """No event of the log that is followed comes at once: find out what has been left open."""
        lifecycle.settle(self.run)

    @property
    def rests(self) -> bool:
        """Whether it only waits: for what comes from outside, or for a deadline."""
        run = self.run
        waits = run.phase is Phase.RUNNING and run.mode is Mode.RUN
        return waits and run.end.wanted is None and not run.query.running

    def next_deadline(self, *, looks: bool = True) -> float | None:
        """When the engine wants a Wake if nothing else comes (seconds since the epoch); None:
        never.  `looks`: also for what is done every so often though nothing is the reason."""
        return dispatch.next_deadline(self.run, looks=looks)

    @property
    def look_at(self) -> float | None:
        """When it is to be looked whether the schedd has the jobs that it must have, seconds since
        the epoch; None: not at all."""
        return self.run.query.at if self.run.query.is_look else None

    def expected(self) -> frozenset[tuple[int, int]]:
        """These jobs, by cluster and proc; proc -1 for a cluster that goes on making procs."""
        return frozenset((jobs.cluster, proc) for _, jobs, proc in reconcile.expected(self.run))

    def report(self) -> Report:
        """All counts, from the states as they are now, and the limits and halts in force.

        Cheap: it counts states, not nodes.
        """
        return views.report(self.run)

    def node_reports(self) -> Iterator[NodeReport]:
        """All nodes in DAG order, one at a time."""
        return views.node_reports(self.run)

    def rescue_lines(self) -> tuple[str, ...]:
        """What a rescue file says of the whole DAG, for features."""
        return views.rescue_lines(self.run)

    def awaited(self) -> Iterator[str]:
        """Which node waits for what, a line each, for people."""
        return views.awaited(self.run)

    @property
    def features(self) -> Mapping[str, Any]:
        """The features of the run, by name."""
        return self.run.features

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
    inputs.Begin: run_start.on_begin,
    inputs.LogEvent: event_matching.on_event,
    inputs.LogCaughtUp: run_start.on_caught_up,
    inputs.LogBroken: run_end.on_log_broken,
    inputs.Submitted: submission.on_submitted,
    inputs.NotTogether: submission.on_not_together,
    inputs.SubmitFailed: submission.on_submit_failed,
    inputs.CommonInput: submission.on_common_input,
    inputs.ScriptEnded: scripts.on_script_ended,
    inputs.LogRepaired: reconcile.on_log_repaired,
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
