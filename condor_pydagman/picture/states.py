"""The state in which a picture shows each node, from what files say about the DAG.

Sources: the DAG itself (nodes that are DONE before the start), a rescue file (which the caller has
applied to the Dag); then the run, as its logs tell it, or a node status file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from condor_pydagman.errors import FileError
from condor_pydagman.features.enough.graph import EnoughsOfDag
from condor_pydagman.features.skipping.graph import SkippedOfDag
from condor_pydagman.graph.model import DONE, LEFT_OUT, Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.trace.overview import failure_of
from condor_pydagman.trace.run_history import Run
from condor_pydagman.trace.shown_states import NOT_RUN, Shown, of_status, shown_state, why_done
from condor_pydagman.vocabulary import NodeStatus
from condor_pydagman.words import result

_GAP = r"\s*(?:/\*[^*]*\*/\s*)?"
_STRING = r'"((?:[^"\\]|\\.)*)"'
_NODE_AD = re.compile(
    rf"\bNode\s*=\s*{_STRING}\s*;{_GAP}NodeStatus\s*=\s*(\d+)\s*;"
    rf"(?:{_GAP}StatusDetails\s*=\s*{_STRING}\s*;)?"
    r"(?:[^\[\]\"]*?\bJobProcsHeld\s*=\s*(\d+)\s*;)?"
    rf"(?:[^\[\]\"]*?\bSite\s*=\s*{_STRING}\s*;)?",
    re.DOTALL,
)
_ANY_AD = re.compile(r'\bType\s*=\s*"(?:DagStatus|NodeStatus|StatusEnd)"')
# What the details of a node that is done begin with, if it has not run to its end.
_NOT_RUN = {
    "skipped": Shown.SKIPPED,
    "cached": Shown.CACHED,
    "not needed": Shown.NOT_NEEDED,
    "Left out by CHOOSE": Shown.LEFT_OUT,
}
_KNOWN = {int(status): of_status(status) for status in NodeStatus}
_TOLD = (Shown.FAILED, *NOT_RUN)  # states whose details are shown
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class NodeAd(NamedTuple):
    """One node of a node status file; `site` is '' for nodes without one."""

    name: str
    state: Shown
    details: str
    site: str = ""


# The states of nodes before anything is known of a run, by their flags.
_BEFORE = bytes(
    Shown.WAITING if not flags & DONE else Shown.LEFT_OUT if flags & LEFT_OUT else Shown.DONE
    for flags in range(256)
)


class States:
    """The state of every node of a Dag; details in words, and sites, where a file has any."""

    def __init__(self, dag: Dag) -> None:
        self.of = bytearray(dag.flags.translate(_BEFORE))
        for node in SkippedOfDag.of(dag).skipped:
            self.of[node] = Shown.SKIPPED
        for node in EnoughsOfDag.of(dag).not_needed:
            self.of[node] = Shown.NOT_NEEDED
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
            if ad.details and ad.state in _TOLD:
                self.details[node] = ad.details
            if ad.site:
                self.sites[node] = ad.site

    def apply_run(self, dag: Dag, run: Run) -> None:
        """Show how the nodes of a run stand, those that failed or have not run with the reason."""
        for name, node in run.nodes.items():
            number = dag.find(name)
            if number is None:
                continue
            is_left_out = bool(dag.flags[number] & LEFT_OUT)
            state = self.of[number] = shown_state(node, is_left_out=is_left_out)
            details = why_done(node, is_left_out=is_left_out)
            if state is Shown.FAILED:
                failure = failure_of(node)
                details = result(failure.value, failure.reason)
            if details and state in _TOLD:
                self.details[number] = details
            if node.attempts and node.attempts[-1].site:
                self.sites[number] = node.attempts[-1].site

    def counts(self) -> list[int]:
        """How many nodes are in each state, by its number."""
        return [self.of.count(state) for state in Shown]


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
        state = _KNOWN.get(int(match[2]), Shown.WAITING)
        if state is Shown.IDLE:
            held = Shown.HELD if int(match[4] or 0) else Shown.IDLE
            state = Shown.RUNNING if details == "not_idle" else held
        elif state is Shown.DONE and details:
            begin, _, rest = details.partition(": ")
            if begin in _NOT_RUN:
                state, details = _NOT_RUN[begin], rest
        yield NodeAd(_plain(match[1]), state, details, _plain(match[5] or ""))


def _plain(text: str) -> str:
    """A ClassAd string without its escapes."""
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda match: "\n" if match[1] == "n" else match[1], text)
