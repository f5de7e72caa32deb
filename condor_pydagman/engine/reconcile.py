"""Asking the schedd what it really has, and correcting the job table by its answer.

The schedd is asked once after every recovery, and whenever the reply to a submit was lost.  While
jobs are in the queue it is asked every half an hour, and, once a job has ended, when the log is
silent for long: it goes through the whole queue for each answer.  Jobs that it has and we do not
know are adopted; procs that the job table has and the schedd does not are lost: the log gets a
record that they failed, so that retries apply.  A proc must be missing for CONFIRM_LOST_S seconds,
since its end may just be on its way.  An answer may be late: it says nothing of a submission whose
reply was lost after the question.

A log may have lost its end (a crash of the machine, a full disk), and jobs may have ended that it
does not show at all.  So the schedd's history is asked as well, after a recovery, before a proc
counts as lost, and if a submit's reply and event may both be lost; what it tells goes into the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle, present_run, run_end, submission
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import (
    EndedJob,
    LogRepaired,
    QueuedJob,
    QueueListed,
    QueueUnknown,
)
from condor_pydagman.engine.jobs import CLUSTER_ITSELF, Jobs
from condor_pydagman.engine.node_states import UNWANTED, Cause, State
from condor_pydagman.engine.state import RunState
from condor_pydagman.timers import CONFIRM_LOST_S
from condor_pydagman.vocabulary import ALL_PROCS, NOOP_CLUSTER, JournalRecord

_ADOPTABLE = (State.READY, State.PRE_WAIT, State.SUBMITTING, State.UNKNOWN)


def ask(run: RunState) -> None:
    """Ask the schedd for its queue, and for its history if that may have news."""
    run.query.asked(run.nodes.in_state(State.UNKNOWN))
    news = run.phase is Phase.RECONCILING or bool(run.query.missing)
    news |= bool(run.query.found)  # they may leave the queue before the turn of their nodes
    # Events of a cluster that the log does not show: a lost reply's may have ended already.
    news |= bool(run.log.unmatched_events) and run.nodes.counts[State.UNKNOWN] > 0
    news |= any(own_jobs().in_doubt for own_jobs in run.hooks.own_jobs)
    run.emit(do.QueryQueue(history=news and run.config.ask_history))


def on_log_repaired(run: RunState, _: LogRepaired) -> None:
    """What kept DAGMan from writing may have kept others: ask when their next tries are over."""
    soon = run.now + CONFIRM_LOST_S
    if run.phase is Phase.RUNNING and run.nodes.count_all(State.SUBMITTED):
        run.query.plan(soon if run.query.at is None else min(run.query.at, soon))


def on_unknown(run: RunState, answer: QueueUnknown) -> None:
    """The schedd could not be asked: try again, after a longer delay each time."""
    run.say(
        f"Warning: can't ask the schedd for this DAG's jobs ({answer.reason});"
        f" next try in {run.query.delay_s:.0f} s"
    )
    run.query.failed(run.now)


def on_listed(run: RunState, answer: QueueListed) -> None:
    """The schedd's list of this DAG's procs."""
    by_node = _by_node(run, answer.jobs)
    run.query.answered(_ended_by_node(run, answer.ended) if answer.ended else None)
    orphans: Iterable[QueuedJob | EndedJob] = chain(answer.jobs, answer.ended)
    for job in orphans:
        if job.node not in run.dag.ids:
            run.query.note_stranger(job)
    for node in dict.fromkeys((*by_node, *run.query.history)):
        _compare(run, node, by_node.get(node, ()))
    for node in list(run.nodes.in_state(State.UNKNOWN)):
        if node in run.query.asked_about:  # else the list may be older than the submission
            submission.submit_again(run, node, "the schedd does not have the job")
    suspects = _record_lost(run, {(job.cluster, job.proc) for job in answer.jobs})
    if run.phase is Phase.RECONCILING:
        if run.nodes.count_all(State.SUBMITTED) and not suspects:
            run.say("All pending job states validated")
        run.enter(Phase.FINISHING if run.final_begun else Phase.RUNNING)
        _end_noops(run)
        if run.final_begun:
            run_end.remove_again(run, {job.cluster for job in answer.jobs if not job.leaving})
    _plan_next(run, suspects)


def _compare(run: RunState, node: int, listed: Sequence[QueuedJob]) -> None:
    """What the queue has of one node against what we know of it."""
    mine = present_run.of_present_run(run, node, listed)
    old = present_run.of_present_run(run, node, run.query.history.get(node, ()))
    if mine or old:
        lifecycle.start_retry_now(run, node)
    state = run.nodes.states[node]
    retry = run.nodes.retries.get(node, 0)
    if any(job.retry > retry or state == State.WAITING for job in listed):
        run.query.keep(node, list(listed))
    if state == State.WAITING and (mine or old) and run.nodes.marks[node] & UNWANTED:
        _take_dropped(run, node, listed)
    elif state in _ADOPTABLE:
        lifecycle.adopt(run, node, listed)
    elif state != State.WAITING:
        _remove_strays(run, node, [job for job in mine if not job.leaving])
        _expect_all(run, node, (*mine, *old))


def _take_dropped(run: RunState, node: int, listed: Sequence[QueuedJob]) -> None:
    """A node that is not needed had been submitted, as the log does not show: its jobs are its own,
    and leave the queue as the others of its kind."""
    run.nodes.move(node, Cause.NEEDS_SUBMIT, run.now)
    lifecycle.adopt(run, node, listed)
    if run.nodes.states[node] == State.READY:
        run.nodes.move(node, Cause.DROPPED, run.now)


def _expect_all(run: RunState, node: int, jobs: Sequence[QueuedJob | EndedJob]) -> None:
    """Let the node wait for all procs of its cluster, where the log has lost some submit events."""
    known = run.job_table.by_node.get(node)
    if known is None or known.only is not None or run.nodes.states[node] != State.SUBMITTED:
        return
    procs = max((job.proc for job in jobs if job.cluster == known.cluster), default=-1) + 1
    if any(proc not in known.procs for proc in range(procs)):
        run.job_table.expect(known, range(procs))
        present_run.journal_adopted(run, node, procs)


def _remove_strays(run: RunState, node: int, mine: Sequence[QueuedJob]) -> None:
    """A second cluster in the same run of a node does work twice; that happens if the schedd took
    a job long after it had been asked whether it did."""
    present = run.nodes.clusters[node]
    jobs = run.job_table.by_node.get(node)
    for job in mine:
        if job.cluster == present and job.proc == CLUSTER_ITSELF and jobs is not None:
            jobs.set_factory()  # its event 035 is missing
    strays = {
        (job.cluster, job.proc if job.shared else ALL_PROCS)
        for job in mine
        if job.cluster != present
    }
    for cluster, proc in sorted(strays):
        name = run.dag.names[node]
        reason = f"Node Error: a cluster of DAG node {name}, which is not to run"
        if present:
            reason = f"Node Error: a second cluster of DAG node {name}, which has {present}"
        run.say(f"Warning: removing cluster {cluster}: {reason}", 0)
        run.emit(do.RemoveJobs(reason, cluster, proc=proc))


def _end_noops(run: RunState) -> None:
    """An old log may end between the two events of a NOOP node."""
    for node, jobs in run.job_table.by_node.items():
        if run.nodes.states[node] == State.SUBMITTED and jobs.cluster == NOOP_CLUSTER:
            run.journal(node, do.AppendNoop(node, jobs.subproc))


def _ended_by_node(run: RunState, jobs: Sequence[EndedJob]) -> dict[int, list[EndedJob]]:
    """What of the history may be news: jobs of nodes that are not done, by node, and those of runs
    to come of nodes that are, as the log has lost that they began anew."""
    by_node: dict[int, list[EndedJob]] = {}
    for job in jobs:
        node = run.dag.ids.get(job.node)
        if node is None:
            continue
        if run.nodes.states[node] != State.DONE or job.retry > run.nodes.retries.get(node, 0):
            by_node.setdefault(node, []).append(job)
    return by_node


def _by_node(run: RunState, jobs: Sequence[QueuedJob]) -> dict[int, list[QueuedJob]]:
    by_node: dict[int, list[QueuedJob]] = {}
    for job in jobs:
        node = run.dag.ids.get(job.node)
        if node is not None:
            by_node.setdefault(node, []).append(job)
    return by_node


def _record_lost(run: RunState, listed: set[tuple[int, int]]) -> bool:
    """Record procs that have been missing for long enough; returns whether any is missing."""
    missing: dict[tuple[int, int], float] = {}
    for node, jobs, proc in list(expected(run)):
        job = (jobs.cluster, proc)
        if job in listed:
            continue
        missing[job] = since = run.query.missing.get(job, run.now)
        if run.now - since >= CONFIRM_LOST_S:
            ended = {(job.cluster, job.proc): job.value for job in run.query.history.get(node, ())}
            if not (run.recovering or jobs.is_shown(proc)):
                present_run.record_adopted(run, node, jobs)
            retry = run.nodes.retries.get(node, 0)
            kind = JournalRecord.JOB_ENDED if job in ended else JournalRecord.JOB_LOST
            record = do.AppendJournalRecord(kind, node, retry, ended.get(job, 0), *job)
            run.emit(record)  # not read back, it is written again after the next question
    run.query.set_missing(missing)
    return bool(missing)


def expected(run: RunState) -> Iterator[tuple[int, Jobs, int]]:
    """The procs that the schedd must have, each with its node and that one's jobs."""
    for node, jobs in run.job_table.by_node.items():
        if run.nodes.states[node] != State.SUBMITTED or jobs.cluster == NOOP_CLUSTER:
            continue
        if jobs.is_task and any(tells_end(node) for tells_end in run.hooks.tells_end):
            continue
        # The cluster itself last: its end is that of all its procs.
        for proc in jobs.live() or [CLUSTER_ITSELF] * jobs.factory:
            yield node, jobs, proc


def _plan_next(run: RunState, suspects: bool) -> None:
    if run.nodes.count_all(State.UNKNOWN):
        return  # their replies have been lost since the schedd was asked: it is to be asked again
    if suspects:
        run.query.plan(run.now + CONFIRM_LOST_S)
    elif run.nodes.count_all(State.SUBMITTED):
        run.query.plan_look(run.now, run.config.check_queue_interval, run.job_table.completed)
