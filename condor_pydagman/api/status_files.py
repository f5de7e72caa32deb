"""Node status files, read and written: the state of each node of a DAG that runs, or has ended.

Source: manual, "Capturing the Status of Nodes in a File".
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from condor_pydagman.adapters.files import replace, text_of
from condor_pydagman.api.dag_reading import StrPath
from condor_pydagman.engine.report import Deferrals, NodeReport, Report
from condor_pydagman.errors import FileError
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.node_status import node_status_text
from condor_pydagman.records.node_status_ads import OUTCOME, Ad, node_status_ads
from condor_pydagman.vocabulary import DagStatus, NodeStatus


class NodeCounts(NamedTuple):
    """How many nodes are in each state; every node but SERVICE nodes is in one of them.

    Attributes:
        total: all of them.
        done: those that have succeeded.
        pre, post: those whose PRE or POST script runs.
        queued: those with jobs in the queue.
        ready: those that wait for nothing but a throttle.
        unready: those that wait for parents.
        failed: those that have failed for good.
        futile: those that can't run any more, because of a node before them.
    """

    total: int = 0
    done: int = 0
    pre: int = 0
    queued: int = 0
    post: int = 0
    ready: int = 0
    unready: int = 0
    failed: int = 0
    futile: int = 0


_NO_NODES = NodeCounts()


class NodeStatusEntry(NamedTuple):
    """One node of a node status file.

    Attributes:
        status: its state.
        details: words of DAGMan's about it, why it has failed for one.
        retries: how many retries it has taken.
        procs_queued, procs_held: how many of its procs are in the queue, and held.
    """

    status: NodeStatus
    details: str = ""
    retries: int = 0
    procs_queued: int = 0
    procs_held: int = 0


@dataclass(frozen=True)
class NodeStatusFile:
    """All that a node status file says.

    Attributes:
        dag_files: the DAG files, as they were named.
        timestamp: when it was written, seconds since the epoch.
        status: SUBMITTED while the DAG runs, then DONE or ERROR.
        outcome: DAGMan's word for it: success, failed, aborted, cycle, removed, held or ''.
        counts: of the nodes.
        procs_held, procs_idle: how many procs of all nodes are held, and idle (held ones included).
        nodes: each node by its full name, in the file's order.
        next_update: when the next file may come, seconds since the epoch; 0 if this is the last.
    """

    dag_files: tuple[str, ...]
    timestamp: int
    status: NodeStatus = NodeStatus.SUBMITTED
    outcome: str = ""
    counts: NodeCounts = _NO_NODES
    procs_held: int = 0
    procs_idle: int = 0
    nodes: Mapping[str, NodeStatusEntry] = field(default_factory=dict)
    next_update: int = 0


_COUNTS = ("Total", "Done", "Pre", "Queued", "Post", "Ready", "Unready", "Failed", "Futile")


def read_node_status(path: StrPath) -> NodeStatusFile:
    """Read a node status file, DAGMan's or stock DAGMan's.

    DAGMan replaces the file in one step: it is never half written.

    Raises:
        FileError: it can't be read, or is no node status file.
    """
    head: Ad = {}
    end: Ad = {}
    nodes: dict[str, NodeStatusEntry] = {}
    try:
        for ad in node_status_ads(text_of(os.fspath(path), "node status file")):
            kind = ad.get("Type")
            if kind == "NodeStatus":
                nodes[str(ad["Node"])] = _entry(ad)
            elif kind == "DagStatus":
                head = ad
            elif kind == "StatusEnd":
                end = ad
        return _value(head, nodes, end)
    except (KeyError, TypeError, ValueError):
        raise FileError(
            f"{os.fspath(path)} is not a node status file; give the file that the DAG's"
            " NODE_STATUS_FILE command names"
        ) from None


def write_node_status(path: StrPath, status: NodeStatusFile) -> None:
    """Write a node status file as DAGMan writes it, replacing one that is there in one step.

    Raises:
        FileError: it can't be written.
    """
    dag = Dag(files=list(status.dag_files))
    for name in status.nodes:
        dag.add_node(name, "")
    dag.finish()
    following = time.localtime(status.next_update) if status.next_update else None
    pieces = node_status_text(
        dag,
        _report(status),
        _reports(status.nodes),
        now=status.timestamp,
        now_local=time.localtime(status.timestamp),
        next_update=status.next_update,
        next_local=following,
        final=status.status in (NodeStatus.DONE, NodeStatus.ERROR),
        outcome=status.outcome,
    )
    replace(os.fspath(path), pieces)


def _entry(ad: Mapping[str, Any]) -> NodeStatusEntry:
    return NodeStatusEntry(
        NodeStatus(ad["NodeStatus"]),
        str(ad.get("StatusDetails", "")),
        int(ad.get("RetryCount", 0)),
        int(ad.get("JobProcsQueued", 0)),
        int(ad.get("JobProcsHeld", 0)),
    )


def _value(
    head: Mapping[str, Any], nodes: dict[str, NodeStatusEntry], end: Mapping[str, Any]
) -> NodeStatusFile:
    return NodeStatusFile(
        dag_files=tuple(head["DagFiles"]),
        timestamp=int(head["Timestamp"]),
        status=NodeStatus(head["DagStatus"]),
        outcome=str(head.get(OUTCOME, "")),
        counts=NodeCounts(*(int(head.get(f"Nodes{name}", 0)) for name in _COUNTS)),
        procs_held=int(head.get("JobProcsHeld", 0)),
        procs_idle=int(head.get("JobProcsIdle", 0)),
        nodes=MappingProxyType(nodes),
        next_update=int(end.get("NextUpdate", 0)),
    )


def _report(status: NodeStatusFile) -> Report:
    return Report(
        **status.counts._asdict(),
        hold_scripts=0,
        dag_status=DagStatus.OK,
        in_recovery=False,
        procs_submitted=0,
        procs_idle=status.procs_idle,
        procs_held=status.procs_held,
        procs_running=0,
        procs_completed=0,
        deferrals=Deferrals(),
    )


def _reports(nodes: Mapping[str, NodeStatusEntry]) -> Iterator[NodeReport]:
    for number, (name, entry) in enumerate(nodes.items()):
        status, details, retries, queued, held = entry
        yield NodeReport(
            number, name, status, 0, retries, 0, queued, held, False, "", "", details=details
        )
