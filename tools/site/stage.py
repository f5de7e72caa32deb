"""The directory that Sphinx reads: copies of the pages, and the pages that are made.

Copies keep the layout of the repository, so a link between them is the same on a Git web page and
in the site.  What the index (docs/README.md) links to, in its order, is the navigation of the site.
"""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from tools.site import api_pages, man_pages

INDEX = "docs/README.md"
FILES = ("README.md", "CHANGES.md", "CONTRIBUTING.md", "SECURITY.md")
FOLDERS = ("docs", "examples")
PAGES = (".md", ".rst", *man_pages.SECTIONS)
# Comments of the index, which a Git web page does not show.
FOR_THE_SITE = re.compile(r"^<!-- site:\n(.*?)^-->\n", re.S | re.M)
OTHER_PAGES = re.compile(r"^<!-- site pages: (\S+) -->\n", re.M)
ENTRY = re.compile(r"^- \[([^\]]*)\]\(([^)#:]+)\)", re.M)
SECTION = re.compile(r"^## ", re.M)


class StageError(Exception):
    """Something has no place in the site; the message says what, and what to do."""


def fill(root: Path, source: Path) -> None:
    """Make the directory that Sphinx reads.

    Raises:
        StageError: something has no place in the site.
    """
    for folder in FOLDERS:
        ignored = shutil.ignore_patterns("conf.py", "__pycache__")
        shutil.copytree(root / folder, source / folder, ignore=ignored)
    for name in FILES:
        shutil.copy2(root / name, source / name)
    (source / "man").mkdir()
    for path in sorted((root / "man").glob("*.[0-9]")):
        shutil.copy2(path, source / "man" / path.name)
    _write(source, {**_examples(source), **_api()})
    (source / INDEX).write_text(index(source), "utf-8")


def _api() -> dict[str, str]:
    try:
        return api_pages.pages()
    except api_pages.NoTopicError as error:
        raise StageError(str(error)) from None


def _write(source: Path, pages: dict[str, str]) -> None:
    for name, text in pages.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def index(source: Path) -> str:
    """The index as the site has it: with its own entries, and the navigation."""
    text = FOR_THE_SITE.sub(r"\1", (source / INDEX).read_text("utf-8"))
    seen: set[str] = set()
    linked = set(_entries(text, source))
    head, *sections = SECTION.split(text)
    done = [_section(f"## {section}", source, seen, linked) for section in sections]
    return head + "".join(done)


def _section(text: str, source: Path, seen: set[str], linked: set[str]) -> str:
    """A section with entries for the pages that it takes up by a pattern, and its navigation."""

    def entries(found: re.Match[str]) -> str:
        paths = sorted((source / "docs").glob(found[1]))
        new = [path for path in paths if _page(path, source) not in linked]
        return "".join(f"- [](/{path.relative_to(source).as_posix()})\n" for path in new)

    text = OTHER_PAGES.sub(entries, text)
    pages = {page: name for page, name in _entries(text, source).items() if page not in seen}
    seen.update(pages)
    if not pages:
        return text
    caption = text.partition("\n")[0][3:]
    lines = "".join(f"{name} </{page}>\n" if name else f"/{page}\n" for page, name in pages.items())
    return f"{text.rstrip()}\n\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}```\n\n"


def _entries(text: str, source: Path) -> dict[str, str]:
    """What a list begins an entry with: names of pages, and what they are called there."""
    found: dict[str, str] = {}
    for name, link in ENTRY.findall(text):
        path = source / link[1:] if link.startswith("/") else source / "docs" / link
        if path.suffix in PAGES or path.is_dir():
            found.setdefault(_page(path, source), name)
    return found


def _page(path: Path, source: Path) -> str:
    """Sphinx's name of a page."""
    return os.path.relpath(path.with_suffix(""), source).replace(os.sep, "/")


def _examples(source: Path) -> dict[str, str]:
    """A page for each folder of examples, named after it: a link to the folder leads there."""
    folders = sorted(path for path in (source / "examples").iterdir() if path.is_dir())
    scripts = sorted(path for path in (source / "examples").iterdir() if path.is_file())
    listed = "".join(f"examples/{folder.name}\n" for folder in folders)
    toctree = f"```{{toctree}}\n:maxdepth: 1\n\n{listed}```\n"
    found = {"examples.md": f"# Examples\n\n{toctree}\n{_shown(scripts, source)}"}
    for folder in folders:
        files = [path for path in folder.rglob("*") if path.is_file()]
        files.sort(key=lambda path: (path.suffix != ".dag", path))
        title = f"# examples/{folder.name}\n\n"
        found[f"examples/{folder.name}.md"] = title + _shown(files, source)
    return found


def _shown(paths: list[Path], source: Path) -> str:
    """The contents of text files, each below its name."""
    parts = []
    for path in paths:
        name = path.relative_to(source).as_posix()
        language = {".sh": "sh", ".py": "python"}.get(path.suffix, "text")
        include = f"```{{literalinclude}} /{name}\n:language: {language}\n```\n"
        parts.append(f"## {path.name}\n\n{include}\n")
    return "".join(parts)
