"""All that is wrong with a DAG, in one message."""

from __future__ import annotations

from condor_pydagman.errors import DagFileError
from condor_pydagman.graph.problems import DagFileErrors


def test_the_first_line_is_the_first_error_and_the_rest_follows() -> None:
    errors = [DagFileError(f"wrong {n}", file="x.dag", line=n) for n in (1, 2)]
    both = DagFileErrors(errors)
    assert str(both) == "ERROR: x.dag:1 wrong 1"
    assert "x.dag:2 wrong 2" in both.detail()


def test_very_many_errors_are_counted() -> None:
    errors = [DagFileError("wrong", file="x.dag", line=n) for n in range(1, 500)]
    assert "more" in DagFileErrors(errors).detail().splitlines()[-1]
