"""The tables LANGUAGE and SYNTAX, and which DAG files condor_submit_dag need not parse."""

from __future__ import annotations

import pytest

from condor_pydagman.language import commands
from condor_pydagman.language.keywords import (
    DEFINING,
    LANGUAGE,
    SUBMIT_ONLY,
    USING,
    WORDS,
    about,
    concerns_submit_dag,
    manual,
)
from condor_pydagman.language.lines import normal
from condor_pydagman.language.parser import manager_commands
from condor_pydagman.language.syntax import SYNTAX, of_class, of_word
from tests.corpora import dag_cases

# By what they are for; what is not here is an extension, and has a test of its own.
STOCK_DEFINES = {
    *("SUBMIT_DESCRIPTION", "JOB", "FINAL", "PROVISIONER", "SERVICE", "SUBDAG", "SPLICE"),
    *("REJECT", "DOT", "NODE_STATUS_FILE", "JOBSTATE_LOG", "DATA"),
}
STOCK_USES = {
    *("INCLUDE", "PARENT", "WEAK", "CONNECT", "PIN_IN", "PIN_OUT", "SCRIPT", "RETRY"),
    *("ABORT_DAG_ON", "VARS", "PRIORITY", "PRE_SKIP", "TOLERANCE", "CATEGORY", "MAXJOBS"),
    *("DONE", "SAVE_POINT_FILE"),
}


def test_every_word_of_the_language_is_known() -> None:
    assert all(about(word).word == word == normal(word) for word in WORDS)
    stock = {word for word in WORDS if not about(word).extension}
    assert stock == STOCK_DEFINES | STOCK_USES | SUBMIT_ONLY


def test_what_is_applied_first() -> None:
    """The manual does not say; the order is that of stock DAGMan, and DATA is a node as well."""
    assert {word for word in DEFINING if not about(word).extension} == STOCK_DEFINES
    assert "SWEEP" in DEFINING
    assert {"CONFIG", "SET_JOB_ATTR", "ENV"} == SUBMIT_ONLY
    assert WORDS == DEFINING | USING | SUBMIT_ONLY
    assert not USING & (DEFINING | SUBMIT_ONLY)


@pytest.mark.parametrize("word", sorted(WORDS))
def test_every_word_has_its_form_and_a_summary(word: str) -> None:
    row = about(word)
    assert (row.called or word) in row.usage
    assert row.summary.endswith(".")
    assert "\n" not in row.usage + row.summary


def test_the_manual_has_every_word_in_its_place() -> None:
    words = [row.word for row in manual()]
    assert sorted(words) == sorted(WORDS)
    assert [word for word in words if word in LANGUAGE] == list(LANGUAGE)
    assert words[words.index("BRAKE") - 1] == "NOT_NEEDED"


def test_dag_files_that_condor_submit_dag_passes_over() -> None:
    """The parser would have found nothing in them."""
    plain = [case.text for case in dag_cases().values() if not concerns_submit_dag(case.text)]
    assert len(plain) > 100
    for text in plain:
        assert manager_commands(text, "t.dag") == []


@pytest.mark.parametrize(
    "line",
    ["CONFIG c", " env set a=b", "Set_Job_Attr a = 1", "JOB", "JOBS a b", "JOB A {", "JOB A \\",
     "JOB A @=E", "JOB A @=E\n@E", "\x0bCONFIG c", "VAR\u017f A b=1", "FOO", "JOB A a\0",
     "\ufeffJOB A b", "\rCONFIG c"],
)  # fmt: skip
def test_lines_that_condor_submit_dag_looks_at(line: str) -> None:
    assert concerns_submit_dag(f"JOB A a.sub\n# CONFIG\n\n{line}\nRETRY A 3\n")


# The SYNTAX table: every word of the language, every class of command.


def test_every_word_of_the_language_is_read_and_written() -> None:
    assert set(SYNTAX) == set(LANGUAGE)
    rows = {word: of_word(word) for word in WORDS}
    assert all(row is not None and row.word == word for word, row in rows.items())
    assert of_word("NO_WORD") is None


def test_every_class_of_command_has_its_line() -> None:
    rows = [row for row in map(of_word, WORDS) if row is not None]
    assert {of_class(row.command).command for row in rows} == {row.command for row in rows}
    assert of_class(commands.Job).word == "JOB"
    assert of_class(commands.ParentChild).word == "PARENT"
