"""The state in which a picture shows each node, from what files say about the DAG.

Sources, weakest first: the DAG itself (nodes that are DONE before the start), a rescue file (which
the caller has applied to the Dag), a node status file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import IntEnum

from condor_pydagman.errors import FileError
from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeStatus


class State(IntEnum):
    """What a node looks like; in the order of the legend."""

    WAITING = 0
    READY = 1
    PRE = 2
    IDLE = 3
    RUNNING = 4
    POST = 5
    DONE = 6
    FAILED = 7
    FUTILE = 8


WORDS: dict[State, str] = {
    State.WAITING: "not run",
    State.READY: "ready",
    State.PRE: "PRE script",
    State.IDLE: "idle",
    State.RUNNING: "running",
    State.POST: "POST script",
    State.DONE: "done",
    State.FAILED: "failed",
    State.FUTILE: "futile",
}

_SHOWN: dict[int, State] = {
    NodeStatus.NOT_READY: State.WAITING,
    NodeStatus.READY: State.READY,
    NodeStatus.PRERUN: State.PRE,
    NodeStatus.SUBMITTED: State.IDLE,
    NodeStatus.POSTRUN: State.POST,
    NodeStatus.DONE: State.DONE,
    NodeStatus.ERROR: State.FAILED,
    NodeStatus.FUTILE: State.FUTILE,
}

_GAP = r"\s*(?:/\*[^*]*\*/\s*)?"
_STRING = r'"((?:[^"\\]|\\.)*)"'
_NODE_AD = re.compile(
    rf"\bNode\s*=\s*{_STRING}\s*;{_GAP}NodeStatus\s*=\s*(\d+)\s*;"
    rf"(?:{_GAP}StatusDetails\s*=\s*{_STRING}\s*;)?"
    rf"(?:[^\[\]\"]*?\bSite\s*=\s*{_STRING}\s*;)?",
    re.DOTALL,
)
_ANY_AD = re.compile(r'\bType\s*=\s*"(?:DagStatus|NodeStatus|StatusEnd)"')
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class NodeAd(NamedTuple):
    """One node of a node status file; `site` is '' for nodes without one."""

    name: str
    state: State
    details: str
    site: str = ""


class States:
    """The state of every node of a Dag; details in words, and sites, where a file has any."""

    def __init__(self, dag: Dag) -> None:
        self.of = bytearray(State.DONE if flags & DONE else State.WAITING for flags in dag.flags)
        self.details: dict[int, str] = {}
        self.sites: dict[int, str] = {}
        self.unknown = 0

    def apply_ads(self, dag: Dag, ads: Iterable[NodeAd]) -> None:
        """Show what a node status file says; `unknown` counts its nodes that are not in the DAG."""
        for ad in ads:
            node = dag.ids.get(ad.name)
            if node is None:
                self.unknown += 1
                continue
            self.of[node] = ad.state
            if ad.details and ad.state == State.FAILED:
                self.details[node] = ad.details
            if ad.site:
                self.sites[node] = ad.site

    def set_status(self, node: int, status: NodeStatus, *, running: bool, details: str) -> None:
        """Show what is known of a node's run.

        Args:
            running: whether one of its jobs runs.
            details: of a failure, in words.
        """
        state = _SHOWN[status]
        self.of[node] = State.RUNNING if running and state == State.IDLE else state
        if details and state == State.FAILED:
            self.details[node] = details

    def counts(self) -> list[int]:
        """How many nodes are in each State, by its number."""
        return [self.of.count(state) for state in State]


def node_ads(text: str, file: str) -> Iterator[NodeAd]:
    """The nodes that a node status file tells of (manual: "Capturing the Status of Nodes").

    Stock DAGMan's file and ours look the same; attributes that are not needed are passed over.

    Raises:
        FileError: the text is no node status file.
    """
    if not _ANY_AD.search(text):
        raise FileError(
            f"{file} is not a node status file: no ClassAd of the type DagStatus or NodeStatus is "
            "in it; give the file that the DAG's NODE_STATUS_FILE command names"
        )
    for match in _NODE_AD.finditer(text):
        details = _plain(match[3] or "")
        state = _SHOWN.get(int(match[2]), State.WAITING)
        if state == State.IDLE and details == "not_idle":
            state = State.RUNNING
        yield NodeAd(_plain(match[1]), state, details, _plain(match[4] or ""))


def _plain(text: str) -> str:
    """A ClassAd string without its escapes."""
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda match: "\n" if match[1] == "n" else match[1], text)
