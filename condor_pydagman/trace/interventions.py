"""What people, and features in their place, have done to a run beside running it."""

from __future__ import annotations

from condor_pydagman.named_tuple import NamedTuple

MAX_KEPT = 1000
MAX_NODES_NAMED = 3
TOGETHER_S = 60.0  # what is done alike within that is one


class Intervention(NamedTuple):
    """Something was done, perhaps to several nodes one after the other.

    Attributes:
        time, last: when first, and when last.
        by: who or what has done it; '' if nobody knows.
        what: the command, or what was done, in words.
        why: what was said about it; '' if nothing was.
        nodes: names of the first that it was done to.
        times: how often it was done: of what is done to nodes, to how many.
    """

    time: float
    last: float
    by: str
    what: str
    why: str = ""
    nodes: tuple[str, ...] = ()
    times: int = 1


class Interventions:
    """Those of a run, in the order of the log; what is done alike soon after each other is one.

    Attributes:
        kept: the first MAX_KEPT.
        more: how many there are beside those.
    """

    def __init__(self) -> None:
        self.kept: list[Intervention] = []
        self.more = 0

    def add(self, time: float, by: str, what: str, why: str = "", node: str = "") -> None:
        """Something was done, to a node if there is one."""
        last = self.kept[-1] if self.kept else None
        is_like = last is not None and last[2:5] == (by, what, why)
        is_soon = last is not None and abs(time - last.last) <= TOGETHER_S
        if last is not None and is_like and is_soon and bool(node) == bool(last.nodes):
            nodes = last.nodes
            if node and len(nodes) < MAX_NODES_NAMED and node not in nodes:
                nodes += (node,)
            self.kept[-1] = last._replace(last=time, nodes=nodes, times=last.times + 1)
        elif len(self.kept) < MAX_KEPT:
            self.kept.append(Intervention(time, time, by, what, why, (node,) if node else ()))
        else:
            self.more += 1
