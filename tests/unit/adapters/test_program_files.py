"""Which modules a DAGMan may load whose files may have been replaced."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import condor_pydagman
from condor_pydagman import feature_table
from condor_pydagman.adapters.files import ProgramFiles
from condor_pydagman.errors import FileError

NEW, KNOWN = "condor_pydagman.not_loaded", "condor_pydagman.errors"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that each upgrade replaces."""
    path = tmp_path / "__init__.py"
    path.write_text("")
    monkeypatch.setattr(condor_pydagman, "__file__", str(path))
    return path


def test_what_is_there_may_be_loaded_as_long_as_it_is_the_same(package: Path) -> None:
    files = ProgramFiles()
    files.check(NEW)
    new = package.with_name("new")
    new.write_text("")
    os.replace(new, package)
    files.check(KNOWN)
    with pytest.raises(FileError, match="condor_release"):
        files.check(NEW)


def test_a_package_that_is_gone_is_another_one(package: Path) -> None:
    files = ProgramFiles()
    package.unlink()
    with pytest.raises(FileError, match="replaced"):
        files.check(NEW)


def test_no_feature_is_loaded_then(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_table, "_guards", [])
    feature_table.set_guard(ProgramFiles().check)
    assert feature_table.part("brake", "commands") is not None
    package.unlink()
    assert feature_table.part("brake", "commands") is not None  # it is there
    with pytest.raises(FileError, match="replaced"):
        feature_table.part("brake", "never_loaded")


def test_what_a_feature_has_not_got_needs_no_file(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feature_table, "_guards", [])  # another test may have left one
    monkeypatch.setattr(feature_table, "_absent", set())
    feature_table.load_all()
    feature_table.set_guard(ProgramFiles().check)
    package.unlink()
    feature_table.load_all()  # as each piece does that may add others


def test_a_dag_that_grows_has_all_features_at_hand() -> None:
    feature_table.load_all()
    assert feature_table.part("enough", "run").Enough.name == "enough"
    for name in feature_table.HELPERS:
        assert f"condor_pydagman.features.{name}.helper" in sys.modules
