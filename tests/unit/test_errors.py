"""Errors as a person reads them."""

from __future__ import annotations

from condor_pydagman.errors import DagFileError, PoolError


def test_a_dag_file_error_shows_the_place_with_a_caret() -> None:
    error = DagFileError(
        "Missing node name",
        file="x.dag",
        line=3,
        column=5,
        text="JOB",
        command="JOB",
        usage="JOB <name>",
        hint="give the node a name",
    )
    assert str(error) == "ERROR: x.dag:3 Failed to parse JOB command: Missing node name"
    assert error.detail().splitlines() == [
        str(error),
        "       Example sytanx: JOB <name>",
        "    JOB",
        "        ^",
        "       give the node a name",
    ]


def test_a_pool_error_says_whether_asking_again_can_help() -> None:
    assert PoolError("down", transient=True).transient
