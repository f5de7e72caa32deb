"""The style sheet of pictures: colours of states are those of `follow.shown_states`."""

from __future__ import annotations

from condor_pydagman.follow.shown_states import paints

FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
INK, DARK_INK = "#1b1f24", "#e8eaed"
GROUND, DARK_GROUND = "#ffffff", "#14171b"
LINE, DARK_LINE = "#7c8591", "#77808c"
WRONG = "#d2001a"


# How edges look that are not plain, by the classes of `sketch.Edge`.
DASHES = {
    "weak": "stroke-dasharray:7 4",
    "condition": "stroke-dasharray:0 4;stroke-linecap:round;stroke-width:2",
    "enough": "stroke-dasharray:8 4 1 4;stroke-linecap:round",
}


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
        ".faint{stroke-opacity:.4}",
        *(f".{name}{{{dashes}}}" for name, dashes in DASHES.items()),
        f".wrong{{stroke:{WRONG};stroke-width:2.2}}.arrow-wrong{{fill:{WRONG}}}",
        f".kind,.unplaced{{fill:none;stroke:{LINE};stroke-width:1}}",
        f".rack{{fill:none;stroke:{LINE};stroke-width:1;stroke-dasharray:2 3}}",
    ]
    rules += [_state_rules("", name, paint.strong, paint.body) for name, paint in paints()]
    return "\n".join(rules)


def dark_css(scope: str) -> str:
    """What differs in dark surroundings, below the selector `scope`."""
    rules = [
        f"{scope} text{{fill:{DARK_INK}}}{scope} .ground{{fill:{DARK_GROUND}}}",
        f"{scope} .line{{stroke:{DARK_LINE}}}{scope} .arrow{{fill:{DARK_LINE}}}",
        f"{scope} .wrong{{stroke:{WRONG}}}{scope} .rack{{stroke:{DARK_LINE}}}",
        f"{scope} .kind,{scope} .unplaced{{stroke:{DARK_LINE}}}",
    ]
    rules += [
        _state_rules(scope + " ", name, paint.dark_strong, paint.dark_body)
        for name, paint in paints()
    ]
    return "\n".join(rules)


def _state_rules(scope: str, name: str, strong: str, body: str) -> str:
    return (
        f"{scope}.{name} .body,{scope}.{name} .sheet{{fill:{body};stroke:{strong}}}"
        f"{scope}.{name} .chip,{scope}.{name}.bar{{fill:{strong}}}"
    )
