"""docs/python.md: its examples do what they say, and it names what is exported."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import condor_pydagman

PAGE = Path(__file__).resolve().parents[2] / "docs/python.md"


def test_examples_give_what_they_say(work_directory: Path) -> None:
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert found.attempted > 30
    assert not found.failed, "python -m doctest docs/python.md shows it; run it elsewhere"


def test_names_that_the_page_imports_are_exported() -> None:
    text = PAGE.read_text(encoding="utf-8").replace("\n...", "")
    lines = re.findall(r"from condor_pydagman import \(?([\w, ]+)", text)
    names = {name.strip() for line in lines for name in line.split(",") if name.strip()}
    assert len(names) > 15
    assert names <= set(condor_pydagman.__all__)


def test_every_function_has_an_example() -> None:
    text = PAGE.read_text(encoding="utf-8")
    functions = [name for name in condor_pydagman.__all__ if name.islower()]
    assert [name for name in functions if f"{name}(" not in text] == []
