"""A picture as one HTML file that needs nothing else: pan and zoom, search, details, dark mode."""

from __future__ import annotations

import json
from collections.abc import Iterator

from condor_pydagman.picture import style
from condor_pydagman.picture.describe import details
from condor_pydagman.picture.svg import Picture, amount, legend, svg
from condor_pydagman.picture.text import escaped, plain, shortened

STYLE = """\
:root{--ink:#1b1f24;--ground:#fff;--panel:#f3f4f6;--edge:#d3d7dd;--mark:#ffb000}
.dark{--ink:#e8eaed;--ground:#14171b;--panel:#20252b;--edge:#3a414a}
*{box-sizing:border-box}
body{margin:0;height:100vh;display:flex;flex-direction:column;background:var(--ground);
color:var(--ink);font:13px Helvetica,Arial,'DejaVu Sans',sans-serif}
header{display:flex;flex-wrap:wrap;gap:6px 16px;align-items:center;padding:8px 14px;
background:var(--panel);border-bottom:1px solid var(--edge)}
h1{font-size:16px;margin:0}
#legend{display:flex;flex-wrap:wrap;gap:4px 14px;list-style:none;margin:0;padding:0}
#legend li{display:flex;gap:6px;align-items:center}
#tools{margin-left:auto;display:flex;gap:6px;align-items:center}
#tools input,#tools button{font:inherit;color:inherit;background:var(--ground);
border:1px solid var(--edge);border-radius:5px;padding:4px 9px}
#tools button{cursor:pointer}
#stage{flex:1;min-height:0;overflow:hidden;cursor:grab;touch-action:none}
#stage.drag{cursor:grabbing}
#stage svg{width:100%;height:100%;display:block}
#card{position:fixed;right:14px;bottom:14px;max-width:min(420px,80vw);max-height:60vh;
overflow:auto;padding:10px 14px;background:var(--panel);border:1px solid var(--edge);
border-radius:8px;box-shadow:0 4px 18px #0004;white-space:pre-wrap;overflow-wrap:anywhere}
#card b{display:block;font-size:14px;margin-bottom:4px}
.box{cursor:pointer}
#stage .box.hit .body{stroke:var(--mark);stroke-width:4}
#stage .box.now .body{stroke:var(--mark);stroke-width:6}
.focus .line{stroke-opacity:.15}
.focus .line.near{stroke-opacity:1;stroke-width:2.4}
"""

SCRIPT = """\
'use strict';
(() => {
const data = JSON.parse(document.getElementById('data').textContent);
const stage = document.getElementById('stage'), svg = stage.querySelector('svg');
const card = document.getElementById('card'), found = document.getElementById('found');
const search = document.getElementById('search'), root = document.documentElement;
const boxes = data.map((_, n) => document.getElementById('b' + n));
boxes.forEach(box => { const t = box.querySelector('title'); if (t) t.remove(); });
svg.querySelector('title').remove();
const whole = svg.viewBox.baseVal, full = [whole.x, whole.y, whole.width, whole.height];
svg.removeAttribute('width'); svg.removeAttribute('height');
let view = full.slice();
const show = () => svg.setAttribute('viewBox', view.join(' '));
const scale = () => Math.max(view[2] / stage.clientWidth, view[3] / stage.clientHeight);
const fit = () => {
  view = full.slice();
  const least = Math.max(stage.clientWidth, 200), high = Math.max(stage.clientHeight, 200);
  if (view[2] < least && view[3] < high) {
    view = [full[0] - (least - full[2]) / 2, full[1] - (high - full[3]) / 2, least, high];
  }
  show();
};
const toPoint = e => new DOMPoint(e.clientX, e.clientY)
  .matrixTransform(svg.getScreenCTM().inverse());
const zoom = (factor, at) => {
  const c = at || {x: view[0] + view[2] / 2, y: view[1] + view[3] / 2};
  const most = Math.max(full[2], full[3], stage.clientWidth) * 4;
  if (view[2] * factor < 80 || view[2] * factor > most) return;
  view = [c.x - (c.x - view[0]) * factor, c.y - (c.y - view[1]) * factor,
          view[2] * factor, view[3] * factor];
  show();
};
stage.addEventListener('wheel', e => {
  e.preventDefault();
  zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) * 0.005), toPoint(e));
}, {passive: false});
const fingers = new Map();
let moved = 0, spread = 0, pinned = -1;
stage.addEventListener('pointerdown', e => {
  fingers.set(e.pointerId, e); moved = 0; spread = 0;
});
stage.addEventListener('pointermove', e => {
  const last = fingers.get(e.pointerId);
  if (!last) { hover(e); return; }
  const dx = e.clientX - last.clientX, dy = e.clientY - last.clientY;
  moved += Math.abs(dx) + Math.abs(dy);
  fingers.set(e.pointerId, e);
  if (fingers.size === 2) {
    const [a, b] = [...fingers.values()];
    const now = Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
    const mid = {clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2};
    if (spread) zoom(spread / now, toPoint(mid));
    spread = now;
  } else if (moved > 3) {
    stage.classList.add('drag');
    const s = scale();
    view[0] -= dx * s; view[1] -= dy * s; show();
  }
});
const release = e => { fingers.delete(e.pointerId); stage.classList.remove('drag'); };
addEventListener('pointerup', release);
addEventListener('pointercancel', release);
const numberOf = e => {
  const box = e.target.closest ? e.target.closest('.box') : null;
  return box ? +box.id.slice(1) : -1;
};
let shown = -1;
const tell = n => {
  if (n === shown) return;
  shown = n;
  card.hidden = n < 0;
  svg.querySelectorAll('.near').forEach(line => line.classList.remove('near'));
  svg.classList.toggle('focus', n >= 0);
  if (n < 0) return;
  const head = document.createElement('b');
  head.textContent = data[n].lines[0];
  card.replaceChildren(head, data[n].lines.slice(1).join('\\n'));
  svg.querySelectorAll('.line[data-t]').forEach(line => {
    const ends = (line.dataset.t + ' ' + line.dataset.h).split(' ');
    if (ends.includes(String(n))) line.classList.add('near');
  });
};
const hover = e => tell(numberOf(e) >= 0 ? numberOf(e) : pinned);
stage.addEventListener('click', e => {
  if (moved > 3) return;
  pinned = numberOf(e); tell(pinned);
});
let hits = [], current = 0;
const go = n => {
  const frame = boxes[n].getBBox(), m = boxes[n].getCTM();
  const inverse = svg.getCTM().inverse();
  const at = new DOMPoint(frame.x + frame.width / 2, frame.y + frame.height / 2)
    .matrixTransform(inverse.multiply(m));
  const wide = Math.min(full[2], Math.max(stage.clientWidth * 0.9, frame.width * 3));
  const high = wide * stage.clientHeight / stage.clientWidth;
  view = [at.x - wide / 2, at.y - high / 2, wide, high];
  show(); pinned = n; tell(n);
};
const mark = () => {
  boxes.forEach(box => box.classList.remove('hit', 'now'));
  hits.forEach(n => boxes[n].classList.add('hit'));
  found.textContent = search.value ? (hits.length ? current + 1 + '/' + hits.length : 'none') : '';
  if (hits.length) { boxes[hits[current]].classList.add('now'); go(hits[current]); }
};
search.addEventListener('input', () => {
  const word = search.value.trim().toLowerCase();
  hits = []; current = 0;
  if (word) data.forEach((box, n) => {
    if ([box.lines[0], ...box.names].some(name => name.toLowerCase().includes(word))) hits.push(n);
  });
  mark();
});
search.addEventListener('keydown', e => {
  if (e.key === 'Enter' && hits.length) {
    current = (current + (e.shiftKey ? hits.length - 1 : 1)) % hits.length; mark();
  }
  if (e.key === 'Escape') { search.value = ''; hits = []; mark(); search.blur(); }
});
addEventListener('keydown', e => {
  if (e.target === search || e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === '/') { e.preventDefault(); search.focus(); }
  else if (e.key === '+' || e.key === '=') zoom(0.8);
  else if (e.key === '-') zoom(1.25);
  else if (e.key === '0') fit();
  else if (e.key === 'Escape') { pinned = -1; tell(-1); }
});
document.getElementById('in').onclick = () => zoom(0.7);
document.getElementById('out').onclick = () => zoom(1 / 0.7);
document.getElementById('fit').onclick = fit;
document.getElementById('dark').onclick = () => root.classList.toggle('dark');
if (matchMedia('(prefers-color-scheme: dark)').matches) root.classList.add('dark');
addEventListener('resize', show);
fit();
})();
"""


_MAX_MEMBER = 120  # characters of a name in a list of members
_MAX_TITLE = 70


def page(picture: Picture) -> Iterator[str]:
    """Pieces of the file's text."""
    title = escaped(shortened(picture.title, _MAX_TITLE))
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{STYLE}\n{style.dark_css('.dark')}\n</style>\n</head>\n"
        f'<body>\n<header><h1>{title}</h1><span id="amount">{amount(picture)}</span>'
    )
    yield '<ul id="legend">'
    for mark, words in legend(picture):
        yield f'<li><svg width="18" height="18">{mark}</svg>{words}</li>'
    yield (
        '</ul><span id="tools"><input id="search" type="search" placeholder="search nodes  ( / )"'
        ' aria-label="search nodes"><span id="found" role="status"></span>'
        '<button id="in" title="zoom in (+)">+</button>'
        '<button id="out" title="zoom out (-)">&#8722;</button>'
        '<button id="fit" title="whole picture (0)">fit</button>'
        '<button id="dark" title="light or dark">&#9681;</button></span></header>\n'
        '<main id="stage">\n'
    )
    yield from svg(picture, with_head=False)
    yield '</main>\n<aside id="card" hidden></aside>\n'
    yield f'<script type="application/json" id="data">{_data(picture)}</script>\n'
    yield f"<script>\n{SCRIPT}\n</script>\n</body>\n</html>\n"


def _data(picture: Picture) -> str:
    """For each box what the card says and which names the search finds, as JSON within HTML."""
    dag = picture.dag
    boxes = [
        {
            "lines": details(dag, picture.states, box),
            "names": [plain(dag.names[node], _MAX_MEMBER) for node in box.members]
            if box.is_folded
            else [],
        }
        for box in picture.sketch.boxes
    ]
    text = json.dumps(boxes, ensure_ascii=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
