"""What the engine asks of what makes bundles, and what that answers."""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.engine.actions import SubmitNode
from condor_pydagman.named_tuple import NamedTuple

HELPER = "bundle"


class LookAt(NamedTuple):
    """Find out which nodes can go together.  Answered by LookedAt."""

    nodes: tuple[SubmitNode, ...]  # those that are ready
    # those that may run behind these: their inputs need not be there yet
    followers: tuple[SubmitNode, ...] = ()


class Look(NamedTuple):
    """What was found of a node: the kind that it is of, or ('') why it runs alone; and whether what
    it comes to is known while its bundle runs, as no files are transferred."""

    node: int
    kind: str
    why: str = ""
    is_live: bool = False


class LookedAt(NamedTuple):
    """Answer to LookAt, or to a part of it."""

    found: Sequence[Look]


class Prepare(NamedTuple):
    """Write the list of the tasks of a bundle, and the description of its job.  Answered by
    Prepared.
    """

    number: int  # of the bundle
    nodes: tuple[SubmitNode, ...]  # in the order in which they are started
    parallel: int  # how many run side by side
    time_limits: tuple[int, ...]  # seconds that each may run, 0 for no limit
    # seconds that a node may run until others are not to wait for it; 0: any
    release_s: float = 0.0
    # for each node, the places in `nodes`, from 1, of those that it runs behind; empty if none does
    after: tuple[tuple[int, ...], ...] = ()
    # seconds that a node may run until those are not to run behind it that were to
    chain_s: float = 0.0


class Prepared(NamedTuple):
    """Answer to Prepare: the description, or why there is none."""

    number: int
    text: str
    why: str = ""
    # places of nodes that can't run behind others in this job after all
    without: Sequence[int] = ()


class Collect(NamedTuple):
    """Bring home what the nodes of a bundle have come to, whose job has left the queue, or runs.
    Answered by Collected.
    """

    # of the bundle
    number: int
    cluster: int
    # those that are in it, and the number of the run of each
    nodes: tuple[int, ...]
    retries: tuple[int, ...]
    removed: bool  # somebody has removed it: nodes without a result count as removed
    why: str  # how it has ended, in words; '' if it runs
    # how many of the nodes, the last ones, were to run behind others of which it is not known that
    # they have ended
    behind: int = 0


class Collected(NamedTuple):
    """Answer to Collect: events of the nodes that have ended, and the record of the bundle's end,
    to be written by one write; how many seconds each has taken; or why that can't be told now.

    Of a bundle whose job runs, the record says which nodes it does not run any more; there are no
    events if there is nothing new.
    """

    number: int
    events: str
    took: Sequence[float] = ()
    why: str = ""
    # how many of its nodes have ended whose files come home with the job; 0: that is as it was
    not_home: int = 0


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
