"""Which tests run in the same process, and in which order, when several processes share a test run
(pytest-xdist, option `-n`).

The tests of a file stay together, since they share fixtures, and so do the files that share costly
ones.  All tests of the gate that need a pool run in one process; in the long run, several processes
share the pool.  Pool tests mostly wait, so they come first: what needs the CPU fills the time.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from tests import gate

ROOT = Path(__file__).resolve().parents[1]
POOL = "pool"
SCENES = "scenes"
INSTALLATION = "installation"
TOGETHER = {
    "tests/contract/test_installation.py": INSTALLATION,
    "tests/pool/test_installation.py": INSTALLATION,
}
# Long tests that share nothing: each may run anywhere.
APART = ("tests/sim/", "tests/fuzz/", "tests/test_style.py::test_tools_are_content")
# Longest first. What is not here comes later, the larger files first.
LONGEST = (
    POOL,
    "tests/pool/test_compare.py",
    SCENES,
    "tests/packages/test_packages.py",
    "tests/packages/test_pip.py",
    "tests/pool/test_torture.py",
    "tests/pool/test_each_point.py",
    "tests/pool/test_benchmark.py",
    "tests/pool/test_dag_checker.py",
    "tests/pool/test_dagman_command.py",
    "tests/pool/test_pool_command.py",
    INSTALLATION,
    "tests/test_style.py::test_tools_are_content[types]",
    "tests/contract/test_submit_command_lines.py",
    "tests/contract/test_dagman_program.py",
)


@cache
def _plays_scenes(path: str) -> bool:
    return "\nSTAGE = Stage()\n" in (ROOT / path).read_text(encoding="utf-8")


def unit_of(test: str, *, one_pool_process: bool = False) -> str:
    """The unit of work that a test, by its node id, belongs to: tests that run in one process."""
    path = test.partition("::")[0]
    if one_pool_process and path.startswith(gate.POOL):
        return POOL
    if test.startswith(APART):
        return test
    if _plays_scenes(path):
        return SCENES
    return TOGETHER.get(path, path)


def rank(unit: str, size: int) -> tuple[int, int]:
    """Orders units, the one to start first lowest; `size` is how many tests it has."""
    return (LONGEST.index(unit) if unit in LONGEST else len(LONGEST), -size)


class LongestFirst(LoadScopeScheduling):
    """Gives units to the processes, the longest first, each as late as it can."""

    def __init__(self, config: pytest.Config, log: object = None, *, is_gate: bool = False) -> None:
        super().__init__(config, log)  # type: ignore[arg-type]
        self._one_pool_process = is_gate

    def _split_scope(self, nodeid: str) -> str:
        return unit_of(nodeid, one_pool_process=self._one_pool_process)

    def _assign_work_unit(self, node: WorkerController) -> None:
        first = min(self.workqueue, key=lambda unit: rank(unit, len(self.workqueue[unit])))
        self.workqueue.move_to_end(first, last=False)
        super()._assign_work_unit(node)

    def _reschedule(self, node: WorkerController) -> None:
        # A process must know the test after the one it runs, to know which fixtures end.
        if not self.workqueue or self._pending_of(self.assigned_work[node]) <= 1:
            super()._reschedule(node)
