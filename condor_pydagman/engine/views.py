"""Read-only views of a run: reports, script macros, what is awaited, which jobs have ended.

Nothing here changes the run or emits an action.
"""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import QueuedJob
from condor_pydagman.engine.jobs import ENDED as PROC_ENDED
from condor_pydagman.engine.jobs import HELD, IDLE, Jobs
from condor_pydagman.engine.node_states import (
    ENDED,
    NOT_NEEDED,
    PUBLISHED,
    PUBLISHED_AT_THE_END,
    SKIPPED,
    UNWANTED,
    State,
)
from condor_pydagman.engine.report import Deferrals, GroupReport, Halts, NodeReport, Report
from condor_pydagman.engine.script_words import exit_code_macros
from condor_pydagman.engine.site_states import GroupState
from condor_pydagman.engine.state import RunState
from condor_pydagman.vocabulary import (
    JOB_ENDS,
    RETURN_SUBMIT_FAILED,
    NodeStatus,
    ScriptKind,
)


def report(run: RunState) -> Report:
    """All counts, from the states as they are now."""
    by_status = dict.fromkeys(NodeStatus, 0)
    for status, count in zip(_published(run), run.nodes.counts):
        by_status[status] += count
    table, deferrals = run.job_table, run.deferrals.counts
    return Report(
        total=run.nodes.total,
        priority=run.dag_priority,
        feeder=run.feeder.report(),
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
        procs_idle=table.idle - table.held,
        procs_held=table.held,
        procs_running=table.submitted - table.completed - table.idle,
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
        not_needed=len(run.enough.counts.not_needed),
        enough=tuple(run.enough.reached.values()) if run.dag.enoughs else None,
        shown=tuple(one for shown in run.hooks.shown for one in shown()),
    )


def _published(run: RunState) -> list[NodeStatus]:
    """What each state is called now."""
    names = {**PUBLISHED, **PUBLISHED_AT_THE_END} if run.phase is Phase.ENDED else PUBLISHED
    return [names[state] for state in State]


def node_reports(run: RunState) -> Iterator[NodeReport]:
    """All nodes in DAG order."""
    nodes, by_node = run.nodes, run.job_table.by_node
    published = _published(run)
    retries, values, errors = nodes.retries.get, nodes.values.get, nodes.errors.get
    settings, waiting_for_retry = run.steering.settings.get, bool(run.retrying.queue)
    sites, marks, watched = run.sites, nodes.marks, bool(nodes.turns.watched)
    anew = _decided_anew(run) if run.conditions.skipped else ()
    over = run.phase is Phase.ENDED
    refused = set(nodes.in_state(State.SUBMIT_UNCONFIRMED)) if over else ()
    special = waiting_for_retry or bool(run.conditions or run.cache or run.enough)
    special |= bool(run.hooks.details)
    for node, name in run.dag.named():
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
            site=sites.site(node)[0] if sites else "",
            skipped=bool(marks[node] & SKIPPED),
            not_needed=bool(marks[node] & (NOT_NEEDED | UNWANTED)),
            anew=node in anew,
            result=_result(run, node) if watched else "",
        )


_NO_PROCS = (0, 0, False)


def _procs(jobs: Jobs) -> tuple[int, int, bool]:
    """How many procs are in the queue, how many of them are held, and whether the first runs."""
    flags = [jobs.procs[proc] for proc in jobs.live()]
    held = sum(1 for flag in flags if flag & HELD)
    return len(flags), held, bool(flags) and not flags[0] & IDLE


def _details(run: RunState, node: int) -> str:
    if node in run.enough.counts.not_needed:
        error = run.enough.had_failed.get(node, "")
        return f"not needed: {run.enough.why(node)}{'; it had failed: ' * bool(error)}{error}"
    if node in run.enough.unwanted:
        return f"not needed any more: {run.enough.line(run.enough.unwanted[node])}"
    if node in run.conditions.skipped:
        why = run.conditions.why.get(node)
        return "skipped" if why is None else f"skipped: RUN_IF is false{': ' * bool(why)}{why}"
    if node in run.conditions.asked or node in run.conditions.unread:
        return "its RUN_IF is being evaluated"
    if node in run.cache.cached:
        return "cached: nothing has changed since it was last done"
    if run.cache.is_being_decided(node):
        return "it is found out whether it has to run (CACHE)"
    for details in run.hooks.details:
        text = details(node)
        if text:
            return text
    due = run.retrying.queue.due(node)
    if due is None:
        return ""
    number = run.nodes.retries.get(node, 0)
    return f"retry #{number} starts in {max(0.0, due - run.now):.0f} seconds"


def outcome(run: RunState, node: int) -> str:
    """How a node has ended, as conditions call it; '' if it has not."""
    if run.nodes.marks[node] & SKIPPED:
        return "SKIPPED"
    return _OUTCOMES.get(State(run.nodes.states[node]), "")


_OUTCOMES = {State.DONE: "DONE", State.FAILED: "FAILED", State.FUTILE: "FUTILE"}
_OF_NO_JOB = -1000  # return values of nodes below this are DAGMan's own


def known_of(run: RunState, node: int) -> str:
    """What conditions can ask of a node that has run, but for its outcome: `name = literal; ...`"""
    restored = run.results.restored.get(node)
    if restored is not None:
        return restored.strip()[1:-1].strip().rstrip("; \t")
    value = run.nodes.values.get(node, 0)
    pairs = list(run.results.values.get(node, {}).items())
    if value >= 0:
        pairs.append(("ExitCode", str(value)))
    elif value > _OF_NO_JOB:
        pairs.append(("Signal", str(-value)))
    pairs.append(("Retries", str(run.nodes.retries.get(node, 0))))
    return "; ".join(f"{name} = {literal}" for name, literal in pairs)


def _decided_anew(run: RunState) -> set[int]:
    """Nodes that were skipped because of what is to run again in a rescue DAG: parents that failed,
    or nodes of this kind."""
    skipped, unneeded = run.conditions.skipped, run.enough.counts.not_needed
    ended_badly = (State.FAILED, State.FUTILE)
    found: dict[int, None] = {}
    for node in skipped:
        if node in unneeded:
            continue
        parents = run.nodes.turns.parents.get(node) or run.dag.parents(node)
        if any(run.nodes.states[parent] in ended_badly for parent in parents):
            found[node] = None
    todo = list(found)
    for node in todo:  # which grows meanwhile
        for child in (*run.dag.children(node), *run.nodes.turns.children_waiting(node)):
            if child in skipped and child not in found and child not in unneeded:
                found[child] = None
                todo.append(child)
    return set(found)


def _result(run: RunState, node: int) -> str:
    """What a rescue file keeps of a node for the conditions of others, '' for nothing."""
    asked_of = node in run.nodes.turns.watched and outcome(run, node) == "DONE"
    return f"[ {known_of(run, node)} ]" if asked_of else ""


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


def macros(run: RunState, node: int, kind: ScriptKind) -> dict[str, str]:
    """Values of all macros of a script line (manual: "Special script argument macros")."""
    nodes, counts = run.nodes, run.nodes.counts
    retry = run.retry(node)
    values = {
        "NODE": run.dag.names[node],
        "JOB": run.dag.names[node],
        "RETRY": str(nodes.retries.get(node, 0)),
        "MAX_RETRIES": str(retry.limit if retry else 0),
        "DAG_STATUS": str(int(run.shown_status)),
        "FAILED_COUNT": str(counts[State.FAILED]),
        "FUTILE_COUNT": str(counts[State.FUTILE]),
        "DONE_COUNT": str(counts[State.DONE]),
        "QUEUED_COUNT": str(counts[State.SUBMITTED]),
        "NODE_COUNT": str(nodes.total),
        "DAGID": str(run.dag_id),
    }
    values.update(_job_macros(run, node))
    jobs = run.job_table.by_node.get(node)
    if kind is ScriptKind.HOLD:  # -1: not known yet
        values["RETURN"] = str(jobs.value) if jobs is not None and jobs.codes else "-1"
    return values


def _job_macros(run: RunState, node: int) -> dict[str, str]:
    jobs = run.job_table.by_node.get(node)
    value = run.nodes.values.get(node, 0)
    codes = exit_code_macros(jobs.codes if jobs is not None else {})
    has_pre = run.dag.script(node, ScriptKind.PRE) is not None
    if jobs is not None and jobs.codes:
        success = not jobs.tolerance_exceeded
    else:
        success = value in (0, RETURN_SUBMIT_FAILED)  # True after a failed submit: stock's way
    return {
        "JOBID": f"{jobs.cluster}.{jobs.last_proc}" if jobs is not None else "-1.-1",
        "CLUSTERID": str(jobs.cluster) if jobs is not None else "-1",
        "JOB_COUNT": str(_job_count(jobs)),
        "SUCCESS": str(success),
        "RETURN": str(value),
        "PRE_SCRIPT_RETURN": str(run.scripts.pre_values.get(node, 0)) if has_pre else "-1",
        **codes,
    }


def _job_count(jobs: Jobs | None) -> int:
    """A cluster with late materialization counts as one (stock rule); a NOOP node has no job."""
    if jobs is None or jobs.subproc:
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


def group_reports(run: RunState) -> Iterator[GroupReport]:
    """All groups that run at one site, in their order."""
    sites, states = run.sites, run.nodes.states
    anew = _decided_anew(run) if run.conditions.skipped else ()  # they may run at the site yet
    for number, group in enumerate(sites.groups):
        kind = sites.kinds[number]
        since = sites.waiting[kind].get(number, 0.0)
        reason = sites.reasons.get(kind) or sites.reasons.get(-1, "")
        yield GroupReport(
            name=group.name,
            state=GroupState(sites.group_states[number]).name,
            site=sites.sites[number],
            round=sites.rounds[number],
            total=len(group.nodes),
            done=sum(states[node] == State.DONE and node not in anew for node in group.nodes),
            since=since,
            reason=sites.why_siteless.get(number, reason if since else ""),
        )


def has_ended(run: RunState, job: QueuedJob) -> bool:
    """Whether the end of a job in the queue is known: a removal must leave it out."""
    node = run.dag.find(job.node)
    if node is None:
        return job.node in run.growth.gone
    jobs = run.job_table.by_node.get(node)
    if jobs is not None and jobs.cluster == job.cluster:
        return bool(jobs.procs.get(job.proc, 0) & PROC_ENDED)
    previous = run.retrying.previous_clusters.get(node, ())
    if job.cluster == run.nodes.clusters[node] or job.cluster in previous:
        return True
    ends = [(kind, job.cluster, job.proc) for kind in JOB_ENDS]
    return any(event[:3] in ends for event in run.log.unmatched_events)
