"""The command CHOOSE."""

from __future__ import annotations

from condor_pydagman.dagfile import rows
from condor_pydagman.named_tuple import NamedTuple

FROM, UNTIL, ONLY = EXTENTS = ("FROM", "UNTIL", "ONLY")


@rows.Row(
    "CHOOSE",
    "Which nodes run: these and what depends on them, all that does not come after them, or"
    " these and what they need.",
    after="SITE_MATCHED",
    in_rescue=True,
)
class Choose(NamedTuple):
    """CHOOSE: which nodes run; `extent` is FROM, UNTIL or ONLY, names may be patterns."""

    line: int
    extent: str = rows.one_of(EXTENTS)
    names: tuple[str, ...] = rows.names("names of nodes", "<node1> [<node2> ...]")

    def __str__(self) -> str:
        return f"{self.extent} {' '.join(self.names)}"
