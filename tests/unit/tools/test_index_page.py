"""What of the README a package index can show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.index_page import for_an_index

README = Path(__file__).resolve().parents[3] / "README.md"


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("[All figures](docs/performance.md)", "All figures"),
        ("see [Install](docs/a.md#install), or [B](b.md)", "see Install, or B"),
        ("top\n\n![A picture](docs/web.png)\n\nnext", "top\n\nnext"),
        ("[HTCondor](https://htcondor.org/)", "[HTCondor](https://htcondor.org/)"),
        ("[Install](#install)", "[Install](#install)"),
        ("`pip install '.[watch,web]'`", "`pip install '.[watch,web]'`"),
    ],
)
def test_links(page: str, shown: str) -> None:
    assert for_an_index(page) == shown


def test_the_words_of_the_readme_stay() -> None:
    shown = for_an_index(README.read_text(encoding="utf-8"))
    assert "](docs" not in shown
    assert "Tutorial · All pages" in shown
