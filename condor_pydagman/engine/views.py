"""Read-only views of a run: reports, script macros, what is awaited, which jobs have ended.

Nothing here changes the run or emits an action.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import QueuedJob
from condor_pydagman.engine.jobs import ENDED as PROC_ENDED
from condor_pydagman.engine.jobs import HELD, IDLE, Jobs
from condor_pydagman.engine.node_states import (
    ENDED,
    PUBLISHED,
    PUBLISHED_AT_THE_END,
    State,
)
from condor_pydagman.engine.report import (
    MAX_FAILED_FIRST,
    Deferrals,
    Halts,
    NodeReport,
    OwnJobs,
    Report,
)
from condor_pydagman.engine.script_words import EXIT_CODE_MACROS, exit_code_macros
from condor_pydagman.engine.state import RunState
from condor_pydagman.vocabulary import (
    JOB_ENDS,
    NO_NODE,
    NOOP_CLUSTER,
    RETURN_SUBMIT_FAILED,
    NodeStatus,
    ScriptKind,
)


def report(run: RunState) -> Report:
    """All counts, from the states as they are now."""
    published, by_status = _published(run), [0] * len(NodeStatus)
    for state, count in enumerate(run.nodes.counts):
        by_status[published[state]] += count
    table, deferrals = run.job_table, run.deferrals.counts
    attempts, times = run.submission.attempts, run.log.job_times
    own = [own_jobs() for own_jobs in run.hooks.own_jobs]
    idle, held, running, _ = map(sum, zip(OwnJobs(0, 0, 0), *own))
    return Report(
        total=run.nodes.total,
        priority=run.dag_priority,
        done=by_status[NodeStatus.DONE],
        pre=by_status[NodeStatus.PRERUN],
        queued=by_status[NodeStatus.SUBMITTED],
        post=by_status[NodeStatus.POSTRUN],
        ready=by_status[NodeStatus.READY],
        unready=by_status[NodeStatus.NOT_READY],
        failed=by_status[NodeStatus.ERROR],
        futile=by_status[NodeStatus.FUTILE],
        hold_scripts=run.scripts.hold.running,
        dag_status=run.shown_status,
        in_recovery=run.recovering,
        procs_submitted=table.submitted,
        procs_idle=table.idle - table.held + idle,
        procs_held=table.held + held,
        procs_running=table.submitted - table.completed - table.idle + running,
        procs_completed=table.completed,
        procs_failed=table.failed,
        deferrals=Deferrals(
            max_jobs=deferrals["jobs"],
            max_idle=deferrals["idle"],
            category=deferrals["category"],
            pre=deferrals["pre"],
            post=deferrals["post"],
            hold=deferrals["hold"],
        ),
        limits=run.limits,
        halts=Halts(
            run.halt.by_file,
            run.halt.by_command,
            run.halt.paused,
            run.halt.by_rule,
        ),
        shown=tuple(one for shown in run.hooks.shown for one in shown()),
        last_end_at=run.log.last_end_at,
        retries=sum(run.nodes.retries.values()),
        failed_first=_failed_first(run) if run.nodes.errors else (),
        idle_s=times.idle,
        held_s=times.held,
        running_s=times.running,
        wasted_s=times.wasted,
        refusals=sum(attempts.values()),
        resubmitting=_resubmitting(run) if attempts else 0,
        retrying=len(run.retrying.queue.nodes),
        throttled=run.submission.blocked_by not in ("", "empty", "halt"),
    )


def _resubmitting(run: RunState) -> int:
    """How many nodes wait to be submitted again."""
    return sum(run.nodes.states[node] == State.READY for node in run.submission.attempts)


def _failed_first(run: RunState) -> tuple[str, ...]:
    failed = (n for n in run.nodes.errors if run.nodes.states[n] == State.FAILED)
    return tuple(run.dag.names[node] for node in islice(failed, MAX_FAILED_FIRST))


def _published(run: RunState) -> dict[int, NodeStatus]:
    """What each state is called now."""
    return PUBLISHED_AT_THE_END if run.phase is Phase.ENDED else PUBLISHED


def node_reports(run: RunState) -> Iterator[NodeReport]:
    """All nodes in DAG order."""
    nodes, by_node = run.nodes, run.job_table.by_node
    published = _published(run)
    retries, values, errors = nodes.retries.get, nodes.values.get, nodes.errors.get
    settings, waiting_for_retry = run.settings.get, bool(run.retrying.queue.nodes)
    marks, anew, somewhere = nodes.marks, decided_anew(run), bool(run.hooks.runs_at)
    over = run.phase is Phase.ENDED
    refused = set(nodes.in_state(State.SUBMIT_UNCONFIRMED)) if over else ()
    special = waiting_for_retry or bool(run.hooks.details)
    for node, name in enumerate(run.dag.names):
        jobs = by_node.get(node)
        queued, held, running = _NO_PROCS if jobs is None else _procs(jobs)
        yield NodeReport(
            node=node,
            name=name,
            status=published[nodes.states[node]],
            waiting_parents=nodes.unfinished_parents(node),
            retries_done=retries(node, 0),
            return_value=values(node, 0),
            procs_queued=queued,
            procs_held=held,
            proc_running=running,
            error=errors(node, "") if node not in refused else "Job submit failed",
            job=last_job(run, node),
            details=_details(run, node) if special else "",
            settings=settings(node),
            site=run.runs_at(node)[0] if somewhere else "",
            marks=marks[node],
            anew=node in anew,
            rescue_lines=rescue_lines(run, node) if run.hooks.rescue_lines else (),
        )


_NO_PROCS = (0, 0, False)


def _procs(jobs: Jobs) -> tuple[int, int, bool]:
    """How many procs are in the queue, how many of them are held, and whether the first runs."""
    flags = [jobs.procs[proc] for proc in jobs.live()]
    held = sum(1 for flag in flags if flag & HELD)
    return len(flags), held, bool(flags) and not flags[0] & IDLE


def _details(run: RunState, node: int) -> str:
    for details in run.hooks.details:
        text = details(node)
        if text:
            return text
    due = run.retrying.queue.due(node)
    if due is None:
        return ""
    number = run.nodes.retries.get(node, 0)
    return f"retry #{number} starts in {max(0.0, due - run.now):.0f} seconds"


def decided_anew(run: RunState) -> set[int]:
    """Nodes that are done, and on which a rescue DAG is to decide anew."""
    return {node for decided in run.hooks.decided_anew for node in decided()}


def rescue_lines(run: RunState, node: int = NO_NODE) -> tuple[str, ...]:
    """What a rescue file says of a node that is done, or of the whole DAG."""
    return tuple(line for lines in run.hooks.rescue_lines for line in lines(node))


def last_job(run: RunState, node: int) -> str:
    """`cluster.proc.subproc` of the node's last job, '' if it has had none."""
    jobs = run.job_table.by_node.get(node)
    if jobs is not None:
        return jobs.job(jobs.last_proc)
    job = run.nodes.last_job(node)
    return f"{job}.0" if job else ""


def jobstate_job(run: RunState, node: int, kind: ScriptKind) -> str:
    """Job id of a script's line in jobstate.log."""
    jobs = run.job_table.by_node.get(node)
    if kind is ScriptKind.PRE or jobs is None:
        return "-"
    return f"{jobs.cluster}.{jobs.first_proc}"


class Macros:
    """Values of the macros of a script line (manual: "Special script argument macros"), each found
    when it is asked for: most lines have one or two."""

    def __init__(self, run: RunState, node: int, kind: ScriptKind) -> None:
        self._run = run
        self._node = node
        self._kind = kind

    def __getitem__(self, name: str) -> str:
        if name == "RETURN" and self._kind is ScriptKind.HOLD:  # -1: not known yet
            jobs = self._run.job_table.by_node.get(self._node)
            return str(jobs.value) if jobs is not None and jobs.codes else "-1"
        if name in EXIT_CODE_MACROS:
            jobs = self._run.job_table.by_node.get(self._node)
            return exit_code_macros(jobs.codes if jobs is not None else {})[name]
        return str(_MACROS[name](self._run, self._node))


def _max_retries(run: RunState, node: int) -> int:
    retry = run.retry(node)
    return retry.limit if retry else 0


def _job_id(run: RunState, node: int) -> str:
    jobs = run.job_table.by_node.get(node)
    if jobs is not None and jobs.is_task:
        return jobs.job(jobs.last_proc)
    return f"{jobs.cluster}.{jobs.last_proc}" if jobs is not None else "-1.-1"


def _cluster_id(run: RunState, node: int) -> int:
    jobs = run.job_table.by_node.get(node)
    return jobs.cluster if jobs is not None else -1


def _success(run: RunState, node: int) -> bool:
    jobs = run.job_table.by_node.get(node)
    if jobs is not None and jobs.codes:
        return not jobs.tolerance_exceeded
    # True after a failed submit: stock's way.
    return run.nodes.values.get(node, 0) in (0, RETURN_SUBMIT_FAILED)


def _pre_return(run: RunState, node: int) -> int:
    has_pre = run.dag.script(node, ScriptKind.PRE) is not None
    return run.scripts.pre_values.get(node, 0) if has_pre else -1


_MACROS: dict[str, Callable[[RunState, int], object]] = {
    "NODE": lambda run, node: run.dag.names[node],
    "JOB": lambda run, node: run.dag.names[node],
    "RETRY": lambda run, node: run.nodes.retries.get(node, 0),
    "MAX_RETRIES": _max_retries,
    "DAG_STATUS": lambda run, _: int(run.shown_status),
    "FAILED_COUNT": lambda run, _: run.nodes.counts[State.FAILED],
    "FUTILE_COUNT": lambda run, _: run.nodes.counts[State.FUTILE],
    "DONE_COUNT": lambda run, _: run.nodes.counts[State.DONE],
    "QUEUED_COUNT": lambda run, _: run.nodes.counts[State.SUBMITTED],
    "NODE_COUNT": lambda run, _: run.nodes.total,
    "DAGID": lambda run, _: run.dag_id,
    "JOBID": _job_id,
    "CLUSTERID": _cluster_id,
    "JOB_COUNT": lambda run, node: _job_count(run.job_table.by_node.get(node)),
    "SUCCESS": _success,
    "RETURN": lambda run, node: run.nodes.values.get(node, 0),
    "PRE_SCRIPT_RETURN": _pre_return,
}


def _job_count(jobs: Jobs | None) -> int:
    """A cluster with late materialization counts as one (stock rule); a NOOP node has no job."""
    if jobs is None or jobs.cluster == NOOP_CLUSTER:
        return 0
    return 1 if jobs.factory else len(jobs.procs)


def awaited(run: RunState) -> Iterator[str]:
    """Which node waits for what, a line each: for people, and for the simulator's verdict."""
    for node, state in enumerate(run.nodes.states):
        if state != State.WAITING and state not in ENDED:
            yield (
                f"  Node {run.dag.names[node]}, HTCondor ID {run.nodes.clusters[node]},"
                f" status STATUS_{PUBLISHED[State(state)].name}"
            )


def has_ended(run: RunState, job: QueuedJob) -> bool:
    """Whether the end of a job in the queue is known: a removal must leave it out."""
    node = run.dag.find(job.node)
    if node is None:
        return any(has_left(job) for has_left in run.hooks.has_left)
    jobs = run.job_table.by_node.get(node)
    if jobs is not None and jobs.cluster == job.cluster:
        return bool(jobs.procs.get(job.proc, 0) & PROC_ENDED)
    previous = run.retrying.previous_clusters.get(node, ())
    if job.cluster == run.nodes.clusters[node] or job.cluster in previous:
        return True
    ends = [(kind, job.cluster, job.proc) for kind in JOB_ENDS]
    return any(event[:3] in ends for event in run.log.unmatched_events)
