"""The site is made without a warning, and a mistake in a page is an error."""

from __future__ import annotations

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

import condor_pydagman

ROOT = Path(__file__).resolve().parents[4]
BUILD = """\
import sys
from pathlib import Path
from tools.site.__main__ import build
sys.exit(build(Path(sys.argv[1]), Path(sys.argv[2])))
"""


def build(root: Path, output: Path) -> subprocess.CompletedProcess[str]:
    """In a process of its own: Sphinx sets up more than it takes down."""
    return subprocess.run(
        [sys.executable, "-c", BUILD, str(root), str(output)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("site")
    done = build(ROOT, output)
    assert done.returncode == 0, done.stdout + done.stderr
    return output / "html"


def text(path: Path) -> str:
    """The words of a page."""
    found = path.read_text("utf-8").partition("<article")[2].partition("</article>")[0]
    found = re.sub(r"</?(?:dt|dd|p|h\d|li|pre|div|section|br)\b[^>]*>", " ", found)
    return unescape(re.sub(r"<[^>]*>", "", found))


def test_every_page_is_there(html: Path) -> None:
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *ROOT.glob("man/*.?")]:
        assert (html / path.relative_to(ROOT).with_suffix(".html")).is_file(), path


def test_the_top_leads_to_the_index(html: Path) -> None:
    assert "url=docs/README.html" in (html / "index.html").read_text("utf-8")


def test_every_name_of_the_interface_is_described(html: Path) -> None:
    pages = "".join(path.read_text("utf-8") for path in (html / "api").glob("*.html"))
    for name in condor_pydagman.__all__:
        assert f'id="condor_pydagman.{name}"' in pages, name
    assert "Read DAG files that one DAGMan would run together" in pages


def test_annotations_link_to_what_they_name(html: Path) -> None:
    page = (html / "api/running.html").read_text("utf-8")
    assert re.search(r'href="#condor_pydagman.DagStatus"[^>]*><span class="pre">DagStatus', page)


@pytest.mark.parametrize("path", sorted(ROOT.glob("man/*.?")), ids=lambda path: path.name)
def test_a_man_page_has_every_word(html: Path, path: Path) -> None:
    source = re.sub(r"^\.\\\".*\n|^\.TH.*\n", "", path.read_text("utf-8"), flags=re.M)
    source = re.sub(r"^\.[A-Za-z]+ ?", "", source, flags=re.M)
    source = re.sub(r"\\f.|\\\(..", "", source).replace(r"\-", "-").replace("\\\\", "\\")
    shown = text(html / "man" / f"{path.stem}.html")
    missing = [word for word in re.findall(r"[A-Za-z_]\w+", source) if word not in shown]
    assert not missing


def test_man_pages_link_to_each_other_and_have_anchors(html: Path) -> None:
    page = (html / "man/condor_dagman.html").read_text("utf-8")
    assert 'href="condor_submit_dag.html"' in page
    assert '<dt id="lockfile">' in page


def test_what_is_searched(html: Path) -> None:
    index = (html / "searchindex.js").read_text("utf-8")
    for word in ("lockfil", "read_dag", "reconcil"):
        assert word in index, word


def test_diagrams_are_drawn_or_shown_as_text(html: Path) -> None:
    page = (html / "docs/states.html").read_text("utf-8")
    assert page.count("RECONCILING") > 1
    assert '"black"' not in page


PAGE = """\
# Index

## Pages

- [That one](that.md)
- [A man page](../man/wrong.1)
- [Read me](../README.md)
- [Examples](../examples)
<!-- site:
- [Python API](/api/index.rst)
-->
<!-- site pages: how-to/*.md -->
"""
THAT = """\
# That

[dead](nowhere.md), [too](#nowhere), [and](../README.md#nowhere), [but not](../examples/x),
[nor](how-to/new.md#part)

<a href="nowhere.html">raw</a> <img src="https://example.org/x.png">
"""
MISTAKES = (
    r"docs/that.md:3: WARNING: .*'nowhere.md'",
    r"docs/that.md:3: WARNING: 'myst' cross-reference target not found: '#?nowhere'",
    r"docs/that.md:3: WARNING: local id not found in doc 'README': 'nowhere'",
    r"docs/left_out.md: WARNING: document isn't included in any toctree",
    r"man/wrong.1:3: ERROR: tools/site/man_pages.py does not know the macro XX",
    r"^docs/that.html: #nowhere leads to no anchor",
    r"^docs/that.html: #nowhere.md leads to no anchor",
    r"^docs/that.html: ../README.html#nowhere leads to no anchor",
    r"^docs/that.html: nowhere.html leads to no file",
    r"^docs/that.html: https://example.org/x.png is loaded from elsewhere",
)


def test_mistakes_are_told_and_nothing_else(tmp_path: Path) -> None:
    root = tmp_path / "root"
    files = {
        "docs/README.md": PAGE,
        "docs/that.md": THAT,
        "docs/left_out.md": "# Left out\n",
        "docs/python.md": "---\norphan: true\n---\n# Python\n",
        "docs/how-to/new.md": "# New\n\n## Part\n",
        "docs/conf.py": (ROOT / "docs/conf.py").read_text("utf-8"),
        "docs/site.css": "",
        "man/wrong.1": '.TH WRONG 1 "" ""\n.SH NAME\n.XX\n',
        "examples/x/x.dag": "JOB A a.sub\n",
        **dict.fromkeys(("README.md", "CHANGES.md", "CONTRIBUTING.md", "SECURITY.md"), "# x\n"),
    }
    for name, said in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(said, "utf-8")
    for name in ("CHANGES.md", "CONTRIBUTING.md", "SECURITY.md"):
        (root / name).write_text("---\norphan: true\n---\n# x\n", "utf-8")
    done = build(root, tmp_path / "site")
    assert done.returncode == 1
    lines = [line for line in done.stderr.splitlines() if re.search(r"\.(md|1|html|rst)\b", line)]
    for mistake in MISTAKES:
        found = [line for line in lines if re.search(mistake, line)]
        assert found, (mistake, done.stderr)
        lines = [line for line in lines if line not in found]
    assert not lines, lines
    new = (tmp_path / "site/html/docs/README.html").read_text("utf-8")
    assert '<a class="reference internal" href="how-to/new.html">' in new
