"""From pending work to actions, throttles asked last; and when the engine wants to be woken.

In recovery mode, and in a run that only sets up, nothing is dispatched: pending work accumulates,
and later log events cancel what has already happened.
"""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import (
    event_matching,
    lifecycle,
    operator,
    provisioner,
    reconcile,
    run_end,
    scripts,
    submission,
)
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import RemoveFailed
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.state import OF_NODE, Mode, RunState
from condor_pydagman.vocabulary import ALL_PROCS, ScriptKind

_PASSIVE = (Phase.STARTING, Phase.RECOVERING, Phase.ENDED)  # nothing is asked for


def dispatch(run: RunState) -> None:
    """Emit all actions that throttles allow now."""
    if run.phase in _PASSIVE or run.end.rescue_asked or run.mode is Mode.SETUP_ONLY:
        return
    if run.end.wanted is not None and run_end.end_if_wanted(run):
        return
    query_at = run.query.at
    if (
        query_at is not None
        and query_at <= run.now
        and run.query.is_due(run.now, run.log.last_event_at)
    ):
        reconcile.ask(run)
    if run.phase is Phase.RECONCILING:
        return
    hooks, written = run.hooks, run.written
    if written.awaited:
        _rewrite_overdue(run)
    for enforce in hooks.enforce:
        enforce()
    removals = run.removals
    if removals.due or removals.delayed or removals.refused:
        _remove_clusters(run)
    if (written.holding or run.phase is Phase.FINISHING) and _is_held(run):
        return
    for work in hooks.work:
        work()
        if written.holding and _is_held(run):
            return
    if run.nodes.stale:
        lifecycle.settle(run)
    for at_starts in hooks.at_starts:
        at_starts(False)
    if run.save_points.due:
        _write_save_points(run)
    if not (run.halt.on and run.frozen):
        _start_pending(run)
    for at_starts in hooks.at_starts:
        at_starts(True)
    if run.end.wanted is None or not run_end.end_if_wanted(run):
        run_end.end_if_finished(run)


def _start_pending(run: RunState) -> None:
    """Start pending work.  Most inputs lead to none, so empty queues are skipped at once."""
    if not run.provisioner.ready:
        provisioner.query_if_due(run)
    if run.retrying.queue.nodes and not run.starts_nothing:
        lifecycle.start_due_retries(run)
    pending = run.scripts
    if pending.pre.nodes:
        scripts.start_scripts(run, ScriptKind.PRE)
    if pending.post.nodes:
        scripts.start_scripts(run, ScriptKind.POST)
    if pending.hold.waiting or pending.hold.deferred or pending.hold.logged:
        scripts.start_hold_scripts(run)
    if run.end.wanted is None and (run.ready.tickets or run.submission.in_a_row):
        submission.submit_ready(run)
    if run.halt.on and run.end.wanted is None:
        operator.end_if_drained(run)


def _write_save_points(run: RunState) -> None:
    """SAVE_POINT_FILE: progress is written to a file when a node starts for the first time, before
    anything of that node begins."""
    for node in run.save_points.due:
        run.emit(do.WriteSavePoint(node))
    run.save_points.clear()


def _is_held(run: RunState) -> bool:
    """Whether nothing starts, since a record is on its way: of a kind that holds the DAG up, or the
    one that the FINAL node begins."""
    return run.final_waits if run.phase is Phase.FINISHING else bool(run.written.holding)


def _rewrite_overdue(run: RunState) -> None:
    """Write records again that were not read back: they are lost in the log (behind a torn event,
    say), and what waits for them would do so for ever."""
    for kind, key, records in run.written.overdue(run.now):
        if kind == OF_NODE:
            name = run.dag.names[key]
            run.say(f"Writing what DAGMan decided about node {name} once more")
        run.write(kind, key, *records)


def _remove_clusters(run: RunState) -> None:
    """Request the removals that are due and whose jobs have not ended."""
    for target, reason in run.removals.pop_due(run.now).items():
        cluster, proc = target
        node = run.job_table.node_of(cluster, proc)
        if node is not None and run.job_table.by_node[node].unfinished:
            run.removals.asked(target, reason)
            run.emit(do.RemoveJobs(reason, cluster, proc=proc))


def on_remove_failed(run: RunState, failed: RemoveFailed) -> None:
    """The schedd could not be told to remove jobs: once more, later."""
    proc = "" if failed.proc == ALL_PROCS else f", proc {failed.proc}"
    run.say(f"Warning: could not remove cluster {failed.cluster}{proc}: {failed.reason}")
    if run.job_table.node_of(failed.cluster, failed.proc) is not None:
        run.removals.failed((failed.cluster, failed.proc), failed.reason, run.now)


def next_deadline(run: RunState, *, looks: bool = True) -> float | None:
    """When pending work is due, seconds since the epoch; None: only an input can lead to any.

    `looks`: also what is done every so often though nothing is the reason."""
    if run.phase in _PASSIVE or run.mode is Mode.SETUP_ONLY:
        return None
    if run.end.wanted is not None and run.phase is not Phase.RECONCILING:
        return min(_later_deadlines(run), default=None)
    is_none = run.query.running or (run.query.is_look and not looks)
    times = [None if is_none else run.query.at]
    if run.phase is not Phase.RECONCILING:
        times += _deadlines(run, looks)
    return min((time for time in times if time is not None), default=None)


def _later_deadlines(run: RunState) -> Iterator[float]:
    """Those of features, while some of what is due has to wait: that comes when it need not."""
    times = (deadline() for deadline in run.hooks.deadline)
    return (time for time in times if time is not None and time > run.now)


def _deadlines(run: RunState, looks: bool) -> Iterator[float | None]:
    yield run.removals.next_time()
    yield run.written.next_time()
    if _is_held(run):
        yield from _later_deadlines(run)
        return
    for deadline in run.hooks.deadline:
        yield deadline()
    yield run_end.next_final_deadline(run)
    yield operator.next_drained_deadline(run)
    if looks and run.phase is Phase.RUNNING and run.nodes.counts[State.SUBMITTED]:
        yield event_matching.next_silence_report(run)
    if not run.frozen:
        yield from _deadlines_of_starts(run)


def _deadlines_of_starts(run: RunState) -> Iterator[float | None]:
    for kind in run.scripts.by_kind:
        yield scripts.next_script(run, kind)
    yield scripts.next_hold_script(run)
    yield run.provisioner.query_at
    if not run.starts_nothing:
        yield run.retrying.queue.next_time()
    if len(run.ready) and not run.submission.in_flight:
        yield run.pace.blocked_until(run.now, run.limits) or None
        if run.starts.most:
            yield run.starts.next_time()
