"""The SYNTAX table."""

from __future__ import annotations

from condor_pydagman.dagfile.line_parts import normal
from condor_pydagman.dagfile.syntax import SYNTAX


def test_every_word_of_the_language_is_known() -> None:
    assert len(SYNTAX) == 33
    assert all(syntax.word == word == normal(word) for word, syntax in SYNTAX.items())


def test_what_is_obeyed_first() -> None:
    """The manual does not say; the order is that of stock DAGMan, and DATA is a node as well."""
    words = "SUBMIT_DESCRIPTION JOB FINAL PROVISIONER SERVICE SUBDAG SPLICE REJECT DOT"
    first = {*words.split(), "NODE_STATUS_FILE", "JOBSTATE_LOG", "DATA"}
    assert {word for word, syntax in SYNTAX.items() if syntax.defines} == first
    assert {word for word, s in SYNTAX.items() if s.manager} == {"CONFIG", "SET_JOB_ATTR", "ENV"}
