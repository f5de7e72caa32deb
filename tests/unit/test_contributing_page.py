"""CONTRIBUTING.md and docs/design.md: what they name is there, and the map has every layer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.test_style import LAYERS

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`((?:\w+/)+(?:\w+\.\w+|\w+/)?)`")
PATHS = sorted(set(NAMED.findall(TEXT)))
DESIGN = sorted(set(NAMED.findall((ROOT / "docs" / "design.md").read_text(encoding="utf-8"))))
MAP = TEXT.partition("## Map")[2].partition("\n## ")[0]


def test_there_are_many() -> None:
    assert len(PATHS) > 40


@pytest.mark.parametrize("path", PATHS)
def test_paths_are_there(path: str) -> None:
    """Those of the map, and others without a folder before them, are below the package."""
    assert (ROOT / path).exists() or (ROOT / "condor_pydagman" / path).exists()


@pytest.mark.parametrize("path", DESIGN)
def test_paths_of_the_design_are_there(path: str) -> None:
    """Tests may be named without `tests/`."""
    assert any((ROOT / folder / path).exists() for folder in (".", "condor_pydagman", "tests"))


@pytest.mark.parametrize("path", re.findall(r"\]\(([^)]+)\)", TEXT))
def test_links_lead_somewhere(path: str) -> None:
    assert (ROOT / path).exists()


def test_the_map_has_every_layer_in_order() -> None:
    named = re.findall(r"`(\w+)(?:/|\.py)`", MAP)
    layers = [name for layer in LAYERS for name in layer if "." not in name]  # no parts of features
    assert [name for name in named if name in layers][: len(layers)] == layers


def test_the_readme_leads_to_it() -> None:
    assert "(CONTRIBUTING.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
