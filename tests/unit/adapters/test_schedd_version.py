"""The version of the schedd, from the file with its address."""

from __future__ import annotations

from pathlib import Path

import pytest

from condor_pydagman.adapters.schedd import schedd_version

VERSION = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1 $"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / ".schedd_address"
    monkeypatch.setattr(
        "condor_pydagman.adapters.schedd.lookup", {"SCHEDD_ADDRESS_FILE": str(path)}.get
    )
    return path


def test_it_is_in_the_second_line(file: Path) -> None:
    file.write_text(f"<127.0.0.1:9?addrs=127.0.0.1-9>\n{VERSION}\n$CondorPlatform: X86_64 $\n")
    assert schedd_version() == VERSION


@pytest.mark.parametrize("text", ["", "<127.0.0.1:9>\n", "\0\n$Condor"])
def test_a_file_without_it(file: Path, text: str) -> None:
    file.write_text(text)
    assert schedd_version() == ""


def test_no_file(file: Path) -> None:
    assert schedd_version() == ""


def test_no_name_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("condor_pydagman.adapters.schedd.lookup", {}.get)
    assert schedd_version() == ""
