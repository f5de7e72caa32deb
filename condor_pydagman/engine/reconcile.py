"""Asking the schedd what it really has, and setting our books right by its answer.

The schedd is asked once after every recovery, whenever the reply to a submit was lost, and every
few minutes while jobs are in the queue.  Jobs that it has and we do not know are adopted; procs
that we believe in and it does not have are lost: noted in the log as failed, so that retries apply.
A proc must be missing for CONFIRM_LOST seconds, since its end may just be on its way.

A log may have lost its end (a crash of the machine, a full disk), and jobs may have ended that it
does not show at all.  So the schedd's history is asked as well, after a recovery, before a proc
counts as lost, and if a submit's reply and event both may be; what it tells is noted in the log.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import final_node, retries, submission
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import EndedJob, QueuedJob, QueueListed, QueueUnknown
from condor_pydagman.engine.jobs import run_key
from condor_pydagman.engine.node_states import State
from condor_pydagman.vocabulary import NOOP_CLUSTER, Note

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine

CONFIRM_LOST = 20.0  # seconds
CLUSTER_ITSELF = -1  # proc of a cluster that goes on making procs
LATE = "late materialization"  # text of an ADOPTED note about such a cluster
DELAY_MAX = 60.0  # seconds between tries to reach a schedd that does not answer

Job = TypeVar("Job", QueuedJob, EndedJob)

_ADOPTABLE = (State.READY, State.PRE_WAIT, State.SUBMITTING, State.UNKNOWN)


def ask_if_due(engine: Engine) -> None:
    """Ask the schedd if the time for it has come."""
    if engine.query_at is not None and engine.query_at <= engine.now and not engine.query_running:
        engine.query_at = None
        engine.query_running = True
        news = engine.phase is Phase.RECONCILING or bool(engine.missing)
        # Events of a cluster that the log does not show: a lost reply's may have ended already.
        news |= bool(engine.strangers) and engine.nodes.counts[State.UNKNOWN] > 0
        engine.emit(do.QueryQueue(history=news and engine.config.ask_history))


def on_unknown(engine: Engine, answer: QueueUnknown) -> None:
    """The schedd could not be asked: try again, ever more patiently."""
    engine.query_running = False
    engine.say(
        f"Warning: can't ask the schedd for this DAG's jobs ({answer.reason});"
        f" next try in {engine.query_delay:.0f} s"
    )
    engine.query_at = engine.now + engine.query_delay
    engine.query_delay = min(2 * engine.query_delay, DELAY_MAX)


def on_listed(engine: Engine, answer: QueueListed) -> None:
    """The schedd's list of this DAG's procs."""
    engine.query_running = False
    engine.query_delay = 1.0
    engine.found.clear()
    by_node = _by_node(engine, answer.jobs)
    engine.ended = _ended_by_node(engine, answer.ended) if answer.ended else engine.ended
    for node in dict.fromkeys((*by_node, *engine.ended)):
        _compare(engine, node, by_node.get(node, ()))
    for node in list(engine.nodes.in_state(State.UNKNOWN)):
        submission.submit_again(engine, node, "the schedd does not have the job")
    suspects = _note_lost(engine, {(job.cluster, job.proc) for job in answer.jobs})
    if engine.phase is Phase.RECONCILING:
        engine.enter(Phase.FINISHING if final_node.begun(engine) else Phase.RUNNING)
        _end_noops(engine)
    _plan_next(engine, suspects)


def _compare(engine: Engine, node: int, listed: Sequence[QueuedJob]) -> None:
    """What the queue has of one node against what we know of it."""
    mine = _of_run(engine, node, listed)
    old = _of_run(engine, node, engine.ended.get(node, ()))
    if mine or old:
        retries.start_now(engine, node)
    state = engine.nodes.states[node]
    retry = engine.nodes.retries.get(node, 0)
    if any(job.retry > retry or state == State.WAITING for job in listed):
        engine.found[node] = list(listed)
    if state in _ADOPTABLE:
        adopt(engine, node, listed)
    elif state != State.WAITING:
        _remove_strays(engine, node, [job for job in mine if not job.leaving])
        _expect_all(engine, node, (*mine, *old))


def _expect_all(engine: Engine, node: int, jobs: Sequence[QueuedJob | EndedJob]) -> None:
    """Let the node wait for all procs of its cluster, where the log has lost some submit events."""
    book = engine.book.by_node.get(node)
    if book is None or engine.nodes.states[node] != State.SUBMITTED:
        return
    procs = max((job.proc for job in jobs if job.cluster == book.cluster), default=-1) + 1
    if any(proc not in book.procs for proc in range(procs)):
        engine.book.expect(book, range(procs))
        _note_adopted(engine, node, procs)


def _note_adopted(engine: Engine, node: int, procs: int) -> None:
    """The log does not show these procs, so a later replay must learn of them from us."""
    book, retry = engine.book.by_node[node], engine.nodes.retries.get(node, 0)
    text = LATE if book.factory else ""
    engine.note(node, do.AppendNote(Note.ADOPTED, node, retry, procs, book.cluster, text=text))


def _remove_strays(engine: Engine, node: int, mine: Sequence[QueuedJob]) -> None:
    """A second cluster in the same run of a node does work twice; that happens if the schedd took
    a job long after it had been asked whether it did."""
    present = engine.nodes.clusters[node]
    jobs = engine.book.by_node.get(node)
    for job in mine:
        if job.cluster == present and job.proc == CLUSTER_ITSELF and jobs is not None:
            jobs.factory = True  # its event 035 is missing
    for cluster in sorted({job.cluster for job in mine} - {present}):
        name = engine.dag.names[node]
        reason = f"Node Error: a cluster of DAG node {name}, which is not to run"
        if present:
            reason = f"Node Error: a second cluster of DAG node {name}, which has {present}"
        engine.say(f"Warning: removing cluster {cluster}: {reason}", 0)
        engine.emit(do.RemoveJobs(reason, cluster))


def _end_noops(engine: Engine) -> None:
    """An old log may end between the two events of a NOOP node."""
    for node, jobs in engine.book.by_node.items():
        if engine.nodes.states[node] == State.SUBMITTED and jobs.cluster == NOOP_CLUSTER:
            engine.note(node, do.AppendNoop(node, jobs.subproc))


def adopt(engine: Engine, node: int, jobs: Sequence[QueuedJob]) -> None:
    """Take jobs that the queue has and the log does not show as the node's, if they are of this
    run of it.

    Also those that are leaving: they have run, or somebody removes them, and a run is not done over
    because of that.
    """
    retry = engine.nodes.retries.get(node, 0)
    mine = _of_run(engine, node, jobs)
    old = _of_run(engine, node, engine.ended.get(node, ()))
    cluster = _best(mine, old)
    if cluster is None or cluster == engine.nodes.clusters[node]:
        return
    where = "queue" if mine else "schedd's history"
    engine.say(f"Node {engine.dag.names[node]}: found its job in the {where}, cluster {cluster}")
    book = engine.book.open(node, cluster)
    engine.nodes.clusters[node] = cluster
    engine.jobs_seen(node)
    live = [job.proc for job in mine if job.cluster == cluster]
    ended = {job.proc: job.value for job in old if job.cluster == cluster and job.proc >= 0}
    book.factory = CLUSTER_ITSELF in live
    procs = max((*live, *ended)) + 1
    # As many as a replay of the note expects; those that are not there will be found to be lost.
    engine.book.expect(book, range(procs))
    if {job.cluster for job in mine} | {job.cluster for job in old} != {cluster}:
        engine.say(f"Warning: node {engine.dag.names[node]} has jobs in other clusters as well")
    _note_adopted(engine, node, procs)
    for proc, value in ended.items():
        engine.emit(do.AppendNote(Note.JOB_ENDED, node, retry, value, cluster, proc))


def _best(mine: Sequence[QueuedJob], old: Sequence[EndedJob]) -> int | None:
    """Which cluster is the node's if there are several in one run of it: one that stays, before one
    that is leaving, before one that has left."""
    if mine:
        return max(mine, key=lambda job: (not job.leaving, job.cluster)).cluster
    return max((job.cluster for job in old), default=None)


def _ended_by_node(engine: Engine, jobs: Sequence[EndedJob]) -> dict[int, list[EndedJob]]:
    """What of the history may be news: jobs of nodes that are not done, by node."""
    by_node: dict[int, list[EndedJob]] = {}
    for job in jobs:
        node = engine.dag.ids.get(job.node)
        if node is not None and engine.nodes.states[node] != State.DONE:
            by_node.setdefault(node, []).append(job)
    return by_node


def _of_run(engine: Engine, node: int, jobs: Sequence[Job]) -> list[Job]:
    """Those of a node's jobs that are of its present run."""
    retry = engine.nodes.retries.get(node, 0)
    former = engine.former.get(node, ())
    return [job for job in jobs if job.retry == retry and run_key(job.cluster, 0) not in former]


def _by_node(engine: Engine, jobs: Sequence[QueuedJob]) -> dict[int, list[QueuedJob]]:
    by_node: dict[int, list[QueuedJob]] = {}
    for job in jobs:
        node = engine.dag.ids.get(job.node)
        if node is not None:
            by_node.setdefault(node, []).append(job)
    return by_node


def _note_lost(engine: Engine, listed: set[tuple[int, int]]) -> bool:
    """Note procs that have been missing for long enough; returns whether any is missing at all."""
    missing: dict[tuple[int, int], float] = {}
    for node, jobs in list(engine.book.by_node.items()):
        if engine.nodes.states[node] != State.SUBMITTED or jobs.cluster == NOOP_CLUSTER:
            continue
        ended = {(job.cluster, job.proc): job.value for job in engine.ended.get(node, ())}
        # The cluster itself last: its end is that of all its procs.
        expected = jobs.live() or [CLUSTER_ITSELF] * jobs.factory
        for proc in expected:
            job = (jobs.cluster, proc)
            if job in listed:
                continue
            missing[job] = since = engine.missing.get(job, engine.now)
            if engine.now - since >= CONFIRM_LOST:
                retry = engine.nodes.retries.get(node, 0)
                kind = Note.JOB_ENDED if job in ended else Note.JOB_LOST
                note = do.AppendNote(kind, node, retry, ended.get(job, 0), *job)
                engine.emit(note)  # not read back, it is written again after the next question
    engine.missing = missing
    return bool(missing)


def _plan_next(engine: Engine, suspects: bool) -> None:
    every = engine.config.check_queue_interval
    if suspects:
        engine.query_at = engine.now + CONFIRM_LOST
    elif every > 0 and engine.nodes.count_all(State.SUBMITTED):
        engine.query_at = engine.now + every
