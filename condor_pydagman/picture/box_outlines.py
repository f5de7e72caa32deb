"""The outlines of boxes: each kind of node and each way of folding has a shape of its own."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.picture.shapes import SHEETS, SIDE, is_stack
from condor_pydagman.picture.sketch import Box, Fold
from condor_pydagman.vocabulary import NodeKind


def side(box: Box) -> float:
    """How far from the left end the words of a single node may begin."""
    return SIDE if box.kind != NodeKind.JOB else 0.0


def body(box: Box, wide: float, high: float) -> str:
    """The outline, filled."""
    if box.fold is Fold.SPLICE:
        return _path(f"M0 6Q0 0 6 0H{_n(min(64, wide * 0.4))}l6 6H{_n(wide - 6)}q6 0 6 6V"
                     f"{_n(high - 6)}q0 6 -6 6H6q-6 0 -6 -6Z")  # fmt: skip
    if box.fold is Fold.CHAIN:
        return _path(f"M0 0H{_n(wide - 12)}L{_n(wide)} {_n(high / 2)}L{_n(wide - 12)} {_n(high)}"
                     f"H0L12 {_n(high / 2)}Z")  # fmt: skip
    if box.is_folded:
        return _rectangle("body", 0, 0, wide, high, 6)
    if box.kind == NodeKind.FINAL:
        return _path(f"M8 0H{_n(wide - 8)}L{_n(wide)} 8V{_n(high - 8)}L{_n(wide - 8)} {_n(high)}"
                     f"H8L0 {_n(high - 8)}V8Z")  # fmt: skip
    if box.kind == NodeKind.PROVISIONER:
        return _path(f"M{SIDE:g} 0H{_n(wide - SIDE)}L{_n(wide)} {_n(high / 2)}"
                     f"L{_n(wide - SIDE)} {_n(high)}H{SIDE:g}L0 {_n(high / 2)}Z")  # fmt: skip
    if box.kind == NodeKind.SERVICE:
        return _rectangle("body", 0, 0, wide, high, high / 2)
    if box.kind == NodeKind.DATA:
        return _path(f"M{SIDE:g} 0H{_n(wide)}L{_n(wide - SIDE)} {_n(high)}H0Z")
    if box.kind == NodeKind.SUBDAG:
        bars = "".join(f"M{_n(x)} 0V{_n(high)}" for x in (6, wide - 6))
        return _rectangle("body", 0, 0, wide, high, 0) + _path(bars)
    return _rectangle("body", 0, 0, wide, high, 5)


def sheets(box: Box, wide: float, high: float) -> Iterator[str]:
    """What shows behind a box that is a stack: they stick out above it and at its right."""
    if is_stack(box):
        for shift in (SHEETS, SHEETS / 2):
            yield _rectangle("sheet", shift, -shift, wide, high, 6)


def _path(data: str) -> str:
    return f'<path class="body" d="{data}"/>'


def _rectangle(name: str, x: float, y: float, wide: float, high: float, radius: float) -> str:
    return (
        f'<rect class="{name}" x="{_n(x)}" y="{_n(y)}" width="{_n(wide)}" height="{_n(high)}"'
        f' rx="{_n(radius)}"/>'
    )


def _n(value: float) -> str:
    return f"{value:.1f}".replace(".0", "") if value % 1 == 0 else f"{value:.1f}"
