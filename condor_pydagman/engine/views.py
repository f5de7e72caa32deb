"""What the engine shows of itself: reports, script macros, lists of what is awaited.

Nothing here changes anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from condor_pydagman.engine.jobs import HELD, IDLE, Jobs
from condor_pydagman.engine.node_states import ENDED, IN_QUEUE, PUBLISHED, State
from condor_pydagman.engine.report import Deferrals, NodeReport, Report
from condor_pydagman.engine.script_words import exit_code_macros
from condor_pydagman.vocabulary import (
    RETURN_SUBMIT_FAILED,
    NodeStatus,
    ScriptKind,
)

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine


def report(engine: Engine) -> Report:
    """All counts, from the states as they are now."""
    by_status = dict.fromkeys(NodeStatus, 0)
    for state, count in enumerate(engine.nodes.counts):
        by_status[PUBLISHED[State(state)]] += count
    book = engine.book
    return Report(
        total=engine.nodes.total,
        done=by_status[NodeStatus.DONE],
        pre=by_status[NodeStatus.PRERUN],
        queued=by_status[NodeStatus.SUBMITTED],
        post=by_status[NodeStatus.POSTRUN],
        ready=by_status[NodeStatus.READY],
        unready=by_status[NodeStatus.NOT_READY],
        failed=by_status[NodeStatus.ERROR],
        futile=by_status[NodeStatus.FUTILE],
        hold_scripts=engine.hold_scripts.running,
        dag_status=engine.shown_status,
        in_recovery=engine.recovering,
        procs_submitted=book.submitted,
        procs_idle=book.idle - book.held,
        procs_held=book.held,
        procs_running=book.submitted - book.completed - book.idle,
        procs_completed=book.completed,
        procs_failed=book.failed,
        deferrals=Deferrals(
            max_jobs=engine.deferred["jobs"],
            max_idle=engine.deferred["idle"],
            category=engine.deferred["category"],
            pre=engine.deferred["pre"],
            post=engine.deferred["post"],
            hold=engine.deferred["hold"],
        ),
    )


def node_reports(engine: Engine) -> Iterator[NodeReport]:
    """All nodes in DAG order."""
    nodes, by_node = engine.nodes, engine.book.by_node
    published = [PUBLISHED[state] for state in State]
    retries, values, errors = nodes.retries.get, nodes.values.get, nodes.errors.get
    waiting_for_retry = bool(engine.retry_queue)
    for node, name in enumerate(engine.dag.names):
        jobs = by_node.get(node)
        queued, held, running = _NO_PROCS if jobs is None else _procs(jobs)
        yield NodeReport(
            node=node,
            name=name,
            status=published[nodes.states[node]],
            waiting_parents=nodes.waiting[node],
            retries_done=retries(node, 0),
            return_value=values(node, 0),
            procs_queued=queued,
            procs_held=held,
            proc_running=running,
            error=errors(node, ""),
            job=last_job(engine, node),
            details=_details(engine, node) if waiting_for_retry else "",
        )


_NO_PROCS = (0, 0, False)


def _procs(jobs: Jobs) -> tuple[int, int, bool]:
    """How many procs are in the queue, how many of them are held, and whether the first runs."""
    flags = [jobs.procs[proc] for proc in jobs.live()]
    held = sum(1 for flag in flags if flag & HELD)
    return len(flags), held, bool(flags) and not flags[0] & IDLE


def _details(engine: Engine, node: int) -> str:
    due = engine.retry_queue.due(node)
    if due is None:
        return ""
    number = engine.nodes.retries.get(node, 0)
    return f"retry #{number} starts in {max(0.0, due - engine.now):.0f} seconds"


def last_job(engine: Engine, node: int) -> str:
    """`cluster.proc.subproc` of the node's last job, '' if it has had none."""
    jobs = engine.book.by_node.get(node)
    if jobs is not None:
        return jobs.job(jobs.last_proc)
    cluster = engine.nodes.clusters[node]
    return f"{cluster}.0.0" if cluster else ""


def in_queue(engine: Engine) -> int:
    """How many nodes hold a place under -MaxJobs."""
    return sum(engine.nodes.counts[state] for state in IN_QUEUE)


def record_job(engine: Engine, node: int, kind: ScriptKind) -> str:
    """Job id of a script's line in jobstate.log."""
    jobs = engine.book.by_node.get(node)
    if kind is ScriptKind.PRE or jobs is None:
        return "-"
    return f"{jobs.cluster}.{jobs.last_proc if jobs.subproc else 0}"


def macros(engine: Engine, node: int, kind: ScriptKind) -> dict[str, str]:
    """Values of all macros of a script line (manual: "Special script argument macros")."""
    nodes, counts = engine.nodes, engine.nodes.counts
    retry = engine.dag.retries.get(node)
    values = {
        "NODE": engine.dag.names[node],
        "JOB": engine.dag.names[node],
        "RETRY": str(nodes.retries.get(node, 0)),
        "MAX_RETRIES": str(retry.limit if retry else 0),
        "DAG_STATUS": str(int(engine.shown_status)),
        "FAILED_COUNT": str(counts[State.FAILED]),
        "FUTILE_COUNT": str(counts[State.FUTILE]),
        "DONE_COUNT": str(counts[State.DONE]),
        "QUEUED_COUNT": str(counts[State.SUBMITTED]),
        "NODE_COUNT": str(nodes.total),
        "DAGID": str(engine.dag_id),
    }
    values.update(_job_macros(engine, node))
    jobs = engine.book.by_node.get(node)
    if kind is ScriptKind.HOLD:  # -1: not known yet
        values["RETURN"] = str(jobs.value) if jobs is not None and jobs.codes else "-1"
    return values


def _job_macros(engine: Engine, node: int) -> dict[str, str]:
    jobs = engine.book.by_node.get(node)
    value = engine.nodes.values.get(node, 0)
    codes = exit_code_macros(jobs.codes if jobs is not None else {})
    has_pre = engine.dag.script(node, ScriptKind.PRE) is not None
    if jobs is not None and jobs.codes:
        success = not jobs.beyond
    else:
        success = value in (0, RETURN_SUBMIT_FAILED)  # True after a failed submit: stock's way
    return {
        "JOBID": f"{jobs.cluster}.{jobs.last_proc}" if jobs is not None else "-1.-1",
        "CLUSTERID": str(jobs.cluster) if jobs is not None else "-1",
        "JOB_COUNT": str(_job_count(jobs)),
        "SUCCESS": str(success),
        "RETURN": str(value),
        "PRE_SCRIPT_RETURN": str(engine.pre_values.get(node, 0)) if has_pre else "-1",
        **codes,
    }


def _job_count(jobs: Jobs | None) -> int:
    """A cluster with late materialization counts as one (stock rule); a NOOP node has no job."""
    if jobs is None or jobs.subproc:
        return 0
    return 1 if jobs.factory else len(jobs.procs)


def awaited(engine: Engine) -> Iterator[str]:
    """Which node waits for what, a line each: for people, and for the simulator's verdict."""
    for node, state in enumerate(engine.nodes.states):
        if state != State.WAITING and state not in ENDED:
            yield (
                f"  Node {engine.dag.names[node]}, HTCondor ID {engine.nodes.clusters[node]},"
                f" status STATUS_{PUBLISHED[State(state)].name}"
            )


def next_pending_report(engine: Engine) -> float | None:
    """When it is to be told what the DAG waits for; None: never."""
    every = engine.config.pending_report_interval
    return max(engine.last_event, engine.last_report) + every if every > 0 else None


def say_pending(engine: Engine) -> None:
    """Tell what the DAG waits for, after a long time without any event."""
    engine.say(f"{engine.now - engine.last_event:.0f} seconds since last log event")
    engine.say("Pending DAG nodes:")
    for line in awaited(engine):
        engine.say(line)
