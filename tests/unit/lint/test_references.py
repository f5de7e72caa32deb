"""The order in which commands that wait are applied, and their words."""

from __future__ import annotations

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.language import WORDS
from condor_pydagman.dagfile.syntax import of_word
from condor_pydagman.lint.references import Deferred, is_late, word_of
from condor_pydagman.vocabulary import NodeKind


def test_by_command_then_by_line() -> None:
    later = Deferred()
    done, retry = commands.Done(1, "A"), commands.RetryLine(2, "A", 1)
    category, other = commands.Category(3, "A", "c"), commands.RetryLine(4, "B", 1)
    for command in (done, retry, category, other):
        later.add(command)
    assert list(later) == [category, retry, other, done]


def test_every_command_that_names_a_node_is_applied_when_all_nodes_are_known() -> None:
    known = {row.command for row in map(of_word, WORDS) if row is not None}
    naming = {command for command in known if "node" in command._fields}
    ignored = {commands.Pin, commands.SavePointFile}  # by the stock checker, too
    assert {command for command in naming if not is_late(command)} == ignored


def test_words() -> None:
    assert word_of(commands.Job(1, "A", "x")) == "JOB"
    assert word_of(commands.Job(1, "A", "x", kind=NodeKind.FINAL)) == "FINAL"
    assert word_of(commands.PreSkip(1, "A", 1)) == "PRE_SKIP"
    assert word_of(commands.ParentChild(1, ("A",), ("B",), weak=True)) == "PARENT"
    assert word_of(commands.Dot(1, "x")) == "DOT"
