"""Descriptions that run commands when they are read."""

from __future__ import annotations

import pytest

from condor_pydagman.records.job_description import may_run_commands


@pytest.mark.parametrize(
    "text",
    [
        "include : touch x |",
        "INCLUDE command : touch x",
        "include output into f : touch x",
        "@include : touch x |",
        "include: other.sub",
        "include : \\\ntouch x |",
        "incl\\\n   ude : touch x |",
        "incl\\ \nude : touch x |",
        "# a comment \\\ninclude : touch x |",
        "# a comment\\\nincl\\\nude : touch x |",
        "x = 1 \\\n\ninclude : touch x |",
        "if true\n\x0binclude : touch x |\r\nendif",
        "queue x from touch y |",
        "Queue x \\\n from touch y |",
    ],
)
def test_commands(text: str) -> None:
    assert may_run_commands(f"executable = a\n{text}\nqueue\n")


@pytest.mark.parametrize(
    "text",
    ["arguments = --include x", "queue 5", "queue x from items.txt", "queue x in (a b)", "a = b:c"],
)
def test_no_commands(text: str) -> None:
    assert not may_run_commands(f"executable = a\n{text}\nqueue\n")
