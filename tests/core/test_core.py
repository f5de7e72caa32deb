"""The core needs nothing that stands around it: no feature, reader, page or placement.

What it does on a pool, `tests/pool/test_core.py` shows.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.core import parts
from tests.installation import CHECKOUT
from tests.test_style import imported_modules, module_name

ROOTS = {f"{parts.PACKAGE}.cli.{name}" for name in ("dagman", "entry", "submit_dag")}
IMPORT_ALL = """\
import importlib, sys
for name in sys.argv[2:]:
    assert importlib.import_module(name).__file__.startswith(sys.argv[1]), name
"""
RECORDED = """\
from tests.unit import test_corpus as corpus

for name, case in corpus.CASES.items():
    found = corpus.differences(case, corpus.RECORDED[name])
    differs = name in corpus.DIFFERENCES.keys() - {"nodes/error-data"}  # DATA is a feature
    assert bool(found) == differs, (name, found)
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("core")
    parts.copy(tree)
    return tree


def run(tree: Path, code: str, *words: str) -> str:
    """Run code with the core in place of this checkout's package; returns what it prints."""
    begin = f"import sys; sys.path[:0] = [{str(tree)!r}, {str(CHECKOUT)!r}]\n"
    command = [sys.executable, "-c", begin + code, *words]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def imports() -> dict[str, set[str]]:
    """What each module of the core imports, in functions too, by full names."""
    return {module_name(path): imported_modules(path) for path in parts.paths()}


def test_every_module_imports(tree: Path) -> None:
    run(tree, IMPORT_ALL, str(tree), *imports())


def test_the_core_imports_nothing_else() -> None:
    """Move what it needs down, or ask a feature by `feature_table.part`; for a command of the core
    that hands over to another program, there is DOORS."""
    found = imports()
    found[parts.PACKAGE] = set()  # for type checkers only
    for name, imported in found.items():
        doors = parts.DOORS.get(name.partition(".")[2].replace(".", "/"), ())
        allowed = tuple(f"{parts.PACKAGE}.{door}" for door in doors)
        wrong = {module for module in imported - found.keys() if not module.startswith(allowed)}
        assert not wrong, f"{name} imports what is not of the core: {sorted(wrong)}"


def test_every_module_of_the_core_is_used_by_it() -> None:
    """What serves features or readers alone belongs to them."""
    found, reached = imports(), set[str]()
    waiting = set(ROOTS)
    while waiting:
        name = waiting.pop()
        reached.add(name)
        waiting |= found[name] & found.keys() - reached
    packages = {module_name(path) for path in parts.paths() if path.name == "__init__.py"}
    assert not sorted(found.keys() - reached - packages)


def test_dag_files_mean_what_they_mean_to_stock(tree: Path) -> None:
    run(tree, RECORDED)


@pytest.mark.parametrize("line", ["TIMEOUT A TOTAL 60", "DATA B b.dap"])
def test_words_of_features_are_unknown(tree: Path, line: str) -> None:
    code = f"""\
from condor_pydagman.graph.build import BuildOptions, DagFileErrors, build
try:
    build(["x.dag"], lambda _: "JOB A a.sub\\n{line}\\n", BuildOptions())
except DagFileErrors as errors:
    print(errors)
"""
    assert f"'{line.split()[0]}' is not a valid DAG command" in run(tree, code)
