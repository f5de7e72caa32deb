"""Links of a finished site that lead nowhere: to a file, or an anchor, that is not there.

Sphinx warns of most of them; this finds those in raw HTML, and of the theme, as well, and whatever
the pages would load from elsewhere.
"""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.loaded: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.add(given["href"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload"):
            self.loaded.add(given.get("href", ""))
        elif tag in LOADED and LOADED[tag] in given:
            self.loaded.add(given[LOADED[tag]])


def find(html: Path) -> list[str]:
    """A line for each, with the page that has it."""
    pages = {}
    for path in sorted(html.rglob("*.html")):
        page = pages[path.resolve()] = _Page()
        page.feed(path.read_text("utf-8"))
    found = []
    for path, page in pages.items():
        name = path.relative_to(html.resolve()).as_posix()
        for link in sorted(page.links | page.loaded):
            wrong = _wrong(link, path, pages, link in page.loaded)
            found += [f"{name}: {link} {wrong}"] if wrong else []
    return found


def _wrong(link: str, path: Path, pages: dict[Path, _Page], loaded: bool) -> str:
    """What is wrong with a link of a page, '' for nothing."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return "is loaded from elsewhere" if loaded and parts.scheme != "data" else ""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_file():
        return "leads to no file"
    if parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
        return "leads to no anchor"
    return ""
