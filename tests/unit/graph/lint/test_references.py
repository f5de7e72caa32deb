"""The order in which commands that wait are obeyed, and their words."""

from __future__ import annotations

from condor_pydagman.dagfile import commands
from condor_pydagman.graph.lint.references import Later, word_of
from condor_pydagman.vocabulary import NodeKind


def test_by_command_then_by_line() -> None:
    later = Later()
    done, retry = commands.Done(1, "A"), commands.RetryLine(2, "A", 1)
    category, other = commands.Category(3, "A", "c"), commands.RetryLine(4, "B", 1)
    for command in (done, retry, category, other):
        later.add(command)
    assert list(later) == [category, retry, other, done]


def test_words() -> None:
    assert word_of(commands.Job(1, "A", "x")) == "JOB"
    assert word_of(commands.Job(1, "A", "x", kind=NodeKind.FINAL)) == "FINAL"
    assert word_of(commands.PreSkip(1, "A", 1)) == "PRE_SKIP"
    assert word_of(commands.Dot(1, "x")) == ""
