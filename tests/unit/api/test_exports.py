"""What `condor_pydagman` exports, and what it loads for it."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import condor_pydagman
from condor_pydagman import PydagmanError

NAMES = """
Abort Attempt ConfigError Dag DagError DagEvent DagProblem DagRun DagState DagStatus DagTimeout Edge
Evidence FileError Hold LintFinding Moment Node NodeCounts NodeKind NodeLogs NodeRun NodeStatus
NodeStatusEntry NodeStatusFile Notice Place PlacementResult PoolError PydagmanError Rescue Retry Run
RunExplanation RunReport Script ScriptKind ScriptRun Severity Splice SteeringAnswer SubmittedDag
Tolerance Usage UsageError Variable Weight Workflow WorkflowNode WorkflowNodes check_dag dag_events
dag_status lint_dag parse_dag read_dag read_node_status read_rescue read_run run_requests steer
submit_dag subscribe transfer_file write_node_status write_rescue
"""
EXPORTS = NAMES.split()

# What the commands and a running DAGMan must not pay for.
LOADED = "import sys; before = set(sys.modules); {code}; print(*set(sys.modules) - before)"


def loaded(code: str) -> set[str]:
    words = [sys.executable, "-c", LOADED.format(code=code)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_exports_are_these() -> None:
    assert condor_pydagman.__all__ == EXPORTS
    assert set(EXPORTS) <= set(dir(condor_pydagman))


@pytest.mark.parametrize("name", EXPORTS)
def test_an_export_is_there_and_documented(name: str) -> None:
    value = getattr(condor_pydagman, name)
    assert value.__name__ == name
    assert inspect.getdoc(value)


def test_type_checkers_see_the_same_modules_as_the_program() -> None:
    tree = ast.parse(Path(condor_pydagman.__file__).read_text(encoding="utf-8"))
    imported = {
        node.module.partition(".")[2]: tuple(sorted(alias.name for alias in node.names))
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("condor_pydagman.")
    }
    homes = {home: tuple(sorted(names)) for home, names in condor_pydagman._HOMES.items()}
    assert imported == homes
    assert sorted(name for names in homes.values() for name in names) == sorted(EXPORTS)


def test_a_name_that_is_not_exported_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nosuch'"):
        condor_pydagman.nosuch  # noqa: B018
    assert not hasattr(condor_pydagman, "__wrapped__")


def test_importing_the_package_loads_no_module_of_it() -> None:
    assert {name for name in loaded("import condor_pydagman") if "pydagman" in name} == {
        "condor_pydagman"
    }


@pytest.mark.parametrize("command", ["dagman", "submit_dag", "dag_checker", "pydagman"])
def test_no_command_loads_the_interface(command: str) -> None:
    names = loaded(f"from condor_pydagman.cli import {command}")
    assert not [name for name in names if name.startswith("condor_pydagman.api")]


def test_reading_a_dag_needs_no_htcondor(tmp_path: Path) -> None:
    dag = tmp_path / "t.dag"
    dag.write_text("JOB A a.sub\n")
    code = f"from condor_pydagman import *; d = read_dag({str(dag)!r}); write_rescue(d); "
    code += f"check_dag({str(dag)!r}); dag_status({str(dag)!r}); list(d.edges)"
    assert not {name.partition(".")[0] for name in loaded(code)} & {"htcondor2", "classad2"}


def test_all_errors_have_one_root() -> None:
    errors = [
        value
        for value in (getattr(condor_pydagman, name) for name in EXPORTS)
        if isinstance(value, type) and issubclass(value, Exception)
    ]
    assert len(errors) == 7
    assert all(issubclass(error, PydagmanError) for error in errors)


def test_type_hints_are_shipped() -> None:
    assert (Path(condor_pydagman.__file__).parent / "py.typed").exists()
