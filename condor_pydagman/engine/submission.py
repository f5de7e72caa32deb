"""From the ready queue to the schedd: which node is submitted next, and what its answer means.

One submission at a time is in flight, so that log events and requests get their turn between two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import dry_run, final_node, halting, inputs, provisioner, scripts, views
from condor_pydagman.engine.node_states import Cause, State
from condor_pydagman.vocabulary import RETURN_SUBMIT_FAILED, Note

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine


def on_submitted(engine: Engine, reply: inputs.Submitted) -> None:
    """The schedd took the node's jobs."""
    node, cluster = reply.node, reply.cluster
    _answered(engine, node)
    engine.pace.submitted(engine.now)
    engine.submitted_in_a_row += 1
    engine.say(f"\tassigned HTCondor ID ({cluster}.0.0)")
    if engine.nodes.states[node] in (State.SUBMITTING, State.UNKNOWN):
        engine.book.open(node, cluster)
        engine.nodes.clusters[node] = cluster
        engine.jobs_seen(node)
    jobs = engine.book.by_node.get(node)
    in_queue = engine.nodes.states[node] == State.SUBMITTED
    if jobs is not None and jobs.cluster == cluster and in_queue:
        jobs.factory = jobs.factory or reply.procs == 0
        if not jobs.factory:
            engine.book.expect(jobs, range(reply.procs))
    provisioner.refuse_more_procs(engine, node, reply.procs)


def on_submit_failed(engine: Engine, reply: inputs.SubmitFailed) -> None:
    """The node's jobs were not submitted, or we can't know."""
    node = reply.node
    _answered(engine, node)
    if engine.nodes.states[node] != State.SUBMITTING:
        return  # the log was quicker and knows better
    engine.event_times.pop(node, None)
    engine.record(node, "SUBMIT_FAILURE")
    engine.say(
        f"ERROR: submit attempt failed\nEvent: ULOG_SUBMIT_FAILURE for HTCondor Node"
        f" {engine.dag.names[node]} (-1.-1.-1) {{{reply.stamp}}} {reply.reason}"
    )
    if reply.permanent:
        _refuse(engine, node, reply.reason)
    elif reply.unknown:
        engine.say(
            f"Node {engine.dag.names[node]}: it is not known whether the schedd took the job;"
            " asking it before submitting again"
        )
        engine.nodes.move(node, Cause.REPLY_LOST, engine.now)
        engine.query_at = engine.now + engine.pace.failed(engine.now)
    else:
        submit_again(engine, node, reply.reason)


def on_common_input(engine: Engine, found: inputs.CommonInput) -> None:
    """The node's jobs have the first list of common input files.

    It is on the disk before anything with it is in the queue, so that a restart knows it as well.
    """
    node = found.node
    _answered(engine, node)
    if engine.nodes.states[node] != State.SUBMITTING:
        return  # adopted meanwhile
    if engine.ending is None and not engine.rescue_asked and not final_node.closes_to(engine, node):
        engine.common_input = engine.common_input or found.files
        retry = engine.nodes.retries.get(node, 0)
        engine.note(node, do.AppendNote(Note.COMMON_INPUT, node, retry, text=engine.common_input))
        _hand_over(engine, node)
    else:
        engine.left_queue(node)
        engine.want_submit(node)


def submit_again(engine: Engine, node: int, reason: str) -> None:
    """A submit did not succeed and nothing is in the queue: try later, or give up."""
    tries = engine.attempts.get(node, 0) + 1
    engine.attempts[node] = tries
    limit = engine.config.max_submit_attempts
    if tries >= limit:
        _refuse(engine, node, reason)
        return
    wait = engine.pace.failed(engine.now)
    name = engine.dag.names[node]
    again = f"Node {name} submit failed {tries}/{limit}. RETRYING NODE SUBMISSION"
    engine.emit(do.Say(again, 0, test=True))
    engine.say(
        f"Job submit try {tries}/{limit} failed, will try again in >= {wait:.0f}"
        f" second{'' if wait == 1 else 's'}."
    )
    engine.left_queue(node)
    engine.want_submit(node, first=engine.config.retry_submit_first)


def _refuse(engine: Engine, node: int, reason: str) -> None:
    tries = engine.attempts.get(node, 0) or 1
    # Clients that look for errors show this line; they pass over the one of each attempt.
    engine.say(f"ERROR: submit of node {engine.dag.names[node]} failed: {reason}")
    engine.say(f"Node submit failed after {tries} tr{'y' if tries == 1 else 'ies'}.")
    engine.say(f"Shortcutting node {engine.dag.names[node]} retries because of submit failure(s)")
    engine.nodes.move(node, Cause.SUBMIT_REFUSED, engine.now)
    engine.left_queue(node)
    retry = engine.nodes.retries.get(node, 0)
    engine.note(
        node, do.AppendNote(Note.SUBMIT_FAILED, node, retry, RETURN_SUBMIT_FAILED, text=reason)
    )


def _answered(engine: Engine, node: int) -> None:
    if engine.submitting == node:
        engine.submitting = None


def submit_ready(engine: Engine) -> None:
    """Submit the next ready node, if nothing forbids it and no submission is in flight."""
    while engine.submitting is None:
        blocked = _blocked(engine)
        if blocked:
            if blocked != engine.blocked_by and blocked in engine.deferred:
                engine.deferred[blocked] += len(engine.ready)
            engine.blocked_by = blocked
            return
        engine.blocked_by = ""
        node = engine.ready.pop()
        if node is None:
            _say_submitted(engine)
        elif not engine.categories.room(node):
            engine.deferred["category"] += 1
            engine.categories.set_aside(node)
        else:
            _submit_node(engine, node)


def _blocked(engine: Engine) -> str:
    """Why no node may be submitted now; '' if one may."""
    if not len(engine.ready):
        _say_submitted(engine)
        return "empty"
    if halting.holds_back(engine):
        return "halt"
    if engine.pace.blocked_until(engine.now) > engine.now:
        return "pace"
    if engine.limits.jobs and views.in_queue(engine) >= engine.limits.jobs:
        return "jobs"
    if engine.limits.idle and engine.book.idle >= engine.limits.idle:
        return "idle"
    return ""


def _submit_node(engine: Engine, node: int) -> None:
    engine.nodes.move(node, Cause.SUBMIT_STARTED, engine.now)
    engine.categories.enter(node)
    if engine.dry_run:
        dry_run.process(engine, node)
        return
    noop = engine.dag.is_noop(node)
    if noop or node not in engine.dag.subdags:  # the submit file of a sub-DAG is made before that
        engine.say(f"Submitting HTCondor Node {engine.dag.names[node]} job(s)...")
    if noop:
        engine.note(node, do.AppendNoop(node, scripts.new_noop(engine, node)))
        return
    _hand_over(engine, node)


def _hand_over(engine: Engine, node: int) -> None:
    engine.submitting = node
    engine.emit(
        do.SubmitNode(
            node,
            engine.nodes.retries.get(node, 0),
            engine.shown_status,
            engine.nodes.counts[State.FAILED],
            node in engine.on_hold,
            engine.common_input,
        )
    )


def _say_submitted(engine: Engine) -> None:
    count, engine.submitted_in_a_row = engine.submitted_in_a_row, 0
    if count:
        engine.say(f"Just submitted {count} job{'' if count == 1 else 's'} this cycle...")
