"""The SYNTAX table: every word of the language, every class of command."""

from __future__ import annotations

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.language import LANGUAGE
from condor_pydagman.dagfile.syntax import SYNTAX, SYNTAX_OF


def test_every_word_of_the_language_is_read_and_written() -> None:
    assert set(SYNTAX) == set(LANGUAGE)


def test_every_class_of_command_has_its_line() -> None:
    assert set(SYNTAX_OF) == set(commands.Command.__args__)  # type: ignore[attr-defined]
    assert SYNTAX_OF[commands.Job].word == "JOB"
    assert SYNTAX_OF[commands.ParentChild].word == "PARENT"
