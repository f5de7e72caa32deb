"""The tables LANGUAGE and SYNTAX, and which DAG files condor_submit_dag need not parse."""

from __future__ import annotations

import pytest

from condor_pydagman.dagfile import commands
from condor_pydagman.dagfile.language import (
    DEFINING,
    LANGUAGE,
    SUBMIT_ONLY,
    USING,
    concerns_submit_dag,
)
from condor_pydagman.dagfile.lines import normal
from condor_pydagman.dagfile.parser import manager_commands
from condor_pydagman.dagfile.syntax import SYNTAX, SYNTAX_OF
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
    assert all(about.word == word == normal(word) for word, about in LANGUAGE.items())
    stock = {word for word, about in LANGUAGE.items() if not about.extension}
    assert stock == STOCK_DEFINES | STOCK_USES | SUBMIT_ONLY


def test_what_is_applied_first() -> None:
    """The manual does not say; the order is that of stock DAGMan, and DATA is a node as well."""
    assert {word for word in DEFINING if not LANGUAGE[word].extension} == STOCK_DEFINES
    assert "SWEEP" in DEFINING
    assert {"CONFIG", "SET_JOB_ATTR", "ENV"} == SUBMIT_ONLY
    assert set(LANGUAGE) == DEFINING | USING | SUBMIT_ONLY
    assert not USING & (DEFINING | SUBMIT_ONLY)


@pytest.mark.parametrize("word", LANGUAGE)
def test_every_word_has_its_form_and_a_summary(word: str) -> None:
    about = LANGUAGE[word]
    assert (about.called or word) in about.usage
    assert about.summary.endswith(".")
    assert "\n" not in about.usage + about.summary


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


def test_every_class_of_command_has_its_line() -> None:
    assert set(SYNTAX_OF) == set(commands.Command.__args__)  # type: ignore[attr-defined]
    assert SYNTAX_OF[commands.Job].word == "JOB"
    assert SYNTAX_OF[commands.ParentChild].word == "PARENT"
