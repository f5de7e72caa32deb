"""The index, the pages of the Python API and the diagrams, before Sphinx reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

import condor_pydagman
from tools.site import api_pages, diagrams, stage

INDEX = """\
# Index

See [b](b.md).

## First

- [The b page](b.md): what it says
- [Not ours](https://example.org)
<!-- site pages: more/*.md -->

## Second

<!-- site:
- [Made](/api/index.rst)
-->
- [Again b](b.md)
- [License](../LICENSE)
"""


def test_the_index_is_the_navigation(tmp_path: Path) -> None:
    for name in ("docs/b.md", "docs/more/y.md", "docs/more/x.md", "LICENSE"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "docs/README.md").write_text(INDEX)
    head, first, second = stage.index(tmp_path).split("\n## ")
    assert head == "# Index\n\nSee [b](b.md).\n"
    assert "- [](/docs/more/x.md)\n- [](/docs/more/y.md)\n" in first
    caption = "```{toctree}\n:hidden:\n:caption: "
    entries = "The b page </docs/b>\n/docs/more/x\n/docs/more/y\n"
    assert first.endswith(f"{caption}First\n\n{entries}```\n")
    assert second.endswith(
        f"- [License](../LICENSE)\n\n{caption}Second\n\nMade </api/index>\n```\n\n"
    )


def test_every_name_is_on_one_page_and_in_the_table_of_contents() -> None:
    pages = api_pages.pages()
    contents = pages.pop("api/index.rst")
    described = "".join(pages.values()).split()
    for name in condor_pydagman.__all__:
        assert described.count(f"condor_pydagman.{name}") == 1, name
        assert f"`~condor_pydagman.{name}`" in contents, name


def test_a_name_of_a_new_module_needs_a_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(condor_pydagman._HOME_OF, "Dag", "api.new")
    with pytest.raises(api_pages.NoTopicError, match=r"Dag is new in .*: put api\.new in TOPICS"):
        api_pages.pages()


def test_a_diagram() -> None:
    graph = diagrams.dot("stateDiagram-v2\n    [*] --> A\n    A --> B: x, y\n    B --> [*]\n")
    lines = graph.partition(diagrams.HEAD)[2].splitlines()
    assert lines[1] == '"[*]0" -> "A" [label = ""]'
    assert lines[2] == '"A" -> "B" [label = "x\\ny"]'
    assert lines[4] == '"B" -> "[*]1" [label = ""]'
    assert lines[0].startswith('"[*]0" [shape = point')


@pytest.mark.parametrize("text", ["graph TD", "stateDiagram-v2\n  note left of A"])
def test_other_diagrams_are_refused(text: str) -> None:
    with pytest.raises(diagrams.DiagramError):
        diagrams.dot(text)
