"""The command TIMEOUT."""

from __future__ import annotations

from condor_pydagman.dagfile import rows
from condor_pydagman.named_tuple import NamedTuple


@rows.Row(
    "TIMEOUT",
    "How long the node's jobs may wait, run, and take.",
    after="TOLERANCE",
    in_rescue=True,
    options="some",
)
class TimeoutLine(NamedTuple):
    """TIMEOUT: seconds; what is None is not in the line (see `graph.Timeout`)."""

    line: int
    node: str = rows.node()
    queued: int | None = rows.option("QUEUED", rows.time(), None)
    running: int | None = rows.option("RUNNING", rows.time(), None)
    total: int | None = rows.option("TOTAL", rows.time(), None)
