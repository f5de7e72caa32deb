"""What the log says of the versions that DAGMan meets."""

from __future__ import annotations

import pytest

from condor_pydagman.records.banner import Versions, number, version_lines


def condor(version: str) -> str:
    return f"$CondorVersion: {version} 2026-09-24 BuildID: UW_Python_Wheel_Build $"


def notes(bindings: str, schedd: str = "") -> list[str]:
    found = Versions("0.1.0 (x)", "3.9.18", condor(bindings), schedd and condor(schedd))
    return list(version_lines(found))[1:]


def test_they_are_named_in_a_line() -> None:
    found = Versions("0.1.0 (pure Python)", "3.9.18", condor("25.14.1"), condor("25.14.2"))
    assert list(version_lines(found)) == [
        "condor_pydagman 0.1.0 (pure Python), Python 3.9.18, bindings 25.14.1, schedd 25.14.2"
    ]


def test_a_schedd_that_does_not_tell_is_not_named() -> None:
    found = Versions("0.1.0 (pure Python)", "3.9.18", condor("25.14.1"))
    assert list(version_lines(found)) == [
        "condor_pydagman 0.1.0 (pure Python), Python 3.9.18, bindings 25.14.1"
    ]


def test_a_version_without_a_number_is_shown_as_it_is() -> None:
    assert number("junk") == "junk"
    assert notes("junk", "junk") == []


@pytest.mark.parametrize(("version", "told"), [("24.12.24", 1), ("25.0.14", 1), ("25.1.0", 0)])
def test_bindings_that_end_the_process(version: str, told: int) -> None:
    assert [note[:26] for note in notes(version)] == ["Note: bindings before 25.1"] * told


def test_an_htcondor_that_is_too_old() -> None:
    assert notes("25.10.1", "23.9.6") == [
        "Warning: DAGMan has not been tested with an HTCondor before 24.12"
    ]


@pytest.mark.parametrize(
    ("bindings", "schedd", "told"),
    [
        ("25.14.1", "25.14.1", False),
        ("25.14.1", "26.0.1", False),
        ("25.14.1", "25.11.0", True),
        ("25.14.1", "25.0.11", True),
        ("25.14.1", "25.0.12", False),
        ("25.12.2", "25.12.1", True),
        ("25.11.0", "25.0.10", False),
        ("25.0.11", "24.12.20", False),
        ("25.0.12", "24.12.20", True),
        ("24.12.24", "25.0.11", True),
        ("24.12.23", "25.0.11", False),
    ],
)
def test_bindings_that_do_not_authenticate_to_an_older_schedd(
    bindings: str, schedd: str, told: bool
) -> None:
    assert any("authenticate by FS" in note for note in notes(bindings, schedd)) is told
