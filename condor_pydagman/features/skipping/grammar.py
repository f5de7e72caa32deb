"""The command SKIPPED of rescue files."""

from __future__ import annotations

from condor_pydagman.dagfile import rows
from condor_pydagman.named_tuple import NamedTuple


@rows.Row(
    "SKIPPED", "A node that was skipped, as in a rescue file.", after="PUBLISH", in_rescue=True
)
class Skipped(NamedTuple):
    """SKIPPED: the node's RUN_IF was false, or all its parents were skipped; of a rescue file."""

    line: int
    node: str = rows.node()
