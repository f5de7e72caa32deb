"""What is wrong with a DAG, in one message, and what is advised where a node is to be named."""

from __future__ import annotations

import pytest

from condor_pydagman.errors import DagFileError
from condor_pydagman.graph.problems import MAX_SHOWN, DagFileErrors, ProcessingError
from tests.unit.graph.texts import JOBS, error


def test_the_first_line_is_the_first_error_and_the_rest_follows() -> None:
    errors = [DagFileError(f"wrong {n}", file="x.dag", line=n) for n in (1, 2)]
    both = DagFileErrors(errors)
    assert str(both) == "ERROR: x.dag:1 wrong 1"
    assert "x.dag:2 wrong 2" in both.detail()


def test_very_many_errors_are_counted() -> None:
    errors = [DagFileError("wrong", file="x.dag", line=n) for n in range(1, 501)]
    assert DagFileErrors(errors).detail().split("\n")[-1] == f"and {500 - MAX_SHOWN} more"
    assert DagFileErrors(errors, lost=7).detail().endswith(f"and {507 - MAX_SHOWN} more")
    assert DagFileErrors(errors[:2], lost=7).detail().endswith("and 7 more")
    assert "more" not in DagFileErrors(errors[:MAX_SHOWN]).detail()


def test_an_error_in_full() -> None:
    found = ProcessingError("no", file="x.dag", line=3, hint="do this", also="so")
    found.text = "RETRY A 1"
    found.trail.append("Processing error at y.dag:7")
    assert str(found) == "ERROR: no"
    assert found.detail().split("\n") == [
        "ERROR: no",
        "ERROR: so",
        "Processing error at x.dag:3",
        "Processing error at y.dag:7",
        "    RETRY A 1",
        "       do this",
    ]


def test_an_error_without_a_place() -> None:
    found = ProcessingError("no", file="", prefix="Error: ")
    assert (str(found), found.detail()) == ("Error: no", "Error: no")


# What is advised where a node is to be named.


DAG = JOBS + "SPLICE S s.dag\nSWEEP w_{e} x OVER e IN 1 2\nSCATTER A l run-{1}-{number} x\n"


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("RETRY S 3", "S is a splice, which can be named as parent and child only: for its nodes"),
        ("EXTEND w_{e} m", "w_{e} is a sweep, and this names one node, such as w_1"),
        ("EXTEND all_nodes m", "this can't be said of ALL_NODES: name a node"),
        ("BUNDLE b NODES ALL_NODES", "this can't be said of ALL_NODES: name a node; a line"),
        ("RETRY A,B 3", "blanks stand between names, not commas"),
        ("PARENT A,B CHILD w_1", "blanks stand between names, not commas"),
        ("RETRY run-x-0 3", "it is to be added by the SCATTER of node A, while the DAG runs"),
    ],
)
def test_what_a_name_stands_for(line: str, hint: str) -> None:
    found = error(f"{DAG}{line}\n", {"s.dag": "JOB X x\n"})
    assert found.hint.startswith(hint)


@pytest.mark.parametrize("name", ["Q,A", "run-x", "run-x-y"])
def test_names_of_which_nothing_is_known(name: str) -> None:
    assert error(f"{DAG}RETRY {name} 3\n", {"s.dag": "JOB X x\n"}).hint == ""


def test_the_file_of_the_splice() -> None:
    found = error("SPLICE S sub/s.dag\nRETRY S 1\n", {"sub/s.dag": "JOB X x\n"})
    assert found.hint.endswith("put the command into sub/s.dag")
