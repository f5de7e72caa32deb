"""From the ready queue to the schedd: which node is submitted next, and how its reply is handled.

Log events and requests are handled between two submissions.  In a row of many, the next one is
handed to the schedd's process before the reply is here, which saves that process a wait.  What
`.dagman.out` says is in the order of one at a time.

Nodes that are ready one after another and have the same submit file are submitted together, as
procs of one cluster, where PYDAGMAN_MAX_NODES_IN_CLUSTER allows more than one and the reply for a
node before has told that the file can be shared.  If the schedd refuses a cluster, fewer are tried,
and in the end each alone: then the one that is refused fails, as it would have otherwise.

-DryRun: a node is done instead of being submitted.  PRE scripts run, and what they return counts;
jobs and the POST scripts behind them do not.  What a dry run finds is no progress: it writes no
rescue file and no save files, so that no later run takes a node for done whose job has never run.
(Stock DAGMan writes both; it does not go on behind a PROVISIONER node, and crashes on SERVICE
nodes.)
"""

from __future__ import annotations

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle, provisioner
from condor_pydagman.engine.inputs import CommonInput, NotTogether, SubmitFailed, Submitted
from condor_pydagman.engine.node_states import Cause, State
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.graph.model import NOOP
from condor_pydagman.vocabulary import RETURN_SUBMIT_FAILED, JournalRecord, NodeKind

MAX_IN_FLIGHT = 2
LONG_ROW = 4  # nodes that the schedd took one after another: more are likely to follow


def on_submitted(run: RunState, reply: Submitted) -> None:
    """The schedd took the node's jobs."""
    node, cluster = reply.node, reply.cluster
    _answered(run, node)
    has_room(run, waits=bool(run.ready.tickets))
    run.pace.submitted(run.now, run.limits)
    run.submission.in_a_row += 1
    run.say(f"\tassigned HTCondor ID ({cluster}.{reply.proc or 0}.0)")
    _learn_shareable(run, reply)
    if run.nodes.states[node] in (State.SUBMITTING, State.UNKNOWN):
        lifecycle.open_cluster(run, node, cluster, only=reply.proc)
    jobs = run.job_table.by_node.get(node)
    in_queue = run.nodes.states[node] == State.SUBMITTED
    if jobs is not None and jobs.cluster == cluster and in_queue:
        if reply.procs == 0:
            jobs.set_factory()
        if not jobs.factory:
            run.job_table.expect(jobs, jobs.numbered(reply.procs))
    provisioner.refuse_more_procs(run, node, reply.procs)


def _learn_shareable(run: RunState, reply: Submitted) -> None:
    submission = run.submission
    if run.config.max_nodes_in_cluster == 1:
        return
    submission.shareable[_file(run, reply.node)] = reply.shareable
    if not submission.in_flight:
        submission.most = min(2 * submission.most, run.config.max_nodes_in_cluster)


def on_not_together(run: RunState, reply: NotTogether) -> None:
    """Nodes were not submitted together: they are ready again, in their order."""
    submission = run.submission
    submission.most = min(max(reply.most, 1), run.config.max_nodes_in_cluster)
    if reply.reason:
        nodes = len(reply.nodes)
        run.say(
            f"{nodes} nodes can't be submitted together, trying at most {submission.most}:"
            f" {reply.reason}"
        )
    for node in reversed(reply.nodes):
        submission.unlogged.discard(node)
        _answered(run, node)
        if run.nodes.states[node] == State.SUBMITTING:
            lifecycle.leave_queue(run, node)
            lifecycle.make_ready(run, node, first=True)


def on_submit_failed(run: RunState, reply: SubmitFailed) -> None:
    """The node's jobs were not submitted, or we can't know."""
    node = reply.node
    _answered(run, node)
    if run.nodes.states[node] != State.SUBMITTING:
        return  # the log was quicker and knows better
    run.jobstate_lines.forget_time(node)
    if reply.full:
        lifecycle.leave_queue(run, node)
        lifecycle.make_ready(run, node, first=True)
        has_no_room(run, reply.reason)
        return
    run.jobstate(node, "SUBMIT_FAILURE")
    run.say(
        f"ERROR: submit attempt failed\nEvent: ULOG_SUBMIT_FAILURE for HTCondor Node"
        f" {run.dag.names[node]} (-1.-1.-1) {{{reply.stamp}}} {reply.reason}"
    )
    if reply.permanent:
        _refuse(run, node, reply.reason)
    elif reply.unknown:
        run.say(
            f"Node {run.dag.names[node]}: it is not known whether the schedd took the job;"
            " asking it before submitting again"
        )
        run.nodes.move(node, Cause.REPLY_LOST, run.now)
        run.query.plan(run.now + run.pace.failed(run.now))
    else:
        submit_again(run, node, reply.reason)


def has_no_room(run: RunState, reason: str) -> None:
    """The schedd's queue is full, by no fault of the nodes', which wait as for -MaxJobs."""
    if not run.submission.is_full:
        run.say(f"The queue of the schedd is full, nodes wait for room: {reason}", 0)
    run.submission.is_full, run.submission.taken, run.submission.in_a_row = True, 0, 0
    run.pace.failed(run.now)


def has_room(run: RunState, *, waits: bool) -> None:
    """The schedd's queue took a job: it is full no more if that is the second in a row, or nothing
    `waits`; at a steady limit each job that ends gives room for one."""
    submission = run.submission
    if submission.is_full:
        submission.taken += 1
        submission.is_full = waits and submission.taken < 2
        if not submission.is_full:
            run.say("The queue of the schedd has room again")


def on_common_input(run: RunState, found: CommonInput) -> None:
    """The node's jobs have the first list of common input files.

    It is on the disk before anything with it is in the queue, so that a restart knows it as well.
    """
    node = found.node
    _answered(run, node)
    if run.nodes.states[node] != State.SUBMITTING:
        return  # adopted meanwhile
    ends = run.end.wanted is not None or run.end.rescue_asked or run.is_closed_to(node)
    if not ends and not run.starts_nothing:
        keep_common_input(run, found.files)
        retry = run.nodes.retries.get(node, 0)
        run.journal(
            node,
            do.AppendJournalRecord(
                JournalRecord.COMMON_INPUT, node, retry, text=run.submission.common_input
            ),
        )
        run.submission.in_flight.append(node)
        run.emit(submit_action(run, node))
    else:
        lifecycle.leave_queue(run, node)
        lifecycle.make_ready(run, node)


def keep_common_input(run: RunState, files: str) -> None:
    """The log has the DAG's list of common input files; the first one counts."""
    run.submission.common_input = run.submission.common_input or files


def submit_again(run: RunState, node: int, reason: str) -> None:
    """A submit did not succeed and nothing is in the queue: try later, or give up."""
    tries = run.submission.attempts.get(node, 0) + 1
    run.submission.attempts[node] = tries
    limit = run.config.max_submit_attempts
    if tries >= limit:
        _refuse(run, node, reason)
        return
    wait = run.pace.failed(run.now)
    name = run.dag.names[node]
    again = f"Node {name} submit failed {tries}/{limit}. RETRYING NODE SUBMISSION"
    run.emit(do.Say(again, 0, test=True))
    run.say(
        f"Job submit try {tries}/{limit} failed, will try again in >= {wait:.0f}"
        f" second{'' if wait == 1 else 's'}."
    )
    lifecycle.leave_queue(run, node)
    lifecycle.make_ready(run, node, first=run.config.retry_submit_first)


def _refuse(run: RunState, node: int, reason: str) -> None:
    tries = run.submission.attempts.get(node, 0) or 1
    # Clients that look for errors show this line; they pass over the one of each attempt.
    run.say(f"ERROR: submit of node {run.dag.names[node]} failed: {reason}")
    run.say(f"Node submit failed after {tries} tr{'y' if tries == 1 else 'ies'}.")
    run.say(f"Shortcutting node {run.dag.names[node]} retries because of submit failure(s)")
    run.nodes.move(node, Cause.SUBMIT_REFUSED, run.now)
    lifecycle.leave_queue(run, node)
    retry = run.nodes.retries.get(node, 0)
    run.journal(
        node,
        do.AppendJournalRecord(
            JournalRecord.SUBMIT_FAILED, node, retry, RETURN_SUBMIT_FAILED, text=reason
        ),
    )


def _answered(run: RunState, node: int) -> None:
    submission = run.submission
    _say_submitting(run, node)
    if node in submission.in_flight:
        submission.in_flight.remove(node)
    submission.together &= bool(submission.in_flight)


def submit_ready(run: RunState) -> None:
    """Submit the next ready node, if nothing forbids it and no submission is awaited."""
    in_flight = run.submission.in_flight
    if in_flight:
        _say_submitting(run, in_flight[0])
    while not in_flight or (
        run.submission.in_a_row >= LONG_ROW and len(in_flight) < MAX_IN_FLIGHT and _may_follow(run)
    ):
        blocked = _obstacle(run)
        if blocked:
            if in_flight:
                return
            if blocked != run.submission.blocked_by:
                run.deferrals.add(blocked, len(run.ready))
            run.submission.blocked_by = blocked
            return
        run.submission.blocked_by = ""
        node = run.ready.pop()
        if node is None:  # none of them may start
            _say_submitted(run)
            return
        if run.hooks.holds_back and lifecycle.is_held_back(run, node, ready=True):
            continue
        elif not run.categories.room(node):
            run.deferrals.add("category")
            run.categories.set_aside(node)
        else:
            _submit_node(run, node)


def _may_follow(run: RunState) -> bool:
    """Whether the next node may be submitted though there is no reply for the one before."""
    submission = run.submission
    if submission.together or _may_share(run, submission.in_flight[0]):
        return False
    node = run.ready.first()
    return (
        node is not None
        and node not in submission.in_flight  # the log was quicker, and it is to run once more
        and not run.config.submit_delay
        and is_plain(run, node)
        and is_plain(run, submission.in_flight[0])
        and run.categories.room(node)
    )


def is_plain(run: RunState, node: int) -> bool:
    """Whether the node has a job of its own, and no other kind of work."""
    return run.dag.kinds[node] == NodeKind.JOB and not run.dag.is_noop(node)


def _obstacle(run: RunState) -> str:
    """Why no node may be submitted now; '' if one may."""
    if not run.ready.tickets:
        _say_submitted(run)
        return "empty"
    return "halt" if run.starts_nothing else throttled(run)


def throttled(run: RunState) -> str:
    """Which throttle forbids one more submission now; '' if none does."""
    in_flight = len(run.submission.in_flight)
    if run.starts.most and run.starts.next_time() > run.now:
        return "starts"
    for blocks_starts in run.hooks.blocks_starts:
        why = blocks_starts(False)
        if why:
            return why
    if run.pace.blocked_until(run.now, run.limits, in_flight) > run.now:
        return "pace"
    if run.limits.jobs and run.nodes_in_queue() >= run.limits.jobs:
        return "jobs"
    if run.limits.idle and run.job_table.idle + in_flight >= run.limits.idle:
        return "idle"
    return ""


def _submit_node(run: RunState, node: int) -> None:
    run.nodes.move(node, Cause.SUBMIT_STARTED, run.now)
    run.categories.enter(node)
    if run.starts.most:
        _count_start(run, node)
    if run.mode is Mode.DRY_RUN:
        _finish_dry_run(run, node)
        return
    if run.dag.flags[node] & NOOP:
        run.say(_submitting(run, node))
        run.journal(node, do.AppendNoop(node, run.noop_ids.new(node)))
        return
    alone = not run.submission.in_flight
    if node not in run.dag.subdags:  # their submit files are made first
        run.submission.unlogged.add(node)
        if alone:
            _say_submitting(run, node)
    run.submission.in_flight.append(node)
    others = _take_others(run, node) if alone and run.submission.shareable else []
    if others:
        run.submission.together = True
        run.emit(do.SubmitTogether(tuple(submit_action(run, one) for one in (node, *others))))
    else:
        run.emit(submit_action(run, node))


def _count_start(run: RunState, node: int) -> None:
    if not run.is_rehearsal and not run.dag.is_noop(node):
        run.starts.started(run.now)


def _take_others(run: RunState, node: int) -> list[int]:
    """Take nodes out of the ready queue that are submitted together with `node`."""
    others: list[int] = []
    if not run.submission.shareable.get(_file(run, node)) or not _may_join(run, node, node):
        return others
    if run.config.submit_delay:
        return others
    while len(others) + 1 < run.submission.most and not throttled(run):
        other = run.ready.first()
        if other is None or not _may_join(run, other, node) or not run.categories.room(other):
            break
        run.ready.pop()
        run.nodes.move(other, Cause.SUBMIT_STARTED, run.now)
        run.categories.enter(other)
        if run.starts.most:
            _count_start(run, other)
        run.submission.unlogged.add(other)
        run.submission.in_flight.append(other)
        others.append(other)
    return others


def _may_share(run: RunState, node: int) -> bool:
    """Whether others may be submitted together with the node, as far as is known."""
    return run.config.max_nodes_in_cluster > 1 and run.submission.shareable.get(
        _file(run, node), True
    )


def _may_join(run: RunState, other: int, node: int) -> bool:
    """Whether `other` may share a cluster with `node`."""
    return (
        is_plain(run, other)
        and other not in run.retrying.on_hold
        and run.dag.group_of(other) is None  # each has the macros of its site
        and other not in run.submission.attempts  # it may be why the reply for others was lost
        and _file(run, other) == _file(run, node)
    )


def _file(run: RunState, node: int) -> tuple[str, str]:
    """The node's submit file or inline description, and the directory it is submitted from."""
    return run.dag.submits[node], run.dag.directories.get(node, "")


def _submitting(run: RunState, node: int) -> str:
    return f"Submitting HTCondor Node {run.dag.names[node]} job(s)..."


def _say_submitting(run: RunState, node: int) -> None:
    """Say that the node is submitted, unless that has been said."""
    if node not in run.submission.unlogged:
        return
    run.submission.unlogged.discard(node)
    file = run.dag.submits[node]
    place = "inline description" if file in run.dag.descriptions else f"file {file}"
    run.say(_submitting(run, node))
    run.say(f"Submitting node {run.dag.names[node]} from {place} using direct job submission")


def submit_action(run: RunState, node: int) -> do.SubmitNode:
    """The action that submits a node alone, as things are now."""
    settings = run.settings.get(node)
    return do.SubmitNode(
        node,
        run.nodes.retries.get(node, 0),
        run.shown_status,
        run.nodes.counts[State.FAILED],
        node in run.retrying.on_hold,
        run.submission.common_input,
        run.priority(node),
        settings.variables if settings is not None else (),
        *(run.runs_at(node) if run.hooks.runs_at else ()),
    )


def _say_submitted(run: RunState) -> None:
    count, run.submission.in_a_row = run.submission.in_a_row, 0
    if count:
        run.say(f"Just submitted {count} job{'' if count == 1 else 's'} this cycle...")


def _finish_dry_run(run: RunState, node: int) -> None:
    """-DryRun: it is the node's turn to be submitted; it is done instead."""
    run.say(f"Processing node: {run.dag.names[node]}")
    run.nodes.move(node, Cause.JOBS_SEEN, run.now)
    lifecycle.leave_queue(run, node)
    run.submission.in_a_row += 1
    goes_ahead = run.provisioner.gave_up(node)
    if goes_ahead:
        run.provisioner.go_ahead()
    lifecycle.succeed(run, node)
    if goes_ahead:
        lifecycle.start_roots(run)
