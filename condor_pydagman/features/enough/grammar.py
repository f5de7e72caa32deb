"""The commands ENOUGH, and NOT_NEEDED of rescue files."""

from __future__ import annotations

from condor_pydagman.dagfile import rows
from condor_pydagman.named_tuple import NamedTuple

ALL_NODES, CATEGORY, PARENTS = ("ALL_NODES", "CATEGORY", "PARENTS")
REMOVE, WAIT = EFFECTS = ("REMOVE", "WAIT")


@rows.Row(
    "ENOUGH",
    "What is left of these nodes is not needed any more when so many of them are done.",
    after="CACHE",
)
class Enough(NamedTuple):
    """ENOUGH: what is left of some nodes is not needed when so many of them, or percent, are done.

    Attributes:
        members: ALL_NODES, CATEGORY or PARENTS.
        name: name of the splice ('' for the whole DAG, or the splice with the line), of the
            category, or of the node whose parents are meant.
        limit: how many, or percent of them.
        effect: REMOVE or WAIT.
    """

    line: int
    members: str = rows.variants(
        {
            ALL_NODES: rows.option("OF", rows.name("name", "<splice>", sample="S"), ""),
            CATEGORY: rows.name("name", "<category>", sample="big"),
            PARENTS: rows.node(),
        }
    )
    name: str = ""
    limit: int = rows.share("number of nodes that are enough", 1)
    percent: bool = False
    effect: str = rows.one_of(EFFECTS, REMOVE)


@rows.Row(
    "NOT_NEEDED",
    "A node that was not needed any more, as in a rescue file.",
    after="ENOUGH",
    in_rescue=True,
)
class NotNeeded(NamedTuple):
    """NOT_NEEDED: the node was not needed any more, since an ENOUGH was reached; of a rescue
    file."""

    line: int
    node: str = rows.node()
