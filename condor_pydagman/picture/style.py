"""Colours, signs and shapes.

The colours can be distinguished by people with colour blindness (blue, orange, green, purple that
differ in lightness), and each state has a sign of its own besides.
"""

from __future__ import annotations

from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.picture.states import State

FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"


class Paint(NamedTuple):
    """How a state looks: colour of the sign's ground, of the box, of its text, and in the dark."""

    strong: str
    body: str
    dark_strong: str
    dark_body: str


PAINTS: dict[State, Paint] = {
    State.WAITING: Paint("#8a9099", "#f5f6f8", "#6b737e", "#262b32"),
    State.READY: Paint("#4ba6d6", "#e6f4fb", "#4ba6d6", "#1d3543"),
    State.PRE: Paint("#b8649a", "#f8eaf3", "#c277a6", "#3c2735"),
    State.IDLE: Paint("#c99700", "#fdf5d9", "#c99700", "#3b3417"),
    State.RUNNING: Paint("#0064a8", "#d5e8f7", "#2f8fd0", "#163350"),
    State.POST: Paint("#8a4a9e", "#f1e5f5", "#a46cb8", "#33243a"),
    State.DONE: Paint("#008060", "#d9f0e7", "#159a78", "#143a30"),
    State.FAILED: Paint("#c8400a", "#fde0d2", "#e8622c", "#4d2213"),
    State.FUTILE: Paint("#4f4a45", "#dcd9d5", "#9a938b", "#37332f"),
}

# Signs, in a square of 12; drawn as lines, a path that ends in Z is filled too.
SIGNS: dict[State, str] = {
    State.WAITING: "M6 3.4A2.6 2.6 0 1 0 6.01 3.4",
    State.READY: "M2.3 6H9.4M6.4 3L9.4 6L6.4 9",
    State.PRE: "M3 2.8V9.2M5.4 3L9.6 6L5.4 9Z",
    State.IDLE: "M6 1.6A4.4 4.4 0 1 0 6.01 1.6M6 3.6V6.2L7.8 7.4",
    State.RUNNING: "M4 2.4L9.8 6L4 9.6Z",
    State.POST: "M2.4 3L6.6 6L2.4 9ZM9 2.8V9.2",
    State.DONE: "M2.2 6.4L4.8 9L9.8 3.2",
    State.FAILED: "M2.8 2.8L9.2 9.2M9.2 2.8L2.8 9.2",
    State.FUTILE: "M6 1.6A4.4 4.4 0 1 0 6.01 1.6M3 9L9 3",
}

MIXED = Paint("#5d6673", "#ffffff", "#8b95a3", "#20252b")
INK, DARK_INK = "#1b1f24", "#e8eaed"
GROUND, DARK_GROUND = "#ffffff", "#14171b"
LINE, DARK_LINE = "#7c8591", "#77808c"
WRONG = "#d2001a"


def class_of(state: State | None) -> str:
    """The CSS class of boxes in a state; None is for those of several."""
    return f"s-{state.name.lower()}" if state is not None else "s-mixed"


def css() -> str:
    """The style sheet of a picture, for light surroundings."""
    rules = [
        f"text{{font-family:{FONT};fill:{INK}}}",
        f".ground{{fill:{GROUND}}}",
        ".name{font-size:12px}.big .name{font-weight:bold}.words{font-size:10px}",
        ".title{font-size:16px;font-weight:bold}.sub{font-size:11px}",
        ".body{stroke-width:1.4}.sheet{stroke-width:1}.dashed .body{stroke-dasharray:5 3}",
        ".sign{fill:none;stroke:#fff;stroke-width:1.7;stroke-linecap:round;stroke-linejoin:round}",
        f".line{{fill:none;stroke:{LINE};stroke-width:1.2}}.arrow{{fill:{LINE}}}",
        ".weak{stroke-dasharray:6 4}.faint{stroke-opacity:.4}",
        f".wrong{{stroke:{WRONG};stroke-width:2.2}}.arrow-wrong{{fill:{WRONG}}}",
        f".rack{{fill:none;stroke:{LINE};stroke-width:1;stroke-dasharray:2 3}}",
    ]
    for state in (*PAINTS, None):
        paint = PAINTS[state] if state is not None else MIXED
        rules.append(_state_rules("", class_of(state), paint.strong, paint.body))
    return "\n".join(rules)


def dark_css(scope: str) -> str:
    """What differs in dark surroundings, below the selector `scope`."""
    rules = [
        f"{scope} text{{fill:{DARK_INK}}}{scope} .ground{{fill:{DARK_GROUND}}}",
        f"{scope} .line{{stroke:{DARK_LINE}}}{scope} .arrow{{fill:{DARK_LINE}}}",
        f"{scope} .wrong{{stroke:{WRONG}}}{scope} .rack{{stroke:{DARK_LINE}}}",
    ]
    for state in (*PAINTS, None):
        paint = PAINTS[state] if state is not None else MIXED
        rules.append(_state_rules(scope + " ", class_of(state), paint.dark_strong, paint.dark_body))
    return "\n".join(rules)


def _state_rules(scope: str, name: str, strong: str, body: str) -> str:
    return (
        f"{scope}.{name} .body,{scope}.{name} .sheet{{fill:{body};stroke:{strong}}}"
        f"{scope}.{name} .chip,{scope}.{name}.bar{{fill:{strong}}}"
    )
