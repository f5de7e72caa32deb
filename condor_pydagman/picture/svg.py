"""A laid-out sketch as SVG: valid XML whatever the names hold, the same bytes for the same DAG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from condor_pydagman.follow.shown_states import LOOKS, Shown, class_of
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.picture import style
from condor_pydagman.picture.describe import details
from condor_pydagman.picture.layout import Positions, Route, Spot
from condor_pydagman.picture.legend import marks
from condor_pydagman.picture.shapes import CHIP, SHEETS, Face, body, is_stack, sheets, side
from condor_pydagman.picture.site_marks import colours_of, count_sites, site_legend, strip
from condor_pydagman.picture.sketch import Box, Fold, Sketch
from condor_pydagman.picture.states import States
from condor_pydagman.picture.text import escaped, number, shortened, width
from condor_pydagman.picture.text import tenths as _n

MARGIN = 24.0
_HEAD = 64.0
_MIN_WIDTH = 460.0
_BAR = 5.0
_MAX_TITLE = 70
_LEGEND_GAP = 38.0
_LEGEND_ROW = 24.0
_LEGEND_WIDTH = 900.0  # of a row, if the picture is not wider
_Row = list[tuple[str, str]]  # parts of the legend


class Picture(NamedTuple):
    """All that the writers of SVG and HTML need."""

    dag: Dag
    states: States
    sketch: Sketch
    faces: Sequence[Face]
    placement: Positions
    title: str


def svg(picture: Picture, *, with_head: bool = True) -> Iterator[str]:
    """Pieces of the file's text.  Without the head there is neither title nor legend."""
    placement = picture.placement
    rows = list(_legend_rows(picture)) if with_head else []
    head = _HEAD + _LEGEND_ROW * (len(rows) - 1) if with_head else 0.0
    least = max(_MIN_WIDTH, *map(_row_width, rows)) if with_head else 0.0
    wide = max(placement.width, least) + 2 * MARGIN
    high = placement.height + 2 * MARGIN + head
    left = MARGIN + max(0.0, least - placement.width) / 2
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_n(wide)} {_n(high)}"'
        f' width="{_n(wide)}" height="{_n(high)}">\n'
        f"<title>{escaped(shortened(picture.title, 300))}</title>\n"
        f"<style>{style.css()}</style>\n<defs>{_marker('arrow')}{_marker('arrow-wrong')}</defs>\n"
    )
    if with_head:
        yield '<rect class="ground" width="100%" height="100%"/>\n'
        yield from _head(picture, rows)
    yield f'<g id="drawing" transform="translate({_n(left)} {_n(MARGIN + head)})">\n'
    for spot in placement.racks:
        yield (
            f'<rect class="rack" x="{_n(spot.x)}" y="{_n(spot.y)}" width="{_n(spot.width)}"'
            f' height="{_n(spot.height)}" rx="8"/>\n'
        )
    for route in placement.routes:
        yield _route(route, is_flat=placement.left_to_right)
    colours = colours_of(count_sites(picture.sketch.boxes))
    for index, (box, face, spot) in enumerate(
        zip(picture.sketch.boxes, picture.faces, placement.spots)
    ):
        yield from _box(picture, index, (box, face, spot), colours)
    yield "</g>\n</svg>\n"


def _marker(name: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8"'
        f' markerUnits="userSpaceOnUse" orient="auto"><path class="{name}" d="M0 .8L8 4L0 7.2Z"/>'
        "</marker>"
    )


def _head(picture: Picture, rows: Sequence[_Row]) -> Iterator[str]:
    title = escaped(shortened(picture.title, _MAX_TITLE))
    yield (
        f'<text class="title" x="{_n(MARGIN)}" y="32">{title}'
        f'<tspan class="sub" dx="12" font-weight="normal">{amount(picture)}</tspan></text>\n'
    )
    for place, row in enumerate(rows):
        x = MARGIN
        for mark, words in row:
            yield f'<g transform="translate({_n(x)} {_n(44 + place * _LEGEND_ROW)})">{mark}'
            yield f'<text class="sub" x="24" y="13">{words}</text></g>\n'
            x += width(words, 11) + _LEGEND_GAP


def _legend_rows(picture: Picture) -> Iterator[_Row]:
    """The legend in rows that are not much wider than the picture, one at least."""
    room = max(picture.placement.width, _LEGEND_WIDTH)
    row: _Row = []
    states = list(_states_and_sites(picture))
    for place, part in enumerate(legend(picture)):
        if row and (place == len(states) or _row_width([*row, part]) > room):
            yield row
            row = []
        row.append(part)
    yield row


def _row_width(row: _Row) -> float:
    return sum(width(words, 11) + _LEGEND_GAP for _, words in row)


def amount(picture: Picture) -> str:
    """How many nodes, and in how many boxes if that differs."""
    nodes, boxes = len(picture.dag), picture.sketch.boxes
    words = f"{number(nodes)} node{'s' if nodes != 1 else ''}"
    if not any(box.is_folded for box in boxes):
        return words
    return f"{words} in {number(len(boxes))} box{'es' if len(boxes) != 1 else ''}"


def legend(picture: Picture) -> Iterator[tuple[str, str]]:
    """Each mark of the legend as SVG, 18 wide and high, and its words."""
    yield from _states_and_sites(picture)
    yield from _shapes_and_lines(picture.sketch)


def _states_and_sites(picture: Picture) -> Iterator[tuple[str, str]]:
    counts = picture.states.counts()
    for state in Shown:
        if counts[state]:
            mark = '<rect class="chip" width="18" height="18" rx="4"/>' + sign(state, 3, 3)
            words = f"{number(counts[state])} {LOOKS[state].word}"
            yield f'<g class="{class_of(state)}">{mark}</g>', words
    sites = count_sites(picture.sketch.boxes)
    yield from site_legend(picture.sketch.boxes, sites, colours_of(sites))


def _shapes_and_lines(sketch: Sketch) -> Iterator[tuple[str, str]]:
    for one in marks(sketch):
        if one.outline:
            yield f'<path class="kind" transform="translate(0 3)" d="{one.outline}"/>', one.words
        else:
            yield f'<path class="line {one.look}" d="M0 9H18"/>', one.words
    if any(line.is_wrong for line in sketch.lines) or any(box.is_wrong for box in sketch.boxes):
        yield '<path class="line wrong" d="M0 9H18"/>', "part of a cycle"


def sign(state: Shown, x: float, y: float) -> str:
    """The sign of a state, its upper left corner at (x, y)."""
    path = LOOKS[state].sign
    fill = ' style="fill:#fff"' if "Z" in path else ""
    return f'<path class="sign" transform="translate({_n(x)} {_n(y)})" d="{path}"{fill}/>'


def path_of(route: Route, *, is_flat: bool = False) -> str:
    """The curve of a line, as the data of a path; `is_flat` as of `_route`."""
    points = route.points
    pieces = [f"M{_n(points[0][0])} {_n(points[0][1])}"]
    for step, ((x0, y0), (x1, y1)) in enumerate(zip(points, points[1:])):
        if step % 2:
            pieces.append(f"L{_n(x1)} {_n(y1)}")
        elif is_flat:
            half = _n((x0 + x1) / 2)
            pieces.append(f"C{half} {_n(y0)} {half} {_n(y1)} {_n(x1)} {_n(y1)}")
        else:
            half = _n((y0 + y1) / 2)
            pieces.append(f"C{_n(x0)} {half} {_n(x1)} {half} {_n(x1)} {_n(y1)}")
    return "".join(pieces)


def _route(route: Route, *, is_flat: bool) -> str:
    """A line with its arrowhead; `is_flat` if the DAG runs from the left to the right."""
    wrong, faint = "wrong" * route.is_wrong, "faint" * route.is_faint
    classes = " ".join(filter(None, ("line", route.kind.look, wrong, faint)))
    arrow = "arrow-wrong" if route.is_wrong else "arrow"
    return (
        f'<path class="{classes}" data-t="{_list(route.tails)}" data-h="{_list(route.heads)}"'
        f' d="{path_of(route, is_flat=is_flat)}" marker-end="url(#{arrow})"/>\n'
    )


def _list(numbers: Sequence[int]) -> str:
    return " ".join(map(str, numbers))


def _box(
    picture: Picture, index: int, drawn: tuple[Box, Face, Spot], colours: Mapping[str, str]
) -> Iterator[str]:
    box, face, spot = drawn
    classes = ["box", class_of(box.colour())]
    if box.is_folded:
        classes.append("big")
    if box.fold is Fold.LAYERS or is_noop(picture.dag, box):
        classes.append("dashed")
    title = escaped("\n".join(details(picture.dag, picture.states, box)))
    yield (
        f'<g class="{" ".join(classes)}" id="b{index}"'
        f' transform="translate({_n(spot.x)} {_n(spot.y)})"><title>{title}</title>'
    )
    if box.fold is Fold.DOT:
        yield '<circle class="chip" cx="5" cy="5" r="5"/>'
    else:
        yield from _with_words(box, face, spot, colours)
    if box.is_wrong:
        x, y = spot.width, spot.height / 2
        yield (
            f'<path class="line wrong" d="M{_n(x)} {_n(y - 6)}C{_n(x + 26)} {_n(y - 18)}'
            f' {_n(x + 26)} {_n(y + 18)} {_n(x)} {_n(y + 6)}" marker-end="url(#arrow-wrong)"/>'
        )
    yield "</g>\n"


def is_noop(dag: Dag, box: Box) -> bool:
    """Whether the box is one node that has no job."""
    return box.fold is Fold.NODE and bool(box.members) and dag.is_noop(box.members[0])


def _with_words(box: Box, face: Face, spot: Spot, colours: Mapping[str, str]) -> Iterator[str]:
    wide, high = spot.width, spot.height
    if is_stack(box):
        wide, high = wide - SHEETS, high - SHEETS
        yield f'<g transform="translate(0 {_n(SHEETS)})">'
    yield from sheets(box, wide, high)
    yield body(box, wide, high)
    yield from strip(box, colours, wide, high)
    if box.is_folded:
        yield from _summary(box, face, wide, high)
        yield "</g>" if is_stack(box) else ""
        return
    inset = side(box)
    state = box.state()
    if state is not None:
        yield f'<rect class="chip" x="{_n(inset + 5)}" y="5" width="18" height="18" rx="4"/>'
        yield sign(state, inset + 8, 8)
    yield f'<text class="name" x="{_n(inset + CHIP + 4)}" y="18.3">{escaped(face.label)}'
    yield f'<tspan class="words" dx="8">{face.words}</tspan></text>' if face.words else "</text>"


def _summary(box: Box, face: Face, wide: float, high: float) -> Iterator[str]:
    """Name, words, and a bar with a piece for each state."""
    middle = _n(wide / 2)
    yield (
        f'<text class="name" text-anchor="middle" x="{middle}" y="20">{escaped(face.label)}</text>'
        f'<text class="words" text-anchor="middle" x="{middle}" y="35">{escaped(face.words)}</text>'
    )
    inset = 22.0 if box.fold is Fold.CHAIN else 10.0
    room, x = wide - 2 * inset, inset
    least = 2.0
    present = [state for state in Shown if box.counts[state]]
    spare = room - least * len(present)
    for state in present:
        piece = least + spare * box.counts[state] / box.nodes
        yield (
            f'<rect class="{class_of(state)} bar" x="{_n(x)}" y="{_n(high - 12)}"'
            f' width="{_n(piece)}" height="{_n(_BAR)}"/>'
        )
        x += piece
