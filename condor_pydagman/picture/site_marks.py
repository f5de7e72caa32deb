"""How a picture shows sites: a strip along the lower edge of each box, in the site's colour.

What is in a group that runs at one site (SITE_GROUP), and has no site yet, has an empty strip.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from condor_pydagman.graph.model import Dag
from condor_pydagman.picture.sketch import Box, Sketch
from condor_pydagman.picture.text import escaped, number, shortened

# Distinguishable with colour blindness (Paul Tol, scheme "muted"); further sites share one colour.
COLOURS = (
    *("#332288", "#88ccee", "#117733", "#ddcc77"),
    *("#cc6677", "#44aa99", "#882255", "#aa4499"),
)
OTHERS = "#8a9099"
_HEIGHT = 3.0
_INSET = 4.0
_MAX_NAME = 24


def count_sites(boxes: Iterable[Box]) -> Counter[str]:
    """How many nodes are at each site."""
    counts: Counter[str] = Counter()
    for box in boxes:
        counts.update(box.sites)
    return counts


def colours_of(sites: Iterable[str]) -> dict[str, str]:
    """The colour of each site, in the order of the names."""
    return {
        site: COLOURS[place] if place < len(COLOURS) else OTHERS
        for place, site in enumerate(sorted(sites))
    }


def strip(box: Box, colours: Mapping[str, str], wide: float, high: float) -> Iterator[str]:
    """A piece for each site of the box, as long as the site's part of all its nodes."""
    room = wide - 2 * _INSET
    x = _INSET
    unplaced = sum(box.groups.values()) - sum(box.sites.values())
    for site, count in sorted(box.sites.items()):
        piece = room * count / box.nodes
        yield (
            f'<rect class="site" x="{x:.1f}" y="{high - _HEIGHT - 1:.1f}" width="{piece:.1f}"'
            f' height="{_HEIGHT:.1f}" style="fill:{colours[site]}"/>'
        )
        x += piece
    if unplaced > 0:
        yield (
            f'<rect class="unplaced" x="{x:.1f}" y="{high - _HEIGHT - 1:.1f}"'
            f' width="{room * unplaced / box.nodes:.1f}" height="{_HEIGHT:.1f}"/>'
        )


def count_groups(dag: Dag, sketch: Sketch) -> None:
    """Tell each box of the groups that its nodes are in (SITE_GROUP)."""
    for group in dag.groups:
        for node in group.nodes:
            sketch.boxes[sketch.of[node]].groups[group.name] += 1


def site_legend(
    boxes: Sequence[Box], counts: Mapping[str, int], colours: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    """Each colour as SVG, 18 wide and high, and its words."""
    others = 0
    for site, colour in colours.items():
        if colour == OTHERS:
            others += counts[site]
        else:
            yield _mark(colour), f"{number(counts[site])} at {escaped(shortened(site, _MAX_NAME))}"
    if others:
        yield _mark(OTHERS), f"{number(others)} at other sites"
    unplaced = sum(sum(box.groups.values()) for box in boxes) - sum(counts.values())
    if unplaced > 0:
        mark = '<rect class="unplaced" x="0.5" y="7" width="17" height="4"/>'
        yield mark, f"{number(unplaced)} in groups without a site so far (SITE_GROUP)"


def _mark(colour: str) -> str:
    return f'<rect x="0" y="7" width="18" height="4" style="fill:{colour}"/>'
