"""Compiled modules are used if all are there and fit the sources; else the sources are."""

from __future__ import annotations

import importlib
import pkgutil
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import condor_pydagman
from condor_pydagman import compiled, features

PACKAGE = Path(condor_pydagman.__path__[0])
SUFFIX = EXTENSION_SUFFIXES[0]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package with files in the places of compiled modules, which are none."""
    copy = tmp_path / "condor_pydagman"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "_compiled"))
    directory = copy / compiled.DIRECTORY
    (directory / "engine").mkdir(parents=True)
    for name in compiled.MODULES:
        (directory / "engine" / (name + SUFFIX)).write_bytes(b"no machine code")
    (directory / (compiled.LIBRARY + SUFFIX)).write_bytes(b"no machine code")
    (directory / compiled.STAMP).write_text(compiled.stamp_of(str(copy)), encoding="ascii")
    return copy


def form(package: Path) -> str:
    path, form = compiled.engine_path(str(package))
    assert bool(path) == (form == compiled.COMPILED)
    return form


def test_modules_that_fit_are_used(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(compiled, "_load", loaded.append)
    directory = package / compiled.DIRECTORY
    assert compiled.engine_path(str(package)) == ([str(directory / "engine")], compiled.COMPILED)
    assert loaded == [str(directory / (compiled.LIBRARY + SUFFIX))]


def test_without_compiled_modules_nothing_is_said(package: Path) -> None:
    shutil.rmtree(package / compiled.DIRECTORY)
    assert form(package) == compiled.PURE


def test_modules_that_were_built_half_are_not_used(package: Path) -> None:
    (package / compiled.DIRECTORY / compiled.STAMP).unlink()
    assert form(package) == compiled.PURE


@pytest.mark.parametrize("missing", [f"engine/dispatch{SUFFIX}", compiled.LIBRARY + SUFFIX])
def test_a_missing_module(package: Path, missing: str) -> None:
    (package / compiled.DIRECTORY / missing).unlink()
    assert form(package) == f"{compiled.PURE}; the compiled modules are not complete"


@pytest.mark.parametrize("stamp", ["", "cpython-39 00000000\n", "\xff"])
def test_modules_of_another_version(package: Path, stamp: str) -> None:
    (package / compiled.DIRECTORY / compiled.STAMP).write_text(stamp, encoding="latin-1")
    assert form(package).startswith(compiled.PURE)


def test_sources_that_were_changed(package: Path) -> None:
    with (package / "engine" / "dispatch.py").open("a", encoding="utf-8") as file:
        file.write("# new\n")
    expected = "the compiled modules are of another version or for another Python"
    assert form(package) == f"{compiled.PURE}; {expected}"


def test_a_library_that_cannot_be_loaded(package: Path) -> None:
    assert form(package).startswith(f"{compiled.PURE}; the compiled modules can't be loaded: ")
    assert compiled.LIBRARY not in sys.modules


def test_a_package_whose_modules_are_broken_runs_and_says_so(package: Path) -> None:
    command = (
        f"import sys; sys.path.insert(0, {str(package.parent)!r});"
        " from condor_pydagman.cli.pydagman import main; main(['--version'])"
    )
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path.insert(0, {str(package.parent)!r}); {command}",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.startswith(
        f"{condor_pydagman.__version__} (pure Python; the compiled modules can't be loaded: "
    )


def test_there_is_a_source_for_each_module() -> None:
    sources = {path.stem for path in (PACKAGE / "engine").glob("*.py")}
    assert set(compiled.MODULES) <= sources - {"__init__", "engine"}
    assert len(set(compiled.MODULES)) == len(compiled.MODULES)


def classes_of_features() -> Iterator[type]:
    for found in pkgutil.walk_packages(features.__path__, "condor_pydagman.features."):
        for one in vars(importlib.import_module(found.name)).values():
            if isinstance(one, type) and one.__module__ == found.name:
                yield one


def test_features_inherit_from_nothing_compiled() -> None:
    of_package = {f"condor_pydagman.engine.{name}" for name in compiled.MODULES}
    for one in classes_of_features():
        assert not of_package & {parent.__module__ for parent in one.__mro__}, one
