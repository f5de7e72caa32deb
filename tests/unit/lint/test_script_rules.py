"""Words of scripts that look like macros."""

from __future__ import annotations

import pytest

from tests.unit.lint.paper import found

SWEEP = "JOB Z a.sub\nSWEEP s_{e} a.sub OVER e IN 1 2\nPARENT s_{e} CHILD Z\nVARS Z k=1\n"


def told(line: str) -> list[tuple[int, str]]:
    return [(one.line, one.message) for one in found(SWEEP + line) if one.code == "DAG418"]


@pytest.mark.parametrize("word", ["$(e)", "{e}", "$(JOB)"])
def test_a_key_of_vars(word: str) -> None:
    assert told(f"SCRIPT PRE s_{{e}} pre.sh {word} x\n") == [
        (5, f"the PRE script of node s_1 and 1 other node gets {word} unexpanded")
    ]


def test_other_words() -> None:
    assert told("SCRIPT PRE s_{e} pre.sh $JOB {f} $(k) x{}\nSCRIPT POST Z pre.sh $(e)\n") == []
