"""The outlines of boxes: each kind of node and each way of folding has a shape of its own."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.picture.shapes import SHEETS, SIDE, is_stack
from condor_pydagman.picture.sketch import Box, Fold
from condor_pydagman.vocabulary import NodeKind

_BAR = 6.0  # how far the bars of a sub-DAG are from its ends
_CUT = 12.0  # the lower corners of a FINAL node


def side(box: Box) -> float:
    """How far from the left end the words of a single node may begin."""
    return SIDE if box.kind != NodeKind.JOB and not box.is_folded else 0.0


def outline(box: Box, wide: float, high: float) -> str:
    """The outline, as the data of a path."""
    if box.fold is Fold.SPLICE:
        return (f"M0 6Q0 0 6 0H{_n(min(64, wide * 0.4))}l6 6H{_n(wide - 6)}q6 0 6 6V{_n(high - 6)}"
                f"q0 6 -6 6H6q-6 0 -6 -6Z")  # fmt: skip
    if box.fold is Fold.CHAIN:
        return (f"M0 0H{_n(wide - 12)}L{_n(wide)} {_n(high / 2)}L{_n(wide - 12)} {_n(high)}"
                f"H0L12 {_n(high / 2)}Z")  # fmt: skip
    if box.is_folded:
        return _rounded(wide, high, 6)
    return kind_outline(box.kind, wide, high)


def kind_outline(kind: NodeKind, wide: float, high: float) -> str:
    """The outline of a node of a kind; in small ones, as of a legend, all is smaller."""
    end, half = _n(min(SIDE, wide / 4)), _n(high / 2)
    w, h = _n(wide), _n(high)
    right = _n(wide - min(SIDE, wide / 4))
    if kind == NodeKind.FINAL:
        cut = min(_CUT, high / 2)
        c, low, far = _n(cut), _n(high - cut), _n(wide - cut)
        return f"M0 0H{w}V{low}L{far} {h}H{c}L0 {low}Z"
    if kind == NodeKind.PROVISIONER:
        return f"M{end} 0H{right}L{w} {half}L{right} {h}H{end}L0 {half}Z"
    if kind == NodeKind.SERVICE:
        return _rounded(wide, high, high / 2)
    if kind == NodeKind.DATA:
        return f"M{end} 0H{w}L{right} {h}H0Z"
    if kind == NodeKind.SUBDAG:
        bar = min(_BAR, wide / 5)
        return f"M0 0H{w}V{h}H0ZM{_n(bar)} 0V{h}M{_n(wide - bar)} 0V{h}"
    return _rounded(wide, high, 5)


def body(box: Box, wide: float, high: float) -> str:
    """The outline, filled."""
    return f'<path class="body" d="{outline(box, wide, high)}"/>'


def sheets(box: Box, wide: float, high: float) -> Iterator[str]:
    """What shows behind a box that is a stack: they stick out above it and at its right."""
    if is_stack(box):
        for shift in (SHEETS, SHEETS / 2):
            yield (
                f'<rect class="sheet" x="{_n(shift)}" y="{_n(-shift)}" width="{_n(wide)}"'
                f' height="{_n(high)}" rx="6"/>'
            )


def _rounded(wide: float, high: float, radius: float) -> str:
    r, across, down = _n(radius), wide - 2 * radius, high - 2 * radius
    corner = f"a{r} {r} 0 0 1"
    top, bottom = f"h{_n(across)}{corner} {r} {r}", f"h{_n(-across)}{corner} -{r} -{r}"
    right, left = f"v{_n(down)}{corner} -{r} {r}", f"v{_n(-down)}{corner} {r} -{r}"
    return f"M{r} 0{top}{right}{bottom}{left}Z"


def _n(value: float) -> str:
    text = f"{value:.1f}"
    return text[:-2] if text.endswith(".0") else text
