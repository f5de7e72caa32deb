"""The node status file: new ClassAds that say how the DAG and each of its nodes are.

Clients read it with `classad.parseAds`; keys, order and comments are those of stock DAGMan.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from condor_pydagman.engine.report import NodeReport, Report
from condor_pydagman.graph.model import LEFT_OUT, USER_DONE, Dag
from condor_pydagman.records.own_ad import literal, quoted
from condor_pydagman.vocabulary import DagStatus, NodeKind, NodeStatus

_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_RUNNING = (NodeStatus.PRERUN, NodeStatus.SUBMITTED, NodeStatus.POSTRUN)
MAX_CACHED_TAILS = 1000  # texts kept, of nodes in the same state

# Outcomes of a DAG that ended badly.
_BAD_ENDS = ("failed", "aborted", "cycle", "removed")

# Outcomes of a DAG that is to end but has its FINAL node still to run.
_ENDING = {DagStatus.RM: "removed", DagStatus.ABORT: "aborted"}


def node_status_text(
    dag: Dag,
    report: Report,
    nodes: Iterable[NodeReport],
    *,
    now: float,
    now_local: Sequence[int],
    next_update: float = 0.0,
    next_local: Sequence[int] | None = None,
    final: bool = False,
    outcome: str = "",
) -> Iterator[str]:
    """Pieces of the file's text, a node a piece (manual: "Capturing the Status of Nodes").

    Args:
        nodes: every node in order.
        now_local, next_local: `now` and `next_update`, broken down to local time.
        next_update: when the next file may come; 0 if this is the last.
        final: whether DAGMan is about to end.
        outcome: its word for the state: success, failed, aborted, cycle, removed, held, or ''.
    """
    outcome = outcome or _ENDING.get(report.dag_status, "")
    # Nobody is left to end what a node was about: it is shown as failed, however the DAG has ended
    # (a FINAL node may have made it a success).  A DAGMan that is held comes back.
    over = final and outcome != "held"
    yield _dag_part(dag, report, int(now), asctime(now_local), _dag_state(final, outcome), over)
    parts = _NodeParts(dag, over=over)
    for node in nodes:
        if dag.kinds[node.node] != NodeKind.SERVICE:
            yield parts.of(node)
    following = asctime(next_local) if next_local is not None and next_update else "none"
    yield (
        '[\n  Type = "StatusEnd";\n'
        f'  EndTime = {int(now)}; /* "{asctime(now_local)}" */\n'
        f'  NextUpdate = {int(next_update)}; /* "{following}" */\n]\n'
    )


def asctime(local: Sequence[int]) -> str:
    """A broken-down time as C's asctime writes it: `Sat Nov 21 09:24:27 2026`."""
    year, month, day, hour, minute, second, weekday = local[:7]
    return (
        f"{_WEEKDAYS[weekday]} {_MONTHS[month - 1]} {day:2d}"
        f" {hour:02d}:{minute:02d}:{second:02d} {year}"
    )


def _dag_state(final: bool, outcome: str) -> str:
    if final and outcome == "success":
        status = NodeStatus.DONE
    elif final and outcome in _BAD_ENDS:
        status = NodeStatus.ERROR
    else:
        status = NodeStatus.SUBMITTED
    return f'{int(status)}; /* "STATUS_{status.name} ({outcome})" */'


def _dag_part(dag: Dag, report: Report, now: int, date: str, state: str, over: bool) -> str:
    files = ",\n".join(f"    {quoted(file)}" for file in dag.files)
    return (
        '[\n  Type = "DagStatus";\n'
        f"  DagFiles = {{\n{files}\n  }};\n"
        f'  Timestamp = {now}; /* "{date}" */\n'
        f"  DagStatus = {state}\n"
        f"{_dag_counts(report, over)}]\n"
    )


def _dag_counts(report: Report, over: bool) -> str:
    pre, queued, post = report.pre, report.queued, report.post
    held, idle, failed = report.procs_held, report.procs_idle, report.failed
    if over:
        failed += pre + queued + post
        pre = queued = post = held = idle = 0
    fields = (one for one in report.shown if one.field and one.value != "")
    more = "".join(f"  {one.field} = {literal(one.value)};\n" for one in fields)
    return (
        f"{more}"
        f"  NodesTotal = {report.total};\n"
        f"  NodesDone = {report.done};\n"
        f"  NodesPre = {pre};\n"
        f"  NodesQueued = {queued};\n"
        f"  NodesPost = {post};\n"
        f"  NodesReady = {report.ready};\n"
        f"  NodesUnready = {report.unready};\n"
        f"  NodesFutile = {report.futile};\n"
        f"  NodesFailed = {failed};\n"
        f"  JobProcsHeld = {held};\n"
        f"  JobProcsIdle = {idle}; /* includes held */\n"
    )


class _NodeParts:
    """Texts of nodes.  Nodes in the same state differ in their name only, and most are in one of
    few states: a big DAG's file is written over and over."""

    def __init__(self, dag: Dag, *, over: bool) -> None:
        self._dag = dag
        self._over = over
        self._tails: dict[tuple[object, ...], str] = {}

    def of(self, node: NodeReport) -> str:
        status, queued, held = node.status, node.procs_queued, node.procs_held
        details = _details(self._dag, node)
        if status == NodeStatus.READY and node.waiting_parents:
            status = NodeStatus.NOT_READY
        key = (status, details, node.retries_done, queued, held, node.site)
        tail = self._tails.get(key)
        if tail is None:
            if len(self._tails) >= MAX_CACHED_TAILS:
                self._tails.clear()
            tail = self._tail(status, details, node.retries_done, queued, held)
            tail += f"  Site = {quoted(node.site)};\n]\n" if node.site else "]\n"
            self._tails[key] = tail
        return f'[\n  Type = "NodeStatus";\n  Node = {quoted(node.name)};\n{tail}'

    def _tail(self, status: NodeStatus, details: str, retries: int, queued: int, held: int) -> str:
        if self._over and status in _RUNNING:
            details = f"Was STATUS_{status.name}"
            status = NodeStatus.ERROR
            queued = held = 0
        return (
            f'  NodeStatus = {int(status)}; /* "STATUS_{status.name}" */\n'
            f"  StatusDetails = {quoted(details)};\n"
            f"  RetryCount = {retries};\n"
            f"  JobProcsQueued = {queued};\n"
            f"  JobProcsHeld = {held};\n"
        )


def _details(dag: Dag, node: NodeReport) -> str:
    if node.details:
        return node.details
    if node.status == NodeStatus.SUBMITTED:
        return "not_idle" if node.proc_running else "idle"
    if node.status == NodeStatus.ERROR:
        return node.error
    if node.status == NodeStatus.FUTILE:
        return "Had an ancestor node fail"
    if node.status == NodeStatus.DONE and dag.flags[node.node] & LEFT_OUT and not node.retries_done:
        return "Left out by CHOOSE"
    if node.status == NodeStatus.DONE and dag.flags[node.node] & USER_DONE:
        return "User defined as DONE"
    return ""
