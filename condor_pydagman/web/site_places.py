"""Which groups of a DAG are at which sites: for the marks in the picture, told in differences.

A DAG without groups has none of this.  What is handed out never changes, so that it can be handed
from thread to thread, and clients compare what they know with what is known now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from condor_pydagman.features.sites.shown import GroupSite
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple

Shares = Mapping[int, Counter[int]]  # by box: how many of its nodes are in each group


class SitePlaces(NamedTuple):
    """Where all groups are at a moment.

    Attributes:
        names: of the sites, in the order of their colours; later ones are added at the end.
        of: by group, the number of its site from 1 on; 0 if it has none.
        nodes: how many nodes are at each site.
    """

    names: Sequence[str]
    of: Sequence[int]
    nodes: Sequence[int]

    def news(self, known: SitePlaces | None) -> dict[str, Any]:
        """What a client that knows `known` has to be told."""
        told: dict[str, Any] = {"names": self.names, "nodes": self.nodes}
        is_same = known is not None and len(known.of) == len(self.of)
        if known is None or not is_same or known.names != self.names[: len(known.names)]:
            return {**told, "of": self.of}
        pairs = zip(known.of, self.of)
        changes = [[group, now] for group, (was, now) in enumerate(pairs) if was != now]
        return {**told, "changes": changes}


NOWHERE = SitePlaces((), (), ())  # of a DAG that has no groups any more


class SitesSeen:
    """Keeps the places of a DAG's groups, and the order of its sites.

    Args:
        dag: has groups.
    """

    def __init__(self, dag: Dag) -> None:
        self._groups = dag.groups
        self._numbers: dict[str, int] = {}

    def places(self, found: Mapping[str, GroupSite]) -> SitePlaces:
        """As the logs tell, by the names of groups."""
        sites = [found[group.name].site if group.name in found else "" for group in self._groups]
        for name in sorted({*sites} - {"", *self._numbers}):
            self._numbers[name] = len(self._numbers) + 1
        nodes = Counter[str]()
        for group, site in zip(self._groups, sites):
            nodes[site] += len(group.nodes)
        of = [self._numbers.get(site, 0) for site in sites]
        return SitePlaces(tuple(self._numbers), of, [nodes[name] for name in self._numbers])


def shares(dag: Dag, boxes: Iterable[int]) -> Shares:
    """How many nodes of each group are in each box.

    Args:
        boxes: by node, the number of its box.
    """
    found: dict[int, Counter[int]] = {}
    if dag.groups:
        for node, box in enumerate(boxes):
            group = dag.group_of(node)
            if group is not None:
                found.setdefault(box, Counter())[group] += 1
    return found


def at_sites(groups: Mapping[int, int], places: SitePlaces) -> Iterator[list[int]]:
    """The number of each site at which some of these groups are, and how many of their nodes."""
    counts = Counter[int]()
    for group, nodes in groups.items():
        counts[places.of[group]] += nodes
    return ([site, counts[site]] for site in sorted(counts) if site)
