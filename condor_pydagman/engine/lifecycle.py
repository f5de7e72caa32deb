"""One node from its start to its end: started, its jobs seen, succeeded, failed, retried, adopted.

Whatever brings a node forward, in recovery mode or live, comes through here.  There is no
recursion: starting a node never ends one.

Retries: manual, "Retrying failed nodes", and our own DELAY, BACKOFF, MAX-DELAY and ONLY-IF (man
page dagman-language).  The delay counts from the event that ended the run, so a restart in between
changes nothing about when the next run starts.
"""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import present_run, rules
from condor_pydagman.engine.inputs import QueuedJob
from condor_pydagman.engine.jobs import CLUSTER_ITSELF, Jobs
from condor_pydagman.engine.node_states import ALONE, CANCELLED, CLEANING, Anew, Cause, State
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.graph.model import Retry
from condor_pydagman.vocabulary import NOOP_CLUSTER, DagStatus, JournalRecord, ScriptKind


def verdict_of(
    run: RunState, node: int, retry: Retry | None, taken: int, value: int
) -> rules.RetryVerdict:
    """Whether a node is retried of which a run has returned `value`, after `taken` retries."""
    if run.end.wanted is not None:
        return rules.RetryVerdict.NO_RETRIES_LEFT  # ABORT-DAG-ON beats retries
    verdict = rules.retry_verdict(retry, taken, value, run.retrying.extra_retries.get(node, 0))
    closed = run.is_closed_to(node)
    if verdict is rules.RetryVerdict.RETRY and closed:
        return rules.RetryVerdict.FINAL_RUNS
    if verdict is rules.RetryVerdict.NO_RETRIES_LEFT and not closed and _goes_on_hold(run, node):
        return rules.RetryVerdict.ON_HOLD
    return verdict


def _goes_on_hold(run: RunState, node: int) -> bool:
    """DAGMAN_PUT_FAILED_JOBS_ON_HOLD: a person looks at it, instead of a POST script."""
    jobs = run.job_table.by_node.get(node)
    if not run.config.put_failed_jobs_on_hold or jobs is None or jobs.cluster <= 0:
        return False
    return run.dag.script(node, ScriptKind.POST) is None


def say_why_none(run: RunState, node: int, verdict: rules.RetryVerdict, value: int) -> None:
    """Say why a node is not retried, where stock does."""
    name = run.dag.names[node]
    if verdict is rules.RetryVerdict.FINAL_RUNS:
        run.say(
            f"Aborting further retries of node {name} because final node is running"
            f" (last attempt returned {value})"
        )
    elif verdict in (rules.RetryVerdict.UNLESS_EXIT, rules.RetryVerdict.NOT_THIS_VALUE):
        run.say(f"Aborting further retries of node {name} (last attempt returned {value})")


# Start.


def start(run: RunState, node: int, *, first: bool = False) -> None:
    """A node's turn has come: all parents ended, or it is retried."""
    if node in run.dag.save_points and run.mode is not Mode.DRY_RUN:
        run.save_points.starts(node)
    if node in run.dag.scripts and run.dag.script(node, ScriptKind.PRE) is not None:
        run.nodes.move(node, Cause.NEEDS_PRE, run.now)
        queue_script(run, node, ScriptKind.PRE)
    else:
        make_ready(run, node, first=first or run.config.submit_depth_first)
    if node in run.query.found or node in run.query.history:
        adopt(run, node, run.query.found.get(node, ()))


def start_roots(run: RunState) -> None:
    """Start all nodes without unfinished parents, but for the FINAL node."""
    start_all(run, [node for node in run.nodes.roots() if node != run.final])


def start_all(run: RunState, nodes: Sequence[int]) -> None:
    """Start those of these nodes that may start; their turn has come."""
    for node in nodes:
        if run.nodes.states[node] != State.WAITING or run.is_closed_to(node):
            continue
        if not run.provisioner.ready and run.provisioner.holds_back(node):
            continue
        if not (run.hooks.holds_back and is_held_back(run, node)):
            start(run, node)
    for started in run.hooks.started:
        started()


def settle(run: RunState) -> None:
    """Nodes have ceased to be failed: nodes that no failed ancestor keeps from running wait again.

    Once for many commands in a row, since all nodes are looked at.
    """
    if not run.nodes.stale:
        return
    run.nodes.settled()
    for before_taken_back in run.hooks.before_taken_back:
        before_taken_back(None)
    run.nodes.mark_all_futile_anew(run.now)
    waiting = (node for node in run.nodes.in_state(State.WAITING) if node != run.final)
    start_all(run, [node for node in waiting if run.nodes.may_start(node)])
    if run.status is DagStatus.NODE_FAILED and not run.nodes.counts[State.FAILED]:
        run.set_status(DagStatus.OK)


def is_held_back(run: RunState, node: int, *, ready: bool = False) -> bool:
    """Whether a feature has the node wait whose turn has come: to start, or (`ready`) to be
    submitted."""
    return any(holds_back(node, ready) for holds_back in run.hooks.holds_back)


def make_ready(run: RunState, node: int, *, first: bool = False) -> None:
    """Put a node into the ready queue."""
    run.nodes.move(node, Cause.NEEDS_SUBMIT, run.now)
    if run.is_closed_to(node):
        run.nodes.move(node, Cause.DROPPED, run.now)
        run.nodes.not_failed(node)  # as in `run_end`, of what is ready when the FINAL node begins
    else:
        run.ready.add(node, run.priority(node), first=first)


def queue_script(run: RunState, node: int, kind: ScriptKind) -> None:
    """Queue a PRE or POST script of a node that is in the matching state."""
    queue = run.scripts.by_kind[kind]
    if run.script_room(kind) <= len(queue):
        run.deferrals.add(kind.value.lower())
    queue.add(node)


def need_post(run: RunState, node: int) -> None:
    """The node's POST script is to run."""
    run.ready.discard(node)
    run.scripts.pre.discard(node)
    run.nodes.move(node, Cause.NEEDS_POST, run.now)
    queue_script(run, node, ScriptKind.POST)


# Jobs.


def open_cluster(
    run: RunState, node: int, cluster: int, subproc: int = 0, *, only: int | None = None
) -> Jobs:
    """The node's jobs are in the queue, whichever source shows it; `subproc`, `only` as in Jobs."""
    jobs = run.job_table.open(node, cluster, subproc, only)
    run.nodes.set_cluster(node, cluster, only or 0)
    run.ready.discard(node)
    run.scripts.pre.discard(node)
    run.save_points.discard(node)
    run.nodes.move(node, Cause.JOBS_SEEN, run.now)
    for jobs_seen in run.hooks.jobs_seen:
        jobs_seen(node, jobs)
    run.categories.enter(node)
    run.query.plan_look(run.now, run.config.check_queue_interval, run.job_table.completed)
    return jobs


def leave_queue(run: RunState, node: int) -> None:
    """The node's jobs ended (or never came): its category has room again."""
    for waiting in reversed(run.categories.leave(node)):
        if run.nodes.states[waiting] == State.READY and waiting not in run.ready:
            run.ready.add(waiting, run.priority(waiting), first=True)


def remove_rest(run: RunState, jobs: Jobs, reason: str, *, soon: bool = False) -> None:
    """Remove what is left of a node's cluster, once; `soon`: what is left REMOVAL_GRACE_S later."""
    if jobs.removing:
        return
    jobs.set_removing()
    if soon and not run.recovering:
        run.removals.add_delayed(jobs.target, reason, run.now)
    else:
        run.removals.add(jobs.target, reason)


# End.


def succeed(run: RunState, node: int) -> None:
    """The node has ended well."""
    if not run.provisioner.ready and run.provisioner.gave_up(node):
        fail(run, node, "The provisioner's job exited before it gave the go-ahead")
        return
    if run.hooks.before_ended and _does_not_end(run, node, ""):
        return
    start_all(run, end_well(run, node))


def _does_not_end(run: RunState, node: int, error: str) -> bool:
    return any(before_ended(node, error) for before_ended in run.hooks.before_ended)


def end_well(run: RunState, node: int) -> list[int]:
    """The node is done; returns the children that may start."""
    if run.hooks.run_ended:
        note_run(run, node, 0, failed=False)
    run.nodes.move(node, Cause.SUCCEEDED, run.now)
    if run.nodes.marks[node]:
        run.nodes.unmark(node, CANCELLED)
    for done in run.hooks.done:
        done(node, True)
    forget_run(run, node)
    return run.nodes.release_children(node)


def fail(run: RunState, node: int, error: str, *, futile: bool = True) -> None:
    """The node failed for good; unless not `futile`, what depends on it can't run."""
    if run.hooks.before_ended and _does_not_end(run, node, error):
        return
    run.nodes.move(node, Cause.FAILED, run.now)
    run.nodes.set_error(node, error)
    run.nodes.unmark(node, CANCELLED)
    run.job_table.close(node)
    if run.provisioner.gave_up(node) and node in run.job_table.by_node:
        name = run.dag.names[node]
        run.say(f"ERROR: Provisioner node {name} job exited before giving DAGMan the go ahead!", 0)
    if run.status is DagStatus.OK:
        run.set_status(DagStatus.NODE_FAILED)
    if futile:
        run.nodes.mark_futile(node, run.now)
        start_all(run, run.nodes.release_children(node, weak_only=True))
    else:
        run.nodes.mark(node, ALONE)
        run.nodes.mark_unreachable(run.now)


def forget_run(run: RunState, node: int) -> None:
    """Drop what the last run of the node has left behind."""
    jobs = run.job_table.by_node.get(node)
    if jobs is not None and jobs.subproc and jobs.cluster == NOOP_CLUSTER:
        run.noop_ids.ended(jobs.subproc)
    run.job_table.forget(node)
    if run.dag.jobstate_log or node in run.jobstate_lines.times:
        run.jobstate_lines.forget(node)


# Retries.


def fail_run(run: RunState, node: int, value: int, error: str) -> None:
    """This run of the node failed with that return value: retry it, or let it fail."""
    run.nodes.returned(node, value)
    for before_retry in run.hooks.before_retry:
        instead = before_retry(node, error)
        if instead:
            fail(run, node, instead)
            return
    if run.hooks.run_ended:
        note_run(run, node, value, failed=True)
    taken = run.nodes.retries.get(node, 0)
    retry = run.retry(node)
    verdict = verdict_of(run, node, retry, taken, value)
    if verdict is rules.RetryVerdict.ON_HOLD:
        grant_retry(run, node)
        run.retrying.on_hold.add(node)
    if verdict in (rules.RetryVerdict.RETRY, rules.RetryVerdict.ON_HOLD):
        run.nodes.set_retries(node, taken + 1)
        _retry(run, node, retry or Retry(0))
        return
    say_why_none(run, node, verdict, value)
    if retry is not None and verdict is not rules.RetryVerdict.UNLESS_EXIT:
        error += f" (after {taken} node retries)"
    fail(run, node, error, futile=verdict is not rules.RetryVerdict.UNLESS_EXIT)


def note_run(run: RunState, node: int, value: int, *, failed: bool) -> None:
    """Have it counted that a run of the node has ended, unless that was to clean up."""
    if not run.is_over and not run.nodes.marks[node] & CLEANING:
        for run_ended in run.hooks.run_ended:
            run_ended(node, value, failed)


def _retry(run: RunState, node: int, retry: Retry) -> None:
    number, name = run.nodes.retries[node], run.dag.names[node]
    limit = retry.limit + run.retrying.extra_retries.get(node, 0)
    run.say(f"Retrying node {name} (retry #{number} of {limit})...")
    by_hand = node in run.retrying.on_hold  # a person decides when it runs
    _next_run(run, node, 0.0 if by_hand else rules.retry_delay_s(retry, number, name))


def _next_run(run: RunState, node: int, delay_s: float) -> None:
    """Forget the run that failed; start the next one, or wait for it."""
    previous = run.retrying.previous_clusters.setdefault(node, set())
    previous.add(_run_key(run, node))
    for begins_anew in run.hooks.begins_anew:
        begins_anew(node, Anew.RETRY)
    ended = run.happened(run.jobstate_lines.times.get(node, run.now))
    forget_run(run, node)
    if delay_s > 0:
        run.nodes.move(node, Cause.RETRY_LATER, run.now)
        run.retrying.queue.add(node, ended + delay_s)
        run.say(f"Node {run.dag.names[node]} waits {delay_s:.0f} s before its next run")
    else:
        start(run, node, first=run.config.retry_node_first)


def begin_anew(run: RunState, node: int) -> None:
    """A node that had ended is to run anew, with as many retries as it has had.

    The number of its next run goes on, so that nothing of earlier ones is taken for it.
    """
    run.retrying.previous_clusters.setdefault(node, set()).add(_run_key(run, node))
    forget_run(run, node)
    if node in run.nodes.gated.parents:
        run.nodes.gated.close(node)
    for begins_anew in run.hooks.begins_anew:
        begins_anew(node, Anew.RUN)
    taken = run.nodes.retries.get(node, 0) + 1
    run.nodes.set_retries(node, taken)
    run.retrying.extra_retries[node] = taken
    run.nodes.returned(node, 0)


def _run_key(run: RunState, node: int) -> int:
    """What tells the events of this run of a node from those of its others."""
    jobs = run.job_table.by_node.get(node)
    return run.nodes.clusters[node] if jobs is None else jobs.key


def start_due_retries(run: RunState) -> None:
    """Start the runs whose delay has passed."""
    while True:
        node = run.retrying.queue.pop(run.now)
        if node is None:
            return
        start(run, node, first=run.config.retry_node_first)


def start_retry_now(run: RunState, node: int) -> None:
    """An old log, or the schedd's queue, shows that the node's next run has begun."""
    if run.nodes.states[node] == State.RETRY_WAIT:
        run.retrying.queue.discard(node)
        start(run, node)
    elif run.hooks.seen_to_run and any(had_held(node) for had_held in run.hooks.seen_to_run):
        start_all(run, [node])  # unless another feature holds it back


def use_up_retries(run: RunState, node: int) -> None:
    """A failed submission leaves the node no retries (stock rule)."""
    retry = run.retry(node)
    limit = run.retrying.extra_retries.get(node, 0) + (retry.limit if retry is not None else 0)
    if limit:
        run.nodes.set_retries(node, limit)


def grant_retry(run: RunState, node: int) -> None:
    """The node gets a retry beyond its RETRY command."""
    run.retrying.extra_retries[node] = run.retrying.extra_retries.get(node, 0) + 1


def restore_dropped(run: RunState, node: int, cause: Cause) -> None:
    """What had begun when the FINAL node began goes on to its end; a replay, which does not know
    that it had, has dropped its node."""
    dropped = run.nodes.states[node] == State.WAITING and run.nodes.may_start(node)
    if dropped and run.recovering and run.is_closed_to(node):
        run.nodes.move(node, cause, run.now)


# Adoption: jobs that the schedd has, or had, and the log does not show.


def adopt(run: RunState, node: int, jobs: Sequence[QueuedJob]) -> None:
    """Take jobs that the queue has and the log does not show as the node's, if they are of this
    run of it.

    Also those that are leaving: they have run, or are being removed, and a run is not done over
    because of that.
    """
    retry = run.nodes.retries.get(node, 0)
    mine = present_run.of_present_run(run, node, jobs)
    old = present_run.of_present_run(run, node, run.query.history.get(node, ()))
    cluster = present_run.best_cluster(mine, old)
    if cluster is None or cluster == run.nodes.clusters[node]:
        return
    where = "queue" if mine else "schedd's history"
    run.say(f"Node {run.dag.names[node]}: found its job in the {where}, cluster {cluster}")
    live = [job.proc for job in mine if job.cluster == cluster]
    ended = {job.proc: job.value for job in old if job.cluster == cluster and job.proc >= 0}
    shared = present_run.is_shared(mine, cluster) or present_run.is_shared(old, cluster)
    found = open_cluster(run, node, cluster, only=max((*live, *ended)) if shared else None)
    if CLUSTER_ITSELF in live:
        found.set_factory()
    procs = 1 if shared else max((*live, *ended)) + 1
    # As many as a replay of the record expects; those that are not there will be found to be lost.
    run.job_table.expect(found, found.numbered(procs))
    if {job.cluster for job in mine} | {job.cluster for job in old} != {cluster}:
        run.say(f"Warning: node {run.dag.names[node]} has jobs in other clusters as well")
    present_run.journal_adopted(run, node, procs)
    for proc, value in ended.items():
        run.emit(do.AppendJournalRecord(JournalRecord.JOB_ENDED, node, retry, value, cluster, proc))
