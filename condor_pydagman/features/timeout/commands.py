"""TIMEOUT: how long the jobs of nodes may take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from condor_pydagman.features.common import rows
from condor_pydagman.graph.apply import Applied, unchanged
from condor_pydagman.graph.building import Building
from condor_pydagman.graph.model import Dag, FeatureData
from condor_pydagman.graph.modify import said
from condor_pydagman.named_tuple import NamedTuple


@rows.Row(
    "TIMEOUT",
    "How long the node's jobs may wait, run, and take.",
    after="TOLERANCE",
    in_rescue=True,
    options="some",
)
class TimeoutLine(NamedTuple):
    """TIMEOUT: seconds; what is None is not in the line (see `Timeout`)."""

    line: int
    node: str = rows.node()
    queued: int | None = rows.option("QUEUED", rows.time(), None)
    running: int | None = rows.option("RUNNING", rows.time(), None)
    total: int | None = rows.option("TOTAL", rows.time(), None)


class Timeout(NamedTuple):
    """A TIMEOUT command, which stock DAGMan does not have; seconds, 0 for no limit."""

    queued: int = 0  # how long a job may wait in the queue without running
    running: int = 0  # how long it may run
    total: int = 0  # how long it may take since it was submitted


NO_TIMEOUT = Timeout()


class TimeoutsOfDag(FeatureData):
    """The limits of nodes."""

    by_node = ("timeouts",)
    place = -1

    def __init__(self) -> None:
        self.timeouts: dict[int, Timeout] = {}

    def node_lines(self, dag: Dag, node: int) -> Iterator[TimeoutLine]:
        """As of `FeatureData`."""
        if node in self.timeouts:
            limits = (seconds or None for seconds in self.timeouts[node])
            yield TimeoutLine(0, dag.names[node], *limits)


def timeouts_of(dag: Dag) -> Mapping[int, Timeout]:
    """The limits of nodes, by node."""
    return TimeoutsOfDag.of(dag).timeouts


def timeout(building: Building, command: TimeoutLine) -> None:
    """TIMEOUT: what the line does not say stays, and 0 takes a limit away."""
    timeouts, limits = TimeoutsOfDag.put(building.dag).timeouts, said(command)
    for node in building.nodes(command.node):
        new = timeouts.get(node, NO_TIMEOUT)._replace(**limits)
        timeouts[node] = building.share(new)
        if new == NO_TIMEOUT:
            del timeouts[node]


APPLIED = (Applied(TimeoutLine, timeout, of_job=unchanged),)
