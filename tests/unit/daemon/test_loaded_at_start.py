"""A running DAGMan loads nothing more: its files may be replaced by those of another version."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[3] / "condor_pydagman"
LAYERS = ("adapters", "daemon", "dagfile", "engine", "graph", "records")
MODULES = sorted(path for layer in LAYERS for path in (PACKAGE / layer).rglob("*.py"))

# What sub-DAGs take, which `preload` loads at the start if there are any.
ONLY_OF_CONDOR_SUBMIT_DAG = {"condor_pydagman.cli.submission"}
LATE = {"daemon/subdags.py": {"preload", "prepare"}, "adapters/knobs.py": {"lay_over"}}

# Modules of the standard library that a DAG without scripts, a CONFIG file, wrong lines and clients
# of its command socket can do without.
LARGE = {"argparse", "base64", "difflib", "hashlib", "hmac", "json"}
LARGE |= {"locale", "logging", "random", "shutil", "subprocess", "tempfile", "textwrap"}
LARGE |= {"threading", "traceback", "unicodedata"}


@pytest.mark.parametrize("path", MODULES, ids=[str(path.relative_to(PACKAGE)) for path in MODULES])
def test_no_function_imports(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    late = {
        function.name
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.ImportFrom) and "condor_pydagman" in (node.module or "")
    }
    assert late <= LATE.get(str(path.relative_to(PACKAGE)), set()), "import it at the top"


def test_what_sub_dags_take_is_loaded_at_the_start() -> None:
    """Whatever a function of theirs imports is one of what is there by then."""
    code = (
        "import sys; from condor_pydagman.cli import dagman; from condor_pydagman.daemon import "
        "loop, opening, startup, subdags; subdags.preload(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    there = {name for name in done.stdout.split() if name.startswith("condor_pydagman.")}
    for name in there - {"condor_pydagman.cli.dagman"}:  # which imports before it begins
        path = PACKAGE.parent / (name.replace(".", "/") + ".py")
        tree = ast.parse(path.read_text("utf-8")) if path.exists() else ast.Module([], [])
        wanted = {
            f"{node.module}.{alias.name}"
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef)
            for node in ast.walk(function)
            if isinstance(node, ast.ImportFrom) and "condor_pydagman" in (node.module or "")
            for alias in node.names
        }
        modules = {word for word in wanted if (PACKAGE.parent / _file(word)).exists()}
        assert modules - there <= ONLY_OF_CONDOR_SUBMIT_DAG, name
    assert "subdags.preload()" in (PACKAGE / "daemon/startup.py").read_text("utf-8")


def test_what_few_dags_need_is_not_loaded_for_all() -> None:
    """Every DAGMan has what it imports for itself, for weeks: 100 KB to a megabyte each."""
    code = (
        "import sys, htcondor2; before = set(sys.modules); from condor_pydagman.cli import dagman; "
        "from condor_pydagman.daemon import loop, opening, startup, trial; "
        "print(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not LARGE & set(done.stdout.split())


def test_what_scripts_take_is_loaded_at_the_start_of_a_dag_that_has_some() -> None:
    """When one is to start there may be no descriptor left to read a module with."""
    code = "import sys; from condor_pydagman.adapters import scripts; scripts.preload(); "
    code += "print('subprocess' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
    assert "scripts.preload()" in (PACKAGE / "daemon/startup.py").read_text("utf-8")


def _file(module: str) -> str:
    return module.replace(".", "/") + ".py"
