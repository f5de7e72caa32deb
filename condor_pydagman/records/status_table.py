"""The tables that `.dagman.out` shows of a DAG: nodes, deferrals, job procs.

Monitors read them by pattern, so the columns are stock DAGMan's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from condor_pydagman.engine.report import NodeReport, Report
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import NodeKind, NodeStatus, ScriptKind


def status_lines(report: Report) -> list[str]:
    """The status table: six lines."""
    counts = (
        f"{report.done:5d}   {report.pre:5d}    {report.queued:5d}   {report.post:5d}"
        f"   {report.ready:5d}      {report.unready:5d}    {report.failed:5d}    {report.futile:5d}"
    )
    return [
        f"DAG status: {int(report.dag_status)} (DAG_STATUS_{report.dag_status.name})",
        f"Of {report.total} nodes total:",
        " Done     Pre   Queued    Post   Ready   Un-Ready   Failed   Futile",
        "  ===     ===      ===     ===     ===        ===      ===      ===",
        counts,
        f"{report.procs_held} job proc(s) currently held",
    ]


def deferral_lines(report: Report, limits: Throttles, *, always: bool = False) -> list[str]:
    """Notes on how often nodes or scripts had to wait for throttles; those with 0 only if
    `always`."""
    seen = report.deferrals
    notes = (
        (seen.max_jobs, f"node deferrals because of -MaxJobs limit ({limits.jobs})"),
        (seen.max_idle, f"node deferrals because of -MaxIdle limit ({limits.idle})"),
        (seen.category, "node deferrals because of node category throttles"),
        (seen.pre, f"PRE script deferrals because of -MaxPre limit ({limits.pre}) or DEFER"),
        (seen.post, f"POST script deferrals because of -MaxPost limit ({limits.post}) or DEFER"),
        (seen.hold, f"HOLD script deferrals because of -MaxHold limit ({limits.hold}) or DEFER"),
    )
    return [f"Note: {count} total {text}" for count, text in notes if count or always]


def job_lines(report: Report) -> list[str]:
    """The job table."""
    failed = report.procs_failed
    counts = (
        f"  {report.procs_idle:7d}  {report.procs_held:7d}     {report.procs_running:7d}"
        f"     {report.procs_completed - failed:10d} {failed:10d}"
    )
    return [
        f"Total jobs placed to AP: {report.procs_submitted}",
        "     Idle     Held     Running     Successful     Failed",
        "      ===      ===         ===            ===        ===",
        counts,
    ]


# The dump of failed nodes in `.dagman.out`, when a DAG ends without success.

_MAX_LIST_LENGTH = 1024  # no further name is listed once a list has this many characters
_FOOT = "---------------------------------------\t<END>"
_NOT_SUBMITTED = "[not yet submitted]"


def failure_dump(dag: Dag, nodes: Iterable[NodeReport]) -> Iterator[str]:
    """Lines about all failed nodes among `nodes`; none if no node failed.

    The headline says "Node(s)" while a FINAL node is still to run, "job(s)" otherwise: stock
    DAGMan has both.
    """
    failed = [node for node in nodes if node.status == NodeStatus.ERROR]
    if not failed:
        return
    final_failed = any(dag.kinds[node.node] == NodeKind.FINAL for node in failed)
    word = "Node" if NodeKind.FINAL in dag.kinds and not final_failed else "job"
    yield f"ERROR: the following {word}(s) failed:"
    for node in failed:
        yield from node_dump(dag, node)
    yield _FOOT


def node_dump(dag: Dag, node: NodeReport) -> Iterator[str]:
    """Lines about one node, without the line that ends a list of them."""
    yield "---------------------- Node ----------------------"
    yield f"      Node Name: {node.name}"
    yield f"           Noop: {'true' if dag.is_noop(node.node) else 'false'}"
    yield f"         NodeID: {node.node}"
    yield f"    Node Status: STATUS_{node.status.name:<9}"
    yield f"Node return val: {node.return_value}"
    if node.error:
        yield f"          Error: {node.error}"
    yield f"Job Submit File: {dag.submits[node.node]}"
    yield from _scripts(dag, node.node)
    if node.node in dag.retries:
        yield f"          Retry: {node.retries_done}"
    yield f" HTCondor Job ID: {f'({node.job})' if node.job else _NOT_SUBMITTED}"
    parents = _names(dag, dag.parents(node.node))
    children = _names(dag, dag.children(node.node))
    yield f"PARENTS: {parents} WAITING: {node.waiting_parents} CHILDREN: {children}"


def _scripts(dag: Dag, node: int) -> Iterator[str]:
    for kind in (ScriptKind.PRE, ScriptKind.POST, ScriptKind.HOLD):
        script = dag.script(node, kind)
        if script is not None:
            yield f"{kind.value + ' Script':>15}: {script.command}"


def _names(dag: Dag, nodes: Iterable[int]) -> str:
    names: dict[str, None] = {}
    length = -1
    for node in nodes:
        name = dag.names[node]
        if name not in names:
            names[name] = None
            length += len(name) + 1
            if length >= _MAX_LIST_LENGTH:
                break
    return " ".join(names)
