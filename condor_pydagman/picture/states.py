"""The state in which a picture shows each node, from what files say about the DAG.

Sources: the DAG itself (nodes that are DONE before the start), a rescue file (which the caller has
applied to the Dag); then the run, as its logs tell it, or a node status file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from condor_pydagman.errors import FileError
from condor_pydagman.follow.failures import how_failed
from condor_pydagman.follow.run_model import Run
from condor_pydagman.follow.shown_states import (
    BY_FLAGS,
    NOT_RUN,
    Shown,
    of_status,
    shown_state,
    why_done,
)
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.records.node_status_ads import Ad, Value, node_status_ads
from condor_pydagman.vocabulary import NodeStatus

_KINDS = ("DagStatus", "NodeStatus", "StatusEnd")  # of ads in a node status file
# What the details of a node that is done begin with, if it has not run to its end.
_NOT_RUN = {
    "skipped": Shown.SKIPPED,
    "cached": Shown.CACHED,
    "not needed": Shown.NOT_NEEDED,
    "Left out by CHOOSE": Shown.LEFT_OUT,
}
_KNOWN: dict[Value, Shown] = {int(status): of_status(status) for status in NodeStatus}
_TOLD = (Shown.FAILED, *NOT_RUN)  # states whose details are shown


class NodeAd(NamedTuple):
    """One node of a node status file; `site` is '' for nodes without one."""

    name: str
    state: Shown
    details: str
    site: str = ""


class States:
    """The state of every node of a Dag; details in words, and sites, where a file has any."""

    def __init__(self, dag: Dag) -> None:
        self.of = bytearray(dag.flags.translate(BY_FLAGS))
        for of_feature in dag.features.values():
            for node in getattr(of_feature, of_feature.not_run, ()):
                self.of[node] = _NOT_RUN[of_feature.not_run.replace("_", " ")]
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
            state = self.of[number] = shown_state(node)
            details = how_failed(node, run) if state is Shown.FAILED else why_done(node)
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
    is_one = False
    for ad in node_status_ads(text):
        kind = ad.get("Type")
        is_one = is_one or kind in _KINDS
        if kind == "NodeStatus" and "Node" in ad and "NodeStatus" in ad:
            yield _node_ad(ad)
    if not is_one:
        raise FileError(
            f"{file} is not a node status file: no ClassAd of the type DagStatus or NodeStatus is "
            "in it; give the file that the DAG's NODE_STATUS_FILE command names"
        )


def _node_ad(ad: Ad) -> NodeAd:
    details = str(ad.get("StatusDetails", ""))
    state = _KNOWN.get(ad["NodeStatus"], Shown.WAITING)
    if state is Shown.IDLE:
        held = Shown.HELD if ad.get("JobProcsHeld") else Shown.IDLE
        state = Shown.RUNNING if details == "not_idle" else held
    elif state is Shown.DONE and details:
        begin, _, rest = details.partition(": ")
        if begin in _NOT_RUN:
            state, details = _NOT_RUN[begin], rest
    return NodeAd(str(ad["Node"]), state, details, str(ad.get("Site", "")))
