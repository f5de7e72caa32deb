"""Generated files are in step with the tables that they are made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import generate

ROOT = Path(__file__).resolve().parents[3]
FILES = generate.files()


@pytest.mark.parametrize("name", sorted(FILES))
def test_a_generated_file_is_in_step_with_its_table(name: str) -> None:
    """If this fails, write them anew: python -m tools.generate."""
    assert (ROOT / name).read_text("utf-8") == FILES[name]


def test_no_file_beside_them_is_written_by_hand() -> None:
    beside = {path.relative_to(ROOT).as_posix() for path in (ROOT / "man").glob("*.*")}
    beside |= {p.relative_to(ROOT).as_posix() for p in (ROOT / "share").rglob("*") if p.is_file()}
    assert {name for name in beside if not name.startswith("share/monitoring/")} <= set(FILES)
