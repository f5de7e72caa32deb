"""The style sheet of a report: light, dark and print, without anything from elsewhere."""

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
_LIGHT = "; ".join(f"--{name}: {LOOKS[state].paint.strong}" for name, state in _PARTS.items())
_DARK = "; ".join(f"--{name}: {LOOKS[state].paint.dark_strong}" for name, state in _PARTS.items())

STYLE = """
:root { --ink: #1b1f24; --ground: #fff; --line: #d5d9de; --soft: #5d6673; --panel: #f5f6f8;
  LIGHT_STATES }
@media (prefers-color-scheme: dark) { :root { --ink: #e8eaed; --ground: #14171b; --line: #383e46;
  --soft: #9aa3ae; --panel: #1d2126; DARK_STATES } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1.5rem; max-width: 1160px; color: var(--ink);
  background: var(--ground); font: 15px/1.45 Helvetica, Arial, "DejaVu Sans", sans-serif }
h1 { font-size: 1.6rem; margin: 0 0 .2rem; overflow-wrap: anywhere }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--line) }
p { margin: .4rem 0 } .soft { color: var(--soft) } .bad { color: var(--bad) }
.good { color: var(--good) }
.numbers { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0 }
.numbers div { background: var(--panel); border-radius: 6px; padding: .5rem .9rem }
.numbers b { display: block; font-size: 1.25rem }
.numbers span { color: var(--soft); font-size: .85rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
caption { text-align: left; color: var(--soft); padding: .2rem 0 }
th, td { text-align: right; padding: .25rem .5rem; border-bottom: 1px solid var(--line);
  white-space: nowrap }
td:first-child, td.text { text-align: left; white-space: normal; overflow-wrap: anywhere;
  min-width: 6em }
th:first-child, th.text { text-align: left }
th { font-weight: 600 }
svg { width: 100%; height: auto; display: block }
svg .label, svg .tick { font-size: 11px; fill: var(--soft) }
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
.share { display: inline-flex; width: 160px; height: .8rem; border-radius: 2px; overflow: hidden;
  background: var(--panel) }
.share i { height: 100% } .before { background: var(--line) }
.picture svg { max-height: 900px }
pre { margin: .2rem 0; font-size: .85em; white-space: pre-wrap; color: var(--soft) }
summary { color: var(--soft); font-size: .85em }
code { background: var(--panel); padding: .05rem .3rem; border-radius: 3px;
  overflow-wrap: anywhere }
@media print { body { max-width: none; padding: 0 } h2 { break-after: avoid }
  tr, svg { break-inside: avoid } }
""".replace("LIGHT_STATES", _LIGHT).replace("DARK_STATES", _DARK)
