"""-CsdVersion: which versions may have prepared a DAGMan job."""

from __future__ import annotations

import pytest

from condor_pydagman.records.banner import check

OURS = "$CondorVersion: 25.14.1 2026-09-24 BuildID: UW_Python_Wheel_Build $"


def version(number: str) -> str:
    return f"$CondorVersion: {number} 2026-01-01 BuildID: 1 $"


@pytest.mark.parametrize("other", [OURS, version("25.14.1")])
def test_the_same_numbers_are_not_spoken_of_whatever_the_build(other: str) -> None:
    assert check(other, OURS, tolerant=False) == ("", False)


@pytest.mark.parametrize("number", ["7.1.2", "8.0.0", "25.13.9", "25.14.0"])
def test_an_older_one_is_noted(number: str) -> None:
    text, refused = check(version(number), OURS, tolerant=False)
    assert text == (
        f"Note: the version ({version(number)}) of this DAG's HTCondor submit file differs from"
        f" condor_dagman version ({OURS}), but the difference is permissible"
    )
    assert not refused


@pytest.mark.parametrize("number", ["25.14.2", "25.15.0", "26.0.0"])
def test_a_newer_one_is_warned_of_and_never_refused(number: str) -> None:
    text, refused = check(version(number), OURS, tolerant=False)
    assert text == (
        f"Warning: the version ({version(number)}) of this DAG's HTCondor submit file is newer"
        f" than condor_dagman version ({OURS})"
    )
    assert not refused


@pytest.mark.parametrize("number", ["7.1.1", "6.9.9", "7.0.0"])
def test_one_older_than_7_1_2_is_refused(number: str) -> None:
    text, refused = check(version(number), OURS, tolerant=False)
    assert text == (
        f"Error: the version ({version(number)}) of this DAG's HTCondor submit file is older than"
        " oldest permissible version (7.1.2)"
    )
    assert refused
    text, refused = check(version(number), OURS, tolerant=True)
    assert text.startswith("Warning: ")
    assert text.endswith("(7.1.2); continuing because of -AllowVersionMismatch flag")
    assert not refused


@pytest.mark.parametrize("junk", ["junk", "25.14.1", "$CondorVersion: $", "$CondorVersion: 25 $"])
def test_what_is_no_version_is_refused(junk: str) -> None:
    text, refused = check(junk, OURS, tolerant=False)
    assert text == f"Error: the version ({junk}) of this DAG's HTCondor submit file is invalid!"
    assert refused
    text, refused = check(junk, OURS, tolerant=True)
    assert text == (
        f"Warning: the version ({junk}) of this DAG's HTCondor submit file is invalid; continuing"
        " because of -AllowVersionMismatch flag"
    )
    assert not refused


def test_a_date_in_the_old_form() -> None:
    old = "$CondorVersion: 8.0.0 Jan 01 2013 $"
    assert check(old, OURS, tolerant=False).text.startswith("Note: ")
