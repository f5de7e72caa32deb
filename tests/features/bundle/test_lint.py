"""Which nodes of a BUNDLE run alone, as the checker says."""

from __future__ import annotations

import pytest

from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.lint.lint import lint
from tests.unit.lint.paper import PaperWorld

SUBMIT = "executable = plain\narguments = 1\nqueue\n"


def told(dag: str, submit: str = SUBMIT) -> list[str]:
    files = {"t.dag": f"{dag}BUNDLE b ALL_NODES\n", "a.sub": submit, "/place/plain": ""}
    found = lint(["t.dag"], PaperWorld(files), BuildOptions()).kept
    return [one.message for one in found if one.code == "DAG423"]


def test_nothing_is_told_of_nodes_that_go_together() -> None:
    assert not told("JOB A a.sub\nJOB B a.sub\nTIMEOUT B RUNNING 60\n")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("JOB C a.sub NOOP", "it is a NOOP node"),
        ('JOB "C D" a.sub', "its name has a blank, or is too long"),
        ("JOB C a.sub\nSHARED_LIMIT tape NODES C", "it has a SHARED_LIMIT"),
        ("JOB C a.sub\nTIMEOUT C QUEUED 60", "it has a TIMEOUT QUEUED or TOTAL"),
        ("JOB C a.sub\nTIMEOUT C TOTAL 60", "it has a TIMEOUT QUEUED or TOTAL"),
    ],
)
def test_nodes_that_run_alone_whatever_their_description_says(line: str, why: str) -> None:
    (message,) = told(f"JOB A a.sub\nJOB B a.sub\n{line}\n")
    assert "C" in message.split(" can't")[0]
    assert message.endswith(f"can't be bundled: {why}")


def test_one_reason_is_told_once() -> None:
    found = told("JOB A a.sub\nJOB B a.sub\nJOB C a.sub\n", f"periodic_hold = x\n{SUBMIT}")
    assert len(found) == 1
    assert found[0].startswith("node A and 2 other nodes can't be bundled: ")


def test_files_that_are_missing_are_told_of_nodes_that_start_first() -> None:
    text = f"should_transfer_files = yes\ntransfer_input_files = no, plain\n{SUBMIT}"
    (message,) = told("JOB A a.sub\nJOB B a.sub\nPARENT A CHILD B\n", text)
    assert message.startswith("node A can't be bundled: it transfers a file that is not there")
    assert message.endswith("/no")
    assert not told("JOB A a.sub\nSCRIPT PRE A plain\n", text)
