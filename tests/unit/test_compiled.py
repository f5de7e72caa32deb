"""Which modules are compiled, and what is said of it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import condor_pydagman
from condor_pydagman import compiled, features

PACKAGE = Path(condor_pydagman.__path__[0])


def test_what_python_loads_is_told(tmp_path: Path) -> None:
    for name in compiled.MODULES:
        (tmp_path / f"{name}.py").touch()
    assert compiled.form(str(tmp_path)) == compiled.PURE
    (tmp_path / f"{compiled.MODULES[0]}.cpython-27-other.so").touch()  # another Python's
    assert compiled.form(str(tmp_path)) == compiled.PURE
    for name in compiled.MODULES:
        (tmp_path / (name + EXTENSION_SUFFIXES[0])).touch()
    assert compiled.form(str(tmp_path)) == compiled.COMPILED


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
