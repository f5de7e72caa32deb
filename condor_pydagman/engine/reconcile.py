"""Asking the schedd what it really has, and setting our books right by its answer.

The schedd is asked once after every recovery, whenever the reply to a submit was lost, and every
few minutes while jobs are in the queue.  Jobs that it has and we do not know are adopted; procs
that we believe in and it does not have are lost: noted in the log as failed, so that retries apply.
A proc must be missing for CONFIRM_LOST seconds, since its end may just be on its way.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import final_node, retries, submission
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import QueuedJob, QueueListed, QueueUnknown
from condor_pydagman.engine.node_states import State
from condor_pydagman.vocabulary import NOOP_CLUSTER, Note

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine

CONFIRM_LOST = 20.0  # seconds
CLUSTER_ITSELF = -1  # proc of a cluster that goes on making procs
LATE = "late materialization"  # text of an ADOPTED note about such a cluster
DELAY_MAX = 60.0  # seconds between tries to reach a schedd that does not answer

_ADOPTABLE = (State.READY, State.PRE_WAIT, State.SUBMITTING, State.UNKNOWN)


def ask_if_due(engine: Engine) -> None:
    """Ask the schedd if the time for it has come."""
    if engine.query_at is not None and engine.query_at <= engine.now and not engine.query_running:
        engine.query_at = None
        engine.query_running = True
        engine.emit(do.QueryQueue())


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
    for node, jobs in by_node.items():
        _compare(engine, node, jobs)
    for node in list(engine.nodes.in_state(State.UNKNOWN)):
        submission.submit_again(engine, node, "the schedd does not have the job")
    suspects = _note_lost(engine, {(job.cluster, job.proc) for job in answer.jobs})
    if engine.phase is Phase.RECONCILING:
        engine.enter(Phase.FINISHING if final_node.begun(engine) else Phase.RUNNING)
        _end_noops(engine)
    _plan_next(engine, suspects)


def _compare(engine: Engine, node: int, listed: Sequence[QueuedJob]) -> None:
    """What the queue has of one node against what we know of it."""
    retry = engine.nodes.retries.get(node, 0)
    mine = [job for job in listed if job.retry == retry and not job.leaving]
    if mine:
        retries.start_now(engine, node)
    state = engine.nodes.states[node]
    if state in _ADOPTABLE:
        adopt(engine, node, listed)
    elif state == State.WAITING:
        engine.found[node] = list(listed)
    elif mine:
        _remove_strays(engine, node, mine)


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
    run of it."""
    retry = engine.nodes.retries.get(node, 0)
    mine = [job for job in jobs if job.retry == retry and not job.leaving]
    if not mine or mine[0].cluster == engine.nodes.clusters[node]:
        return
    cluster = max(job.cluster for job in mine)
    engine.say(f"Node {engine.dag.names[node]}: found its job in the queue, cluster {cluster}")
    book = engine.book.open(node, cluster)
    engine.nodes.clusters[node] = cluster
    engine.jobs_seen(node)
    procs = [job.proc for job in mine if job.cluster == cluster]
    book.factory = CLUSTER_ITSELF in procs
    # As many as a replay of the note expects; those that are not there will be found to be lost.
    engine.book.expect(book, range(max(procs) + 1))
    if len(procs) < len(mine):
        engine.say(f"Warning: node {engine.dag.names[node]} has jobs in other clusters as well")
    # The log does not show it, so a later replay must learn it from us.
    text = LATE if book.factory else ""
    note = do.AppendNote(Note.ADOPTED, node, retry, max(procs) + 1, cluster, text=text)
    engine.note(node, note)


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
        expected = jobs.live()
        if jobs.factory:
            expected.append(CLUSTER_ITSELF)
        for proc in expected:
            job = (jobs.cluster, proc)
            if job in listed:
                continue
            missing[job] = since = engine.missing.get(job, engine.now)
            if engine.now - since >= CONFIRM_LOST:
                retry = engine.nodes.retries.get(node, 0)
                note = do.AppendNote(Note.JOB_LOST, node, retry, 0, jobs.cluster, proc)
                engine.emit(note)  # not read back, it is written again after the next question
    engine.missing = missing
    return bool(missing)


def _plan_next(engine: Engine, suspects: bool) -> None:
    every = engine.config.check_queue_interval
    if suspects:
        engine.query_at = engine.now + CONFIRM_LOST
    elif every > 0 and engine.nodes.count_all(State.SUBMITTED):
        engine.query_at = engine.now + every
