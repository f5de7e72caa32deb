"""Pictures of DAGs for people: states, folding, layout, SVG and HTML.  Pure, like `records`.

A picture is made in four steps: `fold.make_sketch` decides which boxes there are, `shapes.face` how
large they are, `row_layout.place_legibly` where they go, `svg.svg` or `page.page` writes the file.
"""

from __future__ import annotations

from condor_pydagman.graph.model import Dag
from condor_pydagman.picture.dot_layout import RunDot
from condor_pydagman.picture.fold import make_sketch
from condor_pydagman.picture.page import page
from condor_pydagman.picture.row_layout import place_legibly
from condor_pydagman.picture.shapes import face
from condor_pydagman.picture.site_marks import count_groups
from condor_pydagman.picture.states import States, node_ads
from condor_pydagman.picture.svg import Picture, svg

__all__ = ["Picture", "States", "make_picture", "node_ads", "page", "svg"]


def make_picture(
    dag: Dag,
    states: States,
    title: str,
    run_dot: RunDot,
    *,
    fold_above: int,
    left_to_right: bool = False,
) -> Picture:
    """A picture of a finished Dag, ready for `svg` or `page`.

    Args:
        run_dot: lays graphs out, see `picture.graphviz`.
        fold_above: how many boxes there may be.

    Raises:
        PydagmanError: dot gave no layout.
    """
    sketch = make_sketch(dag, states.of, fold_above)
    count_groups(dag, sketch)
    for node, site in states.sites.items():
        sketch.boxes[sketch.of[node]].sites[site] += 1
    faces = [face(box) for box in sketch.boxes]
    sizes = [(one.width, one.height) for one in faces]
    placement = place_legibly(sketch, sizes, run_dot, left_to_right=left_to_right)
    return Picture(dag, states, sketch, faces, placement, title)
