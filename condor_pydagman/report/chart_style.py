"""How the pictures of a report look: colours of what jobs do, and rules for the parts of a picture.

Colours of states are those of `follow.shown_states`.
"""

from __future__ import annotations

from condor_pydagman.follow.shown_states import LOOKS, Shown

_PARTS = {
    "pre": Shown.PRE,
    "idle": Shown.IDLE,
    "held": Shown.HELD,
    "run": Shown.RUNNING,
    "post": Shown.POST,
    "bad": Shown.FAILED,
    "good": Shown.DONE,
}
LIGHT = "; ".join(f"--{name}: {LOOKS[state].paint.strong}" for name, state in _PARTS.items())
DARK = "; ".join(f"--{name}: {LOOKS[state].paint.dark_strong}" for name, state in _PARTS.items())

# Each rule begins a line; those that go on are indented.
RULES = """\
svg { width: 100%; height: auto; display: block }
svg .label, svg .tick { font-size: 11px; fill: var(--soft) }
svg .scale { font-size: 9px; fill: var(--soft) }
svg .cut { fill: var(--ground); opacity: .85 }
svg .edge { stroke: var(--soft); stroke-dasharray: 3 3; fill: none }
svg .break { font-size: 11px; fill: var(--soft); font-weight: 600 }
svg .grid { stroke: var(--line); stroke-width: .6 }
.pre { fill: var(--pre); background: var(--pre) }
.idle { fill: var(--idle); background: var(--idle) }
.held { fill: var(--held); background: var(--held) }
.run { fill: var(--run); background: var(--run) }
.post { fill: var(--post); background: var(--post) }
svg .failed { stroke: var(--bad); stroke-width: 2.2; fill: none;
  filter: drop-shadow(0 0 1px var(--ground)) drop-shadow(0 0 1px var(--ground)) }
.legend span { display: inline-block; margin-right: 1.1rem; color: var(--soft) }
.legend i { display: inline-block; width: .8rem; height: .8rem; margin-right: .35rem;
  border-radius: 2px; vertical-align: -1px }
"""


def scoped(scope: str) -> str:
    """The rules for pictures below the selector `scope`, in a page that is somebody else's."""
    return "".join(
        line if line.startswith(" ") else _scoped(line, scope)
        for line in RULES.splitlines(keepends=True)
    )


def _scoped(line: str, scope: str) -> str:
    selectors, brace, rest = line.partition("{")
    return ", ".join(f"{scope} {one.strip()}" for one in selectors.split(",")) + f" {brace}{rest}"
