"""SKIPPED: the nodes that an earlier run has skipped."""

from __future__ import annotations

from condor_pydagman.features.skipping.grammar import Skipped
from condor_pydagman.graph.apply import IN_THE_SUBMITTED_FILE, Applied
from condor_pydagman.graph.building import Building
from condor_pydagman.graph.model import DONE, Dag, FeatureData


class SkippedOfDag(FeatureData):
    """The nodes that are done because an earlier run has skipped them."""

    by_node = ("skipped",)
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
