"""Macros in the names of files of CACHE and PUBLISH that nothing sets."""

from __future__ import annotations

import pytest

from tests.unit.lint.paper import found

DAG = "JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\nVARS A Executable=x Key=$(JOB)\n"


def told(dag: str) -> list[tuple[int, str, str]]:
    return [(one.line, one.message, one.hint) for one in found(dag) if one.code == "DAG416"]


@pytest.mark.parametrize(
    ("line", "what", "hint"),
    [
        ("PUBLISH A FILE $(kay).ad", "nothing sets $(kay)", "did you mean $(Key)?"),
        ("CACHE A INPUTS $(xyz)", "nothing sets $(xyz)", "set it with VARS: xyz=..."),
        ("CACHE A OUTPUTS o.$(RETRY)", "nothing sets $(RETRY)", "the files that a node reads"),
        ("PUBLISH A FILE {Key}.ad", "{Key} is not a macro there", "use $(Key), which VARS"),
    ],
)
def test_a_macro_that_nothing_sets(line: str, what: str, hint: str) -> None:
    ((number, message, advice),) = told(f"{DAG}{line}\n")
    word, _, *_, file = line.split()
    assert (number, message) == (5, f"{word} of node A names {file}: {what}")
    assert advice.startswith(hint)


@pytest.mark.parametrize(
    "line",
    [
        "PUBLISH A FILE $(key)-$(JOB)-$(RETRY).ad",
        "CACHE A INPUTS $(KEY) OUTPUTS {no}",
        "PUBLISH ALL_NODES FILE $(JOB).ad",
    ],
)
def test_macros_that_are_set(line: str) -> None:
    assert told(f"{DAG}{line}\n") == []


def test_nodes_of_a_sweep_are_named_once() -> None:
    dag = "JOB Z a.sub\nSWEEP s_{e} a.sub OVER e IN 1 2 3\nPARENT s_{e} CHILD Z\n"
    dag += "PUBLISH s_{e} FILE $(f).ad\n"
    ((line, message, _),) = told(dag)
    assert line == 4
    assert message == "PUBLISH of node s_1 and 2 other nodes names $(f).ad: nothing sets $(f)"


def test_a_key_that_only_such_a_name_uses_is_used() -> None:
    dag = "JOB A a.sub\nVARS A mine=1 yours=2\nPUBLISH A FILE $(mine).ad\nCACHE B INPUTS $(yours)\n"
    codes = [one.code for one in found(f"JOB B a.sub\nVARS B yours=1\nPARENT A CHILD B\n{dag}")]
    assert "DAG401" not in codes
