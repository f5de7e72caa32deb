"""The shape of each box: its size, the text on it, its outline by kind of node or of folding."""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.follow.shown_states import LOOKS, Shown
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.picture.sketch import Box, Fold
from condor_pydagman.picture.text import number, shortened, width
from condor_pydagman.picture.text import tenths as _n
from condor_pydagman.vocabulary import NodeKind

TEXT = 12.0  # size of names
SMALL = 10.0  # size of the words below
NODE_HEIGHT = 28.0
FOLDED_HEIGHT = 54.0
DOT = 10.0
SIDE = 12.0  # how much of each end the outlines of special nodes take
CHIP = 24.0  # width of the coloured piece with the sign of the state
SHEETS = 7.0  # how far the sheets behind a stack stick out
_MAX_LABEL = 40
_MAX_NAME = 24
_MAX_COUNTS = 3


class Face(NamedTuple):
    """What a box shows; lengths in px."""

    width: float
    height: float
    label: str  # its name, short enough
    words: str  # what stands below the name, or beside it; '' for nothing


def face(box: Box) -> Face:
    """Size and words of a box."""
    if box.fold is Fold.DOT:
        return Face(DOT, DOT, "", "")
    if not box.is_folded:
        label = shortened(box.label, _MAX_LABEL)
        is_plain = box.kind == NodeKind.JOB
        groups = [shortened(group, _MAX_NAME) for group in box.groups]
        words = " ".join(([] if is_plain else [box.kind.name]) + groups)
        room = width(label, TEXT) + (width(words, SMALL) + 8 if words else 0)
        return Face(round(CHIP + room + 16 + (0 if is_plain else 2 * SIDE)), NODE_HEIGHT, label,
                    words)  # fmt: skip
    label, words = short_label(box), describe(box)
    room = max(width(label, TEXT) * 1.06, width(words, SMALL), 90)
    edge = 24 if box.fold is Fold.CHAIN else 0
    sheets = SHEETS if is_stack(box) else 0
    return Face(round(room + 28 + edge + sheets), FOLDED_HEIGHT + sheets, label, words)


def is_stack(box: Box) -> bool:
    """Whether it is drawn as several sheets."""
    return box.things > 1 and box.fold in (Fold.ALIKE, Fold.LAYERS)


def short_label(box: Box) -> str:
    """The names of a folded box, each short enough; splices around both are named once."""
    steps = []
    for step in box.label.split(" → ")[:3]:
        first, *rest = step.split(" … ")[:2]
        around = first[: first.rfind("+") + 1]
        rest = [name[len(around) :] if name.startswith(around) else name for name in rest]
        steps.append(" … ".join(shortened(name, _MAX_NAME) for name in (first, *rest)))
    return " → ".join(steps)


def describe(box: Box) -> str:
    """How much a folded box stands for, and in which states."""
    amount = amount_words(box)
    present = sorted((state for state in Shown if box.counts[state]),
                     key=lambda s: (s != Shown.FAILED, -box.counts[s]))  # fmt: skip
    if len(present) == 1:
        every = "all " if box.nodes > 1 and present[0] != Shown.WAITING else ""
        return f"{amount}, {every}{LOOKS[present[0]].word}"
    parts = [f"{number(box.counts[state])} {LOOKS[state].word}" for state in present[:_MAX_COUNTS]]
    more = len(present) > _MAX_COUNTS
    return " · ".join([amount, *parts]) + (" · …" if more else "")


def amount_words(box: Box) -> str:
    """`3 splices · 3,000 nodes`, `1 node` or `2 SUBDAG nodes`."""
    kind = "" if box.kind == NodeKind.JOB else f"{box.kind.name} "
    nodes = f"{number(box.nodes)} {kind}node{'s' if box.nodes != 1 else ''}"
    if box.splices and box.things > 1:
        return f"{number(box.things)} splices · {nodes}"
    return nodes


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
