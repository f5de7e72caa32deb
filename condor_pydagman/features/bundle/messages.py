"""What the engine asks of what makes bundles, and what that answers."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.engine.actions import SubmitNode
from condor_pydagman.named_tuple import NamedTuple

HELPER = "bundle"


class LookAt(NamedTuple):
    """Find out which nodes can go together.  Answered by LookedAt."""

    nodes: tuple[SubmitNode, ...]


class Look(NamedTuple):
    """What was found of a node: the kind that it is of, or ('') why it runs alone."""

    node: int
    kind: str
    why: str = ""


class LookedAt(NamedTuple):
    """Answer to LookAt, or to a part of it."""

    found: Sequence[Look]


class Prepare(NamedTuple):
    """Write the list of the tasks of a bundle, and the description of its job.  Answered by
    Prepared.

    Attributes:
        number: of the bundle.
        nodes: in the order in which they are started.
        parallel: how many run side by side.
        time_limits: seconds that each may run, 0 for no limit.
    """

    number: int
    nodes: tuple[SubmitNode, ...]
    parallel: int
    time_limits: tuple[int, ...]


class Prepared(NamedTuple):
    """Answer to Prepare: the description, or why there is none."""

    number: int
    text: str
    why: str = ""


class Collect(NamedTuple):
    """The job of a bundle has left the queue: bring home what its nodes have come to.  Answered by
    Collected.

    Attributes:
        number, cluster: of the bundle.
        nodes, retries: those that are in it, and the number of the run of each.
        removed: somebody has removed it: nodes without a result count as removed.
        why: how it has ended, in words.
    """

    number: int
    cluster: int
    nodes: tuple[int, ...]
    retries: tuple[int, ...]
    removed: bool
    why: str


class Collected(NamedTuple):
    """Answer to Collect: events of the nodes that have ended, and the record of the bundle's end,
    to be written by one write; how many seconds each has taken; or why that can't be told now."""

    number: int
    events: str
    took: Sequence[float] = ()
    why: str = ""


class Forget(NamedTuple):
    """The end of a bundle is in the log: its files are not needed any more.  Answered by
    Forgotten."""

    number: int


class Forgotten(NamedTuple):
    """Answer to Forget."""

    number: int


class SlotsWanted(NamedTuple):
    """Ask the collector how many jobs the pool can run at once.  Answered by SlotsSeen."""


class SlotsSeen(NamedTuple):
    """Answer to SlotsWanted: 0 if it is not known."""

    slots: int
