"""The helper that takes examples out of pages, and what holds for every page of docs/how-to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests import pages

HOW_TO = sorted((pages.DOCS / "how-to").glob("*.md"))
PAGE = """\
Write `my.dag`:

```text file=my.dag
JOB A a.sub
```

- and the script `sub/a.sh`:

  ```sh file=sub/a.sh
  #!/bin/sh
    exit 0
  ```

```console
$ condor_submit_dag my.dag
submitted to cluster 7.
$ cat <<X
> $HOME
> X
```

```ini
only = shown
```
"""


def test_files_are_written(tmp_path: Path) -> None:
    pages.write_files(PAGE, tmp_path)
    script = tmp_path / "sub/a.sh"
    assert (tmp_path / "my.dag").read_text() == "JOB A a.sub\n"
    assert script.read_text() == "#!/bin/sh\n  exit 0\n"
    assert script.stat().st_mode & 0o111
    assert not (tmp_path / "my.dag").stat().st_mode & 0o111


def test_commands_and_what_they_print() -> None:
    assert list(pages.steps(PAGE)) == [
        pages.Step("condor_submit_dag my.dag", "submitted to cluster 7.\n", 15),
        pages.Step("cat <<X\n$HOME\nX", "", 17),
    ]
    assert [block.language for block in pages.blocks(PAGE)] == ["text", "sh", "console", "ini"]


def test_a_block_that_does_not_end() -> None:
    with pytest.raises(ValueError, match="line 1"):
        list(pages.blocks("```text\nJOB A a.sub\n"))


@pytest.mark.parametrize(
    ("output", "printed", "same"),
    [
        ("cluster 7.\n", "cluster 12345.", True),
        ("cluster 7.", "cluster 7!", False),
        ("a 1  b\n", "a  22 b\n", True),
        ("first\n...\nlast\n", "first\n1\n2\nlast\n", True),
        ("first\n...\nlast\n", "first\n1\nother\n", False),
        ("on slot1@...\n", "on slot1@vm\n", True),
        ("", "anything", False),
        ("(code 1)", "(code 1) and more", False),
    ],
)
def test_what_agrees(output: str, printed: str, same: bool) -> None:
    assert pages.agrees(output, printed) is same


def names(page: Path) -> str:
    return page.stem


@pytest.mark.parametrize("page", HOW_TO, ids=names)
class TestHowTo:
    """Of each page."""

    def test_it_names_its_files_and_uses_them(self, page: Path) -> None:
        """A reader sees the name of a file in the text before it, not what is behind the fence."""
        text = page.read_text(encoding="utf-8")
        lines = text.splitlines()
        for block in pages.blocks(text):
            before = " ".join(lines[max(0, block.line - 12) : block.line - 1])
            assert not block.file or f"`{block.file}`" in before, (block.line, block.file)

    def test_its_links_lead_somewhere(self, page: Path) -> None:
        text = page.read_text(encoding="utf-8")
        targets = [link for link in re.findall(r"\]\(([^)]+)\)", text) if "://" not in link]
        assert targets
        for target in targets:
            name, _, anchor = target.partition("#")
            found = (page.parent / name).resolve() if name else page
            assert found.is_file(), target
            headings = re.findall(r"^#+ (.*)", found.read_text(encoding="utf-8"), re.M)
            slugs = {re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in headings}
            assert not anchor or anchor in slugs, target
