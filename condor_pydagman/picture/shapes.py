"""The size of each box and the text on it."""

from __future__ import annotations

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.picture.sketch import Box, Fold
from condor_pydagman.picture.text import number, shortened, width
from condor_pydagman.trace.shown_states import LOOKS, Shown
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
    """What a box shows; lengths in px.

    Attributes:
        label: its name, short enough.
        words: what stands below the name, or beside it; '' for nothing.
    """

    width: float
    height: float
    label: str
    words: str


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
