"""What is to be drawn: boxes, each for a node or for many, and lines between them."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum

from condor_pydagman.follow.shown_states import WORST, Shown
from condor_pydagman.vocabulary import NodeKind


class Fold(Enum):
    """What a box stands for."""

    NODE = "node"
    DOT = "join"  # a join node or a junction: no job, only a meeting of edges
    SPLICE = "splice"
    ALIKE = "alike"  # things of one layer with like names, parents and children
    CHAIN = "chain"  # things of which each is the only child of the one before
    LAYERS = "layers"  # all that stands in some layers; the last resort


class Edge(Enum):
    """What a child waits for, in words as legends have it."""

    PLAIN = "starts when the parents are done"
    WEAK = "WEAK: starts when the parent has ended, done or failed"
    CONDITION = "RUN_IF: a condition decides when the parents have ended"
    ENOUGH = "ENOUGH: starts when enough parents are done"

    @property
    def look(self) -> str:
        """Its CSS class; '' for the plain one."""
        return self.name.lower() if self is not Edge.PLAIN else ""


@dataclass
class Box:
    """One node, or what stands for many."""

    fold: Fold
    label: str  # names in full, at most a few
    kind: NodeKind = NodeKind.JOB  # of the node, or of all nodes in it if they are of one kind
    things: int = 1  # how many nodes or splices were folded into it
    splices: bool = False  # whether the things are splices
    # how many of its nodes are in each state, by its number
    counts: list[int] = field(default_factory=lambda: [0] * len(Shown))
    members: list[int] = field(default_factory=list)  # some of its nodes, failed ones first
    # how many of its nodes are at each site, by its name
    sites: Counter[str] = field(default_factory=Counter)
    # how many of its nodes are in each group that runs at one site (SITE_GROUP)
    groups: Counter[str] = field(default_factory=Counter)
    is_wrong: bool = False  # whether a cycle runs within it

    @property
    def nodes(self) -> int:
        """How many nodes it stands for; 0 for a junction."""
        return sum(self.counts)

    @property
    def is_folded(self) -> bool:
        """Whether it is more than one node."""
        return self.fold not in (Fold.NODE, Fold.DOT)

    def state(self) -> Shown | None:
        """The state that all its nodes share; None if they differ."""
        present = [state for state in Shown if self.counts[state]]
        return present[0] if len(present) == 1 else None

    def colour(self) -> Shown | None:
        """The state whose colour it has: that of all its nodes, or the worst; None if mixed."""
        return self.state() or next((state for state in WORST if self.counts[state]), None)


@dataclass(frozen=True)
class Line:
    """An edge, or all edges from one box to another."""

    # numbers of boxes
    tail: int
    head: int
    kind: Edge = Edge.PLAIN  # of one of the edges, which mostly are alike
    is_wrong: bool = False  # part of a cycle


@dataclass
class Sketch:
    """A whole picture before it has a layout; `of` has the number of each vertex's box."""

    boxes: list[Box]
    lines: list[Line]
    of: array[int] = field(default_factory=lambda: array("i"))
