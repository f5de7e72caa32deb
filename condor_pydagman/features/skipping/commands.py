"""SKIPPED: the nodes that an earlier run has skipped."""

from __future__ import annotations

from condor_pydagman.features.common import rows
from condor_pydagman.graph.apply import IN_THE_SUBMITTED_FILE, Applied
from condor_pydagman.graph.building import Building
from condor_pydagman.graph.model import DONE, Dag, FeatureData
from condor_pydagman.named_tuple import NamedTuple


@rows.Row(
    "SKIPPED", "A node that was skipped, as in a rescue file.", after="PUBLISH", in_rescue=True
)
class Skipped(NamedTuple):
    """SKIPPED: the node's RUN_IF was false, or all its parents were skipped; of a rescue file."""

    line: int
    node: str = rows.node()


class SkippedOfDag(FeatureData):
    """The nodes that are done because an earlier run has skipped them."""

    by_node = ("skipped",)
    not_run = "skipped"
    place = 3

    def __init__(self) -> None:
        self.skipped: dict[int, None] = {}

    def done_line(self, dag: Dag, node: int) -> Skipped | None:
        """As of `FeatureData`."""
        return Skipped(0, dag.names[node]) if node in self.skipped else None


def skipped(building: Building, command: Skipped) -> None:
    """SKIPPED, of rescue files."""
    node = building.needed(command.node)
    building.refuse_special(node, "SKIPPED")
    building.dag.flags[node] |= DONE
    SkippedOfDag.put(building.dag).skipped[node] = None


APPLIED = (Applied(Skipped, skipped, refused=IN_THE_SUBMITTED_FILE, says_done=True),)
