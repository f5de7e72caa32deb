"""The bundles of a run, as the nodes log tells."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.overview import Overview
from condor_pydagman.follow.run_model import NodeRun, Run, Seen
from condor_pydagman.follow.tally import Tally
from condor_pydagman.follow.tracker import Records, Tracker
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import number_of, printable
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.report.feature_words import Events, Flow, Section, flow
from condor_pydagman.vocabulary import JournalRecord, NodeStatus
from condor_pydagman.words import duration

_MAX_ROWS = 1000


class BundleSeen:
    """A bundle: its nodes, when it was made and has ended (0.0: it has not), and how."""

    __slots__ = ("ended", "made", "nodes", "why")

    def __init__(self, made: float) -> None:
        self.made = made
        self.nodes: list[str] = []
        self.ended = 0.0
        self.why = ""


class BundlesSeen(Seen):
    """What is known of the bundles of a run.

    Attributes:
        bundles: all of them, by number.
        open: how many have not ended.
        of_node: by name of a node, the bundle that it was in last.
    """

    def __init__(self) -> None:
        self.bundles: dict[int, BundleSeen] = {}
        self.open = 0
        self.of_node: dict[str, int] = {}


class Place(NamedTuple):
    """Where a node is: the number of its bundle, how many others are in it, and since when."""

    bundle: int
    others: int
    since: float


def place_of(run: Run, node: str) -> Place | None:
    """Where a node is that is in a bundle which has not ended; None for others."""
    seen = BundlesSeen.of(run)
    number = seen.of_node.get(node)
    bundle = None if number is None else seen.bundles[number]
    if number is None or bundle is None or bundle.ended:
        return None
    return Place(number, len(bundle.nodes) - 1, bundle.made)


def _bundled(tracker: Tracker, _: NodeRun | None, read: RecordRead, time: float) -> None:
    """Some of its nodes are known; `retry` of the record says how many parts follow."""
    seen = BundlesSeen.put(tracker.run)
    bundle = seen.bundles.get(read.value)
    if bundle is None:
        bundle = seen.bundles[read.value] = BundleSeen(time)
        seen.open += 1
    if bundle.ended:
        return
    for name in read.text.split(" "):
        if seen.of_node.get(name) != read.value:
            seen.of_node[name] = read.value
            bundle.nodes.append(name)
    if read.retry == 0:
        data = {"bundle": read.value, "nodes": len(bundle.nodes)}
        tracker.say(DagEvent("bundle.made", time, data=data))


def _unbundled(tracker: Tracker, _: NodeRun | None, read: RecordRead, time: float) -> None:
    seen = BundlesSeen.put(tracker.run)
    bundle = seen.bundles.get(read.value)
    if bundle is None or bundle.ended:
        return
    if read.retry > 0:  # its job runs, and does not run these any more
        for name in read.text.split(" "):
            if seen.of_node.get(name) == read.value:
                del seen.of_node[name]
        return
    seen.open -= 1
    bundle.ended, bundle.why = time, read.text.partition("\n")[0]
    data = {"bundle": read.value, "nodes": len(bundle.nodes), "reason": bundle.why}
    tracker.say(DagEvent("bundle.end", time, data=data))


RECORDS: Records = {JournalRecord.BUNDLED: _bundled, JournalRecord.UNBUNDLED: _unbundled}
EVENTS: Events = {
    "bundle.made": lambda e: f"bundle {e.data['bundle']}: {number_of(e.data['nodes'], 'node')}",
    "bundle.end": lambda e: printable(f"bundle {e.data['bundle']} is over: {e.data['reason']}"),
}


def overview(tally: Tally, _ad: Mapping[str, Any], *, running: bool) -> dict[str, Any]:
    """How many bundles are in the queue, and how many nodes are in them."""
    seen = BundlesSeen.of(tally.run)
    if not seen.open or not running:
        return {}
    is_open = ((number, one.nodes) for number, one in seen.bundles.items() if not one.ended)
    inside = (
        name for number, names in is_open for name in names if seen.of_node.get(name) == number
    )
    nodes = map(tally.run.nodes.get, inside)
    count = sum(one is not None and one.status is NodeStatus.SUBMITTED for one in nodes)
    return {"bundles": {"open": seen.open, "nodes": count}}


def overview_lines(seen: Overview) -> Iterator[Flow]:
    """The same in words."""
    bundles = seen.of_features.get("bundles")
    if bundles:
        what = number_of(bundles["nodes"], "node")
        yield flow(f"{what} in {number_of(bundles['open'], 'bundle')}", "")


def sections(run: Run, end: float) -> Iterator[Section]:
    """The bundles of a report."""
    bundles = BundlesSeen.of(run).bundles
    if not bundles:
        return
    rows = [
        (
            str(number),
            f"{len(one.nodes):,}",
            duration((one.ended or end) - one.made),
            one.why if one.ended else "has not ended",
        )
        for number, one in list(bundles.items())[:_MAX_ROWS]
    ]
    head = ("bundle", "nodes", "from its making to its end", "how it has ended")
    yield Section("bundles", "Bundles", "Jobs that ran many nodes each", head, rows, (3,))
