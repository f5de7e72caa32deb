"""Errors as a person reads them."""

from __future__ import annotations

from condor_pydagman.errors import DagFileError, DagFileWarning, PoolError, own_spelling


def test_a_dag_file_error_shows_the_place_with_a_caret() -> None:
    error = DagFileError(
        "Missing node name",
        file="x.dag",
        line=3,
        column=5,
        excerpt=("JOB", 0),
        command="JOB",
        usage="JOB <name>",
        hint="give the node a name",
    )
    assert str(error) == "ERROR: x.dag:3 Failed to parse JOB command: Missing node name"
    assert error.detail().splitlines() == [
        str(error),
        "       Example sytanx: JOB <name>",
        "    x.dag:3:5:",
        "    JOB",
        "        ^",
        "       give the node a name",
    ]
    assert own_spelling(error.detail()).splitlines()[1] == "       Example syntax: JOB <name>"


def test_the_caret_may_stand_elsewhere_than_the_column() -> None:
    error = DagFileError("bad", file="x", line=4, place=2, column=100, excerpt=("end", 3))
    assert error.place_lines() == ["    x:2:100:", "    end", "      ^"]
    assert DagFileError("bad", file="x").place_lines() == []


def test_a_warning_has_its_place() -> None:
    assert str(DagFileWarning("x.dag", 3, "Odd")) == "Warning: x.dag:3 Odd"


def test_a_pool_error_says_whether_asking_again_can_help() -> None:
    assert PoolError("down", transient=True).transient
