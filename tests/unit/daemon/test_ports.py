"""Modules that run in the simulator use clocks, descriptors and processes only through ports."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

DAEMON = Path(__file__).resolve().parents[3] / "condor_pydagman" / "daemon"
RUN_IN_THE_SIMULATOR = (
    "end_notice", "loop", "nodes_log", "perform", "publish", "run",
)  # fmt: skip
FOREIGN = {"os", "select", "signal", "socket", "subprocess", "fcntl", "htcondor2", "classad2"}
CLOCKS = {"time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "sleep"}


@pytest.mark.parametrize("name", RUN_IN_THE_SIMULATOR)
def test_simulated_modules_use_only_the_ports(name: str) -> None:
    tree = ast.parse((DAEMON / f"{name}.py").read_text("utf-8"))
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module or "")
    assert not imported & FOREIGN
    read = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "time"
    }
    assert not read & CLOCKS, "ask the clock of the run"
