"""docs/security.md: the tests that it names are there, and its limits are those of the code."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs/security.md").read_text(encoding="utf-8")
TESTS = sorted(set(re.findall(r"`((?:\w+/)*(?:test_\w+\.py|\w+\.scene))(?:::([^`]+))?`", TEXT)))
LIMITS = [
    line for line in TEXT.split("\n## Limits\n")[1].split("\n## ")[0].splitlines() if "`" in line
]


def test_there_are_many() -> None:
    assert len(TESTS) > 40
    assert len(LIMITS) > 25


@pytest.mark.parametrize(("path", "function"), TESTS)
def test_tests_are_there(path: str, function: str) -> None:
    text = (ROOT / "tests" / path).read_text(encoding="utf-8")
    assert not function or f"def {function}(" in text or f"\n[{function}]" in text


@pytest.mark.parametrize("row", LIMITS, ids=[row.split("|")[1].strip() for row in LIMITS])
def test_limits_are_those_of_the_code(row: str) -> None:
    limit, constants = row.split("|")[2:4]
    for name in re.findall("`([^`]+)`", constants):
        module, _, constant = name.rpartition(".")
        value = getattr(importlib.import_module(f"condor_pydagman.{module}"), constant)
        assert f"{value:,}" in limit, f"{name} is {value:,}"
