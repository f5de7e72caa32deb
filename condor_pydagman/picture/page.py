"""A picture as one HTML file that needs nothing else: pan and zoom, search, details, dark mode."""

from __future__ import annotations

import json
from collections.abc import Iterator

from condor_pydagman.picture import style
from condor_pydagman.picture.describe import details
from condor_pydagman.picture.page_parts import SCRIPT, STYLE
from condor_pydagman.picture.svg import Picture, amount, legend, svg
from condor_pydagman.picture.text import escaped, plain, shortened

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
