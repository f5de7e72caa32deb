"""A running DAGMan loads nothing more: its files may be replaced by those of another version."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[3] / "condor_pydagman"
LAYERS = ("adapters", "daemon", "engine", "features", "graph", "language", "records")
# Of a feature, what people's programs load, and no DAGMan.
OF_READERS = ("shown", "outside", "explain")
MODULES = sorted(
    path
    for layer in LAYERS
    for path in (PACKAGE / layer).rglob("*.py")
    if layer != "features" or path.stem not in OF_READERS
)

# What sub-DAGs take, which is loaded at the start if there are any.
ONLY_OF_CONDOR_SUBMIT_DAG = {"condor_pydagman.dagman_job.submit_to_schedd"}
LATE = {
    "adapters/knobs.py": {"apply_config_file"},
    # What sub-DAGs and the processes of helpers take, loaded if there are any.
    "daemon/helpers.py": {"_load", "_process_class"},
    "daemon/submit.py": {"_description"},
    "daemon/run.py": {"script_runner", "jobstate_log"},
    # What a rescue file takes, and files that the DAG asks for: before the DAG begins.
    "daemon/dag_input.py": {"_apply_rescue"},
    "daemon/publish.py": {"__init__"},
    # Before the DAG begins, and after signals are caught.
    "daemon/sources.py": {"make_sources", "_sleeper"},
    # What asks the schedd while DAGMan sleeps, in a process that ends when it is answered.
    "daemon/waiting.py": {"_answer"},
    "adapters/renewal.py": {"is_same"},
    # What starts the processes of NOTIFY before the DAG begins, if there are any.
    "daemon/loop.py": {"_start_notifiers"},
}
# Modules of the standard library that a DAG without scripts, a CONFIG file, wrong lines and clients
# of its command socket can do without.
LARGE = {"argparse", "base64", "difflib", "hashlib", "hmac"}
LARGE |= {"locale", "logging", "random", "shutil", "subprocess", "tempfile", "textwrap"}
LARGE |= {"threading", "traceback", "unicodedata"}
LARGE |= {"ast", "dataclasses", "dis", "inspect", "tokenize"}  # the first brings the others
# Of 10 MB, for the first client of the command socket alone.
LARGE |= {"cryptography", "_cffi_backend"}
if sys.version_info >= (3, 14):  # its ctypes and typing load these
    LARGE -= {"ast", "threading"}


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
    name = str(path.relative_to(PACKAGE))
    assert late <= LATE.get(name, set()), "import it at the top"


def test_modules_for_sub_dags_are_loaded_at_the_start() -> None:
    """Whatever a function of theirs imports is one of what is there by then."""
    code = (
        "import sys; from condor_pydagman.cli import dagman; from condor_pydagman.daemon import "
        "loop, initialize; from condor_pydagman.features.data import jobs;"
        " from condor_pydagman.features.notify import starter;"
        " from condor_pydagman.features.cache import helper;"
        " from condor_pydagman.features.growth import helper;"
        " from condor_pydagman.features.growth.adapters import outlook;"
        " from condor_pydagman.features.run_if import helper;"
        " from condor_pydagman.features.shared_limits import helper;"
        " from condor_pydagman.features.sites import helper;"
        " from condor_pydagman.daemon import startup, sources;"
        " from condor_pydagman.daemon import status_files;"
        " from condor_pydagman.graph import apply_rescue;"
        " from condor_pydagman.adapters import config_file, jobstate_log, script_runner;"
        " from condor_pydagman.dagman_job import nested_dags;"
        " print(*sys.modules)"
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
    assert "import nested_dags" in (PACKAGE / "daemon/helpers.py").read_text("utf-8")


def test_signals_are_caught_before_what_takes_long_to_load() -> None:
    """The schedd may send one as soon as the process is there, and it would be killed."""
    code = "import sys; from condor_pydagman.daemon import sources; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    there = {name for name in done.stdout.split() if name.startswith("condor_pydagman.")}
    assert len(there) < 10, there


def test_rarely_needed_modules_are_not_loaded() -> None:
    """Every DAGMan has what it imports for itself, for weeks: 100 KB to a megabyte each."""
    code = (
        "import sys, htcondor2; before = set(sys.modules); from condor_pydagman.cli import dagman; "
        "from condor_pydagman.daemon import loop, initialize, startup; "
        "from condor_pydagman.adapters import cedar; cedar.is_installed(); "
        "print(*set(sys.modules) - before)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not LARGE & set(done.stdout.split())


def test_modules_for_scripts_are_loaded_at_the_start_if_there_are_scripts() -> None:
    """When one is to start there may be no descriptor left to read a module with."""
    code = "import sys; from condor_pydagman.adapters import script_runner; "
    code += "script_runner.preload(); print('subprocess' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
    assert "script_runner.preload()" in (PACKAGE / "daemon/helpers.py").read_text("utf-8")


def _file(module: str) -> str:
    return module.replace(".", "/") + ".py"
