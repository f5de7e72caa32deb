"""One error, and all that is wrong with a DAG in one message."""

from __future__ import annotations

from condor_pydagman.errors import DagFileError
from condor_pydagman.graph.problems import MAX_SHOWN, DagFileErrors, ProcessingError


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
    found = ProcessingError("no", file="x.dag", line=3, text="RETRY A 1", hint="do this", also="so")
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
