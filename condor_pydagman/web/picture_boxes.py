"""The picture of a DAG for the page: boxes and edges with their places, states counted by box.

Where boxes are depends on the DAG and on which are open, not on states: layouts are kept, and only
the counts are made anew.  For the thread for pictures.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from condor_pydagman.errors import PydagmanError
from condor_pydagman.follow.shown_states import KEYS, Shown
from condor_pydagman.graph.model import Dag
from condor_pydagman.picture.graphviz import find_dot
from condor_pydagman.picture.layout import Positions
from condor_pydagman.picture.legend import Mark, marks
from condor_pydagman.picture.row_layout import place_in_rows, place_legibly
from condor_pydagman.picture.shapes import Face, face, outline, side
from condor_pydagman.picture.site_marks import count_groups
from condor_pydagman.picture.sketch import Box, Fold, Sketch
from condor_pydagman.picture.svg import path_of
from condor_pydagman.picture.text import plain
from condor_pydagman.picture.unfold import Unfolded, Unfolding
from condor_pydagman.vocabulary import NodeKind
from condor_pydagman.web.dag_reader import SitesOfGroups

FOLD_ABOVE = 120  # boxes before any is opened, and in each that is
MAX_BOXES = 500
MAX_APART = 12  # failed nodes that stand outside of stacks
MAX_OPEN = 200  # names in a request
_IN_GROUP = [Mark("in a group that has no site yet", look="unplaced")]
_KEPT = 4  # layouts of a DAG
_Fields = dict[str, Any]
Shares = Mapping[int, Counter[int]]  # by box: how many of its nodes are in each group


class PictureBoxes:
    """Pictures of one DAG."""

    def __init__(self, dag: Dag) -> None:
        self.dag = dag  # the DAG
        self._unfolding: Unfolding | None = None
        self._kept: OrderedDict[tuple[tuple[str, ...], tuple[int, ...]], _Picture] = OrderedDict()

    def picture(
        self,
        opened: Collection[str],
        states: bytes,
        version: int,
        places: SitesOfGroups | None = None,
    ) -> dict[str, Any]:
        """The picture with the nodes' states.

        Args:
            opened: names of boxes that are opened.
            states: of all nodes, as in KEYS.
            places: of the groups that run at sites.
        """
        apart = failed_nodes(states)
        key = tuple(sorted(set(opened))), apart
        picture = self._kept.get(key)
        if picture is None:
            if self._unfolding is None:
                self._unfolding = Unfolding(self.dag, FOLD_ABOVE, MAX_BOXES)
            picture = self._kept[key] = _Picture(self._unfolding.sketch(opened, apart), self.dag)
        self._kept.move_to_end(key)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return {"version": version, **picture.with_states(states, places)}


def failed_nodes(states: bytes) -> tuple[int, ...]:
    """The first few nodes that have failed: each has a box of its own, outside of any stack."""
    found: list[int] = []
    place = states.find(Shown.FAILED)
    while place >= 0 and len(found) < MAX_APART:
        found.append(place)
        place = states.find(Shown.FAILED, place + 1)
    return tuple(found)


class _Picture:
    """A layout, as JSON but for the states."""

    def __init__(self, found: Unfolded, dag: Dag) -> None:
        sketch = found.sketch
        self._box_of_node = sketch.of[: len(dag)]
        self._groups, self._group_count = shares(dag, self._box_of_node), len(dag.groups)
        count_groups(dag, sketch)
        faces = [face(box) for box in sketch.boxes]
        placement = _placed(sketch, [(one.width, one.height) for one in faces])
        self._boxes = [
            {
                "id": name or (f"n{box.members[0]}" if box.members else f"j{number}"),
                "label": plain(one.label),
                "x": round(spot.x, 1),
                "y": round(spot.y, 1),
                "w": round(spot.width, 1),
                "h": round(spot.height, 1),
                "node": box.members[0] if not name and box.members else None,
                "group": name or None,
                "count": box.nodes,
                "fold": box.fold.value,
                **_kind_of(box, one),
            }
            for number, (name, box, one, spot) in enumerate(
                zip(found.names, sketch.boxes, faces, placement.spots)
            )
        ]
        self._whole = {
            "width": round(placement.width, 1),
            "height": round(placement.height, 1),
            "edges": [
                {"path": path_of(route), "look": route.kind.look} for route in placement.routes
            ],
            "legend": [
                mark._asdict() for mark in (*marks(sketch), *(_IN_GROUP if dag.groups else ()))
            ],
            "shut": found.shut,
        }

    def with_states(self, states: bytes, places: SitesOfGroups | None) -> dict[str, Any]:
        counts: list[dict[str, int]] = [{} for _ in self._boxes]
        for (box, state), count in sorted(Counter(zip(self._box_of_node, states)).items()):
            counts[box][KEYS[state]] = count
        boxes = [{**box, "states": own} for box, own in zip(self._boxes, counts)]
        if places is not None and len(places.of) == self._group_count:
            for number, groups in self._groups.items():
                boxes[number].update(_of_sites(boxes[number], groups, places))
        return {**self._whole, "boxes": boxes}


def _of_sites(box: Mapping[str, Any], groups: Mapping[int, int], places: SitesOfGroups) -> _Fields:
    """The group of a node, whose site the page knows; the sites of a box of several nodes."""
    if box["node"] is not None:
        return {"site_group": next(iter(groups)), "grouped": 1}
    return {"sites": list(at_sites(groups, places)), "grouped": sum(groups.values())}


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


def at_sites(groups: Mapping[int, int], places: SitesOfGroups) -> Iterator[list[int]]:
    """The number of each site at which some of these groups are, and how many of their nodes."""
    counts = Counter[int]()
    for group, nodes in groups.items():
        counts[places.of[group]] += nodes
    return ([site, counts[site]] for site in sorted(counts) if site)


def _kind_of(box: Box, one: Face) -> _Fields:
    """Its kind, and how that looks."""
    fields: _Fields = {"kind": box.kind.name}
    if box.fold is not Fold.NODE:
        return fields
    if box.kind != NodeKind.JOB:
        fields["outline"] = outline(box, one.width, one.height)
        fields["inset"] = side(box)
    return {**fields, "words": one.words} if one.words else fields


def _placed(sketch: Sketch, sizes: Sequence[tuple[float, float]]) -> Positions:
    """By Graphviz if it is there and can, else in rows."""
    try:
        return place_legibly(sketch, sizes, find_dot())
    except PydagmanError:
        return place_in_rows(sketch, sizes)
