"""Scripts: when they start, how their end gets into the nodes log, and what it leads to.

A PRE or POST script waits for a free place, runs, and may be put off by DEFER.  When its process
has ended, that is written into the nodes log; what it means for the node is decided when it has
been read back.

HOLD scripts, one for each time a proc goes on hold, are no part of a node's life: their exit code
is ignored, nothing waits for them, and they are not killed at the end.  After a restart those run
whose procs are on hold still and whose ends are not in the nodes log (manual: "SCRIPT").
"""

from __future__ import annotations

from typing import Any

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle, rules, run_end, views
from condor_pydagman.engine.inputs import HeldProc, LogEvent, ScriptEnded
from condor_pydagman.engine.node_states import CANCELLED, Cause, State
from condor_pydagman.engine.queues import Deferral
from condor_pydagman.engine.script_words import (
    MacroError,
    before_post,
    expand,
    how_it_failed,
    script_ended,
)
from condor_pydagman.engine.state import RunState
from condor_pydagman.graph.model import Defer, Script
from condor_pydagman.vocabulary import (
    RETURN_PRE_FAILED,
    RETURN_SUBMIT_FAILED,
    JournalRecord,
    ScriptKind,
    signal_name,
)

_BEFORE_PRE_END = (State.PRE_WAIT, State.PRE_UNCONFIRMED)


# Start.


def next_script(run: RunState, kind: ScriptKind) -> float | None:
    """When a script that was put off is to start; None if there is none, or no place for it: then
    the end of another script starts it."""
    if run.script_room(kind) <= 0 or _held_back(run, kind):
        return None
    queue = run.scripts.by_kind[kind]
    when, pace = queue.next_time(), None
    if kind is ScriptKind.PRE:
        pace = run.scripts.restart_pace.next_time()
    if pace is None or not queue.nodes:
        return when
    return pace if len(queue) or when is None else max(pace, when)


def _held_back(run: RunState, kind: ScriptKind) -> bool:
    return kind is ScriptKind.PRE and run.starts_nothing


def start_scripts(run: RunState, kind: ScriptKind) -> None:
    """Start scripts of one kind while the throttle allows."""
    queue = run.scripts.by_kind[kind]
    while run.end.wanted is None and run.script_room(kind) > 0 and not _held_back(run, kind):
        if kind is ScriptKind.PRE and not _pace_allows(run):
            return
        node = queue.pop(run.now)
        if node is None:
            return
        _start_script(run, node, kind)


def _pace_allows(run: RunState) -> bool:
    """Whether the pace of PRE scripts after a restart, and features, allow one now."""
    if any(blocks_starts(True) for blocks_starts in run.hooks.blocks_starts):
        return False
    return run.scripts.restart_pace.allows(run.now)


def _start_script(run: RunState, node: int, kind: ScriptKind) -> None:
    run.jobstate(node, f"{kind.value}_SCRIPT_STARTED", views.jobstate_job(run, node, kind))
    if kind is ScriptKind.PRE:
        run.scripts.restart_pace.started(run.now)
    line = _script_arguments(run, node, kind)
    if line:
        run.nodes.move(node, Cause.SCRIPT_STARTED, run.now)
        run.say(f"Running {kind.value} script of Node {run.dag.names[node]}...")
        run.emit(do.RunScript(node, kind, line, *run.runs_at(node)))


def _script_arguments(run: RunState, node: int, kind: ScriptKind) -> tuple[str, ...]:
    """The words of a script line with its macros put in; none if the DAG must end for one."""
    script = run.dag.script(node, kind)
    assert script is not None
    if "$" not in script.command:
        return tuple(script.command.split())
    try:
        values = views.Macros(run, node, kind)
        return expand(script.command, values, kind, run.dag.names[node])
    except MacroError as error:
        run.say(str(error), 0)
    if run.final_begun and node != run.final:
        return ()  # the DAG has ended already, perhaps for this
    if run.config.use_strict >= 1:
        run.say("ERROR: Warning is fatal error because of DAGMAN_USE_STRICT setting", 0)
        run_end.request_end(run, rules.STRICT if node != run.final else rules.STRICT_IN_FINAL)
        return ()
    return tuple(script.command.split())


# A process has ended.


def on_script_ended(run: RunState, ended: ScriptEnded) -> None:
    """A script ended: write that into the log, or run it again later (DEFER)."""
    node, kind, status = ended.node, ended.kind, ended.status
    if ended.error:
        name = run.dag.names[node]
        run.say(f"Error: Failed to execute {kind.value} for Node {name}: {ended.error}", 0)
    if kind is ScriptKind.HOLD:
        _on_hold_ended(run, ended)
        return
    running = State.PRE_RUN if kind is ScriptKind.PRE else State.POST_RUN
    if run.nodes.states[node] != running:
        return
    script = run.dag.script(node, kind)
    assert script is not None
    delay = _deferral(run, ended, script)
    if delay is not None:
        run.nodes.move(node, Cause.SCRIPT_DEFERRED, run.now)
        if kind is ScriptKind.PRE and run.is_closed_to(node):
            run.nodes.move(node, Cause.DROPPED, run.now)
        else:
            run.scripts.by_kind[kind].defer(node, run.now + delay)
        return
    run.nodes.move(node, Cause.SCRIPT_ENDED, run.now)
    (_journal_pre if kind is ScriptKind.PRE else _journal_post)(run, node, status)


def _deferral(run: RunState, ended: ScriptEnded, script: Script) -> float | None:
    """After how many seconds DEFER says to run the script again; None if it does not."""
    status, kind, defer = ended.status, ended.kind.value, script.defer
    if defer.status is None or not status == defer.status != -1:
        return None
    delay, name = _delay(run, ended, defer), run.dag.names[ended.node]
    if delay is None:
        run.say(f"The DEFER of the {kind} script of node {name} has come to its end")
        return None
    run.say(
        f"Deferring {kind} script of node {name} for {delay:.0f} seconds"
        f" (exit status was {status})..."
    )
    run.deferrals.add(kind.lower())
    return delay


def _delay(run: RunState, ended: ScriptEnded, defer: Defer) -> float | None:
    """The same by its limits; that it is put off is written down if there are any."""
    if not defer.is_limited:
        return defer.seconds
    node, held, known = ended.node, ended.held, _put_offs(run, ended.kind)
    key = node if held is None else held
    before = known.get(key) or Deferral(0, run.now)
    delay = rules.defer_delay_s(defer, before, run.now)
    if delay is None:
        known.pop(key, None)
        return None
    number = before.number + 1
    known[key] = Deferral(number, before.since)
    job = (-1, -1) if held is None else (held.cluster, held.proc)
    text = ended.kind.value + ("" if held is None else f" {held.number}")
    retry = run.nodes.retries.get(node, 0)
    record = do.AppendJournalRecord(JournalRecord.DEFERRED, node, retry, number, *job, text)
    run.emit(record)
    return delay


def _put_offs(run: RunState, kind: ScriptKind) -> Any:
    if kind is ScriptKind.HOLD:
        return run.scripts.hold.put_offs
    return run.scripts.by_kind[kind].put_offs


def on_deferred(run: RunState, node: int, event: LogEvent) -> None:
    """An old log shows that a script has been put off: DEFER goes on from there."""
    name, _, hold = event.text.partition(" ")
    kind = ScriptKind.__members__.get(name)
    script = None if kind is None else run.dag.script(node, kind)
    if kind is None or script is None or not (run.recovering and script.defer.is_limited):
        return
    key = HeldProc(node, event.cluster, event.proc, int(hold)) if hold.isdecimal() else node
    known, at = _put_offs(run, kind), run.happened(event.time)
    since = min(known[key].since, at) if key in known else at  # the clock may have been set back
    delay = rules.defer_delay_s(script.defer, Deferral(event.value - 1, since), at)
    queue = run.scripts.by_kind.get(kind)
    if queue is not None and node in queue.nodes:
        queue.defer(node, at + (delay or 0.0))
    known[key] = Deferral(event.value, since)


def _journal_pre(run: RunState, node: int, status: int) -> None:
    if status != 0 and status == run.dag.pre_skips.get(node):
        run.journal(node, do.AppendPreSkip(node, run.noop_ids.new(node)))
    else:
        retry = run.nodes.retries.get(node, 0)
        run.journal(node, do.AppendJournalRecord(JournalRecord.PRE_ENDED, node, retry, status))


def _journal_post(run: RunState, node: int, status: int) -> None:
    jobs = run.job_table.by_node.get(node)
    if jobs is None:
        run.journal(node, do.AppendPostEnded(node, -1, 0, 0, status))
    else:
        job = jobs.cluster, jobs.first_proc, jobs.subproc
        run.journal(node, do.AppendPostEnded(node, *job, status))


# The end of a PRE or POST script has been read from the nodes log.


def on_pre_ended(run: RunState, node: int, status: int) -> None:
    """A PRE script ended with `status`."""
    lifecycle.restore_dropped(run, node, Cause.NEEDS_PRE)
    if run.nodes.states[node] not in _BEFORE_PRE_END:
        return
    _pre_is_over(run, node)
    run.jobstate(node, "PRE_SCRIPT_SUCCESS" if status == 0 else "PRE_SCRIPT_FAILURE")
    run.say(script_ended(ScriptKind.PRE, run.dag.names[node], status))
    run.scripts.pre_values[node] = status
    run_end.check_abort(run, node, status, "PRE script")
    verdict = rules.after_pre(
        status,
        pre_skip=run.dag.pre_skips.get(node),
        has_post=run.dag.script(node, ScriptKind.POST) is not None,
        always_post=run.config.always_run_post,
    )
    if verdict is rules.NextStep.SUBMIT and run.nodes.marks[node] & CANCELLED:
        lifecycle.fail_run(run, node, status, "its PRE script had succeeded")
    elif verdict is rules.NextStep.SUBMIT:
        lifecycle.make_ready(run, node, first=run.config.submit_depth_first)
    elif verdict is rules.NextStep.POST:
        run.nodes.returned(node, RETURN_PRE_FAILED)
        lifecycle.need_post(run, node)
    else:
        how = f"failed with status {status}" if status > 0 else f"died on {signal_name(status)}"
        lifecycle.fail_run(run, node, status, f"PRE Script {how}")


def _pre_is_over(run: RunState, node: int) -> None:
    run.scripts.pre.discard(node)
    run.save_points.discard(node)


def on_pre_skip(run: RunState, node: int, event: LogEvent) -> None:
    """The PRE script's exit code says that the node is done."""
    run.noop_ids.ended(event.subproc)
    lifecycle.start_retry_now(run, node)
    lifecycle.restore_dropped(run, node, Cause.NEEDS_PRE)
    if run.nodes.states[node] not in _BEFORE_PRE_END:
        return
    _pre_is_over(run, node)
    name, value = run.dag.names[node], run.dag.pre_skips.get(node, 0)
    run.say(script_ended(ScriptKind.PRE, name, value))
    run.say(f"PRE_SKIP return value {value} indicates we are done (successfully) with node {name}")
    lifecycle.succeed(run, node)


def on_post_ended(run: RunState, node: int, event: LogEvent) -> None:
    """A POST script ended; it decides how the node does."""
    if _is_of_an_unlogged_failure(run, node, event):
        _fail_unlogged(run, node)
    elif event.cluster == -1:
        run.scripts.posts_without_job.add(node)
    if run.nodes.states[node] not in (State.POST_WAIT, State.POST_UNCONFIRMED):
        run.say(f"Ignoring a second end of node {run.dag.names[node]}'s POST script")
        return
    jobs = run.job_table.by_node.get(node)
    if jobs is not None and (event.cluster, event.subproc) != (jobs.cluster, jobs.subproc):
        run.say(f"Ignoring the POST script of an earlier run of node {run.dag.names[node]}")
        return
    name, status = run.dag.names[node], event.value
    run.scripts.post.discard(node)
    job = "-" if event.cluster == -1 else f"{event.cluster}.{event.proc}"
    run.jobstate(node, "POST_SCRIPT_SUCCESS" if status == 0 else "POST_SCRIPT_FAILURE", job)
    run.say(script_ended(ScriptKind.POST, name, status))
    jobs_value = run.nodes.values.get(node, 0)
    run.nodes.returned(node, status)
    if run_end.check_abort(run, node, status, "POST script"):
        run.nodes.set_error(node, f"POST Script ended with the ABORT value {status}")
    cancelled = run.nodes.marks[node] & CANCELLED and jobs is not None and jobs.failed > 0
    if rules.after_post(status) is rules.NextStep.SUCCEED and not cancelled:
        lifecycle.succeed(run, node)
    else:
        before = before_post(jobs_value, run.scripts.pre_values.get(node, 0))
        lifecycle.fail_run(run, node, status, f"{before} and POST Script {how_it_failed(status)}")


def _is_of_an_unlogged_failure(run: RunState, node: int, event: LogEvent) -> bool:
    """Whether the script ran since the PRE script or the submission had failed, which a log of
    stock DAGMan's does not tell; in ours there is a record before it, and it may come twice."""
    if not run.recovering or event.cluster != -1 or node in run.scripts.posts_without_job:
        return False
    if run.nodes.states[node] in (State.POST_WAIT, State.POST_UNCONFIRMED):
        return False
    lifecycle.start_retry_now(run, node)
    has_post = run.dag.script(node, ScriptKind.POST) is not None
    return has_post and run.nodes.states[node] in (State.PRE_WAIT, State.READY)


def _fail_unlogged(run: RunState, node: int) -> None:
    """Which of the two failed is known if a failed PRE script would not have led to a POST script;
    else the node is retried, as in stock's recovery."""
    _pre_is_over(run, node)
    has_pre = run.dag.script(node, ScriptKind.PRE) is not None
    if has_pre and run.config.always_run_post:
        run.nodes.returned(node, RETURN_PRE_FAILED)
    else:
        lifecycle.use_up_retries(run, node)
        run.nodes.returned(node, RETURN_SUBMIT_FAILED)
    lifecycle.need_post(run, node)


# HOLD scripts.


def on_held(run: RunState, node: int, cluster: int, proc: int) -> None:
    """A proc went on hold."""
    if run.dag.script(node, ScriptKind.HOLD) is None:
        return
    held = run.scripts.hold.count(node, cluster, proc)
    if run.recovering:
        run.scripts.hold.held_in_old_log(held)
    else:
        if run.script_room(ScriptKind.HOLD) <= 0:
            run.deferrals.add("hold")
        warning = run.scripts.hold.add(held)
        if warning:
            run.say(warning)


def start_hold_scripts(run: RunState) -> None:
    """Start HOLD scripts while the throttle allows."""
    while run.end.wanted is None and run.script_room(ScriptKind.HOLD) > 0:
        held = run.scripts.hold.pop(run.now)
        if held is None:
            return
        line = _script_arguments(run, held.node, ScriptKind.HOLD)
        if line:
            run.scripts.hold.started()
            run.say(f"Running HOLD script of Node {run.dag.names[held.node]}...")
            where = run.runs_at(held.node)
            run.emit(do.RunScript(held.node, ScriptKind.HOLD, line, *where, held=held))


def _on_hold_ended(run: RunState, ended: ScriptEnded) -> None:
    """A HOLD script ended: run it again later if DEFER says so, or write down that it has."""
    run.scripts.hold.ended()
    held, script = ended.held, run.dag.script(ended.node, ScriptKind.HOLD)
    if held is None or script is None:
        return
    delay = _deferral(run, ended, script)
    if delay is not None:
        run.scripts.hold.defer(held, run.now + delay)
    else:
        _put_offs(run, ended.kind).pop(held, None)
        retry = run.nodes.retries.get(held.node, 0)
        job = held.number, held.cluster, held.proc
        run.emit(do.AppendJournalRecord(JournalRecord.HOLD_ENDED, held.node, retry, *job))


def on_hold_ended(run: RunState, event: LogEvent) -> None:
    """The end of a HOLD script has been read: after a restart it does not run again."""
    run.scripts.hold.ended_in_old_log(event.cluster, event.proc, event.value)


def next_hold_script(run: RunState) -> float | None:
    """When a HOLD script that was put off is to start, if there is a place for it then."""
    return run.scripts.hold.next_time() if run.script_room(ScriptKind.HOLD) > 0 else None
